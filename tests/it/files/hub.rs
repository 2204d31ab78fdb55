//! Tokenizers of repositories: from the cache, and downloaded from a server that the tests start themselves.

use std::fs;
use std::path::Path;

use crate::support::cli::{Ran, Workspace};
use crate::support::server::{Request, Response, Server};
use sha2::{Digest, Sha256};

const COMMIT: &str = "1234567890abcdef1234567890abcdef12345678";
const RECORD: &str =
    r#"{"conversations": [{"from": "human", "value": "hello"}, {"from": "gpt", "value": "hi"}]}"#;

fn fixture(name: &str) -> Vec<u8> {
    fs::read(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("fixtures/tokenizers")
            .join(name),
    )
    .unwrap()
}

fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(u32::from(digit), 16))
        .collect()
}

/// As the hub answers for a small file.
fn file(bytes: Vec<u8>, etag: &str) -> Response {
    Response::new(200)
        .header("X-Repo-Commit", COMMIT)
        .header("ETag", format!("\"{etag}\""))
        .body(bytes)
}

/// As the hub answers for a file that is not there.
fn absent() -> Response {
    Response::new(404)
        .header("X-Repo-Commit", COMMIT)
        .header("X-Error-Code", "EntryNotFound")
}

fn path_of(file: &str) -> String {
    format!("/o/n/resolve/main/{file}")
}

/// A hub with one repository that has only a `tokenizer.json`.
fn plain(request: &Request) -> Response {
    if request.path == path_of("tokenizer.json") {
        file(fixture("qwen.json"), "c0ffee")
    } else {
        absent()
    }
}

/// Runs `compress` with the tokenizer `name`, the cache in `hf/` and this server.
fn compress(workspace: &Workspace, server: &str, name: &str, more: &[(&str, &str)]) -> Ran {
    workspace.write("in.jsonl", RECORD);
    let mut command = workspace.command(&[
        "compress",
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--force",
        "--tokenizer",
        name,
    ]);
    for (variable, _) in std::env::vars_os() {
        let variable = variable.to_string_lossy().into_owned();
        if variable.starts_with("HF_")
            || variable.starts_with("HUGGING")
            || variable.to_lowercase().ends_with("_proxy")
        {
            command.env_remove(variable);
        }
    }
    command
        .env_remove("HF_HUB_OFFLINE")
        .env("HF_HOME", workspace.path("hf"))
        .env("HF_ENDPOINT", server);
    command.envs(more.iter().copied());
    Ran::of(command.output().unwrap())
}

#[test]
fn a_tokenizer_is_downloaded_into_the_cache_as_python_writes_it() {
    let server = Server::start(plain);
    let workspace = Workspace::new();
    compress(&workspace, &server.address, "hf:o/n", &[]).exits(0);
    let folder = Path::new("hf/hub/models--o--n");
    assert_eq!(workspace.text(folder.join("refs/main")), COMMIT);
    assert_eq!(workspace.read(folder.join("blobs/c0ffee")), fixture("qwen.json"));
    let link = folder.join("snapshots").join(COMMIT).join("tokenizer.json");
    assert_eq!(
        fs::read_link(workspace.path(&link)).unwrap(),
        Path::new("../../blobs/c0ffee")
    );
    let absent = folder.join(".no_exist").join(COMMIT);
    assert!(workspace.exists(absent.join("chat_template.jinja")));
    assert!(workspace.exists(absent.join("additional_chat_templates/tool_use.jinja")));
    assert!(!workspace.files().iter().any(|file| file.contains("incomplete")));

    // From now on the server is not asked.
    let asked = server.requests().len();
    compress(&workspace, &server.address, "hf:o/n", &[]).exits(0);
    compress(&workspace, &server.address, "o/n", &[("HF_HUB_OFFLINE", "1")]).exits(0);
    compress(&workspace, "http://127.0.0.1:9", &format!("hf:o/n@{COMMIT}"), &[]).exits(0);
    assert_eq!(server.requests().len(), asked);
}

#[test]
fn what_lies_beside_a_tokenizer_comes_with_it() {
    let server = Server::start(
        |request| match request.path.strip_prefix("/o/n/resolve/refs%2Fpr%2F1/") {
            Some("tokenizer.json") => file(fixture("qwen.json"), "aa"),
            Some("chat_template.jinja") => file(b"{{ messages }}".to_vec(), "bb"),
            Some("additional_chat_templates/tool_use.jinja") => file(b"{{ tools }}".to_vec(), "cc"),
            _ => absent(),
        },
    );
    let workspace = Workspace::new();
    compress(&workspace, &server.address, "hf:o/n@refs/pr/1", &[]).exits(0);
    let folder = Path::new("hf/hub/models--o--n");
    assert_eq!(workspace.text(folder.join("refs/refs/pr/1")), COMMIT);
    let snapshot = folder.join("snapshots").join(COMMIT);
    assert_eq!(
        workspace.text(snapshot.join("chat_template.jinja")),
        "{{ messages }}"
    );
    let below = snapshot.join("additional_chat_templates/tool_use.jinja");
    assert_eq!(workspace.text(&below), "{{ tools }}");
    assert_eq!(
        fs::read_link(workspace.path(below)).unwrap(),
        Path::new("../../../blobs/cc")
    );
}

#[test]
fn a_repository_of_ranks_is_counted_with_the_tokens_that_its_configuration_names() {
    let server = Server::start(|request| match request.path.strip_prefix("/o/n/resolve/main/") {
        Some("tiktoken.model") => file(fixture("kimi/tiktoken.model"), "aa"),
        Some("tokenizer_config.json") => file(fixture("kimi/tokenizer_config.json"), "bb"),
        _ => absent(),
    });
    let workspace = Workspace::new();
    compress(&workspace, &server.address, "hf:o/n#kimi_k2", &[]).exits(0);
    let engine = workspace.json("out.summary.json")["tokenizer"]["engine"].to_string();
    assert!(engine.contains("split as kimi_k2"), "{engine}");
    // The pattern of these ranks is not known by their sum.
    let ran = compress(&workspace, &server.address, "hf:o/n", &[]).exits(2);
    assert!(ran.stderr.contains("#NAME"), "{}", ran.stderr);
}

#[test]
fn a_large_file_comes_from_elsewhere_where_the_token_is_not_sent() {
    let bytes = fixture("qwen.json");
    let elsewhere = Server::start({
        let bytes = bytes.clone();
        move |_| Response::new(200).header("ETag", "\"other\"").body(bytes.clone())
    });
    let target = format!("{}/xet/file?signed=1", elsewhere.address);
    let etag = sum(&bytes);
    let server = Server::start(move |request| match request.path.as_str() {
        "/o/n/resolve/main/tokenizer.json" => Response::new(307).header("Location", "/moved/tokenizer.json"),
        "/moved/tokenizer.json" => Response::new(302)
            .header("Location", &target)
            .header("X-Repo-Commit", COMMIT)
            .header("X-Linked-ETag", format!("\"{etag}\""))
            .header("ETag", "\"of-the-pointer\""),
        _ => absent(),
    });
    let workspace = Workspace::new();
    compress(
        &workspace,
        &server.address,
        "hf:o/n",
        &[("HF_TOKEN", "hf_secret")],
    )
    .exits(0);
    assert!(workspace.exists(Path::new("hf/hub/models--o--n/blobs").join(sum(&bytes))));
    let token = |request: &Request| request.headers.get("authorization").cloned();
    for request in server.requests() {
        assert_eq!(
            token(&request).as_deref(),
            Some("Bearer hf_secret"),
            "{}",
            request.path
        );
    }
    let [request] = &elsewhere.requests()[..] else {
        panic!("asked more than once");
    };
    assert_eq!(
        (request.path.as_str(), token(request)),
        ("/xet/file?signed=1", None)
    );
}

#[test]
fn what_fails_in_passing_is_tried_again() {
    let server = Server::start(|request| {
        if request.path != path_of("tokenizer.json") {
            return absent();
        }
        match request.before {
            0 => Response::new(503),
            1 => Response::new(429).header("Retry-After", "0"),
            2 => Response {
                breaks_after: Some(1000),
                ..plain(request)
            },
            _ => plain(request),
        }
    });
    let workspace = Workspace::new();
    compress(&workspace, &server.address, "hf:o/n", &[]).exits(0);
    assert_eq!(
        workspace.read("hf/hub/models--o--n/blobs/c0ffee"),
        fixture("qwen.json")
    );
    assert!(!workspace.files().iter().any(|file| file.contains("incomplete")));
}

#[test]
fn a_damaged_download_is_never_used() {
    let server = Server::start(|_| file(fixture("qwen.json"), &sum(b"another file")));
    let workspace = Workspace::new();
    let ran = compress(&workspace, &server.address, "hf:o/n", &[]).exits(2);
    assert!(ran.stderr.contains("its SHA-256 is another"), "{}", ran.stderr);
    assert!(
        !workspace.files().iter().any(|file| file.starts_with("hf/")),
        "{:?}",
        workspace.files()
    );
}

#[test]
fn a_refusal_says_what_to_do() {
    for (status, code, token, expected) in [
        (401, "GatedRepo", "", "set HF_TOKEN"),
        (403, "GatedRepo", "hf_x", "the account of HF_TOKEN"),
        (401, "RepoNotFound", "", "gated, private or does not exist"),
        (404, "RepoNotFound", "", "there is no such repository"),
        (404, "RevisionNotFound", "", "the repository has no such revision"),
        (
            404,
            "EntryNotFound",
            "",
            "holds no tokenizer.json and no tiktoken.model",
        ),
        (400, "", "", "HTTP 400"),
    ] {
        let server = Server::start(move |_| Response::new(status).header("X-Error-Code", code));
        let workspace = Workspace::new();
        let ran = compress(&workspace, &server.address, "hf:o/n", &[("HF_TOKEN", token)]).exits(2);
        assert!(ran.stderr.contains(expected), "{status} {code}: {}", ran.stderr);
        assert!(ran.stderr.contains("tokenizer.json"), "{}", ran.stderr);
        assert!(!ran.stderr.contains("hf_x"), "{}", ran.stderr);
    }
}

#[test]
fn what_is_no_hub_is_told_so() {
    for response in [
        Response::new(200).body("<html>"),
        Response::new(200)
            .header("X-Repo-Commit", "../..")
            .header("ETag", "x"),
        Response::new(200)
            .header("X-Repo-Commit", COMMIT)
            .header("ETag", "\"a/b\""),
        file(b"<html>Sign in".to_vec(), "c0ffee").header("Content-Type", "text/html; charset=utf-8"),
        Response::new(302),
        Response::new(302).header("Location", path_of("tokenizer.json")),
    ] {
        let server = Server::start(move |_| response.clone());
        let workspace = Workspace::new();
        let ran = compress(&workspace, &server.address, "hf:o/n", &[]).exits(2);
        assert!(
            ran.stderr.contains("does not answer as a hub does"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn without_a_network_it_says_which_file_it_wanted_and_where_it_looked() {
    let workspace = Workspace::new();
    let server = Server::start(plain);
    let wanted = "hf/hub/models--o--n/snapshots/main/tokenizer.json";
    for (name, variables, expected) in [
        (
            "hf:o/n",
            &[("HF_HUB_OFFLINE", "1")][..],
            "HF_HUB_OFFLINE forbids to download it",
        ),
        (
            "hf:o/n",
            &[("TRANSFORMERS_OFFLINE", "on")],
            "TRANSFORMERS_OFFLINE forbids to download it",
        ),
        ("o/n", &[], "only `hf:` before a name downloads it"),
    ] {
        let ran = compress(&workspace, &server.address, name, variables).exits(2);
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
        assert!(ran.stderr.contains(wanted), "{}", ran.stderr);
    }
    assert!(server.requests().is_empty());
    // A port that nobody listens on: the one of a server that is gone.
    let gone = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let ran = compress(&workspace, &format!("http://{gone}"), "hf:o/n", &[]).exits(2);
    assert!(
        ran.stderr
            .contains(&format!("{gone}/o/n/resolve/main/tokenizer.json")),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains(wanted), "{}", ran.stderr);
    assert!(ran.stderr.contains("no answer"), "{}", ran.stderr);
}

#[test]
fn two_programs_may_download_at_once() {
    let server = Server::start(plain);
    let workspaces = [Workspace::new(), Workspace::new()];
    let cache = workspaces[0].path("shared");
    let cache = cache.to_str().unwrap();
    std::thread::scope(|scope| {
        for workspace in &workspaces {
            let server = &server;
            scope.spawn(move || {
                compress(workspace, &server.address, "hf:o/n", &[("HF_HUB_CACHE", cache)]).exits(0)
            });
        }
    });
    let blobs = fs::read_dir(Path::new(cache).join("models--o--n/blobs")).unwrap();
    assert_eq!(blobs.count(), 1);
}
