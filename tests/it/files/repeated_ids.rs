//! Ids that several calls have, mended wherever they stand.

use std::collections::HashSet;

use crate::support::structure::{call, chat, found, mended};
use serde_json::{Value, json};
use trajfit::internals::summarize::marker::SUMMARY_MARKER;
use trajfit::internals::trajectory::{Faults, mend, parse};

fn result(id: &str, text: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": text})
}

/// Calls and answers of one turn each, twice; what the second ones are is told after mending.
fn second(calls: &[&str], answer: &Value) -> (Value, Value) {
    let calls: Vec<Value> = calls.iter().map(|id| call(id)).collect();
    let asking = json!({"role": "assistant", "content": "c", "tool_calls": calls});
    let record = chat(&[
        json!({"role": "user", "content": "u"}),
        asking.clone(),
        answer.clone(),
        asking.clone(),
        answer.clone(),
        json!({"role": "assistant", "content": "d"}),
    ]);
    let ids = calls.iter().chain(&calls).map(|call| call["id"].as_str());
    let different: HashSet<_> = ids.collect();
    let expected = Faults {
        repeated_ids: 2 * calls.len() - different.len(),
        // A list of ids is no turn of each.
        packed_responses: 2 * usize::from(answer["tool_call_id"].is_array()),
        ..Faults::default()
    };
    assert_eq!(found(&record), expected, "{record}");
    let (turns, left) = mended(&record);
    let expected = Faults {
        repeated_ids: 0,
        ..expected
    };
    assert_eq!(left, expected, "{turns:?}");
    let ids = turns[3]["tool_calls"].as_array().unwrap().iter();
    let ids: Vec<Value> = ids.map(|call| call["id"].clone()).collect();
    (json!(ids), turns[4].clone())
}

#[test]
fn an_id_that_stands_twice_in_an_answer_is_renamed_in_both_places() {
    let answer = json!({"role": "tool", "tool_call_id": "a", "content": [result("a", "1")]});
    let renamed = json!({"role": "tool", "tool_call_id": "a_2", "content": [result("a_2", "1")]});
    assert_eq!(second(&["a"], &answer), (json!(["a_2"]), renamed));

    let answer =
        json!({"role": "tool", "tool_call_id": ["a", "a"], "content": [result("a", "1"), result("a", "2")]});
    let renamed = json!({"role": "tool", "tool_call_id": ["a_3", "a_4"],
        "content": [result("a_3", "1"), result("a_4", "2")]});
    assert_eq!(second(&["a", "a"], &answer), (json!(["a_3", "a_4"]), renamed));
}

#[test]
fn each_part_answers_a_call_of_its_own_and_one_too_many_stays_with_the_last() {
    for role in ["user", "tool"] {
        let answer = |ids: [&str; 3]| {
            let results: Vec<Value> = ids.iter().map(|id| result(id, "x")).collect();
            json!({"role": role, "content": results})
        };
        assert_eq!(
            second(&["a", "b", "a"], &answer(["a", "b", "a"])),
            (json!(["a_3", "b_2", "a_4"]), answer(["a_3", "b_2", "a_4"]))
        );
        assert_eq!(
            second(&["a"], &answer(["a", "a", "x"])),
            (json!(["a_2"]), answer(["a_2", "a_2", "x"]))
        );
    }
}

#[test]
fn ids_in_a_text_are_renamed_and_the_rest_keeps_its_spelling() {
    let call = r#"<tool_call>\n{\"name\": \"\u00e9\", \"id\": \"a\"}\n</tool_call>"#;
    let answer =
        r#"<tool_response>\n{\"tool_call_id\": \"a\", \"content\": \"\ud83d\ude00\"}\n</tool_response>"#;
    let record = |again: &dyn Fn(&str) -> String| {
        format!(
            r#"{{"conversations": [{{"from": "human", "value": "u"}}, {{"from": "gpt", "value": "\t{call}é{}\n{}"}}, {{"from": "tool", "value": "{answer}\n{}{}"}}, {{"from": "gpt", "value": "d"}}]}}"#,
            again(call),
            again(&again(call)),
            again(answer),
            again(&again(answer)),
        )
    };
    let broken = record(&|text| text.to_owned());
    let whole = record(&|text| {
        if text.contains("a_2") {
            text.replace("a_2", "a_3")
        } else {
            text.replace(r#"\"a\""#, r#"\"a_2\""#)
        }
    });
    let mended = mend(&parse(broken.as_bytes(), None).unwrap(), SUMMARY_MARKER).unwrap();
    assert_eq!((mended.text, mended.left), (whole, Faults::default()));
}

#[test]
fn a_call_keeps_its_id_where_that_of_its_answer_cannot_be_written() {
    let call = r#"<tool_call>\n{\"name\": \"f\", \"id\": \"a\"}\n</tool_call>"#;
    let answer = r#"<tool_response>\n{\"tool_call_id\": \"a\", \"content\": \"\ud83d\"}\n</tool_response>"#;
    let record = format!(
        r#"{{"conversations": [{{"from": "human", "value": "u"}}, {{"from": "gpt", "value": "{call}"}}, {{"from": "tool", "value": "{answer}"}}, {{"from": "gpt", "value": "{call}"}}, {{"from": "tool", "value": "{answer}"}}, {{"from": "gpt", "value": "d"}}]}}"#
    );
    let read = parse(record.as_bytes(), None).unwrap();
    assert_eq!(
        trajfit::internals::trajectory::faults(&read, SUMMARY_MARKER).repeated_ids,
        1
    );
    assert_eq!(mend(&read, SUMMARY_MARKER), None);
}

#[test]
fn a_repeated_number_becomes_the_next_number_that_is_free() {
    let record = |ids: [i64; 4]| {
        let call =
            |id: i64| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}});
        let asking = |ids: &[i64]| json!({"role": "assistant", "content": "c", "tool_calls": ids.iter().map(|id| call(*id)).collect::<Vec<_>>()});
        let answer = |id: i64| json!({"role": "tool", "tool_call_id": id, "content": "x"});
        chat(&[
            json!({"role": "user", "content": "u"}),
            asking(&ids[..2]),
            answer(ids[0]),
            answer(ids[1]),
            asking(&ids[2..]),
            answer(ids[2]),
            answer(ids[3]),
            json!({"role": "assistant", "content": "d"}),
        ])
    };
    for (ids, whole) in [
        ([1, 2, 1, 2], [1, 2, 3, 4]),
        ([0, 0, -5, i64::MAX], [0, 1, -5, i64::MAX]),
    ] {
        let broken = record(ids).to_string();
        let mended = mend(&parse(broken.as_bytes(), None).unwrap(), SUMMARY_MARKER).unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&mended.text).unwrap(),
            record(whole)
        );
        assert_eq!(mended.left, Faults::default());
    }
    let call = r#"<tool_call>\n{\"name\": \"f\", \"id\": 7}\n</tool_call>"#;
    let answer = r#"<tool_response>\n{\"tool_call_id\": 7, \"content\": \"x\"}\n</tool_response>"#;
    let record = |second: &str| {
        let (call_2, answer_2) = (call.replace('7', second), answer.replace('7', second));
        format!(
            r#"{{"conversations": [{{"from": "human", "value": "u"}}, {{"from": "gpt", "value": "{call}"}}, {{"from": "tool", "value": "{answer}"}}, {{"from": "gpt", "value": "{call_2}"}}, {{"from": "tool", "value": "{answer_2}"}}, {{"from": "gpt", "value": "d"}}]}}"#
        )
    };
    let broken = record("7");
    let mended = mend(&parse(broken.as_bytes(), None).unwrap(), SUMMARY_MARKER).unwrap();
    assert_eq!((mended.text, mended.left), (record("8"), Faults::default()));
}
