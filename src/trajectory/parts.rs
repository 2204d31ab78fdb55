//! Content given as a list of parts: text parts, images, and what else chat formats put there.

use serde_json::value::RawValue;

use super::fields::fields;
use super::json;

/// One part of a content list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'a> {
    /// The JSON string of a text part.
    Text(&'a str),
    /// An image in any of its spellings.
    Image,
    /// The JSON text of any other part.
    Other(&'a str),
}

/// The parts of a content that is a list of objects, as JSON: texts and images as they stand, others as texts.
pub fn raw_parts(content: &str) -> Vec<String> {
    let parts: Vec<&RawValue> = serde_json::from_str(content).unwrap_or_default();
    let raw_part = |part: &RawValue| match part_of(part.get()) {
        Part::Text(_) | Part::Image => part.get().to_owned(),
        Part::Other(other) => text_part(&json::quoted(other)),
    };
    parts.into_iter().map(raw_part).collect()
}

/// A text, given as a JSON string, as a part.
pub fn text_part(literal: &str) -> String {
    format!("{{\"type\": \"text\", \"text\": {literal}}}")
}

const TEXT_KINDS: [&str; 4] = ["\"text\"", "\"input_text\"", "\"output_text\"", ""];
const IMAGE_KINDS: [&str; 3] = ["\"image\"", "\"image_url\"", "\"input_image\""];

/// The parts of a content that is a list of objects; `None` where it is anything else.
pub fn parts(content: &str) -> Option<Vec<Part<'_>>> {
    if !content.starts_with('[') {
        return None;
    }
    let raw_parts: Vec<&RawValue> = serde_json::from_str(content).ok()?;
    let objects = raw_parts.iter().all(|part| part.get().starts_with(['{', '"']));
    (objects && !raw_parts.is_empty())
        .then(|| raw_parts.into_iter().map(|part| part_of(part.get())).collect())
}

/// What a part is, given as JSON.
pub(super) fn part_of(part: &str) -> Part<'_> {
    if part.starts_with('"') {
        return Part::Text(part);
    }
    let Ok(object) = fields(part, &["type", "text"]) else {
        return Part::Other(part);
    };
    let [kind, text] = object.values;
    let kind = kind.unwrap_or_default();
    match text {
        Some(text) if text.starts_with('"') && TEXT_KINDS.contains(&kind) => Part::Text(text),
        _ if IMAGE_KINDS.contains(&kind) => Part::Image,
        _ => Part::Other(part),
    }
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
            Part::Other(r#"{"type":"x"}"#),
            Part::Text("\"b\""),
        ];
        assert_eq!(parts(content), Some(expected));
    }
}
