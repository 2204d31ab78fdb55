//! The settings that determine what a run writes, as JSON values by key: stored in its files, compared on resume.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Values by key; a setting that is not given is `null`.
pub type SettingValues = BTreeMap<String, Value>;

/// The settings whose values differ, a line each; empty if none does.
pub fn differences(then: &SettingValues, now: &SettingValues) -> Vec<String> {
    let keys: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
    let differing = keys.into_iter().filter_map(|key| {
        let (then, now) = (then.get(key), now.get(key));
        (!is_same(then, now)).then(|| format!("{key}: was {}, is {}", text(then), text(now)))
    });
    differing.collect()
}

/// Returns true if two values are equal, apart from the last bit that a number may lose when written and read back.
fn is_same(left: Option<&Value>, right: Option<&Value>) -> bool {
    match (left.and_then(Value::as_f64), right.and_then(Value::as_f64)) {
        (Some(left), Some(right)) => (left - right).abs() <= f64::EPSILON * left.abs(),
        _ => left == right,
    }
}

fn text(value: Option<&Value>) -> String {
    match value {
        None => "not set".to_owned(),
        Some(Value::Null) => "none".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_that_differ_are_named_with_both_values() {
        let settings = |value: Value| serde_json::from_value::<SettingValues>(value).unwrap();
        let then = settings(json!({"a": 1, "b": "x", "c": null, "gone": true, "n": 0.3}));
        let now = settings(json!({"a": 2, "b": "x", "c": 5, "n": 0.1 + 0.2}));
        assert_eq!(
            differences(&then, &now),
            [
                "a: was 1, is 2",
                "c: was none, is 5",
                "gone: was true, is not set"
            ]
        );
    }
}
