//! A record as the chat that a trainer hands to a chat template: messages and tools as JSON, made by splicing.

mod arguments;

use std::borrow::Cow;

use super::edit::{Edit, apply};
use super::json::decode;
use super::{Record, Role, Turn};
use arguments::{call_list, calls_in_text, is_json, parsed_arguments, span};

pub use arguments::TemplateArguments;

/// The arguments of `apply_chat_template`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chat<'a> {
    /// The JSON list of messages, of `role` and `content`.
    pub messages: String,
    /// The JSON list of tools, if the record has one.
    pub tools: Option<Cow<'a, str>>,
}

/// The reason why a record is no chat.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoChat(String);

/// Returns a record as a chat.
///
/// Fields keep their order, and numbers and escapes their spelling. The changes are those that trainers make: `from`
/// and `value` become `role` and `content`; role names become `system`, `user`, `assistant` and `tool`, and unknown
/// ones stay; an older `function_call` becomes a tool call; and a top-level `system` comes first if no turn is one.
/// Arguments given as a string of JSON are parsed only if `arguments` says so.
///
/// # Errors
///
/// A turn has no readable role, or `tools` is no list.
pub fn chat<'a>(record: &Record<'a>, arguments: TemplateArguments) -> Result<Chat<'a>, NoChat> {
    let mut messages = String::with_capacity(record.text.len() + 64);
    messages.push('[');
    if let Some(system) = record.system
        && record.turns.iter().all(|turn| turn.role != Role::System)
    {
        messages.extend([r#"{"role": "system", "content": "#, system, "}"]);
    }
    for (index, turn) in record.turns.iter().enumerate() {
        if turn.opaque {
            return Err(NoChat(format!("turn {} has no readable role", index + 1)));
        }
        if messages.len() > 1 {
            messages.push(',');
        }
        message_into(turn, arguments, &mut messages);
    }
    messages.push(']');
    let tools = record
        .tools
        .and_then(|tools| tool_list(tools).transpose())
        .transpose()?;
    Ok(Chat { messages, tools })
}

/// Returns a record's `tools` as a JSON list; `None` if they are blank or null.
///
/// # Errors
///
/// They are no list, and no string of one.
pub fn tool_list(tools: &str) -> Result<Option<Cow<'_, str>>, NoChat> {
    let list = if tools.starts_with('"') {
        decode(tools).0
    } else {
        Cow::Borrowed(tools)
    };
    match list.trim() {
        "" | "null" => Ok(None),
        text if text.starts_with('[') && is_json(text) => Ok(Some(list)),
        _ => Err(NoChat("`tools` is no list".to_owned())),
    }
}

fn message_into(turn: &Turn<'_>, arguments: TemplateArguments, out: &mut String) {
    let name = turn.role_name().unwrap_or_default();
    let calls = (name == "\"function_call\"")
        .then(|| calls_in_text(turn.content()?, arguments))
        .flatten();
    if turn.keys() == ("role", "content") && calls.is_none() {
        out.push_str(&apply(turn.text, edits(turn, arguments)));
        return;
    }
    let content = if calls.is_some() {
        Some("\"\"")
    } else {
        turn.content()
    };
    let given = turn
        .tool_calls()
        .map(|list| apply(list, parsed_arguments(list, arguments)));
    let calls = calls
        .or(given)
        .or_else(|| turn.function_call().map(|call| call_list([call], arguments)));
    let id = turn.tool_call_id().filter(|id| id.starts_with('"'));
    out.extend([r#"{"role": "#, role(turn)]);
    let fields = [
        (r#", "content": "#, content),
        (r#", "reasoning_content": "#, turn.reasoning()),
        (r#", "tool_calls": "#, calls.as_deref()),
        (r#", "tool_call_id": "#, id),
        (r#", "name": "#, turn.name()),
    ];
    for (key, value) in fields {
        if let Some(value) = value {
            out.extend([key, value]);
        }
    }
    out.push('}');
}

/// Returns the role name, quoted, that templates know for a turn.
fn role<'a>(turn: &Turn<'a>) -> &'a str {
    match turn.speaker() {
        Role::System => "\"system\"",
        Role::Human => "\"user\"",
        Role::Assistant => "\"assistant\"",
        Role::Tool => "\"tool\"",
        Role::Other => turn.role_name().unwrap_or("\"\""),
    }
}

/// Returns the edits of a turn that is a message already.
fn edits(turn: &Turn<'_>, arguments: TemplateArguments) -> Vec<Edit> {
    let mut edits = Vec::new();
    let name = turn.role_name().unwrap_or_default();
    if name != role(turn) {
        edits.push(Edit {
            at: span(turn.text, name),
            text: role(turn).to_owned(),
        });
    }
    if let Some(list) = turn.tool_calls() {
        let offset = span(turn.text, list).start;
        edits.extend(parsed_arguments(list, arguments).into_iter().map(|edit| Edit {
            at: edit.at.start + offset..edit.at.end + offset,
            text: edit.text,
        }));
    } else if let Some(call) = turn.function_call() {
        // The last of two fields of one name counts, and there may be a `tool_calls` that is null.
        let end = turn.text.len().saturating_sub(1);
        edits.push(Edit {
            at: end..end,
            text: format!(", \"tool_calls\": {}", call_list([call], arguments)),
        });
    }
    edits
}

/// Returns a list of calls, with their arguments in the given form.
pub fn call_list_with(list: &str, arguments: TemplateArguments) -> String {
    apply(list, parsed_arguments(list, arguments))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trajectory::parse;

    #[track_caller]
    fn messages(record: &str, expected: &str) {
        let record = parse(record.as_bytes(), None).unwrap();
        let chat = chat(&record, TemplateArguments::Parsed).unwrap();
        assert_eq!(chat.messages, expected);
    }

    #[test]
    fn arguments_stay_strings_or_objects_unless_they_are_to_be_parsed() {
        let as_written = |record: &str, expected: &str| {
            let record = parse(record.as_bytes(), None).unwrap();
            let chat = chat(&record, TemplateArguments::AsWritten).unwrap();
            assert_eq!(chat.messages, expected);
        };
        let call = r#"{"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{\"a\": 1}"}}, {"function": {"name": "g", "arguments": {"b": 2}}}]}]}"#;
        as_written(call, &call["{\"messages\": ".len()..call.len() - 1]);
        as_written(
            r#"{"messages": [{"role": "ai", "function_call": {"name": "f", "arguments": "{}"}}]}"#,
            r#"[{"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}, "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": "{}"}}]}]"#,
        );
        as_written(
            r#"{"conversations": [{"from": "function_call", "value": "{\"name\": \"f\", \"arguments\": {\"a\": 1.50}}"}]}"#,
            r#"[{"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {"a": 1.50}}}]}]"#,
        );
    }

    #[test]
    fn messages_stay_as_they_stand() {
        messages(
            r#"{"messages": [ {"role": "user", "content": [{"type":"text", "text": "\u00e9"}], "x": 1.50} ,{"content":null,"role":"critic"}]}"#,
            r#"[{"role": "user", "content": [{"type":"text", "text": "\u00e9"}], "x": 1.50},{"content":null,"role":"critic"}]"#,
        );
        messages(r#"{"messages": []}"#, "[]");
    }

    #[test]
    fn roles_get_the_names_that_templates_know() {
        messages(
            r#"{"messages": [{"role": "developer", "content": "a"}, {"content": "b", "role": "human"},
                {"role":"model","content":"c"}, {"role": "observation", "content": "d"}]}"#,
            r#"[{"role": "system", "content": "a"},{"content": "b", "role": "user"},{"role":"assistant","content":"c"},{"role": "tool", "content": "d"}]"#,
        );
    }

    #[test]
    fn arguments_in_strings_become_the_json_in_them() {
        messages(
            r#"{"messages": [{"role": "assistant", "tool_calls": [
                {"id": "1", "function": {"arguments": "{\"a\": \"\\u00e9\", \"b\": 1.0}", "name": "f"}}, {"name": "g", "arguments": " [1]\n"},
                {"function": {"name": "h", "arguments": "not JSON"}}, {"function": {"name": "i", "arguments": {"c": "{}"}}}, 7], "content": "x"}]}"#,
            r#"[{"role": "assistant", "tool_calls": [
                {"id": "1", "function": {"arguments": {"a": "\u00e9", "b": 1.0}, "name": "f"}}, {"name": "g", "arguments": [1]},
                {"function": {"name": "h", "arguments": "not JSON"}}, {"function": {"name": "i", "arguments": {"c": "{}"}}}, 7], "content": "x"}]"#,
        );
    }

    #[test]
    fn an_older_function_call_becomes_a_tool_call() {
        messages(
            r#"{"messages": [{"role": "assistant", "content": "", "tool_calls": null, "function_call": {"name": "f", "arguments": "{\"a\": 1}"}},
                {"role": "function", "name": "f", "content": "2"}]}"#,
            r#"[{"role": "assistant", "content": "", "tool_calls": null, "function_call": {"name": "f", "arguments": "{\"a\": 1}"}, "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}]},{"role": "tool", "name": "f", "content": "2"}]"#,
        );
    }

    #[test]
    fn sharegpt_becomes_messages() {
        messages(
            r#"{"conversations": [{"from": "system", "value": "s"}, {"value": "h", "from": "human"},
                {"from": "gpt", "value": "<tool_call>\n{}\n</tool_call>", "reasoning": "why"},
                {"from": "function_call", "value": "{\"name\": \"f\", \"arguments\": {\"a\": 1.50}}"},
                {"from": "function_call", "value": "[{\"name\": \"f\"}, {\"name\": \"g\", \"arguments\": \"{}\"}]"},
                {"from": "function_call", "value": "f(1)"},
                {"from": "observation", "value": "2", "tool_call_id": "c"}, {"from": "narrator", "value": null}]}"#,
            r#"[{"role": "system", "content": "s"},{"role": "user", "content": "h"},{"role": "assistant", "content": "<tool_call>\n{}\n</tool_call>", "reasoning_content": "why"},{"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {"a": 1.50}}}]},{"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {}}}, {"type": "function", "function": {"name": "g", "arguments": {}}}]},{"role": "assistant", "content": "f(1)"},{"role": "tool", "content": "2", "tool_call_id": "c"},{"role": "narrator"}]"#,
        );
    }

    #[test]
    fn a_system_prompt_beside_the_turns_comes_first_where_no_turn_is_one() {
        messages(
            r#"{"system": "s\n", "conversations": [{"from": "human", "value": "h"}]}"#,
            r#"[{"role": "system", "content": "s\n"},{"role": "user", "content": "h"}]"#,
        );
        messages(
            r#"{"system": "s", "conversations": [{"from": "human", "value": "h"}, {"from": "system", "value": "t"}]}"#,
            r#"[{"role": "user", "content": "h"},{"role": "system", "content": "t"}]"#,
        );
    }

    #[test]
    fn tools_are_a_list_or_a_string_of_one() {
        let tools = |tools: &str| {
            let record = format!("{{\"messages\": [], \"tools\": {tools}}}");
            let record = parse(record.as_bytes(), None).unwrap();
            chat(&record, TemplateArguments::AsWritten)
                .map(|chat| chat.tools.map(Cow::into_owned))
                .map_err(|error| error.to_string())
        };
        assert_eq!(tools(r#"[{"x": 1.0}]"#), Ok(Some(r#"[{"x": 1.0}]"#.to_owned())));
        assert_eq!(
            tools(r#""[{\"x\": 1.0}]""#),
            Ok(Some(r#"[{"x": 1.0}]"#.to_owned()))
        );
        assert_eq!(tools("[]"), Ok(Some("[]".to_owned())));
        for none in ["null", r#""""#, r#""null""#] {
            assert_eq!(tools(none), Ok(None));
        }
        for bad in ["{}", "7", r#""[1""#, r#""tools""#] {
            assert_eq!(tools(bad), Err("`tools` is no list".to_owned()));
        }
    }

    #[test]
    fn a_turn_without_a_readable_role_makes_no_chat() {
        let record = parse(br#"{"messages": [{"role": "user"}, {"content": "x"}]}"#, None).unwrap();
        assert_eq!(
            chat(&record, TemplateArguments::AsWritten)
                .unwrap_err()
                .to_string(),
            "turn 2 has no readable role"
        );
    }
}
