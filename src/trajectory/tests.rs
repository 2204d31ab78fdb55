//! Tests of the formats and their quirks: reading, token pieces, decoding, and editing.

use super::*;

fn record(text: &str) -> Record<'_> {
    parse(text.as_bytes(), None).unwrap()
}

fn pieces(turn: &Turn<'_>) -> Vec<String> {
    let mut pieces = Vec::new();
    turn.pieces(&mut String::new(), |piece| {
        pieces.push(match piece {
            Piece::Text(text) => text.to_owned(),
            Piece::Image => "<image>".to_owned(),
        });
    });
    pieces
}

fn first_pieces(text: &str) -> Vec<String> {
    pieces(&record(text).turns[0])
}

#[test]
fn the_format_is_detected_and_can_be_forced() {
    let both = r#"{"messages": [{"role": "user", "content": "m"}], "conversations": [{"from": "human", "value": "c"}]}"#;
    assert_eq!(record(both).format, Format::ShareGpt);
    assert_eq!(
        parse(both.as_bytes(), Some(Format::Messages)).unwrap().format,
        Format::Messages
    );
    assert_eq!(
        record(r#"{"conversations": null, "messages": []}"#).format,
        Format::Messages
    );
    assert_eq!(record(r#"{"convers\u0061tions": []}"#).format, Format::ShareGpt);
}

#[test]
fn what_is_no_trajectory_says_what_it_is() {
    let error = |text: &str| parse(text.as_bytes(), None).unwrap_err().to_string();
    assert!(error("[1]").ends_with("found a list"));
    assert!(error("null").ends_with("found null"));
    assert!(error("{}").ends_with("found an object without either"));
    assert!(error(r#"{"conversations": "x"}"#).ends_with("found a string in `conversations`"));
    assert!(error(r#"{"conversations": {"a": 1}}"#).ends_with("found an object in `conversations`"));
    assert!(error(r#"{"messages": 3}"#).ends_with("found a number in `messages`"));
}

#[test]
fn broken_json_says_what_is_wrong_and_where() {
    let error = |text: &[u8]| parse(text, None).unwrap_err();
    assert_eq!(error(br#"{"conversations": [}"#).code(), "invalid_json");
    assert!(error(br#"{"a": NaN}"#).to_string().contains("at column 7"));
    assert_eq!(error(b"{\"a\": \"\xff\"}"), ParseError::Utf8 { at: 7 });
    assert_eq!(error(b"{\"a\": \"\x01\"}").code(), "invalid_json");
    assert_eq!(error(br#"{"conversations": []} {}"#).code(), "invalid_json");
    assert_eq!(error(b"").code(), "invalid_json");
}

#[test]
fn depth_is_refused_wherever_it_is() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for text in [
        deep.clone(),
        "[".repeat(100_000),
        format!(r#"{{"extra": {deep}, "conversations": []}}"#),
        format!(r#"{{"conversations": {deep}}}"#),
        format!(r#"{{"conversations": [{{"from": "gpt", "value": {deep}}}]}}"#),
        format!(r#"{{"conversations": [{{"from": "gpt", "value": "", "extra": {deep}}}]}}"#),
    ] {
        let error = parse(text.as_bytes(), None).unwrap_err();
        assert_eq!(error, ParseError::TooDeep, "{}", &text[..60]);
    }
}

#[test]
fn turns_are_charged_by_their_text() {
    let value = |value: &str| {
        first_pieces(&format!(
            r#"{{"conversations": [{{"from": "gpt", "value": {value}}}]}}"#
        ))
    };
    assert_eq!(value(r#""a\nb""#), ["a\nb"]);
    assert_eq!(value("null"), Vec::<String>::new());
    assert_eq!(value("3.50"), ["3.50"]);
    assert_eq!(value("true"), ["true"]);
    assert_eq!(value(r#"{"k":  1}"#), [r#"{"k":  1}"#]);
    assert_eq!(value("[1, 2]"), ["[1, 2]"]);
    assert_eq!(
        value("123456789012345678901234567890"),
        ["123456789012345678901234567890"]
    );
}

#[test]
fn chat_turns_are_charged_part_by_part_with_their_calls() {
    let text = r#"{"messages": [{"role": "assistant", "reasoning_content": "why",
        "content": [{"type": "text", "text": "one"}, {"type": "image_url", "image_url": {"url": "data:xxxx"}}],
        "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{\"a\": 1}"}},
                       {"id": "2", "function": {"name": "g", "arguments": {"b":2}}}],
        "function_call": {"name": "h", "arguments": ""}}]}"#;
    assert_eq!(
        first_pieces(text),
        [
            "one",
            "<image>",
            "why",
            "f",
            "{\"a\": 1}",
            "g",
            "{\"b\":2}",
            "h",
            ""
        ]
    );
}

#[test]
fn parts_are_charged_for_what_a_model_reads_of_them() {
    let charged = |part: &str, expected: &[&str]| {
        let text = format!(r#"{{"messages": [{{"role": "user", "content": [{part}]}}]}}"#);
        assert_eq!(first_pieces(&text), expected, "{part}");
    };
    let call = r#""name": "f", "cache_control": {"type": "ephemeral"}"#;
    charged(
        r#"{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}"#,
        &["a"],
    );
    charged(r#"{"type": "text", "text": null}"#, &[]);
    charged(r#"{"type": "text", "text": {"a":  1}}"#, &[r#"{"a":  1}"#]);
    charged(
        r#"{"type": "input_text", "text": "a"}, {"type": "output_text", "text": "b", "annotations": []}"#,
        &["a", "b"],
    );
    charged(
        r#"{"type": "thinking", "thinking": "a\nb", "signature": "EqQC"}"#,
        &["a\nb"],
    );
    charged(
        r#"{"type": "thinking", "thinking": "", "thinkingSignature": "EqQC"}"#,
        &[""],
    );
    charged(r#"{"type": "redacted_thinking", "data": "EmwK"}"#, &[]);
    charged(
        r#"{"type": "reasoning", "text": "a"}, {"type": "reasoning", "reasoning": "b"}"#,
        &["a", "b"],
    );
    charged(r#"{"type": "refusal", "refusal": "no"}"#, &["no"]);
    charged(
        &format!(r#"{{"type": "tool_use", "id": "toolu_1", {call}, "input": {{"a":  1}}}}"#),
        &["f", r#"{"a":  1}"#],
    );
    charged(
        &format!(r#"{{"type": "toolCall", "id": "toolu_1", {call}, "arguments": {{}}}}"#),
        &["f", "{}"],
    );
    charged(
        &format!(r#"{{"type": "function_call", "call_id": "c", {call}, "arguments": "{{\"a\": 1}}"}}"#),
        &["f", r#"{"a": 1}"#],
    );
    let result = |content: &str| {
        format!(r#"{{"type": "tool_result", "tool_use_id": "toolu_1", "is_error": true{content}}}"#)
    };
    charged(&result(""), &[]);
    charged(&result(r#", "content": null"#), &[]);
    charged(&result(r#", "content": "x\ty""#), &["x\ty"]);
    charged(&result(r#", "content": 3.50"#), &["3.50"]);
    let nested = r#", "content": [{"type": "text", "text": "x"}, {"type": "image", "source": {"data": "iVBO"}}, {"type": "tool_result", "content": "y"}]"#;
    charged(
        &result(nested),
        &["x", "<image>", r#"{"type": "tool_result", "content": "y"}"#],
    );
    charged(r#"{"tool_use_id": "toolu_1", "content": "x"}"#, &["x"]);
    charged(
        r#"{"type": "function_call_output", "call_id": "c", "output": "x"}"#,
        &["x"],
    );
    // A part of unknown type costs its JSON text.
    charged(
        r#"{"type": "document", "title":  "a"}"#,
        &[r#"{"type": "document", "title":  "a"}"#],
    );
    charged(r#"{"value": 1}"#, &[r#"{"value": 1}"#]);
}

#[test]
fn a_call_written_in_a_part_and_in_a_field_costs_once() {
    let call = |id: &str| format!(r#"{{"type": "tool_use", "id": "{id}", "name": "f", "input": {{}}}}"#);
    let text = format!(
        r#"{{"messages": [{{"role": "assistant", "content": [{}, {}], "tool_calls": [{{"id": "1", "function": {{"name": "f", "arguments": "{{}}"}}}}]}}]}}"#,
        call("1"),
        call("2")
    );
    assert_eq!(first_pieces(&text), ["f", "{}", "f", "{}"]);
}

#[test]
fn a_thought_among_parts_is_read_without_its_signature() {
    let text = r#"{"messages": [{"role": "assistant", "content": [{"type": "thinking", "thinking": "why", "signature": "EqQC"},
        {"type": "redacted_thinking", "data": "EmwK"}, {"type": "text", "text": "so"}]}]}"#;
    assert_eq!(view(&record(text).turns[0], 0).text, "why\nso");
}

#[test]
fn images_of_each_result_are_its_own() {
    let text = r#"{"messages": [{"role": "user", "content": [{"type": "image"}, {"type": "tool_result", "tool_use_id": "1", "content": "x"},
        {"type": "tool_result", "tool_use_id": "2", "content": [{"type": "image"}, {"type": "image"}]}]},
        {"role": "tool", "content": [{"type": "image_url"}]}]}"#;
    let record = record(text);
    assert_eq!(
        (record.turns[0].images(), record.turns[0].images_of_responses()),
        (3, vec![0, 2])
    );
    assert_eq!(record.turns[1].images_of_responses(), [1]);
}

#[test]
fn a_turn_without_a_readable_role_is_opaque_and_counts_by_its_json() {
    for turn in [
        r#""just text""#,
        "null",
        "7",
        r#"{"value": "x"}"#,
        r#"{"from": null, "value": "x"}"#,
        r#"{"from": 3}"#,
    ] {
        let text = format!(r#"{{"conversations": [{turn}]}}"#);
        let record = record(&text);
        assert!(record.turns[0].opaque, "{turn}");
        assert_eq!(pieces(&record.turns[0]), [turn]);
    }
    let twice = r#"{"conversations": [{"from": "gpt", "value": "a", "value": "b"}]}"#;
    assert!(record(twice).turns[0].opaque);
}

#[test]
fn a_lone_surrogate_is_counted_as_well_as_can_be_and_told() {
    let text = r#"{"conversations": [{"from": "gpt", "value": "a\ud800b"}]}"#;
    let mut charged = String::new();
    let exact = record(text).turns[0].pieces(&mut String::new(), |piece| {
        if let Piece::Text(text) = piece {
            charged.push_str(text);
        }
    });
    assert_eq!((charged.as_str(), exact), ("a\u{fffd}b", false));
}

#[test]
fn a_trajectory_given_twice_is_ambiguous() {
    assert!(record(r#"{"conversations": [], "conversations": []}"#).ambiguous);
    assert!(!record(r#"{"conversations": [], "messages": [], "messages": []}"#).ambiguous);
}

#[test]
fn the_first_name_of_a_record_is_its_id() {
    assert_eq!(
        record(r#"{"task_id": 7, "id": "x", "conversations": []}"#).id,
        Some("\"x\"")
    );
    assert_eq!(
        record(r#"{"id": {"a": 1}, "instance_id": "y", "conversations": []}"#).id,
        Some("\"y\"")
    );
    assert_eq!(record(r#"{"conversations": []}"#).id, None);
}

#[test]
fn code_behind_a_tagged_call_is_its_argument() {
    let views = views_of(
        r#"{"messages": [{"role": "assistant", "content": "I add.\n<tool_call>\n{\"name\": \"PythonInterpreter\", \"arguments\": {}}\n<code>\nprint(1 + 2)\n</code>\n</tool_call>"}]}"#,
    );
    let call = &views[0].calls[0];
    assert_eq!(
        (call.name.as_ref(), call.arguments.as_ref()),
        ("PythonInterpreter", r#"{"code":"print(1 + 2)"}"#)
    );
}

#[test]
fn tagged_calls_and_responses_are_taken_out_of_the_text() {
    let text = r#"{"conversations": [
        {"from": "gpt", "value": "Look.\n<tool_call>\n{\"name\": \"ls\", \"arguments\": {\"path\": \"/a\"}}\n</tool_call>\n<tool_call>not json</tool_call>"},
        {"from": "tool", "value": "<tool_response>\n{\"tool_call_id\": \"c1\", \"name\": \"ls\", \"content\": \"b\\nc\"}\n</tool_response><tool_response>plain</tool_response>"}]}"#;
    let record = record(text);
    let assistant = view(&record.turns[0], 0);
    assert_eq!(assistant.text, "Look.");
    let calls: Vec<_> = assistant
        .calls
        .iter()
        .map(|call| (call.name.as_ref(), call.arguments.as_ref()))
        .collect();
    assert_eq!(calls, [("ls", "{\"path\": \"/a\"}"), ("", "not json")]);
    let tool = view(&record.turns[1], 1);
    let responses: Vec<_> = tool
        .responses
        .iter()
        .map(|response| (response.id.as_deref(), response.content.as_ref()))
        .collect();
    assert_eq!(responses, [(Some("c1"), "b\nc"), (None, "plain")]);
}

#[test]
fn function_call_turns_are_calls_of_the_assistant() {
    let text = r#"{"conversations": [{"from": "function_call", "value": "{\"name\": \"f\", \"arguments\": {\"x\": 1}}"},
        {"from": "observation", "value": "{\"ok\": true}"}]}"#;
    let record = record(text);
    let views: Vec<_> = record
        .turns
        .iter()
        .enumerate()
        .map(|(index, turn)| view(turn, index))
        .collect();
    assert_eq!(
        (views[0].role, views[0].calls[0].name.as_ref()),
        (Role::Assistant, "f")
    );
    assert_eq!(views[1].responses[0].content, "{\"ok\": true}");
    let views = Views::of(&record, Vec::new());
    assert!(answered_turns(&views).eq([None, Some(0)]));
}

#[test]
fn responses_find_their_call_by_id_across_other_turns_and_by_place_without_one() {
    let text = r#"{"messages": [
        {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "user", "content": "meanwhile"},
        {"role": "tool", "tool_call_id": "a", "content": "late"},
        {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_ids": ["a"], "content": "an id again"},
        {"role": "tool", "content": "no id"},
        {"role": "user", "content": "x"},
        {"role": "tool", "content": "an orphan"}]}"#;
    let record = record(text);
    let views = Views::of(&record, Vec::new());
    let answered: Vec<Option<usize>> = answered_turns(&views).collect();
    assert_eq!(
        answered,
        [None, None, Some(0), None, Some(3), Some(3), None, None]
    );
}

#[test]
fn text_is_appended_inside_the_last_text_part() {
    let text = r#"{"messages": [{"role": "system", "content": [{"type": "text", "text": "a", "cache_control": {}}]}], "x": 1}"#;
    let record = record(text);
    let edit = append_text(&record, &record.turns[0], "\n\"b\"").unwrap();
    let edited = apply(text, vec![edit]);
    assert_eq!(edited, text.replace("\"a\"", "\"a\\n\\\"b\\\"\""));
    let null = parse(br#"{"messages": [{"role": "user", "content": null}]}"#, None).unwrap();
    assert_eq!(append_text(&null, &null.turns[0], "x"), None);
}

#[test]
fn text_is_appended_inside_the_last_result() {
    let turn = |content: &str| format!(r#"{{"messages": [{{"role": "user", "content": {content}}}]}}"#);
    let result = |content: &str| {
        format!(
            r#"[{{"type": "text", "text": "b"}}, {{"type": "tool_result", "tool_use_id": "1"{content}}}]"#
        )
    };
    for content in [
        r#", "content": "a""#,
        r#", "content": [{"type": "text", "text": "a"}, {"type": "image"}], "is_error": true"#,
    ] {
        let text = turn(&result(content));
        let record = record(&text);
        assert_eq!(record.turns[0].last_text().as_deref(), Some("a"));
        let edit = append_text(&record, &record.turns[0], "\nx").unwrap();
        assert_eq!(apply(&text, vec![edit]), text.replace("\"a\"", "\"a\\nx\""));
    }
    for content in ["", r#", "content": null"#, r#", "content": [{"type": "image"}]"#] {
        let text = turn(&result(content));
        let record = record(&text);
        assert_eq!(append_text(&record, &record.turns[0], "x"), None);
    }
}
