//! A turn as trainers read it: its fields, its role, the kind of its content.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::trajectory::{Turn, json};

/// A turn with its fields as JSON text. If a field is given twice, the last one counts, as in Python.
pub struct TrainerTurn<'a> {
    fields: BTreeMap<Cow<'a, str>, &'a RawValue>,
}

/// The kind of a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content<'a> {
    /// Null or absent.
    Null,
    /// A string, as JSON.
    Text(&'a str),
    /// A list of parts, as JSON.
    Parts(&'a str),
    /// Anything else.
    Other,
}

impl<'a> TrainerTurn<'a> {
    /// The fields of a turn; `None` if it is not an object with a role that is a string.
    pub fn of(turn: &Turn<'a>) -> Option<Self> {
        let fields = serde_json::from_str(turn.text).ok()?;
        (!turn.opaque).then_some(Self { fields })
    }

    /// A field as JSON text, null included.
    pub fn raw(&self, name: &str) -> Option<&'a str> {
        self.fields.get(name).map(|value| value.get())
    }

    /// A field as JSON text, if it is present and not null.
    pub fn get(&self, name: &str) -> Option<&'a str> {
        self.raw(name).filter(|value| *value != "null")
    }

    /// All fields, by name.
    pub fn all(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.fields
            .iter()
            .map(|(name, value)| (name.as_ref(), value.get()))
    }

    /// Number of fields that are not null.
    pub fn count(&self) -> usize {
        self.fields.values().filter(|value| value.get() != "null").count()
    }

    /// The content of that field.
    pub fn content(&self, field: &str) -> Content<'a> {
        match self.get(field) {
            None => Content::Null,
            Some(text) if text.starts_with('"') => Content::Text(text),
            Some(list) if list.starts_with('[') => Content::Parts(list),
            Some(_) => Content::Other,
        }
    }

    /// Returns true if it has calls in `tool_calls`.
    pub fn has_calls(&self) -> bool {
        self.get("tool_calls")
            .is_some_and(|calls| calls.len() > 2 && calls.trim_start_matches('[').trim() != "]")
    }
}

/// The texts of parts, joined by `joint`, and true if all parts are text.
pub fn texts_of_parts(list: &str, joint: &str) -> (String, bool) {
    let parts: Vec<Value> = serde_json::from_str(list).unwrap_or_default();
    let mut only_text = true;
    let mut texts = Vec::new();
    for part in &parts {
        let text = match part {
            Value::String(text) => Some(text.as_str()),
            Value::Object(part) => part.get("text").and_then(Value::as_str),
            _ => None,
        };
        match text {
            Some(text) => texts.push(text),
            None => only_text = false,
        }
    }
    (texts.join(joint), only_text)
}

/// The kinds of parts, in order; empty for a part without one.
pub fn kinds_of_parts(list: &str) -> Vec<String> {
    let parts: Vec<Value> = serde_json::from_str(list).unwrap_or_default();
    let kind = |part: &Value| {
        part.get("type")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    parts.iter().map(kind).collect()
}

/// Returns true if a call's arguments are a string that is not JSON.
pub fn has_broken_arguments(call: &Value) -> bool {
    let inner = call.get("function").unwrap_or(call);
    let arguments = inner.get("arguments").and_then(Value::as_str);
    arguments.is_some_and(|text| serde_json::from_str::<Value>(text).is_err())
}

/// A JSON string decoded and trimmed; empty for another value.
pub fn trimmed(literal: &str) -> String {
    if literal.starts_with('"') {
        json::decode(literal).0.trim().to_owned()
    } else {
        String::new()
    }
}
