//! Conversion of JSON values: arguments as a string or an object, values on one line, objects written by member.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::ArgumentsForm;
use super::losses::{Loss, Losses};
use crate::trajectory::json;

/// Returns arguments, given as JSON, in the given form. A string that holds no JSON stays a string.
pub(super) fn arguments_as<'v>(value: &'v str, wanted: ArgumentsForm, losses: &mut Losses) -> Cow<'v, str> {
    let is_string = value.starts_with('"');
    match wanted {
        ArgumentsForm::String if is_string => Cow::Borrowed(value),
        ArgumentsForm::String => Cow::Owned(json::quoted(value)),
        ArgumentsForm::Object if is_string => {
            let (text, exact) = json::decode(value);
            match text.trim() {
                "" => Cow::Borrowed("{}"),
                text if exact && is_json(text) => Cow::Owned(on_one_line(text).into_owned()),
                _ => {
                    losses.note(Loss::Arguments);
                    Cow::Borrowed(value)
                }
            }
        }
        ArgumentsForm::Object => on_one_line(value),
    }
}

/// Returns a top-level `tools`, given as JSON, as a string or a list.
pub(super) fn tools_as(value: &str, wanted: ArgumentsForm) -> Cow<'_, str> {
    match (wanted, value.starts_with('"')) {
        (ArgumentsForm::String, false) => Cow::Owned(json::quoted(value)),
        (ArgumentsForm::Object, true) => {
            let text = json::decode(value).0;
            match text.trim() {
                text if is_json(text) => Cow::Owned(on_one_line(text).into_owned()),
                _ => Cow::Borrowed(value),
            }
        }
        _ => Cow::Borrowed(value),
    }
}

/// Returns a top-level `functions`, given as JSON, as a `tools` list; `None` if it is no list of objects.
pub(super) fn functions_as_tools(value: &str) -> Option<String> {
    let text = if value.starts_with('"') {
        json::decode(value).0
    } else {
        Cow::Borrowed(value)
    };
    let functions: Vec<&RawValue> = serde_json::from_str(&text).ok()?;
    let is_object = |function: &&RawValue| function.get().starts_with('{') && !json::too_deep(function.get());
    let tools: Vec<String> = functions
        .iter()
        .filter(|function| is_object(function))
        .map(|function| {
            let mut tool = ObjectBuilder::default();
            tool.field("\"type\"", "\"function\"");
            tool.field("\"function\"", &on_one_line(function.get()));
            tool.end()
        })
        .collect();
    (tools.len() == functions.len()).then(|| format!("[{}]", tools.join(", ")))
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(text).is_ok() && !json::too_deep(text)
}

/// Returns JSON without line ends, which can occur only between its values.
fn on_one_line(value: &str) -> Cow<'_, str> {
    if value.contains(['\n', '\r']) {
        Cow::Owned(value.replace(['\n', '\r'], " "))
    } else {
        Cow::Borrowed(value)
    }
}

/// A JSON object under construction.
#[derive(Debug, Default)]
pub(super) struct ObjectBuilder {
    text: String,
}

impl ObjectBuilder {
    /// Adds a member: a key with its quotes, and a value.
    pub fn field(&mut self, key: &str, value: &str) {
        let before = if self.text.is_empty() { "{" } else { ", " };
        self.text.extend([before, key, ": ", value]);
    }

    /// Returns the object.
    pub fn end(mut self) -> String {
        self.text.push_str(if self.text.is_empty() { "{}" } else { "}" });
        self.text
    }
}
