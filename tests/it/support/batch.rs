//! Batches by files: the commands with the demo records, and responses in the forms of the vendors.

use std::fmt::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::chat::{Server, user_text};
use super::cli::{Ran, Workspace, fixture_bytes};
use super::vendor::Vendor;

/// What decides the requests of the tests.
pub const SETTINGS: [&str; 4] = ["--target-max-tokens", "12000", "--model", "test-model"];

/// Flags that make a run through a Batch API quick, but let nothing time out.
pub const QUICK: [&str; 6] = [
    "--poll-interval",
    "0.01",
    "--retry-delay",
    "0.01",
    "--timeout",
    "1000",
];

/// A quick run through a Batch API, with its standard output closed.
pub fn batch_run(workspace: &Workspace, vendor: &Vendor, more: &[&str]) -> Command {
    let url = vendor.url();
    let mut command = workspace.command(&["batch", "run", "in.jsonl", "-o", "out.jsonl", "--base-url", &url]);
    command.args(SETTINGS).args(QUICK).args(more);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// A workspace with the demo records.
pub fn demo() -> Workspace {
    Workspace::with_input(fixture_bytes("agent_runs.jsonl"))
}

/// Writes `requests.jsonl`.
pub fn export(workspace: &Workspace, more: &[&str]) -> Ran {
    let arguments = ["batch", "export", "in.jsonl", "-o", "requests.jsonl"];
    workspace.run(&[&arguments[..], &SETTINGS, more].concat())
}

/// Writes `out.jsonl` with these responses.
pub fn apply(workspace: &Workspace, responses: &[&str], more: &[&str]) -> Ran {
    let arguments = ["batch", "apply", "in.jsonl", "-o", "out.jsonl", "--responses"];
    workspace.run(&[&arguments[..], responses, &SETTINGS, more].concat())
}

/// The same records with a server that answers at once.
pub fn chat(more: &[&str]) -> Workspace {
    chat_at(more).0
}

/// The same, with the server's address.
pub fn chat_at(more: &[&str]) -> (Workspace, String) {
    let server = Server::start(|_, request| {
        let question = user_text(&request.body_json().unwrap());
        super::chat::completion(&summary(&question))
    });
    let workspace = demo();
    let url = server.url();
    let arguments = [
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--summarizer",
        "chat",
        "--base-url",
        &url,
    ];
    workspace
        .compress(&[&arguments[..], &SETTINGS, more].concat())
        .exits(0);
    (workspace, url)
}

/// The lines of a file, each read as a request.
pub fn requests(workspace: &Workspace, file: &str) -> Vec<(String, Value)> {
    workspace.text(file).lines().map(request).collect()
}

/// What a request of any form asks for: its id and its body.
pub fn request(line: &str) -> (String, Value) {
    let line: Value = serde_json::from_str(line).unwrap();
    let body = line.get("body").or_else(|| line.get("params")).unwrap().clone();
    (line["custom_id"].as_str().unwrap().to_owned(), body)
}

/// What a body asks, without the system's text.
pub fn question(body: &Value) -> String {
    let messages = body["messages"].as_array().unwrap();
    messages.last().unwrap()["content"].as_str().unwrap().to_owned()
}

/// A number that depends on the text and on nothing else.
pub fn sum(text: &str) -> u64 {
    let sum = text.bytes().fold(7_u64, |sum, byte| {
        sum.wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(byte.into())
    });
    sum >> 16
}

/// A summary that depends on the question and on nothing else, and is too long for one question in four.
pub fn summary(question: &str) -> String {
    let sum = sum(question);
    let mut text = format!("The agent read the files and ran the tests ({sum:016x}).\nTwo of them failed.");
    if sum.is_multiple_of(4) {
        for step in 0..300 {
            write!(text, "\nStep {step} was done with tool_{step}.").unwrap();
        }
    }
    text
}

/// A completion of `OpenAI`'s form that says this.
pub fn completion(text: &str) -> Value {
    json!({
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100},
    })
}

/// A message of Anthropic's form that says this.
pub fn message(text: &str) -> Value {
    json!({
        "type": "message", "content": [{"type": "text", "text": text}], "stop_reason": "end_turn",
        "usage": {"input_tokens": 1000, "output_tokens": 100},
    })
}

/// A response line of `OpenAI`'s form.
pub fn response(id: &str, status: u16, body: &Value) -> String {
    let response = json!({"status_code": status, "request_id": "req_1", "body": body});
    format!(
        "{}\n",
        json!({"id": "batch_req_1", "custom_id": id, "response": response, "error": null})
    )
}

/// A response line of `OpenAI`'s error file.
pub fn error(id: &str, code: &str) -> String {
    let error = json!({"code": code, "message": "This request was not executed."});
    format!(
        "{}\n",
        json!({"id": "batch_req_1", "custom_id": id, "response": null, "error": error})
    )
}

/// A result line of Anthropic's form.
pub fn result(id: &str, result: &Value) -> String {
    format!("{}\n", json!({"custom_id": id, "result": result}))
}

/// Answers to a file of requests, the last one first.
pub fn answers(requests: &str) -> String {
    let answer = |line: &str| {
        let (id, body) = request(line);
        let text = summary(&question(&body));
        if line.contains("\"params\":") {
            result(&id, &json!({"type": "succeeded", "message": message(&text)}))
        } else {
            response(&id, 200, &completion(&text))
        }
    };
    requests.lines().rev().map(answer).collect()
}
