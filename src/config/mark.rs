//! The setting that marks summary turns: a field, and its value as JSON.

use super::value::{Setting, Value, ValueKind};
use crate::trajectory::TURN_KEYS;

/// `FIELD` or `FIELD=VALUE`; empty for no mark.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MarkSummary {
    /// The field's name; empty for none.
    pub field: String,
    /// Its value, as JSON.
    pub value: String,
}

impl MarkSummary {
    /// The mark that `FIELD` or `FIELD=VALUE` names; `None` where it names none.
    pub fn read(text: &str) -> Option<Self> {
        let mut mark = Self::default();
        mark.assign(&Value::Text(text.to_owned())).then_some(mark)
    }
}

impl Setting for MarkSummary {
    fn kind(&self) -> ValueKind {
        ValueKind::Mark
    }

    fn value(&self) -> Value {
        if self.field.is_empty() {
            return Value::Null;
        }
        Value::Text(format!("{}={}", self.field, self.value))
    }

    fn assign(&mut self, value: &Value) -> bool {
        let Value::Text(text) = value else { return false };
        let (field, value) = text.split_once('=').unwrap_or((text, "false"));
        let is_scalar = matches!(
            serde_json::from_str(value),
            Ok(serde_json::Value::Bool(_) | serde_json::Value::Number(_) | serde_json::Value::String(_))
        );
        let is_name = |name: &str| {
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
        };
        let fits = is_scalar && is_name(field) && !TURN_KEYS.contains(&field);
        if fits {
            field.clone_into(&mut self.field);
            value.trim().clone_into(&mut self.value);
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_a_field_and_a_plain_value() {
        let mut mark = MarkSummary::default();
        assert_eq!(mark.value(), Value::Null);
        for (text, shown) in [
            ("train", "train=false"),
            ("weight=0", "weight=0"),
            ("loss=true", "loss=true"),
            ("kind=\"summary\"", "kind=\"summary\""),
        ] {
            assert!(mark.assign(&Value::Text(text.into())), "{text}");
            assert_eq!(mark.value(), Value::Text(shown.into()));
        }
        for wrong in [
            "", "=false", "train=no", "train=", "a b", "content", "x={}", "x=null",
        ] {
            assert!(!mark.assign(&Value::Text(wrong.into())), "{wrong}");
        }
    }
}
