//! Detects turns that are in the target form already: they keep their bytes.

use serde_json::value::RawValue;

use super::{ArgumentsForm, OutputForm};
use crate::trajectory::json::fields::fields;
use crate::trajectory::view::decode::{tagged_responses, whole_responses};
use crate::trajectory::{Format, Role, Turn, json};

/// Returns true if the turn is in the target form already.
pub(super) fn stays(turn: &Turn<'_>, target: OutputForm) -> bool {
    let Some(content) = turn.content().filter(|content| content.starts_with('"')) else {
        return false;
    };
    let is_named = match (turn.speaker(), role_name(target.form, turn.speaker())) {
        // A person's turn of tool results is converted.
        (speaker, Some(name)) => turn.role == speaker && turn.role_name() == Some(name),
        (_, None) => true,
    };
    is_named
        && match target.form {
            Format::Messages => is_message(turn, content, target.arguments),
            Format::ShareGpt => is_sharegpt(turn, content),
        }
}

/// Returns the name of a role in a form, as a JSON string; `None` for roles without one.
pub(super) fn role_name(form: Format, role: Role) -> Option<&'static str> {
    let (sharegpt, messages) = match role {
        Role::System => ("\"system\"", "\"system\""),
        Role::Human => ("\"human\"", "\"user\""),
        Role::Assistant => ("\"gpt\"", "\"assistant\""),
        Role::Tool => ("\"tool\"", "\"tool\""),
        Role::Other => return None,
    };
    Some(match form {
        Format::ShareGpt => sharegpt,
        Format::Messages => messages,
    })
}

fn is_message(turn: &Turn<'_>, content: &str, arguments: ArgumentsForm) -> bool {
    let has_string_id = turn.tool_call_id().is_none_or(|id| id.starts_with('"'));
    let is_free_of = |mark: &str| !content.contains(mark);
    turn.keys() == ("role", "content")
        && turn.function_call().is_none()
        && has_string_id
        && match turn.speaker() {
            Role::Assistant => match turn.tool_calls() {
                Some(list) => are_calls(list, arguments),
                None => is_free_of("tool_call"),
            },
            Role::Tool => {
                let other_keys = fields(turn.text, &["toolCallId", "toolName"]);
                turn.tool_call_id().is_some()
                    || is_free_of("tool_response") && other_keys.is_ok_and(|other| other.values == [None; 2])
            }
            _ => true,
        }
}

/// Returns true if a `tool_calls` list is in the target form.
fn are_calls(list: &str, arguments: ArgumentsForm) -> bool {
    let Ok(calls) = serde_json::from_str::<Vec<&RawValue>>(list) else {
        return false;
    };
    calls.iter().all(|call| is_call(call.get(), arguments))
}

/// Returns true if an element of a `tool_calls` list is in the target form.
pub(super) fn is_call(call: &str, arguments: ArgumentsForm) -> bool {
    let Ok([function, kind]) = fields(call, &["function", "type"]).map(|fields| fields.values) else {
        return false;
    };
    let Some(Ok([name, given])) =
        function.map(|function| fields(function, &["name", "arguments"]).map(|fields| fields.values))
    else {
        return false;
    };
    let begins = if arguments == ArgumentsForm::Object {
        '{'
    } else {
        '"'
    };
    kind == Some("\"function\"")
        && name.is_some_and(|name| name.starts_with('"'))
        && given.is_some_and(|given| given.starts_with(begins))
}

fn is_sharegpt(turn: &Turn<'_>, content: &str) -> bool {
    let has_calls = turn.tool_calls().is_some_and(|list| list != "[]") || turn.function_call().is_some();
    turn.keys() == ("from", "value")
        && turn.reasoning().is_none()
        && !has_calls
        && (turn.speaker() != Role::Tool || turn.tool_call_id().is_none() && is_in_envelopes(content))
}

/// Returns true if a tool's text consists of envelopes only.
fn is_in_envelopes(content: &str) -> bool {
    let text = json::decode(content).0;
    let blocks = whole_responses(&text);
    let mut end = 0;
    let mut only = !tagged_responses(&text).is_empty();
    for block in blocks {
        only &= text
            .get(end..block.start)
            .is_some_and(|between| between.trim().is_empty());
        end = block.end;
    }
    only && text.get(end..).is_some_and(|rest| rest.trim().is_empty())
}
