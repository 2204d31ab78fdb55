//! The shape of a record: the kinds of its values by place.

use std::collections::BTreeMap;

use serde_json::Value;

use super::action::Class;
use super::arrow_kinds::ArrowKind;
use super::findings::TrainingOutcome;

/// The places and kinds of one record's values, and its names of roles that the configuration limits to one name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shape {
    /// Kinds by place, such as `messages[].content`; `None` if it holds null only.
    pub(super) places: BTreeMap<String, Option<ArrowKind>>,
    /// The name used for a class, and the outcome for a record with another name.
    pub(super) names: Vec<(Class, String, TrainingOutcome)>,
    /// Bytes of the record.
    pub(super) bytes: u64,
}

impl Shape {
    /// The shape of a record, given as JSON text.
    pub fn of(text: &str, names: Vec<(Class, String, TrainingOutcome)>) -> Self {
        let mut shape = Self {
            places: BTreeMap::new(),
            names,
            bytes: text.len() as u64 + 1,
        };
        if let Ok(Value::Object(fields)) = serde_json::from_str(text) {
            for (name, value) in &fields {
                shape.note(name, value);
            }
        }
        shape
    }

    fn note(&mut self, place: &str, value: &Value) {
        let kind = ArrowKind::of(value);
        match self.places.get_mut(place) {
            Some(known) => *known = known.or(kind),
            None => {
                self.places.insert(place.to_owned(), kind);
            }
        }
        match value {
            Value::Array(items) => {
                let place = format!("{place}[]");
                for item in items {
                    self.note(&place, item);
                }
            }
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.note(&format!("{place}.{name}"), value);
                }
            }
            _ => {}
        }
    }
}
