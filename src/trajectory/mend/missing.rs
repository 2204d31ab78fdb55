//! Calls without an answer, mended: each gets one that says that no result was recorded.

use std::borrow::Cow;

use super::{Item, NO_RESULT, appended, inserted, quoted, run_of, tool_turn};
use crate::trajectory::structure::Structure;
use crate::trajectory::{Format, Record, Role, Turn, view};

/// Calls that were never answered get an answer that says so.
pub(super) fn answer<'a>(record: &Record<'a>, structure: &Structure<'a>, items: &mut Vec<Item<'a>>) -> bool {
    let mut is_changed = false;
    for &(turn, place) in &structure.unanswered {
        let Some(caller) = record.turns.get(turn) else {
            continue;
        };
        let view = view(caller, turn);
        let name = view
            .calls
            .get(place)
            .map(|call| call.name.as_ref())
            .filter(|name| !name.is_empty());
        let id = structure
            .shapes
            .get(turn)
            .and_then(|shape| *shape.calls.get(place)?);
        let is_written = caller.tool_calls.is_none() && caller.function_call.is_none();
        let run = match record.turns.get(turn + 1) {
            Some(next) if next.role == Role::Tool => run_of(record, turn + 1),
            _ => turn..turn + 1,
        };
        let is_bare = caller.role_name == Some("\"function_call\"");
        let envelope = |name: Option<&str>| {
            let name = name
                .map(|name| format!("\"name\": {}, ", quoted(name)))
                .unwrap_or_default();
            format!(
                "<tool_response>\n{{{name}\"content\": {}}}\n</tool_response>",
                quoted(NO_RESULT)
            )
        };
        let in_envelope = is_written && !is_bare && uses_envelopes(record);
        // Where answers stand together in one turn, this one joins them.
        let packed = run.clone().find(|index| {
            let turn = record.turns.get(*index);
            record.format == Format::ShareGpt
                && turn.is_some_and(|turn| has_envelope(turn) && turn.is_plain_text())
        });
        let mut joined = None;
        if let (true, Some(index)) = (in_envelope, packed) {
            let place = items.iter_mut().find(|item| item.place == Some(index));
            joined = place.and_then(|item| {
                let more = appended(record, &item.text, &format!("\n{}", envelope(name)))?;
                item.text = Cow::Owned(more);
                Some(())
            });
        }
        if joined.is_none() {
            let role = role_of_tools(record, caller);
            let text = if in_envelope {
                envelope(name)
            } else {
                NO_RESULT.to_owned()
            };
            let name = name.filter(|_| role == "\"function\"").map(quoted);
            let id = id.filter(|_| caller.tool_calls.is_some());
            inserted(
                items,
                run.end - 1,
                tool_turn(keys(record), &role, id, name.as_deref(), &text),
            );
        }
        is_changed = true;
    }
    is_changed
}

fn has_envelope(turn: &Turn<'_>) -> bool {
    turn.role == Role::Tool
        && turn
            .content
            .is_some_and(|content| content.contains("<tool_response>"))
}

/// Whether tools of this record answer in envelopes; where none answers at all, they would in `ShareGPT`.
fn uses_envelopes(record: &Record<'_>) -> bool {
    let mut tools = record
        .turns
        .iter()
        .filter(|turn| turn.role == Role::Tool)
        .peekable();
    match tools.peek() {
        None => record.format == Format::ShareGpt,
        Some(_) => tools.any(has_envelope),
    }
}

/// The keys that the record's turns use for speaker and text.
fn keys(record: &Record<'_>) -> (&'static str, &'static str) {
    let tool = record
        .turns
        .iter()
        .find(|turn| turn.role == Role::Tool && !turn.opaque);
    let any = tool.or_else(|| record.turns.iter().find(|turn| !turn.opaque));
    any.map_or(("role", "content"), |turn| turn.keys)
}

/// What the record calls tools, as JSON.
fn role_of_tools(record: &Record<'_>, caller: &Turn<'_>) -> String {
    let tool = record
        .turns
        .iter()
        .find(|turn| turn.role == Role::Tool && !turn.opaque);
    let usual = match caller.role_name {
        Some("\"function_call\"") => "\"observation\"",
        _ if caller.tool_calls.is_none() && caller.function_call.is_some() => "\"function\"",
        _ => "\"tool\"",
    };
    tool.and_then(|turn| turn.role_name).unwrap_or(usual).to_owned()
}
