//! Answers that come after somebody else spoke, and turns in any order at all: how they are sorted out.

use crate::support::structure::{call, chat, fill, found, mended};
use proptest::prelude::*;
use serde_json::{Value, json};
use trajfit::internals::summarize::marker::SUMMARY_MARKER;
use trajfit::internals::trajectory::{Faults, faults, mend, parse};

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

fn said(role: &str, content: &Value) -> Value {
    json!({"role": role, "content": content})
}

fn calls(ids: &[&str]) -> Value {
    json!({"role": "assistant", "content": null, "tool_calls": ids.iter().map(|id| call(id)).collect::<Vec<_>>()})
}

/// A result in parts.
fn result(id: &str, text: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": text})
}

fn text_part(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

#[track_caller]
fn assert_brings_back(record: &Value, late: usize, turns: &[Value]) {
    let before = found(record);
    assert_eq!(before.unanswered_calls, late, "{before:?}");
    let (mended_turns, left) = mended(record);
    assert_eq!(mended_turns, turns);
    assert_eq!(left, Faults::default());
    let again = chat(&mended_turns).to_string();
    assert_eq!(
        mend(&parse(again.as_bytes(), None).unwrap(), SUMMARY_MARKER),
        None
    );
}

#[test]
fn late_results_in_what_a_person_says_go_to_their_call() {
    let end = said("assistant", &json!("x"));
    // What the person said in between comes after the result, in the same turn: results come first.
    let record = chat(&[
        calls(&["a", "b"]),
        json!({"role": "user", "content": "wait", "at": 1}),
        said("assistant", &json!("ok")),
        said(
            "user",
            &json!([result("b", "2"), text_part("here"), result("a", "1")]),
        ),
        end.clone(),
    ]);
    let expected = [
        calls(&["a", "b"]),
        said(
            "user",
            &json!([result("b", "2"), result("a", "1"), text_part("wait")]),
        ),
        said("assistant", &json!("ok")),
        said("user", &json!([text_part("here")])),
        end.clone(),
    ];
    assert_brings_back(&record, 2, &expected);
    // Nobody but the assistant spoke: a turn that is nothing but results moves as it is.
    let results = json!({"role": "user", "at": 2, "content": [result("a", "1")]});
    let record = chat(&[
        calls(&["a"]),
        calls(&["b"]),
        said("tool", &json!([result("b", "2")])),
        results.clone(),
        end.clone(),
    ]);
    let expected = [
        calls(&["a"]),
        results,
        calls(&["b"]),
        said("tool", &json!([result("b", "2")])),
        end.clone(),
    ];
    assert_brings_back(&record, 1, &expected);
    // A part that answers nobody is part of what the tool says.
    let answer = json!({"role": "tool", "tool_call_id": "a", "content": [text_part("1"), result("zz", "2")]});
    let record = chat(&[calls(&["a"]), calls(&["b"]), answer.clone(), end.clone()]);
    let none =
        json!({"role": "tool", "tool_call_id": "b", "content": "[no result of this call was recorded]"});
    let expected = [calls(&["a"]), answer, calls(&["b"]), none, end.clone()];
    assert_brings_back(&record, 2, &expected);
    // Results of one turn's calls stand together.
    let record = chat(&[
        calls(&["a", "b"]),
        said("user", &json!([result("a", "1")])),
        said("system", &json!("s")),
        said("user", &json!([result("b", "2")])),
        end.clone(),
    ]);
    let expected = [
        calls(&["a", "b"]),
        said("user", &json!([result("a", "1"), result("b", "2")])),
        said("system", &json!("s")),
        end,
    ];
    assert_brings_back(&record, 1, &expected);
}

#[test]
fn answers_of_one_turn_to_calls_of_several_go_each_to_its_own() {
    let end = said("assistant", &json!("x"));
    for role in ["tool", "user"] {
        let all = json!([result("b", "2"), result("c", "3"), result("a", "1")]);
        let record = chat(&[
            calls(&["a"]),
            calls(&["b"]),
            calls(&["c"]),
            json!({"role": role, "at": 1, "content": all}),
            end.clone(),
        ]);
        let expected = [
            calls(&["a"]),
            said(role, &json!([result("a", "1")])),
            calls(&["b"]),
            said(role, &json!([result("b", "2")])),
            calls(&["c"]),
            json!({"role": role, "at": 1, "content": [result("c", "3")]}),
            end.clone(),
        ];
        assert_brings_back(&record, 2, &expected);
        // Where all of them are late, the first one keeps what else the turn has.
        let all = json!([result("b", "2"), result("a", "1")]);
        let record = chat(&[
            calls(&["a"]),
            calls(&["b"]),
            end.clone(),
            json!({"role": role, "at": 1, "content": all}),
            said("user", &json!("v")),
        ]);
        let expected = [
            calls(&["a"]),
            said(role, &json!([result("a", "1")])),
            calls(&["b"]),
            json!({"role": role, "at": 1, "content": [result("b", "2")]}),
            end.clone(),
            said("user", &json!("v")),
        ];
        assert_brings_back(&record, 2, &expected);
    }
}

#[test]
fn envelopes_of_one_turn_go_each_to_its_own_call() {
    let called = |id: &str| {
        let call = json!({"id": id, "name": "f", "arguments": {}});
        json!({"from": "gpt", "value": format!("<tool_call>\n{call}\n</tool_call>")})
    };
    let envelope = |id: &str, text: &str| {
        let answer = json!({"tool_call_id": id, "content": text});
        format!("<tool_response>\n{answer}\n</tool_response>")
    };
    let told = |text: &[String]| json!({"from": "tool", "value": text.join("\n")});
    let end = json!({"from": "gpt", "value": "x"});
    let record = json!({"conversations": [called("a"), called("b"), called("c"),
        told(&["All:".to_owned(), envelope("a", "1"), envelope("c", "3"), envelope("b", "2")]), end]});
    assert_eq!(found(&record).unanswered_calls, 2);
    let (turns, left) = mended(&record);
    let expected = [
        called("a"),
        told(&[envelope("a", "1")]),
        called("b"),
        told(&[envelope("b", "2")]),
        called("c"),
        told(&["All:".to_owned(), envelope("c", "3")]),
        end,
    ];
    assert_eq!((turns.as_slice(), left), (&expected[..], Faults::default()));
    // The same in the only part of a content.
    let mut record = record;
    let both = [envelope("b", "2"), envelope("c", "3")].join("\n");
    record["conversations"][3]["value"] = json!([text_part(&both)]);
    let (turns, _) = mended(&record);
    assert_eq!(turns[3], told(&[envelope("b", "2")]));
    assert_eq!(turns[5]["value"], json!([text_part(&envelope("c", "3"))]));
}

#[test]
fn one_text_that_answers_calls_of_several_turns_stays_and_is_told() {
    let record = chat(&[
        calls(&["a"]),
        calls(&["b"]),
        json!({"role": "tool", "tool_call_ids": ["a", "b"], "content": "1 and 2"}),
        said("assistant", &json!("x")),
    ]);
    assert_eq!(found(&record).unanswered_calls, 1);
    let text = record.to_string();
    assert_eq!(mend(&parse(text.as_bytes(), None).unwrap(), SUMMARY_MARKER), None);
    // Nor do the parts of a tool's answer with an id of its own.
    let answer = json!({"role": "tool", "tool_call_id": "b", "content": [result("a", "1"), text_part("2")]});
    let record = chat(&[
        calls(&["a"]),
        calls(&["b"]),
        answer,
        said("assistant", &json!("x")),
    ]);
    assert_eq!(found(&record).unanswered_calls, 1);
    let text = record.to_string();
    assert_eq!(mend(&parse(text.as_bytes(), None).unwrap(), SUMMARY_MARKER), None);
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
    #![proptest_config(crate::support::generate::config())]

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

/// What somebody, or the answer to a call, says in parts. What answers a call itself holds results of no other one.
fn answering(who: &str, ids: &[Option<&str>]) -> Value {
    let part = |id: Option<&str>| match id {
        Some(_) if who == "a" => result(who, ""),
        Some(id) => result(id, ""),
        None => text_part(""),
    };
    let parts: Vec<Value> = ids.iter().copied().map(part).collect();
    match who {
        "a" | "e" => json!({"role": "tool", "tool_call_id": who, "content": parts}),
        role => json!({"role": role, "content": parts}),
    }
}

/// Turns in any order whose answers are parts of what people and tools say, or no text at all.
fn jumbled_parts() -> impl Strategy<Value = Value> {
    let id = || prop::sample::select(vec!["a", "b", "c", "d"]);
    let who = prop::sample::select(vec!["user", "user", "tool", "a", "e"]);
    let some = |ids: Vec<&str>| ids.into_iter().map(call).collect::<Vec<_>>();
    let answers = prop::collection::vec(prop_oneof![4 => id().prop_map(Some), 1 => Just(None)], 1..4);
    let turn = prop_oneof![
        prop::sample::select(vec!["system", "user", "assistant"])
            .prop_map(|role| json!({"role": role, "content": ""})),
        prop::collection::vec(id(), 1..3)
            .prop_map(move |ids| json!({"role": "assistant", "content": "", "tool_calls": some(ids)})),
        (who, answers).prop_map(|(who, ids)| answering(who, &ids)),
        prop::sample::select(vec![
            json!({"n": ""}),
            json!([1, ""]),
            json!([{"type": "x", "y": ""}])
        ])
        .prop_map(|content| json!({"role": "tool", "tool_call_id": "e", "content": content})),
    ];
    prop::collection::vec(turn, 1..14).prop_map(|mut turns| {
        let mut number = 0;
        for turn in &mut turns {
            fill(&mut turn["content"], &mut number);
        }
        chat(&turns)
    })
}

proptest! {
    #![proptest_config(crate::support::generate::config())]

    #[test]
    fn answers_in_parts_are_sorted_out_and_nothing_is_lost(record in jumbled_parts()) {
        let line = record.to_string();
        let record = parse(line.as_bytes(), None).unwrap();
        let Some(once) = mend(&record, SUMMARY_MARKER) else { return Ok(()) };
        let again = parse(once.text.as_bytes(), None).unwrap();
        prop_assert_eq!(mend(&again, SUMMARY_MARKER), None, "{} {}", line, once.text);
        prop_assert_eq!(once.left.total(), once.left.same_role_neighbours, "{} {}", line, once.text);
        let texts = line.matches("text ").count();
        for number in 1..=texts {
            prop_assert_eq!(once.text.matches(&format!("text {number}.")).count(), 1, "{} {}", line, once.text);
        }
        prop_assert_eq!(once.text.matches("text ").count(), texts);
    }
}
