//! What summaries hold and make up, and the gates on it: `--reject-invented`, `--min-grounding`, `check --against`.

use std::sync::Arc;

use crate::support::chat::{self, Server, completion};
use crate::support::cli::{Ran, Workspace, fixture_bytes};
use crate::support::generate::made;
use crate::support::{fit, fitter_with, settings};
use futures_util::future::{BoxFuture, ready};
use proptest::prelude::*;
use serde_json::{Value, json};
use trajfit::internals::compress::anchors::invented;
use trajfit::internals::metrics::Status;
use trajfit::internals::summarize::extractive::Extractive;
use trajfit::internals::summarize::{Summarizer, Summary, SummaryError, SummaryRequest};
use trajfit::internals::trajectory::Turns;

/// The embedded summarizer, held to quoting.
struct Quoting;

impl Summarizer for Quoting {
    fn name(&self) -> &'static str {
        "quoting"
    }

    fn summarize<'a>(&'a self, request: SummaryRequest<'a>) -> BoxFuture<'a, Result<Summary, SummaryError>> {
        let summary = Extractive { redaction: true }.summary(&request);
        if let Ok(summary) = &summary {
            let made_up = invented(
                &summary.text,
                Turns::Kept(request.turns),
                request.previous.into_iter(),
            );
            assert!(made_up.is_empty(), "{made_up:?} in\n{}", summary.text);
            assert!(request.counter.count(&summary.text) <= request.max_tokens);
        }
        Box::pin(ready(summary))
    }
}

proptest! {
    #![proptest_config(crate::support::generate::config())]

    #[test]
    fn an_extractive_summary_names_nothing_that_its_region_does_not(
        made in made(),
        target in 60..1500_usize,
        summary in 20..400_usize,
    ) {
        let fitter = fitter_with(settings(target, summary), Arc::new(Quoting));
        let fitted = fit(&fitter, &made.line());
        prop_assert!(fitted.row.status != Status::Failed, "{}", fitted.row.reason);
    }
}

#[test]
fn the_fixtures_are_summarized_by_quoting() {
    for name in ["agent_runs.jsonl", "agent_runs_messages.jsonl"] {
        let text = String::from_utf8(fixture_bytes(name)).unwrap();
        for (number, line) in text.lines().enumerate() {
            let summary = [50, 100, 300, 750][number % 4];
            let fitter = fitter_with(settings(6_000, summary), Arc::new(Quoting));
            let row = fit(&fitter, line).row;
            assert_ne!(row.status, Status::Failed, "{}", row.reason);
        }
    }
}

#[test]
fn identifiers_that_a_model_makes_up_are_counted_and_may_be_refused() {
    let answer = "It changed src/never_seen_here.py and closed ticket W7654321.";
    let server = Server::start(move |_, _| completion(answer));
    let workspace = Workspace::with_input(fixture_bytes("agent_runs.jsonl"));
    chat::run(&workspace, &server.url(), &[]).exits(0);
    let rows = workspace.rows("out.metrics.csv");
    let compressed: Vec<_> = rows.iter().filter(|row| row.was_compressed).collect();
    assert!(compressed.len() > 10 && compressed.iter().all(|row| row.anchors_invented == 2));
    let totals = workspace.json("out.summary.json");
    assert_eq!(totals["anchors_invented"], 2 * compressed.len());
    chat::run(
        &workspace,
        &server.url(),
        &["--force", "--no-cache", "--reject-invented", "true"],
    )
    .exits(3);
    for row in workspace
        .rows("out.metrics.csv")
        .iter()
        .filter(|row| row.was_compressed)
    {
        assert_eq!(
            (row.summarizer.as_str(), row.degraded, row.anchors_invented),
            ("extractive", true, 0)
        );
        assert!(row.summarization_api_calls >= 1 && row.prompt_tokens >= 1000);
        assert!(
            row.reason_text().contains("summary_invented"),
            "{}",
            row.reason_text()
        );
    }
    assert!(!workspace.text("out.jsonl").contains("never_seen_here"));
    chat::run(
        &workspace,
        &server.url(),
        &["--force", "--reject-invented", "true", "--on-failure", "keep"],
    )
    .exits(3);
    let kept = workspace.rows("out.metrics.csv");
    let refused = kept.iter().filter(|row| {
        row.reason_text()
            .starts_with("summary_invented: it names src/never_seen_here.py")
    });
    assert_eq!(
        refused.filter(|row| row.status == Status::Kept).count(),
        compressed.len()
    );
}

#[test]
fn what_a_model_lost_is_added_as_references() {
    let server = Server::start(|_, _| completion("The agent worked on it, and all was well."));
    let workspace = Workspace::with_input(fixture_bytes("agent_runs.jsonl"));
    chat::run(&workspace, &server.url(), &[]).exits(0);
    let rows = workspace.rows("out.metrics.csv");
    let needing: Vec<_> = rows.iter().filter(|row| row.anchors_needed > 0).collect();
    assert!(needing.len() > 5);
    assert!(
        needing
            .iter()
            .all(|row| row.anchors_held == row.anchors_needed && row.summarizer == "chat")
    );
    assert!(
        workspace
            .text("out.jsonl")
            .contains("The agent worked on it, and all was well.\\nKey references: ")
    );
    let totals = workspace.json("out.summary.json");
    assert_eq!(
        (&totals["anchors_held_share"], &totals["worst_grounded"]),
        (&json!(1.0), &json!([]))
    );
    // Whoever looks at the two files alone comes to the same.
    let checked = workspace
        .run(&["check", "--against", "in.jsonl", "out.jsonl", "--json"])
        .exits(0);
    let outcome: Value = serde_json::from_slice(&checked.stdout).unwrap();
    assert_eq!(outcome["anchors_needed"], totals["anchors_needed"]);
    assert_eq!(outcome["anchors_held"], totals["anchors_held"]);
    assert_eq!(
        (&outcome["matched_by"], &outcome["records"]),
        (&json!("metrics"), &json!(40))
    );
}

#[test]
fn a_run_that_holds_too_little_fails_its_gate_and_names_the_worst() {
    let workspace = Workspace::with_input(fixture_bytes("agent_runs.jsonl"));
    let arguments = [
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--target-max-tokens",
        "6000",
        "--summary-target-tokens",
        "20",
        "--summary-max-tokens",
        "20",
    ];
    let ran = workspace.compress(&[&arguments[..], &["--min-grounding", "0.99"]].concat());
    ran.exits(1)
        .says("less than --min-grounding 0.99")
        .says("in.jsonl:");
    let totals = workspace.json("out.summary.json");
    let worst = totals["worst_grounded"].as_array().unwrap();
    assert!(!worst.is_empty() && worst.len() <= 10);
    assert!(worst[0]["needed"].as_u64() > worst[0]["held"].as_u64());
    assert!(totals["anchors_held_share"].as_f64().unwrap() < 0.99);
    workspace
        .compress(&[&arguments[..], &["--force", "--min-grounding", "0"]].concat())
        .exits(0);
    workspace
        .compress(&[&arguments[..], &["--force", "--min-grounding", "1.5"]].concat())
        .exits(2)
        .says("from 0 to 1");
}

fn turn(from: &str, value: &str) -> Value {
    json!({"from": from, "value": value})
}

fn record(id: Option<&str>, turns: &[Value]) -> String {
    match id {
        Some(id) => json!({"id": id, "conversations": turns}).to_string(),
        None => json!({ "conversations": turns }).to_string(),
    }
}

/// A trajectory whose last turn uses what only its middle tells.
fn trajectory(name: &str) -> Vec<Value> {
    vec![
        turn("human", "mend it"),
        turn("gpt", "I look"),
        turn("tool", &format!("found lib/{name}_core.py and the key {name}_77")),
        turn("gpt", &format!("now lib/{name}_core.py with {name}_77")),
    ]
}

/// `trajectory` as a stranger compresses it: its middle replaced by `summary`, or cut.
fn shortened(name: &str, summary: Option<&str>) -> Vec<Value> {
    let mut turns = trajectory(name);
    turns.splice(1..3, summary.map(|text| turn("human", text)));
    turns
}

fn checked(workspace: &Workspace, more: &[&str]) -> Ran {
    workspace.run(&[&["check", "--against", "before.jsonl", "after.jsonl"], more].concat())
}

fn lines(records: &[String]) -> String {
    records.join("\n") + "\n"
}

#[test]
fn a_strangers_compression_is_scored_whatever_the_order_of_its_records() {
    let workspace = Workspace::new();
    let before: Vec<String> = ["a", "b", "c", "d"]
        .map(|name| record(Some(name), &trajectory(name)))
        .to_vec();
    let after = [
        record(Some("c"), &shortened("c", None)),
        record(
            Some("a"),
            &shortened("a", Some("lib/a_core.py and a_77 were found")),
        ),
        record(Some("d"), &trajectory("d")),
        record(Some("b"), &shortened("b", Some("found lib/b_core.py"))),
    ];
    workspace.write("before.jsonl", lines(&before));
    workspace.write("after.jsonl", lines(&after));
    let ran = checked(&workspace, &[]).exits(0);
    let text = String::from_utf8(ran.stdout).unwrap();
    assert!(text.starts_with("3 of 6 identifiers"), "{text}");
    assert!(
        text.contains("Records: 4 compared (matched by ids), 3 of them changed, 2 with"),
        "{text}"
    );
    assert!(
        text.contains("after.jsonl:1 holds 0 of 2; dangling: lib/c_core.py, c_77\n"),
        "{text}"
    );
    assert!(
        text.contains("after.jsonl:4 holds 1 of 2; dangling: b_77\n"),
        "{text}"
    );
    checked(&workspace, &["--min-grounding", "0.5"]).exits(0);
    let failed = checked(&workspace, &["--min-grounding", "0.51", "--json"]).exits(1);
    let outcome: Value = serde_json::from_slice(&failed.stdout).unwrap();
    assert_eq!(outcome["schema"], "trajfit.grounding/1");
    let documented = include_str!("../../../docs/json.md");
    for key in outcome.as_object().unwrap().keys() {
        assert!(documented.contains(&format!("`{key}`")), "{key}");
    }
    assert_eq!(
        (&outcome["passed"], &outcome["anchors_held_share"]),
        (&json!(false), &json!(0.5))
    );
}

#[test]
fn without_ids_records_match_by_order() {
    let workspace = Workspace::new();
    let before: Vec<String> = ["a", "b"].map(|name| record(None, &trajectory(name))).to_vec();
    let after = [
        record(None, &trajectory("a")),
        record(None, &shortened("b", None)),
    ];
    workspace.write("before.jsonl", lines(&before));
    workspace.write("after.jsonl", lines(&after));
    let ran = checked(&workspace, &[]).exits(0);
    assert!(
        String::from_utf8(ran.stdout)
            .unwrap()
            .contains("matched by order")
    );
}

#[test]
fn what_cannot_be_compared_is_told_and_fails_the_check() {
    let workspace = Workspace::new();
    workspace.write("before.jsonl", lines(&[record(Some("a"), &trajectory("a"))]));
    workspace.write("after.jsonl", lines(&[record(Some("x"), &trajectory("a"))]));
    let ran = checked(&workspace, &[]).exits(1);
    let text = String::from_utf8(ran.stdout).unwrap();
    assert!(text.contains("1 compressed records have no original"), "{text}");
    workspace.write("after.jsonl", "{\"broken\n");
    let ran = checked(&workspace, &[]).exits(1);
    let text = String::from_utf8(ran.stdout).unwrap();
    assert!(text.contains("after.jsonl:1: "), "{text}");
    checked(&workspace, &["--on-invalid", "fail"])
        .exits(4)
        .says("after.jsonl:1");
    workspace
        .run(&["check", "--against", "none.jsonl", "after.jsonl"])
        .exits(2)
        .says("none.jsonl");
    workspace
        .run(&["check", "--against", "before.jsonl", "-"])
        .exits(2)
        .says("standard input");
    workspace
        .run(&["check", "--against", "before.jsonl", "after.jsonl", "x.jsonl"])
        .exits(2);
    workspace
        .run(&["check", "after.jsonl", "--min-grounding", "0.9"])
        .exits(2);
}
