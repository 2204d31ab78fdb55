//! Content given as a list of parts: texts, images, and the other types of chat formats.

use serde_json::value::RawValue;

use crate::trajectory::json;
use crate::trajectory::json::fields::{Fields, fields, objects};

/// One part of a content list, by what a model reads of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'a> {
    /// The JSON string of a text part.
    Text(&'a str),
    /// The JSON value read of any other part: a thought's string, or the whole part if its type is unknown.
    Value(&'a str),
    /// A tool call, as JSON; its name and its arguments are read.
    Call(&'a str),
    /// The result of a call, as JSON; its content is read.
    ToolResult(&'a str),
    /// An image, in any notation.
    Image,
    /// A part without readable content: encrypted thoughts, a text that is null.
    Nothing,
}

/// Kinds of parts, by the content that is read.
#[derive(Debug, Clone, Copy)]
enum PartKind {
    Text,
    Thought,
    Refusal,
    Call,
    ToolResult,
    Image,
    Encrypted,
}

/// The known values of `type`, as JSON.
const KINDS: [(&str, PartKind); 18] = [
    ("\"text\"", PartKind::Text),
    ("\"input_text\"", PartKind::Text),
    ("\"output_text\"", PartKind::Text),
    ("\"thinking\"", PartKind::Thought),
    ("\"reasoning\"", PartKind::Thought),
    ("\"redacted_thinking\"", PartKind::Encrypted),
    ("\"refusal\"", PartKind::Refusal),
    ("\"tool_use\"", PartKind::Call),
    ("\"server_tool_use\"", PartKind::Call),
    ("\"mcp_tool_use\"", PartKind::Call),
    ("\"toolCall\"", PartKind::Call),
    ("\"function_call\"", PartKind::Call),
    ("\"tool_result\"", PartKind::ToolResult),
    ("\"mcp_tool_result\"", PartKind::ToolResult),
    ("\"function_call_output\"", PartKind::ToolResult),
    ("\"image\"", PartKind::Image),
    ("\"image_url\"", PartKind::Image),
    ("\"input_image\"", PartKind::Image),
];

/// Returns the content of a result, as JSON; `None` if it is null or absent.
pub(in crate::trajectory) fn result_content(result: &str) -> Option<&str> {
    let [content, output] = fields(result, &["content", "output"]).ok()?.values;
    content.or(output)
}

/// Returns the parts of a content that is a list of objects, as JSON: texts and images as they are, others as texts.
pub fn raw_parts(content: &str) -> Vec<String> {
    let parts: Vec<&RawValue> = serde_json::from_str(content).unwrap_or_default();
    let raw_part = |part: &RawValue| match part_of(part.get()) {
        Part::Text(_) | Part::Image => part.get().to_owned(),
        _ => text_part(&json::quoted(part.get())),
    };
    parts.into_iter().map(raw_part).collect()
}

/// Returns a text, given as a JSON string, as a part.
pub fn text_part(literal: &str) -> String {
    format!("{{\"type\": \"text\", \"text\": {literal}}}")
}

/// Returns the parts of a content that is a list of objects; `None` for any other content.
pub fn parts(content: &str) -> Option<Vec<Part<'_>>> {
    if !content.starts_with('[') {
        return None;
    }
    if let Some(parts) = objects(content, &NAMES, part_with) {
        return (!parts.is_empty()).then_some(parts);
    }
    let raw_parts: Vec<&RawValue> = serde_json::from_str(content).ok()?;
    let objects = raw_parts.iter().all(|part| part.get().starts_with(['{', '"']));
    (objects && !raw_parts.is_empty())
        .then(|| raw_parts.into_iter().map(|part| part_of(part.get())).collect())
}

/// The fields of a part that are read.
const NAMES: [&str; 6] = ["type", "text", "thinking", "reasoning", "refusal", "tool_use_id"];

/// Returns a part, given as JSON, by its kind.
pub(in crate::trajectory) fn part_of(part: &str) -> Part<'_> {
    if part.starts_with('"') {
        return Part::Text(part);
    }
    fields(part, &NAMES).map_or(Part::Value(part), |object| part_with(part, &object))
}

/// Returns the part with these fields.
fn part_with<'a>(part: &'a str, object: &Fields<'a, { NAMES.len() }>) -> Part<'a> {
    let [name, text, thinking, reasoning, refusal, call] = object.values;
    let is_string = |text: &&str| text.starts_with('"');
    let literal = text.filter(is_string).map(Part::Text);
    let kind = KINDS.iter().find(|(known, _)| name == Some(known));
    let read = match kind.map(|(_, kind)| kind) {
        Some(PartKind::Text) => return literal.or(text.map(Part::Value)).unwrap_or(Part::Nothing),
        Some(PartKind::Thought) => thinking.or(reasoning).or(text),
        Some(PartKind::Refusal) => refusal,
        Some(PartKind::Encrypted) => None,
        Some(PartKind::Call) => return Part::Call(part),
        Some(PartKind::ToolResult) => return Part::ToolResult(part),
        Some(PartKind::Image) => return Part::Image,
        None if call.is_some() => return Part::ToolResult(part),
        None => return literal.filter(|_| name.is_none()).unwrap_or(Part::Value(part)),
    };
    read.map_or(Part::Nothing, Part::Value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_parts_is_told_from_any_other_list() {
        assert_eq!(parts(r#""text""#), None);
        assert_eq!(parts("[1, 2]"), None);
        assert_eq!(parts("[]"), None);
        let content = r#"[{"type":"text","text":"a","cache_control":{}}, {"type":"image_url","image_url":{}}, {"type":"x"}, "b"]"#;
        let expected = vec![
            Part::Text("\"a\""),
            Part::Image,
            Part::Value(r#"{"type":"x"}"#),
            Part::Text("\"b\""),
        ];
        assert_eq!(parts(content), Some(expected));
    }
}
