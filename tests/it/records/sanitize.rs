//! What is broken in a trajectory: reported by default, mended when asked.

use crate::support::cli::Workspace;
use crate::support::generate::made;
use crate::support::oracle::parts;
use crate::support::structure::{NO_RESULT, call, chat, found, mended};
use proptest::prelude::*;
use serde_json::{Value, json};
use trajfit::internals::summarize::marker::SUMMARY_MARKER;
use trajfit::internals::trajectory::{Faults, faults, mend, parse};

#[test]
fn nothing_is_found_where_nothing_is_broken() {
    let user = json!({"role": "user", "content": "u"});
    let good = [
        chat(&[
            user.clone(),
            json!({"role": "assistant", "tool_calls": [call("a"), call("b")]}),
            json!({"role": "tool", "tool_call_id": "b", "content": "1"}),
            json!({"role": "tool", "tool_call_id": "a", "content": "2"}),
            json!({"role": "assistant", "content": "x"}),
            user.clone(),
            json!({"role": "assistant", "tool_calls": [call("c")]}),
        ]),
        chat(&[
            user.clone(),
            json!({"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{}"}}),
            json!({"role": "function", "name": "f", "content": "1"}),
            json!({"role": "assistant", "content": "y"}),
        ]),
        chat(&[
            user,
            json!({"role": "assistant", "content": "```bash\nls\n```"}),
            json!({"role": "tool", "content": "1"}),
        ]),
        json!({"conversations": [{"from": "human", "value": "u"}, {"from": "gpt", "value": "<tool_call>\n{}\n</tool_call>\n<tool_call>\n{}\n</tool_call>"},
            {"from": "tool", "value": "<tool_response>\n{}\n</tool_response>\n<tool_response>\n{}\n</tool_response>"},
            {"from": "human", "value": "[CONTEXT SUMMARY]: s"}, {"from": "human", "value": "v"}]}),
        json!({"conversations": [{"from": "human", "value": "u"}, {"from": "function_call", "value": "{}"}, {"from": "observation", "value": "o"},
            {"from": "gpt", "value": "x"}]}),
    ];
    for record in good {
        assert_eq!(found(&record), Faults::default(), "{record}");
        let text = record.to_string();
        assert_eq!(mend(&parse(text.as_bytes(), None).unwrap(), SUMMARY_MARKER), None);
    }
}

#[test]
fn a_call_without_an_answer_gets_one_that_claims_nothing() {
    let record = chat(&[
        json!({"role": "user", "content": "u"}),
        json!({"role": "assistant", "tool_calls": [call("a"), call("b")]}),
        json!({"role": "tool", "tool_call_id": "a", "content": "1"}),
        json!({"role": "assistant", "content": "x"}),
    ]);
    assert_eq!(found(&record).unanswered_calls, 1);
    let (turns, left) = mended(&record);
    assert_eq!(
        turns[3],
        json!({"role": "tool", "tool_call_id": "b", "content": NO_RESULT})
    );
    assert_eq!((turns.len(), left), (5, Faults::default()));
    let record = json!({"conversations": [{"from": "human", "value": "u"},
        {"from": "gpt", "value": "<tool_call>\n{\"name\": \"f\"}\n</tool_call>\n<tool_call>\n{\"name\": \"g\"}\n</tool_call>"},
        {"from": "tool", "value": "<tool_response>\n{\"name\": \"f\", \"content\": \"1\"}\n</tool_response>"}, {"from": "gpt", "value": "x"}]});
    let (turns, left) = mended(&record);
    assert!(turns[2]["value"].as_str().unwrap().ends_with(&format!("</tool_response>\n<tool_response>\n{{\"name\": \"g\", \"content\": \"{NO_RESULT}\"}}\n</tool_response>")));
    assert_eq!((turns.len(), left), (4, Faults::default()));
    let record = json!({"conversations": [{"from": "human", "value": "u"}, {"from": "function_call", "value": "{\"name\": \"f\"}"}, {"from": "gpt", "value": "x"}]});
    let (turns, left) = mended(&record);
    assert_eq!(
        (&turns[2], left),
        (
            &json!({"from": "observation", "value": NO_RESULT}),
            Faults::default()
        )
    );
}

#[test]
fn an_answer_that_nobody_asked_for_is_told_instead() {
    let record = chat(&[
        json!({"role": "user", "content": "u"}),
        json!({"role": "assistant", "tool_calls": [call("a"), call("b")]}),
        json!({"role": "tool", "tool_call_id": "a", "content": "1"}),
        json!({"role": "tool", "tool_call_id": "stray", "content": "lost"}),
        json!({"role": "tool", "tool_call_id": "b", "content": "2"}),
        json!({"role": "assistant", "content": "x"}),
    ]);
    assert_eq!(
        found(&record),
        Faults {
            orphan_responses: 1,
            ..Faults::default()
        }
    );
    let (turns, left) = mended(&record);
    let told = json!({"role": "user", "content": "[output of a tool; its call was not recorded]\nlost\n[end of the output]"});
    assert_eq!(
        (&turns[4], turns[3]["tool_call_id"].as_str(), turns.len()),
        (&told, Some("b"), 6)
    );
    assert_eq!(left, Faults::default());
}

#[test]
fn ids_become_unique_for_call_and_answer() {
    let group = |text: &str| {
        [
            json!({"role": "assistant", "tool_calls": [call("a"), call("a")]}),
            json!({"role": "tool", "tool_call_id": "a", "content": text}),
            json!({"role": "tool", "tool_call_id": "a", "content": text}),
        ]
    };
    let record = chat(
        &[
            &[json!({"role": "user", "content": "u"})],
            &group("1")[..],
            &group("2")[..],
        ]
        .concat(),
    );
    assert_eq!(
        found(&record),
        Faults {
            repeated_ids: 3,
            ..Faults::default()
        }
    );
    let (turns, left) = mended(&record);
    let ids: Vec<&Value> = turns.iter().filter_map(|turn| turn.get("tool_call_id")).collect();
    assert_eq!(ids, ["a", "a_2", "a_3", "a_4"]);
    assert_eq!(
        (&turns[4]["tool_calls"][1]["id"], left),
        (&json!("a_4"), Faults::default())
    );
}

#[test]
fn packed_answers_and_neighbours_of_one_role_are_sorted_out() {
    let packed = "<tool_response>\n{\"tool_call_id\": \"a\", \"content\": \"1\"}\n</tool_response>\n<tool_response>\n{\"tool_call_id\": \"b\", \"content\": \"2\"}\n</tool_response>";
    let record = chat(&[
        json!({"role": "user", "content": "u"}),
        json!({"role": "user", "content": [{"type": "text", "text": "v"}]}),
        json!({"role": "user", "content": "w"}),
        json!({"role": "assistant", "tool_calls": [call("a"), call("b")]}),
        json!({"role": "tool", "content": packed}),
        json!({"role": "assistant", "content": "x"}),
        json!({"role": "assistant", "content": "y", "tool_calls": [call("c")]}),
    ]);
    let expected = Faults {
        packed_responses: 1,
        same_role_neighbours: 3,
        ..Faults::default()
    };
    let found = found(&record);
    assert_eq!(
        (found.packed_responses, found.same_role_neighbours),
        (1, 3),
        "{found:?} {expected:?}"
    );
    let (turns, left) = mended(&record);
    assert_eq!(turns[0]["content"], json!("u\n\nv\n\nw"));
    assert_eq!(
        turns[2],
        json!({"role": "tool", "tool_call_id": "a", "content": "1"})
    );
    // What an assistant said beside its calls is no text to be joined.
    assert_eq!(
        left,
        Faults {
            same_role_neighbours: 1,
            ..Faults::default()
        }
    );
}

#[test]
fn a_turn_with_a_list_of_no_calls_is_nothing_but_text() {
    let empty = json!({"role": "assistant", "content": "x", "tool_calls": [], "reasoning_content": ""});
    let null = json!({"role": "assistant", "content": "y", "tool_calls": null, "function_call": null});
    for (turns, said) in [([&empty, &null], "x\n\ny"), ([&null, &empty], "y\n\nx")] {
        let user = json!({"role": "user", "content": "u"});
        let record = chat(&[user, turns[0].clone(), turns[1].clone()]);
        assert_eq!(found(&record).same_role_neighbours, 1);
        let (after, left) = mended(&record);
        let mut joined = turns[0].clone();
        joined["content"] = json!(said);
        assert_eq!((after[1..].to_vec(), left), (vec![joined], Faults::default()));
    }
}

#[test]
fn a_person_who_says_nothing_says_no_more_beside_another_turn() {
    let user = |content: &Value| json!({"role": "user", "content": content});
    let parts = json!([{"type": "text", "text": "v"}]);
    let (null, said) = (json!(null), json!("u"));
    let both = json!([{"type": "text", "text": "u"}, {"type": "text", "text": "v"}]);
    for (contents, joined) in [
        (vec![&null, &said], &said),
        (vec![&said, &null], &said),
        (vec![&null, &null], &null),
        (vec![&parts, &null], &parts),
        (vec![&null, &said, &parts], &both),
    ] {
        let turns: Vec<Value> = contents.iter().map(|content| user(content)).collect();
        let record = chat(&turns);
        assert_eq!(found(&record).same_role_neighbours, turns.len() - 1);
        assert_eq!(mended(&record), (vec![user(joined)], Faults::default()));
    }
}

#[test]
fn system_turns_side_by_side_become_one() {
    let record = chat(&[
        json!({"role": "system", "content": "s"}),
        json!({"role": "system", "content": [{"type": "text", "text": "t"}]}),
        json!({"role": "user", "content": "u"}),
        json!({"role": "system", "content": "v"}),
        json!({"role": "assistant", "content": "x"}),
    ]);
    let one = Faults {
        same_role_neighbours: 1,
        ..Faults::default()
    };
    assert_eq!(found(&record), one);
    let (turns, left) = mended(&record);
    assert_eq!(turns[0], json!({"role": "system", "content": "s\n\nt"}));
    assert_eq!((turns.len(), left), (4, Faults::default()));
    // These two are not the same to templates that know both.
    let record = chat(&[
        json!({"role": "system", "content": "s"}),
        json!({"role": "developer", "content": "t"}),
    ]);
    assert_eq!(found(&record), Faults::default());
}

proptest! {
    #![proptest_config(crate::support::generate::config())]

    #[test]
    fn mending_twice_changes_nothing_more(made in made()) {
        let line = made.line();
        let record = parse(line.as_bytes(), None).unwrap();
        let before = faults(&record, SUMMARY_MARKER);
        let Some(once) = mend(&record, SUMMARY_MARKER) else { return Ok(()) };
        let again = parse(once.text.as_bytes(), Some(record.format)).unwrap();
        prop_assert_eq!(mend(&again, SUMMARY_MARKER), None, "{}", once.text);
        prop_assert_eq!(faults(&again, SUMMARY_MARKER), once.left);
        prop_assert!(once.left.total() <= before.total(), "{:?} {:?}", before, once.left);
        // Nothing that was said is lost.
        let (_, old_rest) = parts(&line);
        prop_assert_eq!(parts(&once.text).1, old_rest);
    }

    #[test]
    fn turns_that_are_not_broken_keep_their_bytes(made in made()) {
        let line = made.line();
        let record = parse(line.as_bytes(), None).unwrap();
        if faults(&record, SUMMARY_MARKER).total() == 0 {
            prop_assert_eq!(mend(&record, SUMMARY_MARKER), None);
        }
    }
}

#[test]
fn the_command_line_reports_and_mends_only_when_asked() {
    let good = chat(&[
        json!({"role": "user", "content": "u"}),
        json!({"role": "assistant", "content": "x"}),
    ]);
    let bad = chat(&[
        json!({"role": "tool", "tool_call_id": "s", "content": "lost"}),
        json!({"role": "assistant", "content": "x"}),
    ]);
    let workspace = Workspace::with_input(format!("{good}\n{bad}\n"));
    workspace.compress(&["in.jsonl", "-o", "out.jsonl"]).exits(0);
    assert_eq!(workspace.text("out.jsonl"), format!("{good}\n{bad}\n"));
    let rows = workspace.rows("out.metrics.csv");
    assert_eq!(
        (
            rows[0].orphan_responses,
            rows[1].orphan_responses,
            rows[1].mended_faults
        ),
        (0, 1, 0)
    );
    let totals = workspace.json("out.summary.json");
    assert_eq!(totals["orphan_responses"], json!(1));
    workspace
        .compress(&["in.jsonl", "-o", "mended.jsonl", "--sanitize"])
        .exits(0);
    let text = workspace.text("mended.jsonl");
    assert!(
        text.starts_with(&format!("{good}\n"))
            && text.contains("[output of a tool; its call was not recorded]\\nlost\\n[end of the output]"),
        "{text}"
    );
    let row = &workspace.rows("mended.metrics.csv")[1];
    assert_eq!(row.mended_faults, 1);
    // What a record was is told of the record as it came.
    assert_eq!(
        (row.original_tokens, row.original_turns),
        (rows[1].original_tokens, rows[1].original_turns)
    );
    let cost = |tokens: u64| tokens.cast_signed();
    assert!(row.compressed_tokens > row.original_tokens);
    assert_eq!(
        row.tokens_saved,
        cost(row.original_tokens) - cost(row.compressed_tokens)
    );
    workspace
        .compress(&["mended.jsonl", "-o", "again.jsonl", "--sanitize"])
        .exits(0);
    assert_eq!(workspace.text("again.jsonl"), text);
}

#[test]
fn an_answer_that_names_its_tool_is_not_taken_for_that_of_another_call() {
    let record = json!({"conversations": [{"from": "human", "value": "u"},
        {"from": "gpt", "value": "<tool_call>\n{\"name\": \"f\"}\n</tool_call>\n<tool_call>\n{\"name\": \"g\"}\n</tool_call>"},
        {"from": "tool", "value": "<tool_response>\n{\"name\": \"g\", \"content\": \"1\"}\n</tool_response>"}, {"from": "gpt", "value": "x"}]});
    let (turns, left) = mended(&record);
    let answers = turns[2]["value"].as_str().unwrap();
    assert!(
        answers.ends_with(&format!(
            "{{\"name\": \"f\", \"content\": \"{NO_RESULT}\"}}\n</tool_response>"
        )),
        "{answers}"
    );
    assert_eq!((turns.len(), left), (4, Faults::default()));
}

#[test]
fn a_fault_is_mended_also_where_that_makes_neighbours_that_stay() {
    let text = r#"{"messages": [{"role": "user", "content": "u"}, {"role": "assistant", "content": "x"},
        {"role": "tool", "tool_call_id": "s", "content": "lost"}, {"role": "user", "content": "\ud83d"}]}"#;
    let line = text.replace('\n', " ");
    let mended = mend(&parse(line.as_bytes(), None).unwrap(), SUMMARY_MARKER).unwrap();
    let one = |orphan_responses, same_role_neighbours| Faults {
        orphan_responses,
        same_role_neighbours,
        ..Faults::default()
    };
    assert_eq!((mended.mended, mended.left), (one(1, 0), one(0, 1)));
    let workspace = Workspace::with_input(line);
    workspace
        .compress(&["in.jsonl", "-o", "out.jsonl", "--sanitize"])
        .exits(0);
    assert_eq!(workspace.rows("out.metrics.csv")[0].mended_faults, 1);
}
