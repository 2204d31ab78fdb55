//! One tool call, as the spans of its fields.

use crate::trajectory::json::fields::fields;

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

/// Reads one call: `{"id", "function": {"name", "arguments"}}`, or the same without `function`.
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
