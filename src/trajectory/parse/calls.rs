//! The tool calls of a chat turn, as spans of its `tool_calls` field or the older `function_call`.

use rustc_hash::FxHashSet;
use serde_json::value::RawValue;

use super::in_parts::InParts;
use super::raw_call::{CALL_KEYS, RawCall, raw_call, raw_call_with};
use crate::trajectory::Turn;
use crate::trajectory::json::fields::objects;

/// Returns the calls of a turn. JSON that cannot be read as a call is returned as the arguments of one.
pub fn raw_calls<'a>(turn: &Turn<'a>) -> Vec<RawCall<'a>> {
    let mut calls = Vec::new();
    if let Some(list) = turn.tool_calls() {
        let one_by_one = || match serde_json::from_str::<Vec<&RawValue>>(list) {
            Ok(elements) => elements
                .into_iter()
                .map(|element| raw_call(element.get()))
                .collect(),
            Err(_) => vec![raw_call(list)],
        };
        calls = objects(list, &CALL_KEYS, raw_call_with).unwrap_or_else(one_by_one);
    }
    if let Some(call) = turn.function_call() {
        calls.push(raw_call(call));
    }
    calls
}

/// Returns the same, followed by the calls among the parts of its content. A part with the id of a call in a field is
/// the same call, written twice.
pub(in crate::trajectory) fn all_calls<'a>(
    turn: &Turn<'a>,
    in_parts: Option<&InParts<'a>>,
) -> Vec<RawCall<'a>> {
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
