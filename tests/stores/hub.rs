//! Data sets of the hub: files, folders, revisions and tokens.

use crate::support::cli::{Ran, Workspace, short};
use crate::support::server::{Request, Response, Server};

const TOKEN: &str = "hf_secretsecretsecret";

/// A hub that sends files of one data set to those who have the token, from another server.
fn hub() -> (Server, Server) {
    let storage = Server::start(|request| {
        assert!(!request.headers.contains_key("authorization"));
        let name = request
            .path
            .rsplit('/')
            .next()
            .unwrap()
            .trim_end_matches(".jsonl")
            .to_owned();
        file(&short(&name), request)
    });
    let address = storage.address.clone();
    let hub = Server::start(move |request| {
        if request.headers.get("authorization") != Some(&format!("Bearer {TOKEN}")) {
            return Response::new(401);
        }
        if let Some(rest) = request.path.strip_prefix("/datasets/o/n/resolve/") {
            let file = rest.split_once('/').unwrap().1;
            return Response::new(302)
                .header("X-Linked-ETag", "\"linked\"")
                .header("Location", format!("{address}/{file}"));
        }
        match request.path.as_str() {
            "/api/datasets/o/n/tree/main/data?recursive=true" => {
                let host = request.headers["host"].clone();
                let next = format!("<http://{host}/api/datasets/o/n/tree/main/data?cursor=2>; rel=\"next\"");
                Response::new(200).header("Link", next).body(
                    r#"[{"type": "directory", "path": "data/deep"}, {"type": "file", "path": "data/b.jsonl", "size": 9}]"#,
                )
            }
            "/api/datasets/o/n/tree/main/data?cursor=2" => Response::new(200).body(
                r#"[{"type": "file", "path": "data/deep/a.jsonl"}, {"type": "file", "path": "data/README.md"}]"#,
            ),
            _ => Response::new(404),
        }
    });
    (hub, storage)
}

fn file(text: &str, request: &Request) -> Response {
    let (start, end) = request.headers["range"]
        .trim_start_matches("bytes=")
        .split_once('-')
        .unwrap();
    let (start, end): (usize, usize) = (start.parse().unwrap(), end.parse().unwrap());
    let end = end.min(text.len() - 1);
    Response::new(206)
        .header("ETag", "\"of-storage\"")
        .header("Content-Range", format!("bytes {start}-{end}/{}", text.len()))
        .body(&text[start..=end])
}

fn compress(workspace: &Workspace, hub: &Server, token: &str, arguments: &[&str]) -> Ran {
    let mut command = workspace.command(&[&["compress"], arguments].concat());
    for (variable, _) in std::env::vars_os() {
        let name = variable.to_string_lossy().into_owned();
        if name.starts_with("HF_") || name.starts_with("HUGGING") || name.to_lowercase().ends_with("_proxy") {
            command.env_remove(variable);
        }
    }
    command
        .env_remove("HF_HUB_OFFLINE")
        .env("HF_HOME", workspace.path("hf"))
        .env("HF_ENDPOINT", &hub.address)
        .env("HF_TOKEN", token);
    let ran = Ran::of(command.output().unwrap());
    assert!(!ran.stderr.contains(TOKEN));
    ran
}

#[test]
fn a_file_of_a_data_set_is_read_with_the_token() {
    let (hub, storage) = hub();
    let workspace = Workspace::new();
    compress(
        &workspace,
        &hub,
        TOKEN,
        &["hf://datasets/o/n/train.jsonl", "-o", "out.jsonl"],
    )
    .exits(0);
    assert_eq!(workspace.text("out.jsonl"), short("train"));
    assert!(
        hub.requests()
            .iter()
            .all(|request| request.path == "/datasets/o/n/resolve/main/train.jsonl")
    );
    assert!(!storage.requests().is_empty());
    let at = "hf://datasets/o/n@refs/pr/1/a b.jsonl";
    compress(&workspace, &hub, TOKEN, &[at, "-o", "at.jsonl"]).exits(0);
    let last = hub.requests().last().unwrap().path.clone();
    assert_eq!(last, "/datasets/o/n/resolve/refs%2Fpr%2F1/a%20b.jsonl");
    for file in workspace.files() {
        assert!(
            !String::from_utf8_lossy(&workspace.read(&file)).contains(TOKEN),
            "{file}"
        );
    }
    let ran = compress(
        &workspace,
        &hub,
        "",
        &["hf://datasets/o/n/train.jsonl", "-o", "x.jsonl"],
    )
    .exits(2);
    ran.says("cannot read hf://datasets/o/n/train.jsonl: access is denied")
        .says("HF_TOKEN");
    let ran = workspace
        .compress(&["hf://datasets/o/n/train.jsonl", "-o", "x.jsonl"])
        .exits(2);
    ran.says("HF_HUB_OFFLINE forbids to download it");
}

#[test]
fn a_folder_of_a_data_set_is_listed() {
    let (hub, _storage) = hub();
    let workspace = Workspace::new();
    compress(&workspace, &hub, TOKEN, &["hf://datasets/o/n/data/", "-o", "out"]).exits(0);
    assert_eq!(workspace.text("out/b.jsonl"), short("b"));
    assert_eq!(workspace.text("out/deep/a.jsonl"), short("a"));
    let ran = compress(
        &workspace,
        &hub,
        TOKEN,
        &["hf://datasets/o/n/none/", "-o", "none"],
    );
    ran.exits(2).says("no such file");
}
