//! One tool call, as the spans of its fields.

use crate::trajectory::json::fields::{Fields, fields};

/// A tool call whose fields are JSON text as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawCall<'a> {
    /// The id.
    pub id: Option<&'a str>,
    /// The tool's name.
    pub name: Option<&'a str>,
    /// The arguments: a string of JSON, or an object.
    pub arguments: Option<&'a str>,
}

impl<'a> RawCall<'a> {
    fn unread(text: &'a str) -> Self {
        Self {
            id: None,
            name: None,
            arguments: Some(text),
        }
    }
}

/// The fields of a call that are read.
pub(super) const CALL_KEYS: [&str; 6] = ["id", "function", "name", "arguments", "args", "input"];

/// Reads one call: `{"id", "function": {"name", "arguments"}}`, or the same without `function`.
pub fn raw_call(text: &str) -> RawCall<'_> {
    fields(text, &CALL_KEYS).map_or(RawCall::unread(text), |outer| raw_call_with(text, &outer))
}

/// Returns the call with these fields.
pub(super) fn raw_call_with<'a>(text: &'a str, outer: &Fields<'a, { CALL_KEYS.len() }>) -> RawCall<'a> {
    let [id, function, mut name, arguments, args, input] = outer.values;
    let mut arguments = arguments.or(args).or(input);
    if let Some(Ok(inner)) = function.map(|function| fields(function, &["name", "arguments"])) {
        [name, arguments] = inner.values;
    }
    if name.is_none() && arguments.is_none() {
        RawCall::unread(text)
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
