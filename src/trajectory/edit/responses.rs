//! Replaces the outputs in a tool turn; everything around them keeps its bytes.

use rustc_hash::FxHashMap;
use serde_json::value::RawValue;

use crate::trajectory::json::fields::fields;
use crate::trajectory::parse::in_parts::in_parts;
use crate::trajectory::parse::parts::{Part, parts, text_part};
use crate::trajectory::view::decode::{tagged_responses, whole_responses};
use crate::trajectory::{Edit, Role, Turn, apply, json};

/// Returns the turn's JSON with new contents for some of its responses, given by their indexes; `None` if the turn has
/// no text that could be replaced.
///
/// An envelope keeps its id and its name. In a content of parts, the new text replaces that of the first text part,
/// whose other fields stay, and the other parts are dropped. Results among the parts of a content keep all but their
/// content, and other parts stay.
pub fn with_responses(turn: &Turn<'_>, new: &[(usize, &str)]) -> Option<String> {
    let content = turn.content().filter(|_| !turn.opaque && !new.is_empty())?;
    let results = in_parts(turn).map_or_else(Vec::new, |found| found.results);
    if !results.is_empty() {
        return replaced(turn.text, content, &in_results(content, &results, new)?);
    }
    if turn.role != Role::Tool {
        return None;
    }
    let written = match parts(content) {
        Some(parts) => in_texts(content, &parts, new)?,
        None if content.starts_with('"') => in_literal(content, new)?,
        None => return None,
    };
    replaced(turn.text, content, &written)
}

/// The same for a JSON string: all of it, or the text in its envelopes.
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

/// Returns the JSON string that makes up a content: itself, or its only part.
pub(in crate::trajectory) fn only_text(content: &str) -> Option<&str> {
    if content.starts_with('"') {
        return Some(content);
    }
    match parts(content)?.as_slice() {
        [Part::Text(literal)] => Some(literal),
        _ => None,
    }
}

/// Returns the turn's JSON without some of its envelopes, given by their indexes in order; `None` if they are not in a
/// single text, or nothing would be left.
pub fn without_responses(turn: &Turn<'_>, gone: &[usize]) -> Option<String> {
    let literal = only_text(turn.content()?)?;
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

/// Returns the inside of an envelope with another content.
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

/// The same for results among parts.
fn in_results(content: &str, results: &[&str], new: &[(usize, &str)]) -> Option<String> {
    let edits = new.iter().map(|(place, text)| {
        let result = results.get(*place)?;
        let old = fields(result, &["content"]).ok()?.values[0]?;
        let start = (old.as_ptr() as usize).checked_sub(content.as_ptr() as usize)?;
        Some(Edit {
            at: start..start + old.len(),
            text: in_result(old, text)?,
        })
    });
    Some(apply(content, edits.collect::<Option<_>>()?))
}

/// Returns the content of a result with another text: a string, or the first text of its parts. `None` without a text.
fn in_result(content: &str, text: &str) -> Option<String> {
    let text = json::quoted(text);
    let is_exact = |literal: &str| json::decode(literal).1;
    let Some(parts) = parts(content) else {
        return (!content.starts_with('"') || is_exact(content)).then_some(text);
    };
    let all_exact = parts.iter().all(|part| match part {
        Part::Text(literal) => is_exact(literal),
        _ => true,
    });
    let Some(literal) = first_text(&parts).filter(|_| all_exact) else {
        return all_exact.then(|| format!("[{}]", text_part(&text)));
    };
    let part = part_of_text(content, literal)?;
    Some(format!("[{}]", replaced(part, literal, &text)?))
}

fn first_text<'a>(parts: &[Part<'a>]) -> Option<&'a str> {
    parts.iter().find_map(|part| match part {
        Part::Text(literal) => Some(*literal),
        _ => None,
    })
}

/// Returns the part that contains a text.
fn part_of_text<'a>(content: &'a str, literal: &str) -> Option<&'a str> {
    let objects: Vec<&RawValue> = serde_json::from_str(content).ok()?;
    let at = literal.as_ptr() as usize;
    let holds = |part: &&str| (part.as_ptr() as usize..part.as_ptr() as usize + part.len()).contains(&at);
    objects.into_iter().map(RawValue::get).find(holds)
}

fn in_texts(content: &str, parts: &[Part<'_>], new: &[(usize, &str)]) -> Option<String> {
    let Some(literal) = first_text(parts) else {
        let [(0, text)] = new else { return None };
        return Some(format!("[{}]", text_part(&json::quoted(text))));
    };
    let part = part_of_text(content, literal)?;
    // Envelopes that span several parts do not occur in practice.
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

/// Returns `whole` with `new` in place of `part`, which is a slice of it.
pub(in crate::trajectory) fn replaced(whole: &str, part: &str, new: &str) -> Option<String> {
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
    fn results_among_parts_keep_all_but_their_contents() {
        becomes(
            r#"{"role": "user", "content": [{"type":"tool_result", "tool_use_id":"a", "content":"long", "is_error": true},{"tool_use_id":"b","content":"kept"} , {"content": [{"type": "text", "text": "1", "x": 1.0}, {"type": "image"}], "tool_use_id": "c"}]}"#,
            &[(2, "say \"so\""), (0, "short")],
            r#"{"role": "user", "content": [{"type":"tool_result", "tool_use_id":"a", "content":"short", "is_error": true},{"tool_use_id":"b","content":"kept"} , {"content": [{"type": "text", "text": "say \"so\"", "x": 1.0}], "tool_use_id": "c"}]}"#,
        );
        becomes(
            r#"{"role": "user", "content": [{"tool_use_id":"a","content":[{"type": "image"}]}, {"type": "text", "text": "\ud800"}]}"#,
            &[(0, "short")],
            r#"{"role": "user", "content": [{"tool_use_id":"a","content":[{"type": "text", "text": "short"}]}, {"type": "text", "text": "\ud800"}]}"#,
        );
    }

    #[test]
    fn what_is_no_text_or_no_answer_of_a_tool_stays() {
        for turn in [
            r#"{"role": "user", "content": "x"}"#,
            r#"{"role": "tool", "content": {"x": 1}}"#,
            r#"{"role": "tool", "content": "\ud800"}"#,
            r#"{"role": "tool"}"#,
            r#"{"role": "user", "content": [{"tool_use_id": "a"}]}"#,
            r#"{"role": "user", "content": [{"tool_use_id": "a", "content": "\ud800"}]}"#,
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
