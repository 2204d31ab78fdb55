//! Calls that an assistant writes as a JSON object: its decision, with its thoughts beside.

use std::borrow::Cow;

use serde_json::Value;

use super::row::{MAX_CALLS, Row};
use crate::events::source_call::{Arguments, SourceCall};

/// The words of an object, and the calls in it; none if the text has no such object.
pub(super) fn of_object(row: &Row, text: &str) -> Option<(String, Vec<SourceCall<'static>>)> {
    if !text.contains(row.opens.as_str()) {
        return None;
    }
    let start = text.find('{')?;
    let object = text.get(start..=text.rfind('}')?)?;
    let object: Value = serde_json::from_str(object).ok()?;
    let before = text.get(..start)?.trim_end();
    let before = before
        .strip_suffix("json")
        .unwrap_or(before)
        .trim_end_matches('`')
        .trim_end();
    let mut said: Vec<&str> = vec![before.strip_suffix("Action:").unwrap_or(before)];
    said.extend(
        row.words
            .iter()
            .filter_map(|words| object.pointer(words)?.as_str()),
    );
    let calls = if row.list.is_empty() {
        let tool = object.pointer(&row.tool)?.as_str()?;
        let arguments = object.pointer(&row.arguments)?;
        if row.says(tool) {
            return Some((arguments.as_str()?.to_owned(), Vec::new()));
        }
        vec![with_arguments(row, tool, arguments)]
    } else {
        let list = object.pointer(&row.list)?.as_array()?;
        let values = list.iter().filter_map(|item| item.get(&row.item)?.as_str());
        let values = values.filter(|value| !value.trim().is_empty()).take(MAX_CALLS);
        values
            .map(|value| SourceCall::tagged(&row.tool, vec![(row.argument.clone(), value.trim().to_owned())]))
            .collect()
    };
    said.retain(|words| !words.trim().is_empty());
    Some((said.join("\n"), calls))
}

fn with_arguments(row: &Row, tool: &str, arguments: &Value) -> SourceCall<'static> {
    match arguments {
        Value::String(value) => SourceCall::tagged(tool, vec![(row.argument.clone(), value.clone())]),
        others => SourceCall {
            id: None,
            name: Cow::Owned(tool.to_owned()),
            arguments: Arguments::Json(Cow::Owned(others.to_string())),
        },
    }
}
