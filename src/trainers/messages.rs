//! The messages that a trainer passes to a chat template, each as JSON, made by splicing.

use super::action::{Action, Class};
use super::form::{CallsTreatment, FormRules};
use super::judged::Judged;
use super::structure::keys;
use super::turn::{Content, TrainerTurn, texts_of_parts};
use crate::trajectory::{Record, TemplateArguments, call_list_with, json};

/// The messages of a record after the changes of its rules, one JSON object each.
pub fn messages(record: &Record<'_>, turns: &[Judged<'_>], rules: &FormRules) -> Vec<String> {
    let (role_key, text_key) = keys(record.format);
    let mut messages = Vec::with_capacity(turns.len() + 1);
    let starts_with_system = turns
        .first()
        .is_some_and(|turn| turn.class == Some(Class::System));
    if let Some(system) = record
        .system
        .filter(|_| rules.system_text == Action::Keep && !starts_with_system)
    {
        messages.push(format!(r#"{{"role": "system", "content": {system}}}"#));
    }
    for (turn, judged) in record.turns.iter().zip(turns) {
        let Some(fields) = TrainerTurn::of(turn) else {
            continue;
        };
        let mut message = String::from(r#"{"role": "#);
        match judged.class {
            Some(class) => message.push_str(name(class)),
            None => message.push_str(fields.get(role_key).unwrap_or("\"\"")),
        }
        if let Some(content) = content(judged, rules) {
            message.push_str(r#", "content": "#);
            message.push_str(&content);
        }
        for (key, value) in fields.all() {
            if key == role_key || key == text_key || value == "null" {
                continue;
            }
            let is_calls = key == "tool_calls";
            if is_calls && rules.tool_calls == CallsTreatment::Ignore {
                continue;
            }
            message.push_str(", ");
            message.push_str(&json::quoted(key));
            message.push_str(": ");
            if is_calls && rules.parses_arguments {
                message.push_str(&call_list_with(value, TemplateArguments::Parsed));
            } else {
                message.push_str(value);
            }
        }
        message.push('}');
        messages.push(message);
    }
    messages
}

/// The content of a message, as JSON; `None` if it gets none.
fn content(turn: &Judged<'_>, rules: &FormRules) -> Option<String> {
    match turn.content {
        Content::Text(text) => Some(text.to_owned()),
        Content::Null if rules.content.null == Action::Empty => Some("\"\"".to_owned()),
        Content::Null | Content::Other => None,
        Content::Parts(list) => match rules.content.parts {
            Action::Join => Some(json::quoted(&texts_of_parts(list, &rules.joint).0)),
            Action::Empty => Some("\"\"".to_owned()),
            _ => Some(list.to_owned()),
        },
    }
}

fn name(class: Class) -> &'static str {
    match class {
        Class::System => "\"system\"",
        Class::User => "\"user\"",
        Class::Assistant | Class::Call => "\"assistant\"",
        Class::Tool => "\"tool\"",
    }
}

/// A JSON list of messages.
pub fn list(messages: &[String]) -> String {
    format!("[{}]", messages.join(","))
}

/// Returns true if messages rendered one by one, each without the template's fixed beginning, add up to the whole chat.
/// Tools are in the first one.
///
/// # Errors
///
/// A message alone, or a chat of empty user messages, could not be rendered; the error is the reason.
pub fn same_alone(
    messages: &[String],
    whole: &str,
    render: impl Fn(&str, bool) -> Result<String, String>,
) -> Result<bool, String> {
    const NOBODY: &str = r#"{"role": "user", "content": ""}"#;
    let one = render(&format!("[{NOBODY}]"), false)?;
    let two = render(&format!("[{NOBODY},{NOBODY}]"), false)?;
    let system = (one.len() * 2).saturating_sub(two.len());
    let mut at = 0;
    for (index, message) in messages.iter().enumerate() {
        let alone = render(&format!("[{message}]"), index == 0)?;
        let is_system = message.starts_with(r#"{"role": "system""#);
        let skipped = if index == 0 || is_system { 0 } else { system };
        let Some(rest) = whole
            .get(at..)
            .filter(|rest| alone.get(skipped..).is_some_and(|own| rest.starts_with(own)))
        else {
            return Ok(false);
        };
        at = whole.len() - rest.len() + alone.len() - skipped;
    }
    Ok(at == whole.len())
}

/// Returns true if a chat starts with its first messages rendered alone, up to and after each answer. Tools are in all.
///
/// # Errors
///
/// The first messages could not be rendered; the error is the reason.
pub fn fits_in_prefixes(
    messages: &[String],
    whole: &str,
    render: impl Fn(&str, bool) -> Result<String, String>,
) -> Result<bool, String> {
    let is_answer = |message: &String| message.starts_with(r#"{"role": "assistant""#);
    let places = messages
        .iter()
        .enumerate()
        .filter(|(_, message)| is_answer(message));
    let mut ends: Vec<usize> = places.flat_map(|(place, _)| [place, place + 1]).collect();
    ends.dedup();
    for end in ends.into_iter().filter(|end| (1..messages.len()).contains(end)) {
        let first = messages.get(..end).unwrap_or_default();
        if !whole.starts_with(&render(&list(first), true)?) {
            return Ok(false);
        }
    }
    Ok(true)
}
