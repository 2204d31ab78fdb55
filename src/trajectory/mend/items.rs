//! The turns of a record that is being mended, and their output.

use std::borrow::Cow;
use std::ops::Range;

use crate::trajectory::json::quoted;
use crate::trajectory::{Record, Role, Turn, append_text, apply, turn_of};

/// The placeholder for a result that was not recorded.
pub const NO_RESULT: &str = "[no result of this call was recorded]";

/// The line before an output whose call was not recorded: a report of it, no longer an answer.
pub const STRAY_OUTPUT: &str = "[output of a tool; its call was not recorded]";

/// The line after it: other text of a person may follow.
pub const STRAY_END: &str = "[end of the output]";

/// A turn of the record to be written.
pub struct MendedTurn<'a> {
    /// The turn's text.
    pub text: Cow<'a, str>,
    /// The index in the record that was read; `None` for a new turn.
    pub place: Option<usize>,
}

/// Returns the record with these turns. Turns that are still neighbours keep the text between them.
pub fn written(record: &Record<'_>, items: &[MendedTurn<'_>]) -> Option<String> {
    let between = |turn: usize| {
        let (before, after) = (record.turn_span(turn)?, record.turn_span(turn + 1)?);
        record.text.get(before.end..after.start)
    };
    let usual = between(0).unwrap_or(", ");
    let first = record.turn_span(0)?;
    let last = record.turn_span(record.turns.len().checked_sub(1)?)?;
    let mut text = String::with_capacity(record.text.len() + 256);
    text.push_str(record.text.get(..first.start)?);
    let mut before: Option<&MendedTurn<'_>> = None;
    for item in items {
        if let Some(before) = before {
            let follows = before.place.filter(|place| Some(place + 1) == item.place);
            text.push_str(follows.and_then(between).unwrap_or(usual));
        }
        text.push_str(&item.text);
        before = Some(item);
    }
    text.push_str(record.text.get(last.end..)?);
    Some(text)
}

/// Returns the range of consecutive tool turns around `turn`.
pub fn run_of(record: &Record<'_>, turn: usize) -> Range<usize> {
    let is_tool = |index: &usize| {
        record
            .turns
            .get(*index)
            .is_some_and(|turn| turn.speaker() == Role::Tool)
    };
    let start = (0..turn).rev().take_while(is_tool).last().unwrap_or(turn);
    let end = (turn..record.turns.len())
        .take_while(is_tool)
        .last()
        .map_or(turn, |last| last + 1);
    start..end
}

/// Inserts new turns, each after the turn with the given index and earlier insertions there, in the given order.
pub fn insert(items: &mut Vec<MendedTurn<'_>>, mut new: Vec<(usize, String)>) {
    new.sort_by_key(|(after, _)| *after);
    let mut new = new.into_iter().peekable();
    let old = std::mem::take(items);
    for item in old {
        while let Some((_, text)) = new.next_if(|(after, _)| item.place.is_some_and(|place| *after < place)) {
            items.push(own(text));
        }
        items.push(item);
    }
    items.extend(new.map(|(_, text)| own(text)));
}

fn own<'a>(text: String) -> MendedTurn<'a> {
    MendedTurn {
        text: Cow::Owned(text),
        place: None,
    }
}

/// Returns the turn's text with an addition at the end of its content.
pub fn appended(record: &Record<'_>, turn: &str, addition: &str) -> Option<String> {
    let read = turn_of(turn)?;
    let alone = Record {
        text: turn,
        format: record.format,
        id: None,
        system: None,
        tools: None,
        turns: Vec::new(),
        ambiguous: false,
    };
    let edit = append_text(&alone, &read, addition)?;
    Some(apply(turn, vec![edit]))
}

/// Returns true if all of a turn is decoded without loss.
pub fn is_exact(turn: &Turn<'_>) -> bool {
    turn.pieces(&mut String::new(), |_| {})
}

/// Returns a tool turn with these keys.
pub fn tool_turn(keys: (&str, &str), role: &str, id: Option<&str>, name: Option<&str>, text: &str) -> String {
    let (role_key, text_key) = keys;
    let field = |key: &str, value: Option<&str>| {
        value
            .map(|value| format!("\"{key}\": {value}, "))
            .unwrap_or_default()
    };
    let (id, name) = (field("tool_call_id", id), field("name", name));
    format!(
        "{{\"{role_key}\": {role}, {id}{name}\"{text_key}\": {}}}",
        quoted(text)
    )
}
