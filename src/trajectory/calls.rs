//! The tool calls of a chat turn, as spans: `tool_calls` of today, `function_call` of yesterday.

use rustc_hash::FxHashSet;
use serde_json::value::RawValue;

use super::Turn;
use super::fields::fields;
use super::in_parts::InParts;

/// A tool call whose fields are JSON text as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawCall<'a> {
    /// Its id.
    pub id: Option<&'a str>,
    /// The tool's name.
    pub name: Option<&'a str>,
    /// The arguments: a string of JSON, or an object.
    pub arguments: Option<&'a str>,
}

/// The calls that a turn makes. What cannot be read as a call stands as one call with its whole text as arguments.
pub fn raw_calls<'a>(turn: &Turn<'a>) -> Vec<RawCall<'a>> {
    let mut calls = Vec::new();
    if let Some(list) = turn.tool_calls() {
        match serde_json::from_str::<Vec<&RawValue>>(list) {
            Ok(elements) => calls.extend(elements.into_iter().map(|element| raw_call(element.get()))),
            Err(_) => calls.push(raw_call(list)),
        }
    }
    if let Some(call) = turn.function_call() {
        calls.push(raw_call(call));
    }
    calls
}

/// The same with those among the parts of what it says, after the others. One that has the id of a call in a field is that call,
/// written twice.
pub(super) fn all_calls<'a>(turn: &Turn<'a>, in_parts: Option<&InParts<'a>>) -> Vec<RawCall<'a>> {
    let mut calls = raw_calls(turn);
    let parted = in_parts.map_or(&[][..], |found| &found.calls[..]);
    if parted.is_empty() {
        return calls;
    }
    let ids: FxHashSet<&str> = calls.iter().filter_map(|call| call.id).collect();
    let is_new = |call: &&RawCall<'a>| call.id.is_none_or(|id| !ids.contains(id));
    calls.extend(parted.iter().filter(is_new).copied());
    calls
}

/// One call: `{"id", "function": {"name", "arguments"}}`, or the same without the `function` between.
pub fn raw_call(text: &str) -> RawCall<'_> {
    let unread = RawCall {
        id: None,
        name: None,
        arguments: Some(text),
    };
    let Ok(outer) = fields(text, &["id", "function", "name", "arguments", "args", "input"]) else {
        return unread;
    };
    let [id, function, mut name, arguments, args, input] = outer.values;
    let mut arguments = arguments.or(args).or(input);
    if let Some(Ok(inner)) = function.map(|function| fields(function, &["name", "arguments"])) {
        [name, arguments] = inner.values;
    }
    if name.is_none() && arguments.is_none() {
        unread
    } else {
        RawCall { id, name, arguments }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_read_in_every_spelling() {
        let wanted = RawCall {
            id: Some("\"1\""),
            name: Some("\"f\""),
            arguments: Some("{\"a\": 1}"),
        };
        assert_eq!(
            raw_call(r#"{"id":"1","type":"function","function":{"name":"f","arguments":{"a": 1}}}"#),
            wanted
        );
        assert_eq!(raw_call(r#"{"id":"1","name":"f","args":{"a": 1}}"#), wanted);
        assert_eq!(
            raw_call("[1]"),
            RawCall {
                id: None,
                name: None,
                arguments: Some("[1]")
            }
        );
        assert_eq!(raw_call("{}").arguments, Some("{}"));
    }
}
