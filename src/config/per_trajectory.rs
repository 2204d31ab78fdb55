//! The setting that says which records gain a `compression_metrics` object.

use super::value::{Setting, Value, ValueKind};
pub use crate::fit::PerTrajectory;

impl Setting for PerTrajectory {
    fn kind(&self) -> ValueKind {
        ValueKind::Name(&["false", "true", "all"])
    }

    fn value(&self) -> Value {
        match self {
            Self::None => Value::Switch(false),
            Self::Compressed => Value::Switch(true),
            Self::All => Value::Text("all".to_owned()),
        }
    }

    fn assign(&mut self, value: &Value) -> bool {
        let mut compressed = false;
        if compressed.assign(value) {
            *self = if compressed { Self::Compressed } else { Self::None };
            return true;
        }
        let all = *value == Value::Text("all".to_owned());
        if all {
            *self = Self::All;
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_switch_or_all() {
        let mut setting = PerTrajectory::None;
        for (value, expected) in [
            (Value::Switch(true), PerTrajectory::Compressed),
            (Value::Text("no".into()), PerTrajectory::None),
            (Value::Text("all".into()), PerTrajectory::All),
        ] {
            assert!(setting.assign(&value));
            assert_eq!(setting, expected);
        }
        assert!(!setting.assign(&Value::Text("some".into())));
        assert_eq!(setting, PerTrajectory::All);
    }
}
