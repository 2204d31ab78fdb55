//! Texts marked as safe: as in Python, texts added to them are escaped.

use minijinja::{Environment, Error, Value};

use super::text_of;
use crate::tokens::chat_template::bounds;

/// Adds these filters to the engine.
pub fn add(environment: &mut Environment<'_>) {
    for name in ["e", "escape"] {
        environment.add_filter(name, escape);
    }
    environment.add_filter("forceescape", |value: &Value| {
        escaped(&text_of(value)?).and_then(marked)
    });
    environment.add_filter("safe", |value: &Value| text_of(value).and_then(marked));
}

/// The text, marked as safe.
pub fn marked(text: String) -> Result<Value, Error> {
    bounds::text(Value::from_safe_string(text))
}

fn escape(value: &Value) -> Result<Value, Error> {
    if value.is_safe() {
        return Ok(value.clone());
    }
    escaped(&text_of(value)?).and_then(marked)
}

/// The text with HTML's special characters as entities.
pub fn escaped(text: &str) -> Result<String, Error> {
    let entities = text.bytes().filter(|byte| b"&<>'\"".contains(byte)).count();
    bounds::room(entities.saturating_mul(4).saturating_add(text.len()))?;
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\'' => out.push_str("&#39;"),
            '"' => out.push_str("&#34;"),
            _ => out.push(character),
        }
    }
    Ok(out)
}
