//! A tool turn with other texts in place of what tools brought back; everything around them stays as it stands.

use rustc_hash::FxHashMap;
use serde_json::value::RawValue;

use super::decode::{tagged_responses, whole_responses};
use super::fields::fields;
use super::parts::{Part, parts};
use super::{Role, Turn, json};

/// The turn's JSON with new contents for some of its responses, given by their places; `None` where the turn has no text
/// that could be replaced.
///
/// An envelope stays what it is, with its id and its name. Of content in parts the first text takes the new one, with
/// whatever else its part holds; the other parts go.
pub fn with_responses(turn: &Turn<'_>, new: &[(usize, &str)]) -> Option<String> {
    let content = turn
        .content
        .filter(|_| !turn.opaque && turn.role == Role::Tool && !new.is_empty())?;
    let written = match parts(content) {
        Some(parts) => in_parts(content, &parts, new)?,
        None if content.starts_with('"') => in_literal(content, new)?,
        None => return None,
    };
    replaced(turn.text, content, &written)
}

/// The same of a JSON string: the whole of it, or what stands in its envelopes.
fn in_literal(literal: &str, new: &[(usize, &str)]) -> Option<String> {
    let (text, is_exact) = json::decode(literal);
    if !is_exact {
        return None;
    }
    let blocks = tagged_responses(&text);
    if blocks.is_empty() {
        let [(0, text)] = new else { return None };
        return Some(json::quoted(text));
    }
    let mut written = String::with_capacity(text.len());
    let mut copied = 0;
    let new: FxHashMap<usize, &str> = new.iter().copied().collect();
    for (place, block) in blocks.iter().enumerate() {
        let Some(response) = new.get(&place) else {
            continue;
        };
        let inner = text.get(block.clone())?;
        written.push_str(text.get(copied..block.start)?);
        written.push_str(&in_envelope(inner, response)?);
        copied = block.end;
    }
    written.push_str(text.get(copied..)?);
    Some(json::quoted(&written))
}

/// The JSON string that is all that a content says: itself, or its only part.
pub(super) fn only_text(content: &str) -> Option<&str> {
    if content.starts_with('"') {
        return Some(content);
    }
    match parts(content)?.as_slice() {
        [Part::Text(literal)] => Some(literal),
        _ => None,
    }
}

/// The turn's JSON without some of its envelopes, given by their places in order; `None` where they stand in no single text, or
/// where nothing of it would be left.
pub fn without_responses(turn: &Turn<'_>, gone: &[usize]) -> Option<String> {
    let literal = only_text(turn.content?)?;
    let (text, is_exact) = json::decode(literal);
    let blocks = whole_responses(&text);
    if !is_exact || gone.len() >= blocks.len() {
        return None;
    }
    let mut written = String::with_capacity(text.len());
    let mut copied = 0;
    for (_, block) in blocks
        .iter()
        .enumerate()
        .filter(|(place, _)| gone.binary_search(place).is_ok())
    {
        written.push_str(text.get(copied..block.start)?.trim_end());
        copied = block.end;
    }
    written.push_str(text.get(copied..)?);
    replaced(turn.text, literal, &json::quoted(written.trim()))
}

/// What stands between the tags of an envelope, with another content.
fn in_envelope(inner: &str, response: &str) -> Option<String> {
    let block = inner.trim();
    let content = fields(block, &["content"])
        .ok()
        .and_then(|fields| fields.values[0]);
    match content {
        Some(content) => replaced(inner, content, &json::quoted(response)),
        None => replaced(inner, block, response),
    }
}

fn in_parts(content: &str, parts: &[Part<'_>], new: &[(usize, &str)]) -> Option<String> {
    let first = parts.iter().find_map(|part| match part {
        Part::Text(literal) => Some(*literal),
        _ => None,
    });
    let Some(literal) = first else {
        let [(0, text)] = new else { return None };
        return Some(format!(r#"[{{"type": "text", "text": {}}}]"#, json::quoted(text)));
    };
    let objects: Vec<&RawValue> = serde_json::from_str(content).ok()?;
    let at = literal.as_ptr() as usize;
    let holds = |part: &&str| (part.as_ptr() as usize..part.as_ptr() as usize + part.len()).contains(&at);
    let part = objects.iter().map(|part| part.get()).find(holds)?;
    // Envelopes that reach over several parts are nothing that anybody writes.
    let in_envelopes = !tagged_responses(&json::decode(literal).0).is_empty();
    let text = if in_envelopes && parts.len() > 1 {
        return None;
    } else if in_envelopes {
        in_literal(literal, new)?
    } else {
        let [(0, text)] = new else { return None };
        json::quoted(text)
    };
    Some(format!("[{}]", replaced(part, literal, &text)?))
}

/// `whole` with `new` in place of `part`, which is a slice of it.
pub(super) fn replaced(whole: &str, part: &str, new: &str) -> Option<String> {
    let start = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    let (before, after) = (whole.get(..start)?, whole.get(start + part.len()..)?);
    Some([before, new, after].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trajectory::turn_of;

    #[track_caller]
    fn becomes(turn: &str, new: &[(usize, &str)], expected: &str) {
        let turn = turn_of(turn).unwrap();
        assert_eq!(with_responses(&turn, new).as_deref(), Some(expected));
    }

    #[test]
    fn a_plain_answer_is_replaced_and_nothing_around_it() {
        becomes(
            r#"{"role": "tool" ,"content":"long\u00e9", "tool_call_id": "a", "x": 1.50}"#,
            &[(0, "say \"so\"")],
            r#"{"role": "tool" ,"content":"say \"so\"", "tool_call_id": "a", "x": 1.50}"#,
        );
    }

    #[test]
    fn envelopes_keep_ids_names_and_each_other() {
        becomes(
            r#"{"from": "tool", "value": "<tool_response>\n{\"tool_call_id\": \"a\", \"name\": \"f\", \"content\": {\"x\": 1}}\n</tool_response>\n<tool_response>\n{\"content\": \"kept\", \"tool_call_id\": \"b\"}\n</tool_response>"}"#,
            &[(0, "a\nb")],
            r#"{"from": "tool", "value": "<tool_response>\n{\"tool_call_id\": \"a\", \"name\": \"f\", \"content\": \"a\\nb\"}\n</tool_response>\n<tool_response>\n{\"content\": \"kept\", \"tool_call_id\": \"b\"}\n</tool_response>"}"#,
        );
        becomes(
            r#"{"from": "tool", "value": "<tool_response>\nno JSON\n</tool_response>"}"#,
            &[(0, "short")],
            r#"{"from": "tool", "value": "<tool_response>\nshort\n</tool_response>"}"#,
        );
    }

    #[test]
    fn of_parts_the_first_text_takes_the_new_one() {
        becomes(
            r#"{"role": "tool", "content": [{"type":"image_url","image_url":{}}, {"type":"text","text":"long","cache_control":{}}, {"type":"text","text":"more"}]}"#,
            &[(0, "short")],
            r#"{"role": "tool", "content": [{"type":"text","text":"short","cache_control":{}}]}"#,
        );
        becomes(
            r#"{"role": "tool", "content": [{"type":"image_url","image_url":{}}]}"#,
            &[(0, "short")],
            r#"{"role": "tool", "content": [{"type": "text", "text": "short"}]}"#,
        );
    }

    #[test]
    fn what_is_no_text_or_no_answer_of_a_tool_stays() {
        for turn in [
            r#"{"role": "user", "content": "x"}"#,
            r#"{"role": "tool", "content": {"x": 1}}"#,
            r#"{"role": "tool", "content": "\ud800"}"#,
            r#"{"role": "tool"}"#,
            "7",
        ] {
            assert_eq!(
                with_responses(&turn_of(turn).unwrap(), &[(0, "y")]),
                None,
                "{turn}"
            );
        }
    }
}
