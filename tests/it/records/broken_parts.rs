//! What is broken where calls and answers stand in content parts (`tool_use`, `tool_result`), and how it is mended.

use crate::support::structure::{NO_RESULT, call, chat, fill, found, mended};
use proptest::prelude::*;
use serde_json::{Value, json};
use trajfit::internals::summarize::marker::SUMMARY_MARKER;
use trajfit::internals::trajectory::{Faults, mend, parse};

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// An assistant's turn that calls by parts.
fn calls(ids: &[&str]) -> Value {
    let parts = ids.iter().map(
        |id| json!({"type": "tool_use", "id": id, "name": "f", "input": {"x": "<tool_call>{}</tool_call>"}}),
    );
    json!({"role": "assistant", "content": parts.collect::<Vec<_>>()})
}

fn result(id: &str, content: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": content})
}

fn user(content: &Value) -> Value {
    json!({"role": "user", "content": content})
}

fn done() -> Value {
    json!({"role": "assistant", "content": "d"})
}

#[track_caller]
fn assert_mends(turns: &[Value], faults: Faults, expected: &[Value]) {
    let record = chat(turns);
    assert_eq!(found(&record), faults, "{record}");
    if faults == Faults::default() {
        let text = record.to_string();
        assert_eq!(mend(&parse(text.as_bytes(), None).unwrap(), SUMMARY_MARKER), None);
        return;
    }
    let (turns, left) = mended(&record);
    assert_eq!((turns.as_slice(), left), (expected, Faults::default()));
    let again = chat(&turns).to_string();
    assert_eq!(
        mend(&parse(again.as_bytes(), None).unwrap(), SUMMARY_MARKER),
        None
    );
}

fn unanswered(unanswered_calls: usize) -> Faults {
    Faults {
        unanswered_calls,
        ..Faults::default()
    }
}

fn orphans(orphan_responses: usize) -> Faults {
    Faults {
        orphan_responses,
        ..Faults::default()
    }
}

#[test]
fn nothing_is_found_where_nothing_is_broken() {
    let start = user(&json!("u"));
    let whole = [
        start.clone(),
        calls(&["a", "b"]),
        user(&json!([result("b", "2"), result("a", "1"), text("go on")])),
        done(),
    ];
    assert_mends(&whole, Faults::default(), &[]);
    // What is asked at the very end may still be answered.
    assert_mends(&[start.clone(), calls(&["a"])], Faults::default(), &[]);
    // Some write a call in both places: it is one.
    let mut both = calls(&["a"]);
    both["tool_calls"] = json!([call("a")]);
    let answer = json!({"role": "tool", "tool_call_id": "a", "content": "1"});
    assert_mends(
        &[start.clone(), both, answer.clone(), done()],
        Faults::default(),
        &[],
    );
    // And some call by parts and answer by turns of tools.
    assert_mends(&[start, calls(&["a"]), answer, done()], Faults::default(), &[]);
}

#[test]
fn a_call_without_an_answer_gets_a_part_that_claims_nothing() {
    let none = |id: &str| result(id, NO_RESULT);
    let start = user(&json!("u"));
    // Behind the results that are there, before what else is said.
    let turns = [
        start.clone(),
        calls(&["a", "b", "c"]),
        user(&json!([result("b", "2"), text("go on")])),
        done(),
    ];
    let expected = [
        start.clone(),
        calls(&["a", "b", "c"]),
        user(&json!([result("b", "2"), none("a"), none("c"), text("go on")])),
        done(),
    ];
    assert_mends(&turns, unanswered(2), &expected);
    // In a turn of its own where nobody said anything, or before the words of the person who did.
    let turns = [start.clone(), calls(&["a"]), done()];
    let expected = [start.clone(), calls(&["a"]), user(&json!([none("a")])), done()];
    let faults = Faults {
        same_role_neighbours: 1,
        ..unanswered(1)
    };
    assert_mends(&turns, faults, &expected);
    let turns = [start.clone(), calls(&["a"]), user(&json!("stop")), done()];
    let expected = [
        start.clone(),
        calls(&["a"]),
        user(&json!([none("a"), text("stop")])),
        done(),
    ];
    assert_mends(&turns, unanswered(1), &expected);
    // Where tools have turns of their own, it is one of these.
    let answer = |id: &str, text: &str| json!({"role": "tool", "tool_call_id": id, "content": text});
    let turns = [start.clone(), calls(&["a", "b"]), answer("a", "1"), done()];
    let expected = [
        start,
        calls(&["a", "b"]),
        answer("a", "1"),
        answer("b", NO_RESULT),
        done(),
    ];
    assert_mends(&turns, unanswered(1), &expected);
}

#[test]
fn what_no_answer_could_name_is_no_call_and_neither_is_what_stands_in_texts_and_arguments() {
    let mut nameless = calls(&["a"]);
    nameless["content"][0].as_object_mut().unwrap().remove("id");
    nameless["content"][0]["input"] = json!({});
    assert_mends(
        &[user(&json!("u")), nameless, user(&json!("v")), done()],
        Faults::default(),
        &[],
    );
    let mut quoting = calls(&["a"]);
    let quoted = text("It says <tool_call>\n{}\n</tool_call>.");
    quoting["content"].as_array_mut().unwrap().insert(0, quoted);
    let answer = user(&json!([result("a", "<tool_response>\n{}\n</tool_response>")]));
    assert_mends(
        &[user(&json!("u")), quoting, answer, done()],
        Faults::default(),
        &[],
    );
}

#[test]
fn a_result_that_answers_nobody_is_told_as_text_in_its_place() {
    let told = |content: &str| {
        text(&format!(
            "[output of a tool; its call was not recorded]\n{content}\n[end of the output]"
        ))
    };
    let start = user(&json!("u"));
    let turns = [
        start.clone(),
        calls(&["a"]),
        user(&json!([result("z", "lost"), text("hm"), result("a", "1")])),
        done(),
    ];
    let expected = [
        start.clone(),
        calls(&["a"]),
        user(&json!([result("a", "1"), told("lost"), text("hm")])),
        done(),
    ];
    assert_mends(&turns, orphans(1), &expected);
    // A second answer to the same call is one to nobody, too.
    let turns = [
        start.clone(),
        calls(&["a"]),
        user(&json!([result("a", "1"), result("a", "2")])),
        done(),
    ];
    let expected = [
        start.clone(),
        calls(&["a"]),
        user(&json!([result("a", "1"), told("2")])),
        done(),
    ];
    assert_mends(&turns, orphans(1), &expected);
    // Parts of it are texts, or stay images.
    let image = json!({"type": "image", "source": {"type": "base64", "data": "AAAA"}});
    let stray = |content: &Value| json!({"type": "tool_result", "tool_use_id": "z", "content": content});
    for (content, told) in [
        (json!([text("1"), text("2")]), vec![told("1\n2")]),
        (json!([]), vec![told("[]")]),
        (json!({"n": 1}), vec![told("{\"n\":1}")]),
        (
            json!(null),
            vec![text(
                "[output of a tool; its call was not recorded]\n[end of the output]",
            )],
        ),
        (
            json!([image]),
            vec![
                text("[output of a tool; its call was not recorded]"),
                image.clone(),
                text("[end of the output]"),
            ],
        ),
    ] {
        let turns = [
            start.clone(),
            calls(&["a"]),
            user(&json!([result("a", "1"), stray(&content)])),
            done(),
        ];
        let all = [vec![result("a", "1")], told].concat();
        assert_mends(
            &turns,
            orphans(1),
            &[start.clone(), calls(&["a"]), user(&json!(all)), done()],
        );
    }
    // Where nobody calls by parts, who knows whose parts these are.
    let turns = [
        start,
        json!({"role": "assistant", "content": "x"}),
        user(&json!([result("z", "1")])),
        done(),
    ];
    assert_mends(&turns, Faults::default(), &[]);
}

#[test]
fn a_late_result_goes_to_its_call() {
    let turns = [
        calls(&["a"]),
        calls(&["b"]),
        user(&json!([result("a", "1"), result("b", "2"), text("t")])),
        done(),
    ];
    let expected = [
        calls(&["a"]),
        user(&json!([result("a", "1")])),
        calls(&["b"]),
        user(&json!([result("b", "2"), text("t")])),
        done(),
    ];
    let faults = Faults {
        same_role_neighbours: 1,
        ..unanswered(1)
    };
    assert_mends(&turns, faults, &expected);
}

#[test]
fn a_repeated_id_is_renamed_in_call_and_answer() {
    let group = |id: &str| [calls(&[id]), user(&json!([result(id, "1"), text("t")]))];
    let turns = [&group("a")[..], &group("a"), &[done()]].concat();
    let expected = [&group("a")[..], &group("a_2"), &[done()]].concat();
    let faults = Faults {
        repeated_ids: 1,
        ..Faults::default()
    };
    assert_mends(&turns, faults, &expected);
    // A call that stands in both places is renamed in both.
    let group = |id: &str| {
        let mut asking = calls(&[id]);
        asking["tool_calls"] = json!([call(id)]);
        [
            asking,
            json!({"role": "tool", "tool_call_id": id, "content": "1"}),
        ]
    };
    let turns = [&group("a")[..], &group("a"), &[done()]].concat();
    let expected = [&group("a")[..], &group("a_2"), &[done()]].concat();
    assert_mends(&turns, faults, &expected);
}

/// Turns in any order that call by parts and answer in them.
fn jumbled() -> impl Strategy<Value = Value> {
    let id = || prop::sample::select(vec!["a", "b", "c", "d"]);
    let answers = prop::collection::vec(prop_oneof![4 => id().prop_map(Some), 1 => Just(None)], 1..4);
    let answer = |id: Option<&str>| id.map_or_else(|| text(""), |id| result(id, ""));
    let turn = prop_oneof![
        2 => prop::sample::select(vec!["system", "user", "assistant"]).prop_map(|role| json!({"role": role, "content": ""})),
        3 => prop::collection::vec(id(), 1..3).prop_map(|ids| calls(&ids)),
        3 => answers.prop_map(move |ids| user(&json!(ids.into_iter().map(answer).collect::<Vec<_>>()))),
    ];
    prop::collection::vec(turn, 1..14).prop_map(|mut turns| {
        let mut number = 0;
        for turn in &mut turns {
            if turn["role"] != "assistant" || turn["content"].is_string() {
                fill(&mut turn["content"], &mut number);
            }
        }
        // Somebody calls by parts, or no result is known to be an orphan.
        turns.insert(0, calls(&["first"]));
        // What is asked at the very end may still be answered.
        turns.push(done());
        chat(&turns)
    })
}

/// Whether results stand in the turn right after the calls that they answer, one for each.
fn answers_follow_their_calls(record: &str) -> bool {
    let record: Value = serde_json::from_str(record).unwrap();
    let mut open: Vec<Value> = Vec::new();
    let turns = record["messages"].as_array().unwrap();
    turns.iter().all(|turn| {
        let parts = turn["content"].as_array().cloned().unwrap_or_default();
        let of = |kind: &str, key: &str| -> Vec<Value> {
            let parts = parts.iter().filter(|part| part["type"] == kind);
            parts.map(|part| part[key].clone()).collect()
        };
        let answered = of("tool_result", "tool_use_id");
        let left = std::mem::replace(&mut open, of("tool_use", "id"));
        left.len() == answered.len() && left.iter().all(|id| answered.contains(id))
    })
}

proptest! {
    #![proptest_config(crate::support::generate::config())]

    #[test]
    fn turns_in_any_order_are_sorted_out_and_nothing_is_lost(record in jumbled()) {
        let line = record.to_string();
        let Some(once) = mend(&parse(line.as_bytes(), None).unwrap(), SUMMARY_MARKER) else { return Ok(()) };
        let again = parse(once.text.as_bytes(), None).unwrap();
        prop_assert_eq!(mend(&again, SUMMARY_MARKER), None, "{} {}", line, once.text);
        // Neighbours that call stay; nothing else does.
        prop_assert_eq!(once.left.total(), once.left.same_role_neighbours, "{} {}", line, once.text);
        prop_assert!(answers_follow_their_calls(&once.text), "{} {}", line, once.text);
        let texts = line.matches("text ").count();
        for number in 1..=texts {
            prop_assert_eq!(once.text.matches(&format!("text {number}.")).count(), 1, "{} {}", line, once.text);
        }
    }
}
