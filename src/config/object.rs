//! A setting that holds a JSON object: a section in a file, JSON in a variable or a flag.

use serde_json::Map;

use super::value::{Setting, Value, ValueKind};

/// A JSON object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JsonObject(pub Map<String, serde_json::Value>);

impl Setting for JsonObject {
    fn kind(&self) -> ValueKind {
        ValueKind::Object
    }

    fn value(&self) -> Value {
        if self.0.is_empty() {
            return Value::Null;
        }
        Value::Text(serde_json::to_string(&self.0).unwrap_or_default())
    }

    fn assign(&mut self, value: &Value) -> bool {
        let Value::Text(text) = value else { return false };
        serde_json::from_str(text).map(|object| self.0 = object).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_read_from_json_and_nothing_else() {
        let mut object = JsonObject::default();
        assert_eq!(object.value(), Value::Null);
        assert!(object.assign(&Value::Text(r#"{"provider": {"sort": "price"}}"#.into())));
        assert_eq!(
            object.value(),
            Value::Text(r#"{"provider":{"sort":"price"}}"#.into())
        );
        for bad in ["[1]", "text", "{", "5"] {
            assert!(!object.assign(&Value::Text(bad.into())), "{bad}");
        }
    }
}
