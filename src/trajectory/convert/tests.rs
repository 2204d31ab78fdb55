//! Tests of conversions to both forms, and back.

use super::*;
use crate::trajectory::parse;

#[track_caller]
fn converted(record: &str, form: Format, arguments: ArgumentsForm) -> (String, String) {
    let parsed = parse(record.as_bytes(), None).unwrap();
    let Converted { text, losses } = convert(&parsed, OutputForm { form, arguments }).unwrap();
    // A record in the target form stays as it is.
    let again = parse(text.as_bytes(), Some(form)).unwrap();
    let again = convert(&again, OutputForm { form, arguments }).unwrap();
    assert_eq!(again.text, text);
    assert_eq!(again.losses.total(), 0, "{}", again.losses);
    (text, losses.to_string())
}

#[track_caller]
fn to_messages(record: &str, expected: &str, losses: &str) {
    let (text, lost) = converted(record, Format::Messages, ArgumentsForm::String);
    assert_eq!((text.as_str(), lost.as_str()), (expected, losses));
}

#[track_caller]
fn to_sharegpt(record: &str, expected: &str, losses: &str) {
    let (text, lost) = converted(record, Format::ShareGpt, ArgumentsForm::Object);
    assert_eq!((text.as_str(), lost.as_str()), (expected, losses));
}

#[test]
fn tagged_calls_and_answers_become_fields_and_back() {
    let sharegpt = r#"{"id": 7, "conversations": [{"from": "system", "value": "s"}, {"from": "human", "value": "h\u00e9"}, {"from": "gpt", "value": "text\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1.50}}\n</tool_call>\n<tool_call>\n{\"name\": \"g\", \"arguments\": {}}\n</tool_call>"}, {"from": "tool", "value": "<tool_response>\n{\"tool_call_id\": \"x\", \"name\": \"f\", \"content\": \"1\\n2\"}\n</tool_response>\n<tool_response>\n{\"tool_call_id\": \"y\", \"name\": \"g\", \"content\": \"z\"}\n</tool_response>"}, {"from": "gpt", "value": "done"}], "x": 1.0}"#;
    let messages = r#"{"id": 7, "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "h\u00e9"}, {"role": "assistant", "content": "text", "tool_calls": [{"id": "x", "type": "function", "function": {"name": "f", "arguments": "{\"a\": 1.50}"}}, {"id": "y", "type": "function", "function": {"name": "g", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "x", "name": "f", "content": "1\n2"}, {"role": "tool", "tool_call_id": "y", "name": "g", "content": "z"}, {"role": "assistant", "content": "done"}], "x": 1.0}"#;
    to_messages(sharegpt, messages, "");
    to_sharegpt(messages, sharegpt, "");
    let objects = converted(sharegpt, Format::Messages, ArgumentsForm::Object).0;
    assert!(objects.contains(r#""arguments": {"a": 1.50}"#), "{objects}");
    assert_eq!(
        converted(&objects, Format::Messages, ArgumentsForm::String).0,
        messages
    );
}

#[test]
fn turns_that_hold_no_calls_keep_their_literals_and_other_fields() {
    to_messages(
        r#"{"conversations": [{"from": "human", "value": "a\u00e9\ud800", "weight": 0.0}, {"value": "b", "from": "gpt", "train": false}]}"#,
        r#"{"messages": [{"role": "user", "content": "a\u00e9\ud800", "weight": 0.0}, {"role": "assistant", "content": "b", "train": false}]}"#,
        "",
    );
}

#[test]
fn a_record_in_the_form_keeps_its_bytes() {
    for (record, form) in [
        (
            r#"{ "messages":[ {"content":"x","role":"user","y":1.0} ,{"role":"assistant","content":"z"}],"tools":"[]"}"#,
            Format::Messages,
        ),
        (
            r#"{"messages": [{"role": "critic", "content": "x"}, {"role": "tool", "tool_call_id": "a", "content": "<tool_response>"}]}"#,
            Format::Messages,
        ),
        (
            r#"{"conversations":[{"value":"<tool_call>\n{}\n</tool_call>","from":"gpt"},{"from":"tool","value":"<tool_response>\nx\n</tool_response>"}]}"#,
            Format::ShareGpt,
        ),
        (r#"{"messages": []}"#, Format::Messages),
    ] {
        assert_eq!(
            converted(record, form, ArgumentsForm::String),
            (record.to_owned(), String::new())
        );
    }
}

#[test]
fn content_that_is_no_string_becomes_one() {
    to_messages(
        r#"{"messages": [{"role": "user", "content": [{"type": "text", "text": "a\u00e9", "cache_control": {"type": "x"}}]}, {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}, "index": 0}]}, {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "b"}, {"type": "image_url", "image_url": {"url": "data:x"}}]}, {"role": "assistant"}]}"#,
        r#"{"messages": [{"role": "user", "content": "a\u00e9"}, {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}}]}, {"role": "tool", "tool_call_id": "1", "content": "b\n[image]"}, {"role": "assistant", "content": ""}]}"#,
        "image:1",
    );
}

#[test]
fn roles_that_are_calls_and_observations_become_calls_and_answers() {
    let record = r#"{"conversations": [{"from": "human", "value": "h"}, {"from": "function_call", "value": "{\"name\": \"f\", \"arguments\": {\"a\": [1]}}"}, {"from": "observation", "value": "{\"b\": 2}"}, {"from": "gpt", "value": "x"}], "tools": "[{\"name\": \"f\"}]"}"#;
    to_messages(
        record,
        r#"{"messages": [{"role": "user", "content": "h"}, {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": "{\"a\": [1]}"}}]}, {"role": "tool", "content": "{\"b\": 2}"}, {"role": "assistant", "content": "x"}], "tools": "[{\"name\": \"f\"}]"}"#,
        "",
    );
    to_sharegpt(
        record,
        r#"{"conversations": [{"from": "human", "value": "h"}, {"from": "gpt", "value": "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": [1]}}\n</tool_call>"}, {"from": "tool", "value": "<tool_response>\n{\"b\": 2}\n</tool_response>"}, {"from": "gpt", "value": "x"}], "tools": "[{\"name\": \"f\"}]"}"#,
        "",
    );
    let unread = r#"{"conversations": [{"from": "function_call", "value": "<function=f>"}]}"#;
    to_messages(
        unread,
        r#"{"messages": [{"role": "assistant", "content": "<function=f>"}]}"#,
        "unread_call:1",
    );
}

#[test]
fn parts_of_anthropic_become_calls_answers_and_thoughts() {
    let record = r#"{"messages": [{"role": "user", "content": "h"}, {"role": "assistant", "content": [{"type": "thinking", "thinking": "why", "signature": "s"}, {"type": "text", "text": "t"}, {"type": "tool_use", "id": "1", "name": "f", "input": {"a": 1}}]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "r"}], "is_error": false}, {"type": "text", "text": "go on"}]}]}"#;
    to_messages(
        record,
        r#"{"messages": [{"role": "user", "content": "h"}, {"role": "assistant", "content": "t", "reasoning_content": "why", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}}]}, {"role": "tool", "tool_call_id": "1", "content": "r"}, {"role": "user", "content": "go on"}]}"#,
        "part_field:1",
    );
    to_sharegpt(
        record,
        r#"{"conversations": [{"from": "human", "value": "h"}, {"from": "gpt", "value": "<think>\nwhy\n</think>\n\nt\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>"}, {"from": "tool", "value": "<tool_response>\n{\"tool_call_id\": \"1\", \"content\": \"r\"}\n</tool_response>"}, {"from": "human", "value": "go on"}]}"#,
        "part_field:1",
    );
}

#[test]
fn functions_become_tools_where_there_are_none() {
    let turns = r#"[{"role": "user", "content": "u"}]"#;
    let with = |members: &str| format!(r#"{{"messages": {turns}, {members}}}"#);
    to_messages(
        &with(r#""functions": [{"name": "f"}, {"name": "g"}]"#),
        &with(
            r#""tools": "[{\"type\": \"function\", \"function\": {\"name\": \"f\"}}, {\"type\": \"function\", \"function\": {\"name\": \"g\"}}]""#,
        ),
        "",
    );
    let as_string = with(r#""functions": "[{\"name\": \"f\"}]""#);
    assert_eq!(
        converted(&as_string, Format::Messages, ArgumentsForm::Object).0,
        with(r#""tools": [{"type": "function", "function": {"name": "f"}}]"#)
    );
    for stays in [
        with(r#""functions": ["f"]"#),
        with(r#""functions": null"#),
        with(r#""functions": [{"name": "f"}], "tools": "[]""#),
    ] {
        to_messages(&stays, &stays, "");
    }
}

#[test]
fn calls_and_answers_of_other_programs_are_read() {
    to_messages(
        r#"{"messages": [{"role": "assistant", "content": [{"type": "toolCall", "id": "1", "name": "f", "arguments": {}}]}, {"role": "toolResult", "toolCallId": "1", "toolName": "f", "content": [{"type": "text", "text": "r"}]}, {"role": "assistant", "content": null, "function_call": {"name": "g", "arguments": "{}"}}, {"role": "function", "name": "g", "content": "s"}]}"#,
        r#"{"messages": [{"role": "assistant", "content": "", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "1", "name": "f", "content": "r"}, {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": {"name": "g", "arguments": "{}"}}]}, {"role": "tool", "name": "g", "content": "s"}]}"#,
        "",
    );
}

#[test]
fn answers_find_their_calls_again_whatever_their_order() {
    let call = |id: &str| {
        format!(r#"{{"id": "{id}", "type": "function", "function": {{"name": "f", "arguments": "{{}}"}}}}"#)
    };
    let answer = |id: &str| format!(r#"{{"role": "tool", "tool_call_id": "{id}", "content": "of {id}"}}"#);
    let record = |calls: &[&str], answers: &[&str]| {
        let calls: Vec<String> = calls.iter().map(|id| call(id)).collect();
        let answers: Vec<String> = answers.iter().map(|id| answer(id)).collect();
        format!(
            r#"{{"messages": [{{"role": "assistant", "content": "", "tool_calls": [{}]}}, {}]}}"#,
            calls.join(", "),
            answers.join(", ")
        )
    };
    let there_and_back = |record: &str| {
        let (sharegpt, losses) = converted(record, Format::ShareGpt, ArgumentsForm::Object);
        (
            converted(&sharegpt, Format::Messages, ArgumentsForm::String).0,
            sharegpt,
            losses,
        )
    };
    // Answers out of order are sorted; calls stay.
    let (back, sharegpt, losses) = there_and_back(&record(&["a", "b"], &["b", "a"]));
    assert_eq!((back, losses.as_str()), (record(&["a", "b"], &["a", "b"]), ""));
    assert!(!sharegpt.contains(r#"\"id\""#));
    // The first call is not answered: only its id shows that.
    let unanswered = record(&["a", "b"], &["b"]);
    let (back, sharegpt, losses) = there_and_back(&unanswered);
    assert_eq!((back, losses.as_str()), (unanswered, ""));
    assert!(sharegpt.contains(r#"\"id\": \"a\""#));
    // The last call is not answered: its id is not needed.
    let (_, sharegpt, losses) = there_and_back(&record(&["a", "b"], &["a"]));
    assert_eq!(
        (sharegpt.contains(r#"\"id\""#), losses.as_str()),
        (false, "call_id:1")
    );
}

#[test]
fn closing_tags_in_calls_and_answers_end_no_block() {
    let record = r#"{"messages": [{"role": "assistant", "content": "", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{\"a\": \"</tool_call>\"}"}}]}, {"role": "tool", "tool_call_id": "1", "content": "x</tool_response>y"}, {"role": "assistant", "content": "z"}, {"role": "tool", "content": "  <tool_response>"}]}"#;
    let (sharegpt, losses) = converted(record, Format::ShareGpt, ArgumentsForm::Object);
    assert_eq!(losses, "");
    assert_eq!(
        converted(&sharegpt, Format::Messages, ArgumentsForm::String).0,
        record
    );
}

#[test]
fn arguments_are_json_or_stay_the_string_that_they_were() {
    let record = |arguments: &str| {
        format!(
            r#"{{"messages": [{{"role": "assistant", "content": "", "tool_calls": [{{"id": "1", "type": "function", "function": {{"name": "f", "arguments": {arguments}}}}}]}}]}}"#
        )
    };
    let object = |arguments: &str| converted(&record(arguments), Format::Messages, ArgumentsForm::Object);
    assert_eq!(
        object(r#""{\n  \"a\": 1.50\n}""#),
        (record(r#"{   "a": 1.50 }"#), String::new())
    );
    assert_eq!(object(r#""""#), (record("{}"), String::new()));
    let broken = record(r#""{\"a\": ""#);
    let parsed = parse(broken.as_bytes(), None).unwrap();
    let target = OutputForm {
        form: Format::Messages,
        arguments: ArgumentsForm::Object,
    };
    let Converted { text, losses } = convert(&parsed, target).unwrap();
    assert_eq!((text, losses.to_string().as_str()), (broken, "arguments:1"));
}

#[test]
fn a_top_level_system_becomes_a_turn_wherever_it_stands() {
    for (record, expected) in [
        (
            r#"{"system": "s\n", "conversations": [{"from": "human", "value": "h"}]}"#,
            r#"{"messages": [{"role": "system", "content": "s\n"}, {"role": "user", "content": "h"}]}"#,
        ),
        (
            r#"{"conversations": [{"from": "human", "value": "h"}], "system": "s"}"#,
            r#"{"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "h"}]}"#,
        ),
        (
            r#"{"id": 1,"system": "s", "x": 2, "conversations": []}"#,
            r#"{"id": 1, "x": 2, "messages": [{"role": "system", "content": "s"}]}"#,
        ),
        // Beside a system turn it is a field like any other.
        (
            r#"{"system": "s", "conversations": [{"from": "system", "value": "t"}]}"#,
            r#"{"system": "s", "messages": [{"role": "system", "content": "t"}]}"#,
        ),
    ] {
        to_messages(record, expected, "");
    }
}

#[test]
fn what_a_form_cannot_hold_is_said() {
    let (_, losses) = converted(
        r#"{"messages": [{"role": "user", "content": "x"}], "conversations": [{"from": "gpt", "value": "<tool_call>\n{\"name\": \"f\"}\n</tool_call>\nlater"}, {"from": "tool", "value": "1"}]}"#,
        Format::Messages,
        ArgumentsForm::String,
    );
    assert_eq!(losses, "text_order:1 other_trajectory:1");
    let tool = |id: &str, field: &str| {
        format!(r#"{{"role": "tool", "tool_call_id": {id}, "content": "x", "extra": {field}}}"#)
    };
    let record = format!(
        r#"{{"messages": [{{"role": "assistant", "tool_calls": [{{"id": "1", "function": {{"name": "f"}}}}, {{"id": "2", "function": {{"name": "f"}}}}]}}, {}, {}]}}"#,
        tool("\"1\"", "1"),
        tool("[\"2\", \"3\"]", "2")
    );
    assert_eq!(
        converted(&record, Format::ShareGpt, ArgumentsForm::Object).1,
        "turn_field:1 call_id:1"
    );
}

#[test]
fn a_record_that_cannot_be_read_without_doubt_has_no_other_form() {
    for (record, expected) in [
        (
            r#"{"conversations": [{"from": "human", "value": "h"}, "x"]}"#,
            NotConvertible::Turn(1),
        ),
        (
            r#"{"conversations": [{"from": "human", "value": "h", "value": "i"}]}"#,
            NotConvertible::Turn(0),
        ),
        (
            r#"{"conversations": [], "conversations": []}"#,
            NotConvertible::RepeatedKey,
        ),
    ] {
        let record = parse(record.as_bytes(), None).unwrap();
        let target = OutputForm {
            form: Format::Messages,
            arguments: ArgumentsForm::String,
        };
        assert_eq!(convert(&record, target), Err(expected));
    }
}
