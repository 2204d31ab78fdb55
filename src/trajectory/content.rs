//! The text of a content, whatever form it has.

use std::borrow::Cow;

use super::json;
use super::parts::{Part, parts};

/// Stands in a view for an image.
const IMAGE: &str = "[image]";

/// A string's text; any other value's JSON text; nothing for null.
pub(super) fn string_or_json(value: &str) -> Cow<'_, str> {
    match value {
        "null" => Cow::Borrowed(""),
        _ if value.starts_with('"') => json::decode(value).0,
        _ => Cow::Borrowed(value),
    }
}

/// The text of a content: a string, or the texts of its parts.
pub(super) fn content_text(content: &str) -> Cow<'_, str> {
    let Some(parts) = parts(content) else {
        return string_or_json(content);
    };
    text_of_parts(&parts)
}

/// The texts of parts, a line each; calls and results as JSON.
pub(super) fn text_of_parts<'a>(parts: &[Part<'a>]) -> Cow<'a, str> {
    let texts: Vec<Cow<'a, str>> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(value) | Part::Value(value) => Some(string_or_json(value)),
            Part::Call(part) | Part::ToolResult(part) => Some(Cow::Borrowed(*part)),
            Part::Image => Some(Cow::Borrowed(IMAGE)),
            Part::Nothing => None,
        })
        .collect();
    match <[_; 1]>::try_from(texts) {
        Ok([text]) => text,
        Err(texts) => Cow::Owned(texts.join("\n")),
    }
}
