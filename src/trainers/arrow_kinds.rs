//! Kinds of values by place: Arrow tables, which most trainers read into, hold one kind per place.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::trajectory::Record;

/// A kind of value that Arrow distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrowKind {
    /// A boolean.
    Switch,
    /// A number.
    Number,
    /// A string.
    Text,
    /// A list.
    List,
    /// An object.
    Object,
}

impl ArrowKind {
    /// The kind of a value; `None` for null.
    pub fn of(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Null => return None,
            Value::Bool(_) => Self::Switch,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::Text,
            Value::Array(_) => Self::List,
            Value::Object(_) => Self::Object,
        })
    }
}

impl ArrowKind {
    /// Returns true if `column` takes a value of this kind: a number fits a string's column, but not the reverse.
    pub fn can_become(self, column: Self) -> bool {
        let is_scalar = |kind| !matches!(kind, Self::List | Self::Object);
        self == column
            || (is_scalar(self) && is_scalar(column) && (self != Self::Text || column == Self::Text))
    }
}

/// The first turn, from 0, with a place that has another kind than in a turn before, and the place.
pub fn mixed(record: &Record<'_>) -> Option<(usize, String)> {
    let mut kinds = BTreeMap::new();
    record.turns.iter().enumerate().find_map(|(index, turn)| {
        let value: Value = serde_json::from_str(turn.text).ok()?;
        let mut place = String::new();
        differs(&value, &mut place, &mut kinds).then_some((index, place))
    })
}

/// The first turn, from 0, whose fields differ from those of the first turn.
pub fn uneven(record: &Record<'_>) -> Option<usize> {
    let names = |text: &str| -> Option<Vec<String>> {
        let fields: serde_json::Map<String, Value> = serde_json::from_str(text).ok()?;
        Some(fields.into_iter().map(|(name, _)| name).collect())
    };
    let first = names(record.turns.first()?.text);
    record.turns.iter().position(|turn| names(turn.text) != first)
}

/// Returns true if a value, or one in it, has another kind than recorded for its place; `place` is then that place.
fn differs(value: &Value, place: &mut String, kinds: &mut BTreeMap<String, ArrowKind>) -> bool {
    let Some(kind) = ArrowKind::of(value) else {
        return false;
    };
    match kinds.get(place.as_str()) {
        Some(known) if *known != kind => return true,
        Some(_) => {}
        None => {
            kinds.insert(place.clone(), kind);
        }
    }
    let length = place.len();
    let mut inner = |name: &str, value: &Value, place: &mut String| {
        if !place.is_empty() && !name.starts_with('[') {
            place.push('.');
        }
        place.push_str(name);
        let found = differs(value, place, kinds);
        if !found {
            place.truncate(length);
        }
        found
    };
    match value {
        Value::Array(items) => items.iter().any(|item| inner("[]", item, place)),
        Value::Object(fields) => fields.iter().any(|(name, value)| inner(name, value, place)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trajectory::parse;

    #[test]
    fn a_place_that_holds_two_kinds_is_found() {
        let mixed_in = |turns: &str| {
            let record = format!(r#"{{"messages": [{turns}]}}"#);
            mixed(&parse(record.as_bytes(), None).unwrap())
        };
        let text = r#"{"role": "user", "content": "a"}"#;
        let parts = r#"{"role": "user", "content": [{"type": "text", "text": "a"}]}"#;
        let null = r#"{"role": "user", "content": null}"#;
        assert_eq!(mixed_in(&format!("{text}, {null}, {text}")), None);
        assert_eq!(mixed_in(&format!("{parts}, {null}, {parts}")), None);
        let found = mixed_in(&format!("{text}, {null}, {parts}"));
        assert_eq!(found, Some((2, "content".to_owned())));
        let call = |arguments: &str| {
            format!(
                r#"{{"role": "assistant", "tool_calls": [{{"function": {{"arguments": {arguments}}}}}]}}"#
            )
        };
        let found = mixed_in(&format!("{}, {}", call("\"{}\""), call("{}")));
        assert_eq!(found, Some((1, "tool_calls[].function.arguments".to_owned())));
    }
}
