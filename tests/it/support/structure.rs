//! What is broken in a record, and the record mended.

use serde_json::{Value, json};
use trajfit::internals::summarize::marker::SUMMARY_MARKER;
use trajfit::internals::trajectory::{Faults, faults, mend, parse};

use super::oracle::parts;

/// What stands in place of a result that nobody has recorded.
pub const NO_RESULT: &str = "[no result of this call was recorded]";

/// What is broken in a record.
pub fn found(record: &Value) -> Faults {
    let text = record.to_string();
    faults(&parse(text.as_bytes(), None).unwrap(), SUMMARY_MARKER)
}

/// The mended turns and what is left broken.
pub fn mended(record: &Value) -> (Vec<Value>, Faults) {
    let text = record.to_string();
    let mended = mend(&parse(text.as_bytes(), None).unwrap(), SUMMARY_MARKER).unwrap();
    let turns = parts(&mended.text).0;
    (
        turns
            .iter()
            .map(|turn| serde_json::from_str(turn).unwrap())
            .collect(),
        mended.left,
    )
}

/// A record of chat messages.
pub fn chat(turns: &[Value]) -> Value {
    json!({"messages": turns})
}

/// A call in chat messages.
pub fn call(id: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}})
}

/// Gives each empty text one of its own.
pub fn fill(value: &mut Value, number: &mut usize) {
    match value {
        Value::String(text) if text.is_empty() => {
            *number += 1;
            *text = format!("text {number}.");
        }
        Value::Array(values) => values.iter_mut().for_each(|value| fill(value, number)),
        Value::Object(values) => values.values_mut().for_each(|value| fill(value, number)),
        _ => {}
    }
}

/// A text part.
pub fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// A part that calls `bash`.
pub fn uses(id: &str, command: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "bash", "input": {"command": command}})
}

/// A part that answers a call.
pub fn result(id: &str, content: &Value) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": content})
}

/// A turn in parts.
pub fn said(role: &str, parts: &[Value]) -> Value {
    json!({"role": role, "content": parts})
}
