//! Answers that nobody asked for: which they are, and how they are told instead.

use crate::support::structure::{NO_RESULT, chat, found, mended};
use serde_json::{Value, json};
use trajfit::internals::summarize::marker::SUMMARY_MARKER;
use trajfit::internals::trajectory::{Faults, faults, mend, parse};

fn envelope(id: &str, content: &str) -> String {
    let answer = json!({"tool_call_id": id, "name": "f", "content": content});
    format!("<tool_response>\n{answer}\n</tool_response>")
}

fn sharegpt(turns: &[(&str, &str)]) -> Value {
    let turns = turns
        .iter()
        .map(|(from, value)| json!({"from": from, "value": value}));
    json!({"conversations": turns.collect::<Vec<_>>()})
}

#[test]
fn an_envelope_with_an_id_that_no_call_has_is_told_instead() {
    let stray = envelope("i9", "lost");
    let record = sharegpt(&[
        ("human", "u"),
        ("gpt", "Hello, how can I help?"),
        ("tool", &stray),
        ("gpt", "x"),
    ]);
    let one = Faults {
        orphan_responses: 1,
        ..Faults::default()
    };
    assert_eq!(found(&record), one);
    let (turns, left) = mended(&record);
    let told = "[output of a tool; its call was not recorded]\nlost\n[end of the output]";
    assert_eq!(
        (&turns[2], left),
        (&json!({"from": "human", "value": told}), Faults::default())
    );
    // Calls that are in plain text have no ids, and their answers neither.
    for answer in ["<tool_response>\n{\"content\": \"1\"}\n</tool_response>", "1"] {
        let turns = [
            ("human", "u"),
            ("gpt", "```bash\nls\n```"),
            ("tool", answer),
            ("gpt", "x"),
        ];
        assert_eq!(found(&sharegpt(&turns)), Faults::default());
    }
    // Where calls have no ids, answers belong to them in their order, whatever ids they have.
    let call = "<tool_call>\n{\"name\": \"f\"}\n</tool_call>";
    let turns = [("human", "u"), ("gpt", call), ("tool", &stray), ("gpt", "x")];
    assert_eq!(found(&sharegpt(&turns)), Faults::default());
}

#[test]
fn ids_in_the_text_of_calls_tell_which_answer_is_whose() {
    let calls = "<tool_call>\n{\"id\": \"a\", \"name\": \"f\"}\n</tool_call>\n<tool_call>\n{\"id\": \"b\", \"name\": \"f\"}\n</tool_call>";
    let both = [envelope("b", "2"), envelope("a", "1")].join("\n");
    let turns = [("human", "u"), ("gpt", calls), ("tool", &both), ("gpt", "x")];
    assert_eq!(found(&sharegpt(&turns)), Faults::default());
    let wrong = [envelope("b", "2"), envelope("zz", "lost")].join("\n");
    let turns = [("human", "u"), ("gpt", calls), ("tool", &wrong), ("gpt", "x")];
    let record = sharegpt(&turns);
    let expected = Faults {
        orphan_responses: 1,
        unanswered_calls: 1,
        ..Faults::default()
    };
    assert_eq!(found(&record), expected);
    let (turns, left) = mended(&record);
    let answers = turns[2]["value"].as_str().unwrap();
    assert!(
        answers.starts_with(&envelope("b", "2")) && !answers.contains("lost"),
        "{answers}"
    );
    let missing = format!("{{\"tool_call_id\": \"a\", \"name\": \"f\", \"content\": \"{NO_RESULT}\"}}");
    assert!(answers.contains(&missing), "{answers}");
    assert!(turns[3]["value"].as_str().unwrap().contains("\nlost\n"));
    assert_eq!((turns.len(), left), (5, Faults::default()));
    // The same in the only part of a content.
    let mut record = record;
    record["conversations"][2]["value"] = json!([{"type": "text", "text": wrong}]);
    let (turns, left) = mended(&record);
    assert_eq!(turns[2]["value"][0]["type"], json!("text"));
    let answers = turns[2]["value"][0]["text"].as_str().unwrap();
    assert!(
        answers.starts_with(&envelope("b", "2")) && !answers.contains("lost"),
        "{answers}"
    );
    assert!(turns.iter().any(|turn| turn.to_string().contains("\\nlost\\n")));
    assert_eq!(left, Faults::default());
}

/// A call of each id, and the turn that brings results in parts for some ids.
fn with_results(role: &str, calls: &[&str], results: &[&str]) -> Vec<Value> {
    let calls = calls
        .iter()
        .map(|id| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}}));
    let results = results
        .iter()
        .map(|id| json!({"type": "tool_result", "tool_use_id": id, "content": "x"}));
    vec![
        json!({"role": "user", "content": "u"}),
        json!({"role": "assistant", "content": "1", "tool_calls": calls.collect::<Vec<_>>()}),
        json!({"role": role, "content": results.collect::<Vec<_>>()}),
    ]
}

#[test]
fn ids_in_texts_are_repeated_where_one_answers_two_calls() {
    let call = |id: &str| format!("<tool_call>\n{{\"name\": \"f\", \"id\": \"{id}\"}}\n</tool_call>");
    let (one, answer) = (call("a"), envelope("a", "é \"x\""));
    let turns = [
        ("human", "u"),
        ("gpt", one.as_str()),
        ("tool", &answer),
        ("gpt", &one),
        ("tool", &answer),
        ("gpt", "x"),
    ];
    let repeated = |repeated_ids: usize| Faults {
        repeated_ids,
        ..Faults::default()
    };
    let record = sharegpt(&turns);
    assert_eq!(found(&record), repeated(1));
    let (mended_turns, left) = mended(&record);
    assert_eq!(mended_turns[3]["value"], json!(call("a_2")));
    assert_eq!(mended_turns[4]["value"], json!(envelope("a_2", "é \"x\"")));
    assert_eq!((mended_turns.len(), left), (6, Faults::default()));

    let (two, answers) = ([call("a"), call("a")].join("\n"), [answer.as_str(); 2].join("\n"));
    let turns = [
        ("human", "u"),
        ("gpt", two.as_str()),
        ("tool", &answers),
        ("gpt", "x"),
    ];
    let record = sharegpt(&turns);
    assert_eq!(found(&record), repeated(1));
    let (mended_turns, left) = mended(&record);
    assert_eq!(
        mended_turns[1]["value"],
        json!([call("a"), call("a_2")].join("\n"))
    );
    assert!(
        mended_turns[2]["value"]
            .as_str()
            .unwrap()
            .ends_with(&envelope("a_2", "é \"x\""))
    );
    assert_eq!(left, Faults::default());

    // Ids that begin anew with each turn, and whose answers have none, say nothing of each other.
    let plain = "<tool_response>\n{\"content\": \"1\"}\n</tool_response>";
    let turns = [
        ("human", "u"),
        ("gpt", one.as_str()),
        ("tool", plain),
        ("gpt", &one),
        ("tool", plain),
        ("gpt", "x"),
    ];
    assert_eq!(found(&sharegpt(&turns)), Faults::default());
}

#[test]
fn results_in_parts_are_answers() {
    let done = json!({"role": "assistant", "content": "d"});
    for role in ["user", "tool"] {
        let mut turns = with_results(role, &["a", "b"], &["b", "a"]);
        assert_eq!(found(&chat(&turns)), Faults::default(), "{role}");
        turns.push(done.clone());
        assert_eq!(found(&chat(&turns)), Faults::default(), "{role}");
        let text = chat(&turns).to_string();
        assert_eq!(mend(&parse(text.as_bytes(), None).unwrap(), SUMMARY_MARKER), None);

        let mut turns = with_results(role, &["a", "b"], &["a"]);
        turns.push(done.clone());
        let one = Faults {
            unanswered_calls: 1,
            ..Faults::default()
        };
        assert_eq!(found(&chat(&turns)), one, "{role}");
        let (turns, left) = mended(&chat(&turns));
        let stubs = turns.iter().filter(|turn| turn["content"] == json!(NO_RESULT));
        let stubs: Vec<&Value> = stubs.map(|turn| &turn["tool_call_id"]).collect();
        assert_eq!((stubs, left), (vec![&json!("b")], Faults::default()), "{role}");
    }
}

#[test]
fn results_in_parts_take_the_new_id_of_their_call() {
    let mut turns = with_results("user", &["a"], &["a"]);
    turns.extend(with_results("user", &["a"], &["a"]).into_iter().skip(1));
    turns.push(json!({"role": "assistant", "content": "d"}));
    let (turns, left) = mended(&chat(&turns));
    assert_eq!(turns[3]["tool_calls"][0]["id"], json!("a_2"));
    assert_eq!(turns[4]["content"][0]["tool_use_id"], json!("a_2"));
    assert_eq!(left, Faults::default());
}

#[test]
fn what_somebody_said_is_told_apart_from_a_stray_output_before_it() {
    let begin = "[output of a tool; its call was not recorded]";
    let record = chat(&[
        json!({"role": "user", "content": "u"}),
        json!({"role": "assistant", "content": "x"}),
        json!({"role": "tool", "tool_call_id": "s", "content": "extra"}),
        json!({"role": "tool", "tool_call_id": "t", "content": ""}),
        json!({"role": "user", "content": "bye"}),
        json!({"role": "assistant", "content": "y"}),
    ]);
    let (turns, left) = mended(&record);
    let told = format!("{begin}\nextra\n[end of the output]\n\nbye");
    assert_eq!(turns[2]["content"], json!(told));
    assert_eq!((turns.len(), left), (4, Faults::default()));
    let silent = chat(&[
        json!({"role": "tool", "tool_call_id": "t", "content": ""}),
        json!({"role": "user", "content": "bye"}),
    ]);
    let told = format!("{begin}\n[end of the output]\n\nbye");
    assert_eq!(mended(&silent).0[0]["content"], json!(told));
}

#[test]
fn results_told_in_parts_answer_their_calls() {
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "x"});
    for role in ["user", "tool"] {
        let record = chat(&[
            json!({"role": "user", "content": "u"}),
            json!({"role": "assistant", "content": "x", "tool_calls": [call("a"), call("b"), call("c")]}),
            json!({"role": role, "content": [result("a"), result("b")]}),
            json!({"role": "assistant", "content": "y"}),
        ]);
        let expected = Faults {
            unanswered_calls: 1,
            ..Faults::default()
        };
        assert_eq!(found(&record), expected, "{role}");
        let text = mended(&record).0.iter().map(Value::to_string).collect::<String>();
        assert_eq!(text.matches(NO_RESULT).count(), 1, "{text}");
    }
}

#[test]
fn an_answer_that_is_no_text_is_told_as_json() {
    let begin = "[output of a tool; its call was not recorded]";
    let end = "[end of the output]";
    let told = |content: &str| {
        format!(
            r#"{{"messages": [{{"role": "user", "content": "u"}}, {{"role": "assistant", "content": "x"}},
            {{"role": "tool", "tool_call_id": "s"{content}}}, {{"role": "assistant", "content": "y"}}]}}"#
        )
    };
    for (content, expected) in [
        ("42.50", "42.50"),
        ("true", "true"),
        (r#"{"a": [1.0, "\u00e9"]}"#, r#"{"a": [1.0, "\u00e9"]}"#),
        (r#"[1, "b"]"#, r#"[1, "b"]"#),
        ("[]", "[]"),
        (
            r#"[{"type": "text", "text": "t"}, {"type": "x", "y": 1e3}]"#,
            r#"[{"type": "text", "text": "t"}, {"type": "x", "y": 1e3}]"#,
        ),
        (r#""half \ud800""#, r#""half \ud800""#),
    ] {
        let record: String = told(&format!(r#", "content": {content}"#));
        assert_mends(&record, &[json!(format!("{begin}\n{expected}\n{end}"))]);
    }
    for nothing in ["", r#", "content": null"#] {
        assert_mends(&told(nothing), &[json!(format!("{begin}\n{end}"))]);
    }
}

/// That the third turn of a record with one orphan becomes a person's, with this content.
#[track_caller]
fn assert_mends(record: &str, contents: &[Value]) {
    let found = faults(&parse(record.as_bytes(), None).unwrap(), SUMMARY_MARKER);
    assert_eq!((found.orphan_responses, found.total()), (1, 1), "{record}");
    let once = mend(&parse(record.as_bytes(), None).unwrap(), SUMMARY_MARKER).unwrap();
    let turns: Value = serde_json::from_str(&once.text).unwrap();
    for (place, content) in contents.iter().enumerate() {
        assert_eq!(
            turns["messages"][2 + place]["role"],
            json!("user"),
            "{}",
            once.text
        );
        assert_eq!(turns["messages"][2 + place]["content"], *content, "{}", once.text);
    }
    assert_eq!(once.left, Faults::default(), "{}", once.text);
    assert_eq!(
        mend(&parse(once.text.as_bytes(), None).unwrap(), SUMMARY_MARKER),
        None
    );
}

#[test]
fn an_image_that_nobody_asked_for_is_told_as_the_image_that_it_is() {
    let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}});
    let other = json!({"type": "x"});
    let record = chat(&[
        json!({"role": "user", "content": "u"}),
        json!({"role": "assistant", "content": "x"}),
        json!({"role": "tool", "tool_call_id": "s", "content": [image, other]}),
        json!({"role": "user", "content": "v"}),
        json!({"role": "assistant", "content": "y"}),
    ]);
    let text = |text: &str| json!({"type": "text", "text": text});
    let begin = text("[output of a tool; its call was not recorded]");
    let told = json!([
        begin,
        image,
        text(&other.to_string()),
        text("[end of the output]"),
        text("v")
    ]);
    assert_mends(&record.to_string(), &[told]);
}

#[test]
fn parts_that_answer_somebody_stay_in_a_turn_that_answers_nobody_itself() {
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "1"});
    let record = |parts: &[Value]| {
        chat(&[
            json!({"role": "assistant", "content": "x", "tool_calls": [call("a"), call("b")]}),
            json!({"role": "tool", "tool_call_id": "s", "content": parts}),
            json!({"role": "assistant", "content": "y"}),
        ])
    };
    let both = [result("a"), result("b")];
    assert_eq!(found(&record(&both)).orphan_responses, 1);
    let (turns, left) = mended(&record(&both));
    let answers = json!({"role": "tool", "content": both});
    assert_eq!((&turns[1], turns.len(), left), (&answers, 3, Faults::default()));

    let text = |text: &str| json!({"type": "text", "text": text});
    let (turns, left) = mended(&record(&[result("b"), text("t"), result("z"), result("a")]));
    let answers = json!({"role": "tool", "content": [result("b"), result("a")]});
    let told = json!({"role": "user", "content": [text("[output of a tool; its call was not recorded]"), text("t"),
        text(&result("z").to_string()), text("[end of the output]")]});
    assert_eq!((&turns[1], &turns[2]), (&answers, &told));
    assert_eq!((turns.len(), left), (4, Faults::default()));
}
