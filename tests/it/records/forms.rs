//! Records written in one form, whatever form they come in.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::cli::Workspace;
use serde_json::{Value, json};

/// A record of each kind that there is: `ShareGPT` with tags, with roles for calls, chat with fields, with parts.
fn kinds(text: &str) -> [Value; 4] {
    [
        json!({"id": "tags", "n": 1.5, "conversations": [
            {"from": "system", "value": "s"}, {"from": "human", "value": "h"},
            {"from": "gpt", "value": "t\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>"},
            {"from": "tool", "value": format!("<tool_response>\n{{\"tool_call_id\": \"c\", \"name\": \"f\", \"content\": \"{text}\"}}\n</tool_response>")},
            {"from": "gpt", "value": "done"}], "tools": "[]"}),
        json!({"id": "roles", "n": 1.5, "system": "s", "conversations": [
            {"from": "human", "value": "h"}, {"from": "function_call", "value": "{\"name\": \"f\", \"arguments\": {\"a\": 1}}"},
            {"from": "observation", "value": text}, {"from": "gpt", "value": "done"}], "tools": "[]"}),
        json!({"id": "fields", "n": 1.5, "messages": [
            {"role": "system", "content": "s"}, {"role": "user", "content": "h"},
            {"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}}]},
            {"role": "tool", "tool_call_id": "c", "content": text}, {"role": "assistant", "content": "done"}], "tools": []}),
        json!({"id": "parts", "n": 1.5, "messages": [
            {"role": "system", "content": [{"type": "text", "text": "s"}]}, {"role": "user", "content": "h"},
            {"role": "assistant", "content": [{"type": "text", "text": "t"}, {"type": "tool_use", "id": "c", "name": "f", "input": {"a": 1}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": text}, {"type": "image", "source": {}}]},
            {"role": "assistant", "content": "done"}], "tools": []}),
    ]
}

fn lines(records: &[Value]) -> String {
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

/// Where the values of a record stand, each with its type; elements of a list share a place.
fn schema(value: &Value, place: &str, found: &mut BTreeMap<String, BTreeSet<&'static str>>) {
    let kind = match value {
        Value::Null => return,
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    };
    found.entry(place.to_owned()).or_default().insert(kind);
    match value {
        Value::Array(elements) => elements
            .iter()
            .for_each(|element| schema(element, &format!("{place}[]"), found)),
        Value::Object(members) => members
            .iter()
            .for_each(|(key, value)| schema(value, &format!("{place}.{key}"), found)),
        _ => {}
    }
}

#[test]
fn every_record_gets_the_form_that_is_asked_for_and_one_schema() {
    for (form, turns, text) in [
        ("sharegpt", "conversations", "value"),
        ("messages", "messages", "content"),
    ] {
        let workspace = Workspace::with_input(lines(&kinds("x")));
        let ran = workspace.run(&["compress", "in.jsonl", "-o", "out.jsonl", "--output-format", form]);
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
        let mut found = BTreeMap::new();
        for line in workspace.text("out.jsonl").lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            let keys: BTreeSet<&str> = record.as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(keys, BTreeSet::from(["id", "n", "tools", turns]), "{line}");
            for turn in record[turns].as_array().unwrap() {
                assert!(turn[text].is_string(), "{turn}");
            }
            schema(&record, "", &mut found);
        }
        let mixed: Vec<_> = found.iter().filter(|(_, kinds)| kinds.len() > 1).collect();
        assert!(mixed.is_empty(), "{mixed:?}");
        let rows = workspace.rows("out.metrics.csv");
        let converted: Vec<bool> = rows.iter().map(|row| row.converted).collect();
        assert_eq!(converted, [form == "messages", true, true, true]);
        let losses: Vec<&str> = rows.iter().map(|row| row.format_loss_kinds.as_str()).collect();
        assert_eq!(losses, ["", "", "", "image:1"]);
        let totals: Value = serde_json::from_slice(&workspace.read("out.summary.json")).unwrap();
        let counts =
            ["converted", "format_losses", "records_with_format_losses"].map(|key| totals[key].as_u64());
        assert_eq!(
            counts,
            [Some(if form == "messages" { 4 } else { 3 }), Some(1), Some(1)]
        );
    }
}

#[test]
fn the_budget_holds_for_what_is_written() {
    let mut long = kinds("x")[2].clone();
    let steps = (0..30).flat_map(|step| {
        let id = format!("c{step}");
        let call = json!({"id": id, "type": "function", "function": {"name": "read_file", "arguments": "{\"path\": \"a/b.py\"}"}});
        [
            json!({"role": "assistant", "content": "", "tool_calls": [call]}),
            json!({"role": "tool", "tool_call_id": id, "content": "some lines of a file and some more ".repeat(5)}),
        ]
    });
    let turns = long["messages"].as_array_mut().unwrap();
    let end = turns.len() - 1;
    turns.splice(end..end, steps);
    let record = format!("{long}\n");
    let costs = |workspace: &Workspace, name: &str| {
        let ran = workspace.run(&["count", name, "--per-record"]);
        let line: Value =
            serde_json::from_slice(ran.stdout.split(|byte| *byte == b'\n').next().unwrap()).unwrap();
        line["tokens"].as_u64().unwrap()
    };
    let workspace = Workspace::with_input(&record);
    let before = costs(&workspace, "in.jsonl");
    // It would fit as it is; with its calls in tags it does not.
    let budget = (before + 20).to_string();
    let ran = workspace.run(&[
        "compress",
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--output-format",
        "sharegpt",
        "--max-tokens",
        &budget,
    ]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let row = &workspace.rows("out.metrics.csv")[0];
    let after = costs(&workspace, "out.jsonl");
    assert_eq!((row.original_tokens, row.compressed_tokens), (before, after));
    assert!(row.was_compressed && after <= before + 20, "{row:?}");
}

#[test]
fn what_has_no_other_form_is_rejected_and_stays_as_it_came() {
    let bad = r#"{"conversations": [{"from": "human", "value": "h"}, 7]}"#;
    let workspace = Workspace::with_input(format!("{bad}\n{}\n", kinds("x")[0]));
    let ran = workspace.run(&[
        "compress",
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--output-format",
        "messages",
    ]);
    assert_eq!(ran.status, Some(3), "{}", ran.stderr);
    assert_eq!(workspace.text("out.jsonl").lines().count(), 1);
    let rejects = workspace.text("out.rejects.jsonl");
    assert!(
        rejects.contains(r#""reason":"not_convertible","reason_detail":"turn 1"#),
        "{rejects}"
    );
    let ran = workspace.run(&[
        "compress",
        "in.jsonl",
        "-o",
        "other.jsonl",
        "--output-format",
        "messages",
        "--on-invalid",
        "pass",
    ]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("on_invalid"), "{}", ran.stderr);
}

#[test]
fn arguments_need_a_form_to_be_written_in() {
    let workspace = Workspace::with_input(lines(&kinds("x")));
    let ran = workspace.run(&["compress", "in.jsonl", "-o", "out.jsonl", "--arguments", "object"]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("output.format"), "{}", ran.stderr);
    let ran = workspace.run(&[
        "compress",
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--arguments",
        "object",
        "--output-format",
        "messages",
    ]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let text = workspace.text("out.jsonl");
    assert!(
        text.contains(r#""arguments": {"a": 1}"#)
            && text.contains(r#""tools": []"#) | text.contains(r#""tools":[]"#),
        "{text}"
    );
}

#[test]
fn merging_two_forms_is_refused_before_anything_is_written() {
    let [sharegpt, _, messages, _] = kinds("x");
    let workspace = Workspace::new();
    workspace.write("a.jsonl", format!("{sharegpt}\n"));
    workspace.write("b.jsonl", format!("no record\n{messages}\n"));
    let before = workspace.files();
    for output in ["out.jsonl", "out.jsonl.gz", "-"] {
        let ran = workspace.run(&["compress", "a.jsonl", "b.jsonl", "-o", output]);
        assert_eq!((ran.status, ran.stdout.len()), (Some(2), 0), "{}", ran.stderr);
        let told = ["b.jsonl", "messages", "a.jsonl", "sharegpt", "--output-format"];
        assert!(
            told.iter().all(|told| ran.stderr.contains(told)),
            "{}",
            ran.stderr
        );
        assert_eq!(workspace.files(), before);
    }
    for form in ["sharegpt", "messages"] {
        let ran = workspace.run(&[
            "compress",
            "a.jsonl",
            "b.jsonl",
            "-o",
            "out.jsonl",
            "--output-format",
            form,
            "--force",
        ]);
        assert_eq!(ran.status, Some(3), "{}", ran.stderr);
        assert_eq!(workspace.text("out.jsonl").lines().count(), 2);
    }
    let ran = workspace.run(&["compress", "a.jsonl", "b.jsonl", "-o", "apart/"]);
    assert_eq!(ran.status, Some(3), "{}", ran.stderr);
    let ran = workspace.run(&[
        "compress",
        "a.jsonl",
        "b.jsonl",
        "-o",
        "first.jsonl",
        "--limit",
        "1",
    ]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
}

#[test]
fn a_second_form_that_shows_late_ends_the_run_with_its_place() {
    let [sharegpt, _, messages, _] = kinds("x");
    let workspace = Workspace::new();
    workspace.write("a.jsonl", format!("{sharegpt}\n"));
    workspace.write(
        "b.jsonl",
        format!("{sharegpt}\n").repeat(3) + &format!("{messages}\n"),
    );
    for resume in [&[][..], &["--resume"]] {
        let arguments = [&["compress", "a.jsonl", "b.jsonl", "-o", "out.jsonl"], resume].concat();
        let ran = workspace.run(&arguments);
        assert_eq!(ran.status, Some(4), "{}", ran.stderr);
        assert!(
            ran.stderr.contains("b.jsonl:4") && ran.stderr.contains("--output-format"),
            "{}",
            ran.stderr
        );
        assert!(!workspace.exists("out.jsonl"));
    }
    // Alone, a file may hold both.
    let ran = workspace.run(&["compress", "b.jsonl", "-o", "both.jsonl"]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
}
