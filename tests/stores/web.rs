//! Inputs of web servers: with ranges and without, behind redirects, and at addresses that are secret.

use std::sync::Mutex;

use crate::support::cli::{Ran, Workspace, many_runs, short};
use crate::support::server::{Request, Response, Server};

/// A file as a server with ranges sends it.
fn ranges(request: &Request, bytes: &[u8], etag: &str) -> Response {
    let Some(range) = request.headers.get("range") else {
        return Response::new(200).header("ETag", etag).body(bytes);
    };
    let (start, end) = range.trim_start_matches("bytes=").split_once('-').unwrap();
    let (start, end): (usize, usize) = (start.parse().unwrap(), end.parse().unwrap());
    if start >= bytes.len() {
        return Response::new(416).header("Content-Range", format!("bytes */{}", bytes.len()));
    }
    let end = end.min(bytes.len() - 1);
    Response::new(206)
        .header("ETag", etag)
        .header("Content-Range", format!("bytes {start}-{end}/{}", bytes.len()))
        .body(&bytes[start..=end])
}

fn compress(workspace: &Workspace, arguments: &[&str]) -> Ran {
    let mut command = workspace.command(&[&["compress"], arguments, &["--max-tokens", "1m"]].concat());
    for (variable, _) in std::env::vars_os() {
        if variable.to_string_lossy().to_lowercase().ends_with("_proxy") {
            command.env_remove(variable);
        }
    }
    Ran::of(command.output().unwrap())
}

#[test]
fn a_file_is_read_in_ranges_and_what_fails_is_asked_for_again() {
    let runs = many_runs(3);
    let sent = runs.clone();
    let server = Server::start(move |request| match request.before {
        1 => Response::new(503).header("Retry-After", "0"),
        3 => Response {
            breaks_after: Some(1000),
            ..ranges(request, &sent, "\"v1\"")
        },
        _ => ranges(request, &sent, "\"v1\""),
    });
    let workspace = Workspace::new();
    let url = format!(
        "{}/data/in.jsonl?X-Amz-Signature=secretsignature&x=1",
        server.address
    );
    compress(&workspace, &[&url, "-o", "out.jsonl"]).exits(0);
    assert!(workspace.read("out.jsonl") == runs);
    let requests = server.requests();
    assert!(
        requests.len() > 4
            && requests
                .iter()
                .all(|request| request.path.contains("secretsignature"))
    );
    // The signature is in nothing that the program writes.
    for file in workspace.files() {
        let text = String::from_utf8_lossy(&workspace.read(&file)).into_owned();
        assert!(!text.contains("secretsignature"), "{file}");
    }
    assert!(workspace.text("out.summary.json").contains("/data/in.jsonl\""));
    let gone = Server::start(|_| Response::new(403));
    let url = format!("{}/in.jsonl?X-Amz-Signature=secretsignature", gone.address);
    let ran = compress(&workspace, &[&url, "-o", "out2.jsonl"]).exits(2);
    assert!(!ran.stderr.contains("secretsignature"), "{}", ran.stderr);
    ran.says("access is denied (HTTP 403)").says("presigned");
}

#[test]
fn a_server_without_ranges_is_read_from_the_start() {
    let runs = many_runs(2);
    let sent = runs.clone();
    let server = Server::start(move |request| {
        let whole = Response::new(200).body(sent.clone());
        // The third request breaks off in the middle, and so does the one after it.
        let breaks_after = matches!(request.before, 2 | 3).then(|| 100_000 * request.before);
        Response {
            breaks_after,
            ..whole
        }
    });
    let workspace = Workspace::new();
    let url = format!("{}/in.jsonl", server.address);
    compress(&workspace, &[&url, "-o", "out.jsonl"]).exits(0);
    assert!(workspace.read("out.jsonl") == runs);
    let ran = workspace
        .compress(&["http://127.0.0.1:9/in.jsonl", "-o", "out3.jsonl"])
        .exits(2);
    ran.says("cannot read http://127.0.0.1:9/in.jsonl: no answer");
}

#[test]
fn an_empty_file_a_missing_one_and_one_that_changes() {
    let workspace = Workspace::new();
    let empty = Server::start(|request| ranges(request, b"", "\"e\""));
    compress(
        &workspace,
        &[&format!("{}/empty.jsonl", empty.address), "-o", "empty.jsonl"],
    )
    .exits(0);
    assert!(workspace.read("empty.jsonl").is_empty());
    let missing = Server::start(|_| Response::new(404));
    let ran = compress(
        &workspace,
        &[&format!("{}/x.jsonl", missing.address), "-o", "x.jsonl"],
    );
    ran.exits(2).says("no such file");
    let (runs, version) = (many_runs(2), Mutex::new(0));
    let changing = Server::start(move |request| {
        let mut version = version.lock().unwrap();
        *version += 1;
        ranges(request, &runs, if *version > 3 { "\"new\"" } else { "\"old\"" })
    });
    let ran = compress(
        &workspace,
        &[&format!("{}/c.jsonl", changing.address), "-o", "c.jsonl"],
    );
    ran.exits(4).says("it changed while it was read");
}

#[test]
fn a_server_that_refuses_ranges_has_no_empty_file() {
    let runs = many_runs(1);
    let workspace = Workspace::new();
    for size in [Some(runs.len()), None] {
        let sent = runs.clone();
        let server = Server::start(move |request| {
            if !request.headers.contains_key("range") {
                return Response::new(200).body(sent.clone());
            }
            let refused = Response::new(416).body("no ranges here");
            match size {
                Some(size) => refused.header("Content-Range", format!("bytes */{size}")),
                None => refused,
            }
        });
        let url = format!("{}/in.jsonl", server.address);
        compress(&workspace, &[&url, "-o", "out.jsonl", "--force"]).exits(0);
        assert!(workspace.read("out.jsonl") == runs);
    }
    let never = Server::start(|_| Response::new(416).body("{}"));
    let url = format!("{}/in.jsonl", never.address);
    compress(&workspace, &[&url, "-o", "never.jsonl"])
        .exits(2)
        .says("HTTP 416");
    assert!(!workspace.exists("never.jsonl"));
}

#[test]
fn another_range_than_was_asked_for_is_not_taken() {
    let runs = many_runs(1);
    let sent = runs.clone();
    let server = Server::start(move |request| {
        if request.before != 2 {
            return ranges(request, &sent, "\"v\"");
        }
        // A cache that sends as many bytes of the beginning.
        let end = sent.len() - 256 * 1024;
        Response::new(206)
            .header("ETag", "\"v\"")
            .header("Content-Range", format!("bytes 0-{}/{}", end - 1, sent.len()))
            .body(&sent[..end])
    });
    let workspace = Workspace::new();
    let url = format!("{}/in.jsonl", server.address);
    compress(&workspace, &[&url, "-o", "out.jsonl"]).exits(0);
    assert!(workspace.read("out.jsonl") == runs);
    assert!(server.requests().len() > 3);
}

#[test]
fn without_an_identifier_the_time_of_change_tells_versions_apart() {
    let (old, new) = (many_runs(1), many_runs(1).to_ascii_uppercase());
    let workspace = Workspace::new();
    for has_ranges in [true, false] {
        let (old, new) = (old.clone(), new.clone());
        let server = Server::start(move |request| {
            let (bytes, day) = if request.before < 2 { (&old, 1) } else { (&new, 2) };
            let mut response = if has_ranges {
                ranges(request, bytes, "")
            } else {
                Response::new(200).body(bytes.clone())
            };
            response.headers.retain(|(name, _)| *name != "ETag");
            response.breaks_after = (!has_ranges && request.before == 1).then_some(200_000);
            response.header("Last-Modified", format!("Thu, 0{day} Oct 2026 10:00:00 GMT"))
        });
        let url = format!("{}/in.jsonl", server.address);
        compress(&workspace, &[&url, "-o", "out.jsonl", "--force"])
            .exits(4)
            .says("it changed while it was read");
    }
}

#[test]
fn a_redirect_to_no_web_server_is_not_followed() {
    let server = Server::start(|_| Response::new(302).header("Location", "file:///etc/passwd"));
    let workspace = Workspace::new();
    let url = format!("{}/in.jsonl", server.address);
    let ran = compress(&workspace, &[&url, "-o", "out.jsonl"]).exits(2);
    ran.says("a redirect leads nowhere").says("check the address");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn two_addresses_that_differ_in_their_query_are_two_inputs() {
    let server = Server::start(|request| {
        let id = request.path.rsplit('=').next().unwrap().to_owned();
        ranges(request, short(&id).as_bytes(), "\"v\"")
    });
    let workspace = Workspace::new();
    let [one, two] = ["one", "two"].map(|id| format!("{}/get.jsonl?id={id}", server.address));
    compress(&workspace, &[&one, &two, "-o", "out.jsonl"]).exits(0);
    assert_eq!(
        workspace.text("out.jsonl"),
        format!("{}\n{}", short("one"), short("two"))
    );
    let ran = compress(
        &workspace,
        &[&one, "-o", &format!("{}/out.jsonl", server.address)],
    );
    ran.exits(2).says("can be read only");
    compress(&workspace, &[&one])
        .exits(2)
        .says("nothing is written beside");
}
