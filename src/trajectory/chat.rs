//! A record as the chat that a trainer hands to a chat template: messages and tools as JSON, made by splicing.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::calls::{RawCall, raw_call};
use super::edit::{Edit, apply};
use super::fields::fields;
use super::json::decode;
use super::{Record, Role, Turn};

/// What `apply_chat_template` is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chat<'a> {
    /// The JSON list of messages, of `role` and `content`.
    pub messages: String,
    /// The JSON list of tools, where the record has one.
    pub tools: Option<Cow<'a, str>>,
}

/// Why a record is no chat.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoChat(String);

/// The chat that a record is.
///
/// Fields keep their order, and numbers and escapes their spelling. What trainers change is changed: `from` and `value`
/// become `role` and `content`; role names become `system`, `user`, `assistant` and `tool`, and unknown ones stay; arguments
/// given as a string of JSON become that JSON; an older `function_call` becomes a tool call; and a top-level `system` comes
/// first where no turn is one.
///
/// # Errors
///
/// A turn has no readable role, or `tools` is no list.
pub fn chat<'a>(record: &Record<'a>) -> Result<Chat<'a>, NoChat> {
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
        message_into(turn, &mut messages);
    }
    messages.push(']');
    let tools = record
        .tools
        .and_then(|tools| tools_of(tools).transpose())
        .transpose()?;
    Ok(Chat { messages, tools })
}

fn tools_of(tools: &str) -> Result<Option<Cow<'_, str>>, NoChat> {
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

fn is_json(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(text).is_ok()
}

fn message_into(turn: &Turn<'_>, out: &mut String) {
    let name = turn.role_name.unwrap_or_default();
    let calls = (name == "\"function_call\"")
        .then(|| calls_in_text(turn.content?))
        .flatten();
    if turn.keys == ("role", "content") && calls.is_none() {
        out.push_str(&apply(turn.text, edits(turn)));
        return;
    }
    let content = if calls.is_some() {
        Some("\"\"")
    } else {
        turn.content
    };
    let given = turn.tool_calls.map(|list| apply(list, arguments(list)));
    let calls = calls
        .or(given)
        .or_else(|| turn.function_call.map(|call| call_list([call])));
    let id = turn.tool_call_id.filter(|id| id.starts_with('"'));
    out.extend([r#"{"role": "#, role(turn)]);
    let fields = [
        (r#", "content": "#, content),
        (r#", "reasoning_content": "#, turn.reasoning),
        (r#", "tool_calls": "#, calls.as_deref()),
        (r#", "tool_call_id": "#, id),
        (r#", "name": "#, turn.name),
    ];
    for (key, value) in fields {
        if let Some(value) = value {
            out.extend([key, value]);
        }
    }
    out.push('}');
}

/// The name, quoted, that templates know a turn's role by.
fn role<'a>(turn: &Turn<'a>) -> &'a str {
    match turn.role {
        Role::System => "\"system\"",
        Role::Human => "\"user\"",
        Role::Assistant => "\"assistant\"",
        Role::Tool => "\"tool\"",
        Role::Other => turn.role_name.unwrap_or("\"\""),
    }
}

/// What is to be changed in a turn that is a message already.
fn edits(turn: &Turn<'_>) -> Vec<Edit> {
    let mut edits = Vec::new();
    let name = turn.role_name.unwrap_or_default();
    if name != role(turn) {
        edits.push(Edit {
            at: span(turn.text, name),
            text: role(turn).to_owned(),
        });
    }
    if let Some(list) = turn.tool_calls {
        let offset = span(turn.text, list).start;
        edits.extend(arguments(list).into_iter().map(|edit| Edit {
            at: edit.at.start + offset..edit.at.end + offset,
            text: edit.text,
        }));
    } else if let Some(call) = turn.function_call {
        // The last of two fields of one name counts, and there may be a `tool_calls` that is null.
        let end = turn.text.len().saturating_sub(1);
        edits.push(Edit {
            at: end..end,
            text: format!(", \"tool_calls\": {}", call_list([call])),
        });
    }
    edits
}

fn span(text: &str, part: &str) -> std::ops::Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..start + part.len()
}

/// The edits that make JSON of the arguments in a list of calls that are given as strings of JSON.
fn arguments(list: &str) -> Vec<Edit> {
    let calls: Vec<&RawValue> = serde_json::from_str(list).unwrap_or_default();
    let literals = calls.into_iter().flat_map(|call| arguments_of(call.get()));
    literals
        .flatten()
        .filter_map(|literal| {
            Some(Edit {
                at: span(list, literal),
                text: parsed(literal)?,
            })
        })
        .collect()
}

/// The arguments of a call, which may stand in its `function` or beside it.
fn arguments_of(call: &str) -> [Option<&str>; 2] {
    let Ok([function, outer]) = fields(call, &["function", "arguments"]).map(|fields| fields.values) else {
        return [None, None];
    };
    let inner = function.and_then(|function| fields(function, &["arguments"]).ok());
    [inner.and_then(|inner| inner.values[0]), outer]
}

/// The JSON that a string literal holds; `None` for what is no string, or a string that holds none.
fn parsed(literal: &str) -> Option<String> {
    let text = literal.starts_with('"').then(|| decode(literal).0)?;
    is_json(&text).then(|| text.trim().to_owned())
}

/// The calls that the text of a `ShareGPT` turn of the role `function_call` holds: one, or a list of them.
fn calls_in_text(content: &str) -> Option<String> {
    let text = content.starts_with('"').then(|| decode(content).0);
    let text = text.as_deref().unwrap_or(content).trim();
    let calls: Vec<&RawValue> = if text.starts_with('[') {
        serde_json::from_str(text).ok()?
    } else {
        vec![serde_json::from_str(text).ok()?]
    };
    let is_call = |call: &&RawValue| matches!(raw_call(call.get()), RawCall { name: Some(_), .. });
    let all = !calls.is_empty() && calls.iter().all(is_call);
    all.then(|| call_list(calls.iter().map(|call| call.get())))
}

/// Calls of a name and arguments as a list in the form of today.
fn call_list<'c>(calls: impl IntoIterator<Item = &'c str>) -> String {
    let mut list = String::from("[");
    for call in calls {
        let call = raw_call(call);
        if list.len() > 1 {
            list.push_str(", ");
        }
        let arguments = call.arguments.unwrap_or("{}");
        let arguments = parsed(arguments).map_or(Cow::Borrowed(arguments), Cow::Owned);
        list.push_str(r#"{"type": "function", "function": {"name": "#);
        list.extend([
            call.name.unwrap_or("\"\""),
            r#", "arguments": "#,
            &arguments,
            "}}",
        ]);
    }
    list.push(']');
    list
}
