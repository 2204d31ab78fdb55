//! The tool calls of a chat that a template is given, with their arguments as written or parsed.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::super::edit::Edit;
use super::super::json::decode;
use crate::names::named;
use crate::trajectory::json::fields::fields;
use crate::trajectory::parse::raw_call::{RawCall, raw_call};

named! {
    /// The form in which chat templates get the arguments of tool calls.
    TemplateArguments {
        /// As in the record, a string or an object, like `apply_chat_template` and trainers.
        AsWritten = "as-written",
        /// Strings of JSON are parsed: some templates read fields of the arguments.
        Parsed = "parsed",
    }
}

/// Returns the edits that replace arguments given as strings of JSON by that JSON, if `arguments` asks for it.
pub fn parsed_arguments(list: &str, arguments: TemplateArguments) -> Vec<Edit> {
    if arguments == TemplateArguments::AsWritten {
        return Vec::new();
    }
    let calls: Vec<&RawValue> = serde_json::from_str(list).unwrap_or_default();
    let literals = calls.into_iter().flat_map(|call| arguments_of(call.get()));
    literals
        .flatten()
        .filter_map(|literal| {
            Some(Edit {
                at: span(list, literal),
                text: parsed(literal)?,
            })
        })
        .collect()
}

/// Returns the arguments of a call: in its `function`, and beside it.
fn arguments_of(call: &str) -> [Option<&str>; 2] {
    let Ok([function, outer]) = fields(call, &["function", "arguments"]).map(|fields| fields.values) else {
        return [None, None];
    };
    let inner = function.and_then(|function| fields(function, &["arguments"]).ok());
    [inner.and_then(|inner| inner.values[0]), outer]
}

/// Returns the JSON in a string literal; `None` if the value is no string or the string holds no JSON.
fn parsed(literal: &str) -> Option<String> {
    let text = literal.starts_with('"').then(|| decode(literal).0)?;
    is_json(&text).then(|| text.trim().to_owned())
}

/// Returns the calls in the text of a `ShareGPT` turn of the role `function_call`: one call, or a list of them.
pub fn calls_in_text(content: &str, arguments: TemplateArguments) -> Option<String> {
    let text = content.starts_with('"').then(|| decode(content).0);
    let text = text.as_deref().unwrap_or(content).trim();
    let calls: Vec<&RawValue> = if text.starts_with('[') {
        serde_json::from_str(text).ok()?
    } else {
        vec![serde_json::from_str(text).ok()?]
    };
    let is_call = |call: &&RawValue| matches!(raw_call(call.get()), RawCall { name: Some(_), .. });
    let all = !calls.is_empty() && calls.iter().all(is_call);
    all.then(|| call_list(calls.iter().map(|call| call.get()), arguments))
}

/// Returns calls as a `tool_calls` list.
pub fn call_list<'c>(calls: impl IntoIterator<Item = &'c str>, given: TemplateArguments) -> String {
    let mut list = String::from("[");
    for call in calls {
        let call = raw_call(call);
        if list.len() > 1 {
            list.push_str(", ");
        }
        let arguments = call.arguments.unwrap_or("{}");
        let arguments = (given == TemplateArguments::Parsed)
            .then(|| parsed(arguments))
            .flatten()
            .map_or(Cow::Borrowed(arguments), Cow::Owned);
        list.push_str(r#"{"type": "function", "function": {"name": "#);
        list.extend([
            call.name.unwrap_or("\"\""),
            r#", "arguments": "#,
            &arguments,
            "}}",
        ]);
    }
    list.push(']');
    list
}

/// Returns true if a text is JSON.
pub fn is_json(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(text).is_ok()
}

/// Returns the byte range of a part of a text.
pub fn span(text: &str, part: &str) -> std::ops::Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..start + part.len()
}
