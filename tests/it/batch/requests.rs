//! Batches by files: requests written, answers taken in, and the same records as with a server that answers at once.

use std::collections::BTreeSet;

use crate::support::batch::{SETTINGS, answers, apply, chat, chat_at, demo, export, requests, summary};
use crate::support::chat::{Server, completion, user_text};
use crate::support::cli::{Workspace, fixture_bytes};
use serde_json::Value;
use trajfit::internals::metrics::{Row, Status};

/// Rows without the name of who wrote the summaries, and without time.
fn rows(workspace: &Workspace) -> Vec<Row> {
    let without = |row: Row| Row {
        summarizer: String::new(),
        duration_ms: 0.0,
        ..row
    };
    let rows = workspace.rows("out.metrics.csv");
    rows.into_iter().map(without).collect()
}

/// Has everything that is asked answered, and applies it, until nothing is missing. Returns the number of rounds.
fn apply_until_done(workspace: &Workspace, more: &[&str]) -> usize {
    let mut round = 0;
    let mut asked = "requests.jsonl".to_owned();
    loop {
        round += 1;
        let name = format!("answers/{round}.jsonl");
        workspace.write(&name, answers(&workspace.text(&asked)));
        let ran = apply(workspace, &["answers"], &[&["--force"], more].concat());
        "out.missing.jsonl".clone_into(&mut asked);
        if !workspace.exists(&asked) {
            ran.exits(0);
            return round;
        }
        ran.exits(3).says("Missing").says("out.missing.jsonl");
        assert!(round < 10);
    }
}

#[test]
fn batches_give_what_chat_gives_with_the_same_answers() {
    // As it comes, in pieces with several passes, and as a working record.
    let variants: [&[&str]; 3] = [
        &[],
        &["--context-window", "6000", "--summary-target-tokens", "300"],
        &[
            "--style",
            "handoff",
            "--focus",
            "the tests",
            "--summary-placement",
            "merge",
        ],
    ];
    for more in variants {
        let chat = chat(more);
        let batch = demo();
        export(&batch, more)
            .exits(0)
            .says("Requests")
            .says("requests.jsonl");
        let rounds = apply_until_done(&batch, more);
        assert!(rounds > 1, "{more:?}");
        assert!(batch.read("out.jsonl") == chat.read("out.jsonl"), "{more:?}");
        assert_eq!(rows(&batch), rows(&chat), "{more:?}");
        let first = batch.rows("out.metrics.csv");
        let usage = |workspace: &Workspace| {
            let totals = workspace.json("out.summary.json");
            let of = |key: &str| totals[key].as_u64().unwrap();
            (
                of("summarization_api_calls"),
                of("prompt_tokens"),
                of("completion_tokens"),
            )
        };
        assert_eq!(usage(&batch), usage(&chat));
        assert!(
            first
                .iter()
                .any(|row| row.summarizer == "batch" && row.status == Status::Compressed)
        );
    }
}

#[test]
fn requests_are_those_of_chat_each_once_with_an_id_of_its_own() {
    let server = Server::start(|_, request| {
        let question = user_text(&request.body_json().unwrap());
        completion(&summary(&question))
    });
    let workspace = demo();
    // Twice the same records: nothing is asked twice.
    let twice = [
        fixture_bytes("agent_runs.jsonl"),
        fixture_bytes("agent_runs.jsonl"),
    ]
    .concat();
    workspace.write("in.jsonl", twice);
    let url = server.url();
    let body = ["--body", r#"{"seed": 7}"#, "--base-url", &url];
    export(&workspace, &body).exits(0);
    let requests = requests(&workspace, "requests.jsonl");
    let ids: BTreeSet<&str> = requests.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids.len(), requests.len());
    assert!(requests.len() > 10 && requests.len() < 25);
    let chat = ["in.jsonl", "-o", "out.jsonl", "--summarizer", "chat"];
    workspace
        .compress(&[&chat[..], &SETTINGS, &body].concat())
        .exits(0);
    let sent = server.bodies();
    for (id, asked) in &requests {
        assert!(id.len() == 64 && id.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert!(sent.contains(asked), "{asked}");
        assert_eq!(asked["seed"], 7);
    }
    let line: Value = serde_json::from_str(workspace.text("requests.jsonl").lines().next().unwrap()).unwrap();
    assert_eq!(
        (&line["method"], &line["url"]),
        (&"POST".into(), &"/v1/chat/completions".into())
    );
}

#[test]
fn the_token_limit_and_the_temperature_are_written_as_the_server_wants_them() {
    let fields = |more: &[&str]| {
        let workspace = demo();
        export(&workspace, more).exits(0);
        let body = requests(&workspace, "requests.jsonl").swap_remove(0).1;
        ["max_tokens", "max_completion_tokens", "temperature"].map(|field| body.get(field).is_some())
    };
    assert_eq!(fields(&[]), [false, true, true]);
    assert_eq!(
        fields(&["--base-url", "http://localhost:8000/v1"]),
        [true, false, true]
    );
    assert_eq!(
        fields(&["--token-limit-field", "max_tokens"]),
        [true, false, true]
    );
    assert_eq!(fields(&["--send-temperature", "false"]), [false, true, false]);
    assert_eq!(fields(&["--api", "anthropic"]), [true, false, true]);
}

#[test]
fn anthropic_has_its_own_form_both_ways() {
    let api = ["--api", "anthropic"];
    let workspace = demo();
    export(&workspace, &api).exits(0);
    for line in workspace.text("requests.jsonl").lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let keys: Vec<&String> = line.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["custom_id", "params"]);
        let system = line["params"]["system"].as_str().unwrap();
        assert!(system.starts_with("You write the record"), "{system}");
    }
    apply_until_done(&workspace, &api);
    let rows = workspace.rows("out.metrics.csv");
    assert!(
        rows.iter()
            .any(|row| row.summarizer == "batch" && row.prompt_tokens >= 1000)
    );
}

#[test]
fn files_are_whole_and_nothing_is_overwritten_unasked() {
    let workspace = demo();
    export(&workspace, &["--max-requests-per-file", "5"]).exits(0);
    let before = workspace.files();
    assert!(
        before
            .iter()
            .all(|file| !file.contains(".partial") && !file.contains(".lock")),
        "{before:?}"
    );
    assert!(workspace.exists("requests-2.jsonl"));
    export(&workspace, &[])
        .exits(2)
        .says("requests.jsonl exists already")
        .says("--force");
    export(&workspace, &["--force"]).exits(0);
    // Parts of the earlier export would be sent along.
    assert!(!workspace.exists("requests-2.jsonl"));
    let into_input = ["batch", "export", "in.jsonl", "-o", "in.jsonl", "--force"];
    workspace
        .run(&[&into_input[..], &SETTINGS].concat())
        .exits(2)
        .says("is an input");
    let to_stdout = ["batch", "export", "in.jsonl", "-o", "-"];
    workspace
        .run(&[&to_stdout[..], &SETTINGS].concat())
        .exits(2)
        .says("-o");
    workspace.write("answers.jsonl", answers(&workspace.text("requests.jsonl")));
    apply(&workspace, &["answers.jsonl"], &[]).exits(3);
    apply(&workspace, &["answers.jsonl"], &[])
        .exits(2)
        .says("--force");
    apply(&workspace, &["nowhere.jsonl"], &["--force"])
        .exits(2)
        .says("nowhere.jsonl");
    workspace
        .compress(&["in.jsonl", "--summarizer", "batch", "--model", "m"])
        .exits(2)
        .says("trajfit batch run");
}

#[test]
fn requests_are_told_with_what_they_cost() {
    let workspace = demo();
    let prices = ["--price-prompt", "1", "--price-completion", "4"];
    export(&workspace, &prices).exits(0).says("$").says("half");
    let small = ["--target-max-tokens", "1000000", "-o", "none.jsonl"];
    let ran = workspace.run(&[&["batch", "export", "in.jsonl", "--model", "m"], &small[..]].concat());
    ran.exits(0).says("there is nothing to ask");
    assert!(!workspace.exists("none.jsonl"));
}

#[test]
fn what_was_received_one_by_one_is_not_asked_in_a_batch_and_the_other_way_round() {
    let shared = tempfile::tempdir().unwrap();
    let cache = ["--cache", shared.path().to_str().unwrap()];
    let (one_by_one, url) = chat_at(&cache);
    let cache = [&cache[..], &["--base-url", &url]].concat();
    let batch = demo();
    export(&batch, &cache).exits(0);
    assert!(!batch.exists("requests.jsonl"));
    export(&batch, &["--no-cache", "--base-url", &url]).exits(0);
    assert!(batch.text("requests.jsonl").lines().count() > 10);
    // Answers in files count before those of other runs.
    let text = batch.text("requests.jsonl");
    let other = answers(&text).replace("The agent", "Another agent");
    assert!(other.contains("Another agent read"));
    batch.write("answers/other.jsonl", other);
    apply(&batch, &["answers"], &cache);
    assert!(batch.text("out.jsonl").contains("Another agent read"));
    batch.write("answers/other.jsonl", "");
    apply(&batch, &["answers"], &[&["--force"], &cache[..]].concat()).exits(0);
    assert!(batch.read("out.jsonl") == one_by_one.read("out.jsonl"));
    let totals = batch.json("out.summary.json");
    assert_eq!(totals["summarization_api_calls"], 0);
    assert!(totals["cached_summaries"].as_u64().unwrap() > 10);

    // What came by files is beside the output, and a run that would ask one by one finds it there.
    let batch = demo();
    let server = Server::start(|_, _| panic!("nothing is left to ask"));
    let url = server.url();
    export(&batch, &["--base-url", &url]).exits(0);
    apply_until_done(&batch, &["--base-url", &url]);
    let again = [
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--summarizer",
        "chat",
        "--force",
        "--base-url",
    ];
    batch
        .compress(&[&again[..], &[&url], &SETTINGS].concat())
        .exits(0);
    assert_eq!(server.bodies().len(), 0);
    assert!(batch.read("out.jsonl") == one_by_one.read("out.jsonl"));
}
