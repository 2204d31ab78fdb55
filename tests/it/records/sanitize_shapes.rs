//! Turns that nothing is wrong with and that trainers refuse: brought into shape by `--sanitize`, and said in the row.

use crate::support::cli::Workspace;
use crate::support::generate::made;
use crate::support::oracle::parts;
use crate::support::structure::{call, chat, text};
use proptest::prelude::*;
use serde_json::{Value, json};
use trajfit::internals::summarize::marker::SUMMARY_MARKER;
use trajfit::internals::trajectory::{NO_REQUEST, SYSTEM_MESSAGE, Sanitized, Wishes, parse, sanitize};

const ALL: Wishes = Wishes {
    join_text_parts: true,
    end_with_assistant: true,
};

/// The sanitized record; `None` where nothing is to be done.
fn sanitized(record: &Value, wishes: Wishes) -> Option<Sanitized> {
    let line = record.to_string();
    sanitize(&parse(line.as_bytes(), None).unwrap(), wishes, SUMMARY_MARKER)
}

/// The turns of the sanitized record, and what was done.
#[track_caller]
fn shaped(record: &Value, wishes: Wishes) -> (Vec<Value>, String) {
    let sanitized = sanitized(record, wishes).unwrap();
    let turns = parts(&sanitized.text).0;
    let turns = turns.iter().map(|turn| serde_json::from_str(turn).unwrap());
    (turns.collect(), sanitized.shapes.to_string())
}

#[test]
fn content_that_is_missing_is_empty() {
    let record = chat(&[
        json!({"role": "user", "content": []}),
        json!({"role": "assistant", "content": null, "tool_calls": [call("a")]}),
        json!({"role": "tool", "tool_call_id": "a"}),
        json!({"role": "assistant", "content": "x"}),
    ]);
    let (turns, done) = shaped(&record, Wishes::default());
    let contents: Vec<&Value> = turns.iter().map(|turn| &turn["content"]).collect();
    assert_eq!(contents, ["", "", "", "x"]);
    assert_eq!(done, "missing_content:3");
    let record = json!({"conversations": [{"from": "human"}, {"from": "gpt", "value": "x"}]});
    assert_eq!(
        shaped(&record, Wishes::default()).0[0],
        json!({"from": "human", "value": ""})
    );
}

#[test]
fn names_of_roles_become_those_of_the_format() {
    let record = chat(&[
        json!({"role": "developer", "content": "s"}),
        json!({"role": "human", "content": "u"}),
        json!({"role": "ai", "content": "x"}),
        json!({"role": "exit", "content": "y"}),
    ]);
    let (turns, done) = shaped(&record, Wishes::default());
    let roles: Vec<&str> = turns.iter().filter_map(|turn| turn["role"].as_str()).collect();
    assert_eq!(
        (roles, done.as_str()),
        (vec!["system", "user", "assistant", "exit"], "role_name:3")
    );
    let record = json!({"conversations": [{"from": "user", "value": "u"}, {"from": "function_call", "value": "{\"name\": \"f\"}"},
        {"from": "observation", "value": "o"}, {"from": "assistant", "value": "x"}]});
    let (turns, done) = shaped(&record, Wishes::default());
    let roles: Vec<&str> = turns.iter().filter_map(|turn| turn["from"].as_str()).collect();
    assert_eq!(
        (roles, done.as_str()),
        (
            vec!["human", "function_call", "observation", "gpt"],
            "role_name:2"
        )
    );
}

#[test]
fn text_parts_become_a_string_on_request_only() {
    let record = chat(&[
        json!({"role": "user", "content": [text("a"), {"type": "text", "text": "b", "cache_control": {"type": "ephemeral"}}]}),
        json!({"role": "assistant", "content": [text("c")]}),
        json!({"role": "user", "content": [text("d"), {"type": "image", "source": {}}]}),
        json!({"role": "assistant", "content": "x"}),
    ]);
    assert_eq!(sanitized(&record, Wishes::default()), None);
    let (turns, done) = shaped(&record, ALL);
    assert_eq!(
        (&turns[0]["content"], &turns[1]["content"]),
        (&json!("a\nb"), &json!("c"))
    );
    assert!(turns[2]["content"].is_array());
    assert_eq!(done, "text_parts:2");
}

#[test]
fn late_instructions_go_to_the_front_or_are_told() {
    let record = chat(&[
        json!({"role": "system", "content": "s"}),
        json!({"role": "user", "content": "u"}),
        json!({"role": "system", "content": "t"}),
        json!({"role": "assistant", "content": "x"}),
        json!({"role": "system", "content": "now \"this\"", "weight": 0}),
        json!({"role": "assistant", "content": "y"}),
    ]);
    let (turns, done) = shaped(&record, Wishes::default());
    assert_eq!(done, "late_system:2");
    // The first was said before the assistant spoke: it joins the opening. The second changed what follows, where it stands.
    assert_eq!(turns[0], json!({"role": "system", "content": "s\n\nt"}));
    let told = json!({"role": "user", "content": format!("{SYSTEM_MESSAGE}\nnow \"this\""), "weight": 0});
    assert_eq!((&turns[3], turns.len()), (&told, 5));
    // Beside a person's turn it becomes one with it.
    let record = chat(&[
        json!({"role": "user", "content": "u"}),
        json!({"role": "assistant", "content": "x"}),
        json!({"role": "user", "content": "v"}),
        json!({"role": "system", "content": "t"}),
        json!({"role": "assistant", "content": "y"}),
    ]);
    let (turns, _) = shaped(&record, Wishes::default());
    assert_eq!(turns[2]["content"], format!("v\n\n{SYSTEM_MESSAGE}\nt"));
}

#[test]
fn an_assistant_that_speaks_first_answers_somebody() {
    let record = json!({"conversations": [{"from": "system", "value": "s"}, {"from": "gpt", "value": "x"}, {"from": "human", "value": "u"}]});
    let (turns, done) = shaped(&record, Wishes::default());
    assert_eq!(
        (&turns[1], done.as_str()),
        (
            &json!({"from": "human", "value": NO_REQUEST}),
            "first_assistant:1"
        )
    );
}

#[test]
fn what_follows_the_last_assistant_turn_is_cut_on_request_only() {
    let record = chat(&[
        json!({"role": "user", "content": "u"}),
        json!({"role": "assistant", "content": "", "tool_calls": [call("a")]}),
        json!({"role": "tool", "tool_call_id": "a", "content": "1"}),
        json!({"role": "user", "content": "v"}),
    ]);
    assert_eq!(sanitized(&record, Wishes::default()), None);
    let (turns, done) = shaped(&record, ALL);
    assert_eq!((turns.len(), done.as_str()), (2, "cut_turns:2"));
    let nobody = chat(&[json!({"role": "user", "content": "u"})]);
    assert_eq!(sanitized(&nobody, ALL), None);
}

#[test]
fn the_row_says_what_was_brought_into_shape_and_what_no_form_names() {
    let record = chat(&[
        json!({"role": "system", "content": "s"}),
        json!({"role": "assistant", "content": null, "tool_calls": [call("a")]}),
        json!({"role": "assistant", "content": "x"}),
        json!({"role": "exit", "content": "y"}),
        json!({"role": "user", "content": "v"}),
    ]);
    let workspace = Workspace::with_input(format!("{record}\n"));
    workspace.compress(&["in.jsonl", "-o", "as_it_is.jsonl"]).exits(0);
    let row = &workspace.rows("as_it_is.metrics.csv")[0];
    assert_eq!(
        (row.mended_shapes, row.mended_kinds.as_str(), row.unknown_roles),
        (0, "", 1)
    );
    assert_eq!(workspace.text("as_it_is.jsonl"), format!("{record}\n"));
    workspace
        .compress(&[
            "in.jsonl",
            "-o",
            "out.jsonl",
            "--sanitize",
            "--end-with-assistant",
        ])
        .exits(0);
    let row = &workspace.rows("out.metrics.csv")[0];
    let kinds = "unanswered_calls:1 missing_content:1 first_assistant:1 cut_turns:2";
    assert_eq!(
        (row.mended_shapes, row.mended_faults, row.mended_kinds.as_str()),
        (4, 1, kinds)
    );
    let totals = workspace.json("out.summary.json");
    assert_eq!(
        (&totals["mended_shapes"], &totals["records_with_mended_shapes"]),
        (&json!(4), &json!(1))
    );
    // It is in shape now.
    workspace
        .compress(&[
            "out.jsonl",
            "-o",
            "again.jsonl",
            "--sanitize",
            "--end-with-assistant",
        ])
        .exits(0);
    assert_eq!(workspace.text("again.jsonl"), workspace.text("out.jsonl"));
    let ran = workspace.run(&["compress", "in.jsonl", "-o", "no.jsonl", "--end-with-assistant"]);
    assert!(
        ran.status == Some(2) && ran.stderr.contains("sanitize"),
        "{}",
        ran.stderr
    );
}

proptest! {
    #![proptest_config(crate::support::generate::config())]

    #[test]
    fn sanitizing_twice_changes_nothing_more(made in made(), join_text_parts in any::<bool>(), end_with_assistant in any::<bool>()) {
        let line = made.line();
        let wishes = Wishes { join_text_parts, end_with_assistant };
        let record = parse(line.as_bytes(), None).unwrap();
        let Some(once) = sanitize(&record, wishes, SUMMARY_MARKER) else { return Ok(()) };
        let again = parse(once.text.as_bytes(), Some(record.format)).unwrap();
        prop_assert_eq!(sanitize(&again, wishes, SUMMARY_MARKER), None, "{}", once.text);
        prop_assert_eq!(parts(&once.text).1, parts(&line).1);
    }
}
