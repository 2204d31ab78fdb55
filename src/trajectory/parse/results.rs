//! Results in the parts of a content: `tool_result` parts with the id of their call.

use memchr::memmem;
use serde_json::value::RawValue;

use crate::trajectory::json::fields::{fields, objects};

/// The key that names the call of a result.
const KEY: &str = "tool_use_id";

/// Returns the parts of a content as JSON, each result with the id of its call; none if no part is a result.
pub(in crate::trajectory) fn elements(content: &str) -> Vec<(&str, Option<&str>)> {
    if content.starts_with('"') || memmem::find(content.as_bytes(), KEY.as_bytes()).is_none() {
        return Vec::new();
    }
    let elements = objects(content, &[KEY], |element, fields| (element, fields.values[0]));
    let elements = elements.unwrap_or_else(|| {
        let elements: Vec<&RawValue> = if content.starts_with('[') {
            serde_json::from_str(content).unwrap_or_default()
        } else {
            serde_json::from_str(content).into_iter().collect()
        };
        let elements = elements.into_iter().map(RawValue::get);
        elements.map(|element| (element, id_in(element))).collect()
    });
    if elements.iter().any(|(_, id)| id.is_some()) {
        elements
    } else {
        Vec::new()
    }
}

fn id_in(element: &str) -> Option<&str> {
    fields(element, &[KEY]).ok()?.values[0]
}

/// Returns the ids of the calls that the results in a content answer.
pub(in crate::trajectory) fn result_ids(content: &str) -> Vec<&str> {
    elements(content).into_iter().filter_map(|(_, id)| id).collect()
}

/// Returns true if a content consists of results only.
pub(in crate::trajectory) fn is_results_only(content: &str) -> bool {
    let elements = elements(content);
    !elements.is_empty() && elements.iter().all(|(_, id)| id.is_some())
}

/// Returns true if a content is a list of results only: such a turn is a tool's, whatever its role name.
pub(super) fn is_list_of_results(content: &str) -> bool {
    content.starts_with('[') && is_results_only(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_parts_that_name_their_call() {
        let list =
            r#"[{"tool_use_id": "a"}, {"type": "text", "text": "tool_use_id"}, {"tool_use_id": null}]"#;
        let ids: Vec<Option<&str>> = elements(list).into_iter().map(|(_, id)| id).collect();
        assert_eq!(ids, [Some("\"a\""), None, None]);
        assert!(!is_results_only(list) && is_results_only(r#"{"tool_use_id": 1}"#));
        for none in [
            r#""tool_use_id""#,
            r#"[{"tool_use_id": null}, "tool_use_id"]"#,
            "[]",
            "null",
            "",
        ] {
            assert!(elements(none).is_empty() && !is_results_only(none), "{none}");
        }
    }
}
