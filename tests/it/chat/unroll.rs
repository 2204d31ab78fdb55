//! Compactions of unrolled trajectories by a language model: one request each, kept, stopped and continued.

use serde_json::Value;

use crate::support::chat::{Server, answer_to, completion, refusal, user_text};
use crate::support::cli::{Ran, Workspace};
use crate::support::rendered::named_steps;

fn unroll(workspace: &Workspace, server: &Server, more: &[&str]) -> Ran {
    let url = server.url();
    let arguments = [
        "unroll",
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--max-tokens",
        "1800",
        "--summary-target-tokens",
        "100",
        "--summarizer",
        "chat",
        "--base-url",
        &url,
        "--model",
        "m",
        "--max-retries",
        "0",
        "--jobs",
        "1",
    ];
    workspace.run(&[&arguments[..], more].concat())
}

/// Two trajectories, a line each.
fn workspace() -> Workspace {
    let other = named_steps(14).replace(r#""id": 7"#, r#""id": 8"#);
    Workspace::with_input(format!(
        "{}\n{}\n",
        named_steps(20),
        other.replace("src/", "lib/")
    ))
}

#[test]
fn a_model_is_asked_once_for_each_compaction_and_never_of_what_came_later() {
    let server = Server::start(|_, request| completion(&answer_to(request)));
    let workspace = workspace();
    unroll(&workspace, &server, &["--with-summaries"]).exits(0);
    let totals = workspace.json("out.summary.json");
    let compactions = totals["compactions"].as_u64().unwrap();
    assert!(compactions > 4);
    assert_eq!(totals["summarization_api_calls"], compactions);
    assert_eq!(totals["summary_records"], compactions);
    let bodies = server.bodies();
    assert_eq!(bodies.len() as u64, compactions);
    for body in &bodies {
        let text = user_text(body);
        // The files of a step come in order: whoever reads of one has not read of a later one.
        let newest = (0..20).rfind(|step| text.contains(&format!("made_{step}.rs")));
        assert!(!text.contains(&format!("read_{}.rs", newest.unwrap() + 1)));
    }
    // What the model wrote is what the record teaches.
    let records = workspace.text("out.jsonl");
    let records = records
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let taught: Vec<Value> = records.filter(|record| record["is_summary"] == true).collect();
    assert_eq!(taught.len() as u64, compactions);
    for record in &taught {
        let last = record["messages"].as_array().unwrap().last().unwrap();
        assert!(last["train"] == true && last["role"] == "assistant");
        assert!(
            last["content"]
                .as_str()
                .unwrap()
                .starts_with("The agent read the files")
        );
    }
    workspace
        .run(&["check", "--unrolled-from", "in.jsonl", "out.jsonl"])
        .exits(0);
    // Nothing is paid twice.
    let first = workspace.read("out.jsonl");
    unroll(&workspace, &server, &["--with-summaries", "--force"]).exits(0);
    assert!(workspace.read("out.jsonl") == first);
    assert_eq!(server.requests().len() as u64, compactions);
}

#[test]
fn a_run_that_its_server_ended_is_resumed_to_the_same_bytes() {
    let whole = workspace();
    let server = Server::start(|_, request| completion(&answer_to(request)));
    unroll(&whole, &server, &[]).exits(0);
    let asked = server.requests().len();
    let stopped = workspace();
    let failing = Server::start(|number, request| {
        if number == 2 {
            refusal(401, "no such key")
        } else {
            completion(&answer_to(request))
        }
    });
    unroll(&stopped, &failing, &[]).exits(4);
    assert!(!stopped.exists("out.jsonl"));
    unroll(&stopped, &failing, &["--resume"]).exits(0);
    assert!(stopped.read("out.jsonl") == whole.read("out.jsonl"));
    // Answers that were kept are not asked for again.
    assert_eq!(failing.requests().len(), asked + 1);
}
