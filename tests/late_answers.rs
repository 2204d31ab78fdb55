//! Answers that come after somebody else spoke, and turns in any order at all: how they are sorted out.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // Tests may fail loudly.

mod support;

use proptest::prelude::*;
use serde_json::{Value, json};
use support::structure::{call, chat, found, mended};
use trajfit::summarize::marker::SUMMARY_MARKER;
use trajfit::trajectory::{Faults, faults, mend, parse};

#[test]
fn an_answer_that_came_after_somebody_spoke_goes_to_its_call() {
    let answer = |id: &str, text: &str| json!({"role": "tool", "tool_call_id": id, "content": text});
    let said = |role: &str, text: &str| json!({"role": role, "content": text});
    let calls = |ids: &[&str]| json!({"role": "assistant", "tool_calls": ids.iter().map(|id| call(id)).collect::<Vec<_>>()});
    let record = chat(&[
        said("user", "u"),
        calls(&["a", "b", "c"]),
        answer("b", "1"),
        said("user", "v"),
        answer("c", "2"),
        answer("a", "3"),
        said("user", "w"),
        said("assistant", "x"),
    ]);
    let expected = Faults {
        unanswered_calls: 2,
        ..Faults::default()
    };
    assert_eq!(found(&record), expected);
    let (turns, left) = mended(&record);
    let expected = [
        said("user", "u"),
        calls(&["a", "b", "c"]),
        answer("b", "1"),
        answer("c", "2"),
        answer("a", "3"),
        said("user", "v\n\nw"),
        said("assistant", "x"),
    ];
    assert_eq!((turns.as_slice(), left), (&expected[..], Faults::default()));
    // Calls in two turns, and then the answers to both.
    let record = chat(&[calls(&["a"]), calls(&["b"]), answer("a", "1"), answer("b", "2")]);
    let (turns, left) = mended(&record);
    let expected = [calls(&["a"]), answer("a", "1"), calls(&["b"]), answer("b", "2")];
    assert_eq!((turns.as_slice(), left), (&expected[..], Faults::default()));
    // Results in parts of what a person says stand between no call and its answer.
    let result = json!([{"type": "tool_result", "tool_use_id": "a", "content": "1"}]);
    let record = chat(&[
        calls(&["a", "b"]),
        json!({"role": "user", "content": result}),
        answer("b", "2"),
        said("assistant", "x"),
    ]);
    assert_eq!(found(&record), Faults::default());
}

/// Turns in any order, each with a text of its own.
fn jumbled() -> impl Strategy<Value = Value> {
    let id = || prop::sample::select(vec!["a", "b", "c"]);
    let turn = prop_oneof![
        prop::sample::select(vec!["system", "user", "assistant"])
            .prop_map(|role| json!({"role": role, "content": ""})),
        Just(json!({"role": "assistant", "content": "", "tool_calls": []})),
        prop::collection::vec(id(), 1..3).prop_map(|ids| {
            let calls: Vec<Value> = ids.into_iter().map(call).collect();
            json!({"role": "assistant", "content": "", "tool_calls": calls})
        }),
        id().prop_map(|id| json!({"role": "tool", "tool_call_id": id, "content": ""})),
        id().prop_map(|id| json!({"role": "tool", "tool_call_id": id, "content": ""})),
    ];
    prop::collection::vec(turn, 1..14).prop_map(|mut turns| {
        for (index, turn) in turns.iter_mut().enumerate() {
            turn["content"] = json!(format!("text {index}."));
        }
        chat(&turns)
    })
}

/// Whether all answers stand right behind the turn that called, as those who train on calls want it.
fn answers_follow_their_calls(record: &str) -> bool {
    let record: Value = serde_json::from_str(record).unwrap();
    let mut open: Vec<Value> = Vec::new();
    record["messages"].as_array().unwrap().iter().all(|turn| {
        if turn["role"] == "tool" {
            let place = open.iter().position(|id| *id == turn["tool_call_id"]);
            return place.map(|place| open.remove(place)).is_some();
        }
        let was_answered = open.is_empty();
        let calls = turn["tool_calls"].as_array();
        open = calls.map_or_else(Vec::new, |calls| {
            calls.iter().map(|call| call["id"].clone()).collect()
        });
        was_answered
    })
}

proptest! {
    #![proptest_config(support::generate::config())]

    #[test]
    fn turns_in_any_order_are_sorted_out_and_nothing_is_lost(record in jumbled()) {
        let line = record.to_string();
        let record = parse(line.as_bytes(), None).unwrap();
        let before = faults(&record, SUMMARY_MARKER);
        let Some(once) = mend(&record, SUMMARY_MARKER) else {
            prop_assert!(before.total() == before.same_role_neighbours, "{} {:?}", line, before);
            return Ok(());
        };
        let again = parse(once.text.as_bytes(), None).unwrap();
        prop_assert_eq!(mend(&again, SUMMARY_MARKER), None, "{} {}", line, once.text);
        // Neighbours that call stay; nothing else does.
        prop_assert_eq!(once.left.total(), once.left.same_role_neighbours, "{} {}", line, once.text);
        prop_assert!(answers_follow_their_calls(&once.text), "{} {}", line, once.text);
        for index in 0..record.turns.len() {
            prop_assert_eq!(once.text.matches(&format!("text {index}.")).count(), 1, "{} {}", line, once.text);
        }
    }
}
