//! What trainers ask of files and places, through the program: columns and names across records, summaries beside results.

use crate::support::cli::{Ran, Workspace};
use serde_json::{Value, json};

fn stdout(ran: Ran) -> String {
    String::from_utf8(ran.stdout).unwrap()
}

fn chat(fields: &Value) -> String {
    let mut record =
        json!({"messages": [{"role": "user", "content": "u"}, {"role": "assistant", "content": "a"}]});
    record
        .as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    record.to_string() + "\n"
}

fn observing(role: &str) -> String {
    let call = json!({"name": "f", "arguments": {}}).to_string();
    json!({"conversations": [{"from": "human", "value": "h"}, {"from": "function_call", "value": call},
        {"from": role, "value": "r"}, {"from": "gpt", "value": "x"}]})
    .to_string()
        + "\n"
}

#[test]
fn files_of_a_folder_whose_columns_differ_are_refused() {
    let workspace = Workspace::new();
    workspace.write("data/a.jsonl", chat(&json!({})));
    workspace.write("data/b.jsonl", chat(&json!({"score": 1})));
    workspace.write("turned/a.jsonl", chat(&json!({"score": 1})));
    workspace.write("turned/b.jsonl", chat(&json!({})));
    let lint = ["lint", "--trainer", "ms-swift", "--fail", "--quiet"];
    let answer = stdout(workspace.run(&[&lint[..], &["data"]].concat()).exits(1));
    assert!(answer.contains("new_column 1: data/b.jsonl:1: score"), "{answer}");
    workspace.run(&[&lint[..], &["turned"]].concat()).exits(0);
    workspace.run(&[&lint[..], &["data/b.jsonl"]].concat()).exits(0);
}

#[test]
fn one_name_for_tools_holds_for_the_whole_file() {
    let workspace = Workspace::with_input(observing("tool") + &observing("observation"));
    let lint = [
        "lint",
        "in.jsonl",
        "--trainer",
        "llama-factory",
        "--fail",
        "--quiet",
    ];
    let answer = stdout(workspace.run(&lint).exits(1));
    assert!(
        answer.contains("two_names 1: in.jsonl:2: observation, in records before tool"),
        "{answer}"
    );
    let of_another = ["lint", "in.jsonl", "--trainer", "ms-swift", "--fail", "--quiet"];
    workspace.run(&of_another).exits(0);
}

/// A session with results of tools in a person's turns.
fn session() -> String {
    let long = "word ".repeat(400);
    let mut turns = vec![json!({"role": "user", "content": [{"type": "text", "text": "Please look."}]})];
    for number in 0..8 {
        let id = format!("toolu_{number}");
        turns.push(
            json!({"role": "assistant", "content": [{"type": "text", "text": format!("Step {number}.")},
            {"type": "tool_use", "id": id, "name": "bash", "input": {"command": format!("cat {number}")}}]}),
        );
        turns.push(
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": long}]}),
        );
    }
    turns.push(json!({"role": "assistant", "content": [{"type": "text", "text": "Done."}]}));
    json!({"messages": turns}).to_string() + "\n"
}

#[test]
fn a_summary_stands_inside_a_result_and_no_trainer_drops_the_turn() {
    let workspace = Workspace::with_input(session());
    let compress = [
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--force",
        "--target-max-tokens",
        "2500",
    ];
    workspace.compress(&compress).exits(0);
    assert_eq!(workspace.rows("out.metrics.csv")[0].placement, "tool-before");
    let totals = workspace.json("out.summary.json");
    assert_eq!(totals["records_by_placement"], json!({"tool-before": 1}));
    let for_swift = [
        &compress[..],
        &["--trainer", "ms-swift", "--output-format", "same"],
    ]
    .concat();
    workspace.compress(&for_swift);
    assert_eq!(workspace.rows("out.metrics.csv")[0].placement, "tool-before");
    // In the form that this trainer takes, results are turns of their own.
    let for_swift = [&compress[..], &["--trainer", "ms-swift"]].concat();
    workspace.compress(&for_swift).exits(0);
    assert_eq!(workspace.rows("out.metrics.csv")[0].placement, "tool-before");
    let lint = [
        "lint",
        "in.jsonl",
        "--compressed",
        "out.jsonl",
        "--trainer",
        "ms-swift",
        "--quiet",
    ];
    workspace.run(&lint).exits(0);
}

#[test]
fn explain_and_show_tell_form_and_place() {
    let workspace = Workspace::with_input(session());
    let flags = [
        "in.jsonl",
        "--target-max-tokens",
        "2500",
        "--output-format",
        "sharegpt",
    ];
    let answer = stdout(workspace.run(&[&["explain"], &flags[..]].concat()).exits(0));
    assert!(answer.contains("Form       written in another form"), "{answer}");
    assert!(answer.contains("gpt + 1 tool"), "{answer}");
    assert!(answer.contains("Place      at the end of tool turn "), "{answer}");
    workspace
        .compress(&[&flags[..], &["-o", "out.jsonl"]].concat())
        .exits(0);
    let row = &workspace.rows("out.metrics.csv")[0];
    let json: Value = serde_json::from_slice(
        &workspace
            .run(&[&["explain", "--json"], &flags[..]].concat())
            .exits(0)
            .stdout,
    )
    .unwrap();
    assert_eq!(json["region"]["start"], row.region_start);
    assert_eq!(json["row"]["placement"], row.placement);
    assert_eq!(json["turns"].as_array().unwrap().len() as u64, row.original_turns);
    let shown = stdout(workspace.run(&[&["show"], &flags[..]].concat()).exits(0));
    assert!(
        shown.contains("<tool_response>") || shown.contains("<- "),
        "{shown}"
    );
    // Marks of a trainer change no decision.
    let marked = ["in.jsonl", "--target-max-tokens", "2500", "--trainer", "axolotl"];
    let answer = stdout(workspace.run(&[&["explain"], &marked[..]].concat()).exits(0));
    assert!(answer.contains("Place      at the end of tool turn "), "{answer}");
}

#[test]
fn an_answer_that_was_aborted_is_not_the_one_that_is_protected() {
    let long = "word ".repeat(300);
    let mut turns = vec![
        json!({"role": "user", "content": "Please."}),
        json!({"role": "assistant", "content": []}),
    ];
    turns.push(json!({"role": "user", "content": "Again, please."}));
    turns.push(json!({"role": "assistant", "content": "The first answer."}));
    for number in 0..10 {
        turns.push(json!({"role": "user", "content": format!("{number} {long}")}));
        turns.push(json!({"role": "assistant", "content": "Yes."}));
    }
    let workspace = Workspace::with_input(json!({"messages": turns}).to_string());
    workspace
        .compress(&["in.jsonl", "-o", "out.jsonl", "--target-max-tokens", "1500"])
        .exits(0);
    assert!(workspace.text("out.jsonl").contains("The first answer."));
}
