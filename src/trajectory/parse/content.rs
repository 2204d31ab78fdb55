//! The text of a content, in any of its forms.

use std::borrow::Cow;

use super::parts::{Part, parts};
use crate::trajectory::{IMAGE_MARKER, json};

/// Returns a string's text, any other value's JSON text, and an empty text for null.
pub(in crate::trajectory) fn string_or_json(value: &str) -> Cow<'_, str> {
    match value {
        "null" => Cow::Borrowed(""),
        _ if value.starts_with('"') => json::decode(value).0,
        _ => Cow::Borrowed(value),
    }
}

/// Returns the text of a content: of a string, or of its parts.
pub(in crate::trajectory) fn content_text(content: &str) -> Cow<'_, str> {
    let Some(parts) = parts(content) else {
        return string_or_json(content);
    };
    text_of_parts(&parts)
}

/// Returns the texts of parts, one per line, with calls and results as JSON.
pub(super) fn text_of_parts<'a>(parts: &[Part<'a>]) -> Cow<'a, str> {
    let texts: Vec<Cow<'a, str>> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(value) | Part::Value(value) => Some(string_or_json(value)),
            Part::Call(part) | Part::ToolResult(part) => Some(Cow::Borrowed(*part)),
            Part::Image => Some(Cow::Borrowed(IMAGE_MARKER)),
            Part::Nothing => None,
        })
        .collect();
    match <[_; 1]>::try_from(texts) {
        Ok([text]) => text,
        Err(texts) => Cow::Owned(texts.join("\n")),
    }
}
