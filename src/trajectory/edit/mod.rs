//! Edits of a record's text: everything that is not edited keeps its bytes.

pub(super) mod mark;
pub(super) mod record_fields;
pub(super) mod responses;

use std::ops::Range;

use super::parse::parts::{Part, parts, text_part};
use super::{Format, Record, Role, Turn, json};

/// Replaces the bytes `at` of a record's text by `text`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The byte range in the record's text.
    pub at: Range<usize>,
    /// The replacement.
    pub text: String,
}

/// Returns the record's text with `edits` applied. Edits must not overlap; one that does is left out.
pub fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| edit.at.start);
    let added: usize = edits.iter().map(|edit| edit.text.len()).sum();
    let mut edited = String::with_capacity(text.len() + added);
    let mut copied = 0;
    for edit in &edits {
        let Some(kept) = text.get(copied..edit.at.start) else {
            continue;
        };
        edited.push_str(kept);
        edited.push_str(&edit.text);
        copied = edit.at.end;
    }
    edited.push_str(text.get(copied..).unwrap_or_default());
    edited
}

/// Returns the edit that appends `addition` to a turn's text; `None` where the turn has no text to append to.
pub fn append_text(record: &Record<'_>, turn: &Turn<'_>, addition: &str) -> Option<Edit> {
    let literal = turn.last_literal()?;
    let closing_quote = record.span_of(literal).end.checked_sub(1)?;
    Some(Edit {
        at: closing_quote..closing_quote,
        text: escaped(addition),
    })
}

/// Returns the edit that puts `addition` before a turn's text; `None` where the turn does not begin with a text.
pub fn prepend_text(record: &Record<'_>, turn: &Turn<'_>, addition: &str) -> Option<Edit> {
    let content = turn.content().filter(|_| !turn.opaque)?;
    let literal = match parts(content) {
        Some(parts) => match parts.first() {
            Some(Part::Text(text)) => text,
            _ => return None,
        },
        None => content,
    };
    let after_quote = record.span_of(literal).start + 1;
    literal.starts_with('"').then(|| Edit {
        at: after_quote..after_quote,
        text: escaped(addition),
    })
}

/// Returns the edit that adds a text part at the end of a turn's content; `None` if that is no list of parts.
pub fn append_part(record: &Record<'_>, turn: &Turn<'_>, text: &str) -> Option<Edit> {
    let content = turn.content().filter(|_| !turn.opaque)?;
    parts(content)?;
    let listed = content.strip_suffix(']')?.trim_end();
    let end = record.span_of(listed).end;
    let part = part_of(&json::quoted(text), is_spaced(record, Some(turn)));
    let comma = if is_spaced(record, Some(turn)) { ", " } else { "," };
    Some(Edit {
        at: end..end,
        text: format!("{comma}{part}"),
    })
}

/// Returns the edit that puts `new` in place of a byte range of a turn's last text.
pub fn replace_text(record: &Record<'_>, turn: &Turn<'_>, stretch: Range<usize>, new: &str) -> Option<Edit> {
    let literal = turn.last_literal()?;
    let start = record.span_of(literal).start;
    let place = |at: usize| Some(start + json::place_in(literal, at)?);
    Some(Edit {
        at: place(stretch.start)?..place(stretch.end)?,
        text: escaped(new),
    })
}

fn escaped(text: &str) -> String {
    let mut written = String::with_capacity(text.len() + text.len() / 8);
    json::escape_into(text, &mut written);
    written
}

/// Returns the JSON of a new turn of the human role, spelled like the turns of the record.
pub fn new_turn(record: &Record<'_>, text: &str) -> String {
    new_turn_of(record, Role::Human, text)
}

/// The JSON of a new turn of the human or the assistant role, spelled as the record spells its own turns: its text is one part
/// where all of them have parts, since loaders want one type of content.
pub fn new_turn_of(record: &Record<'_>, role: Role, text: &str) -> String {
    let literal = json::quoted(text);
    let contents = || record.turns.iter().filter_map(Turn::content);
    let has_parts = contents().any(|content| content.starts_with('['));
    if has_parts && !contents().any(|content| content.starts_with('"')) {
        let is_spaced = is_spaced(record, record.turns.iter().find(|turn| !turn.opaque));
        return turn_with(record, role, &format!("[{}]", part_of(&literal, is_spaced)));
    }
    turn_with(record, role, &literal)
}

/// The JSON of a text part.
fn part_of(literal: &str, is_spaced: bool) -> String {
    if is_spaced {
        text_part(literal)
    } else {
        format!("{{\"type\":\"text\",\"text\":{literal}}}")
    }
}

/// The JSON of a new turn with this content.
pub(super) fn turn_with(record: &Record<'_>, role: Role, content: &str) -> String {
    let readable = |turn: &&Turn<'_>| !turn.opaque;
    let same = record
        .turns
        .iter()
        .filter(readable)
        .find(|turn| turn.speaker() == role);
    let model = same.or_else(|| record.turns.iter().find(readable));
    let default_keys = match record.format {
        Format::ShareGpt => ("from", "value"),
        Format::Messages => ("role", "content"),
    };
    let (role_key, text_key) = model.map_or(default_keys, Turn::keys);
    let default_name = match (role_key, role) {
        ("from", Role::Assistant) => "\"gpt\"",
        (_, Role::Assistant) => "\"assistant\"",
        ("from", _) => "\"human\"",
        _ => "\"user\"",
    };
    let role_name = same.and_then(Turn::role_name).unwrap_or(default_name);
    let (colon, comma) = if is_spaced(record, model) {
        (": ", ", ")
    } else {
        (":", ",")
    };
    format!("{{\"{role_key}\"{colon}{role_name}{comma}\"{text_key}\"{colon}{content}}}")
}

/// Returns true for `"from": "human"`, false for `"from":"human"`, by the byte before the role.
fn is_spaced(record: &Record<'_>, model: Option<&Turn<'_>>) -> bool {
    let before_role = model.and_then(|turn| record.span_of(turn.role_name()?).start.checked_sub(1));
    before_role.is_none_or(|at| record.text.as_bytes().get(at) == Some(&b' '))
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn a_new_turn_is_spelled_as_the_record_spells_its_own() {
        let cases = [
            (
                r#"{"conversations": [{"from": "human", "value": "x"}]}"#,
                r#"{"from": "human", "value": "s\n"}"#,
            ),
            (
                r#"{"conversations":[{"from":"user","value":"x"}]}"#,
                r#"{"from":"user","value":"s\n"}"#,
            ),
            (
                r#"{"messages": [{"content": "x", "role": "user"}]}"#,
                r#"{"role": "user", "content": "s\n"}"#,
            ),
            (
                r#"{"messages": [{"role": "assistant"}]}"#,
                r#"{"role": "user", "content": "s\n"}"#,
            ),
            (
                r#"{"conversations": [{"role": "user", "content": "x"}]}"#,
                r#"{"role": "user", "content": "s\n"}"#,
            ),
            (
                r#"{"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}, {"role": "assistant", "content": null}]}"#,
                r#"{"role": "user", "content": [{"type": "text", "text": "s\n"}]}"#,
            ),
            (
                r#"{"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}"#,
                r#"{"role":"user","content":[{"type":"text","text":"s\n"}]}"#,
            ),
            (
                r#"{"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}, {"role": "assistant", "content": "y"}]}"#,
                r#"{"role": "user", "content": "s\n"}"#,
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(new_turn(&parse(text.as_bytes(), None).unwrap(), "s\n"), expected);
        }
    }
}
