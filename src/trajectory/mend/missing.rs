//! Mends calls without an answer: each gets an answer saying that no result was recorded.

use std::borrow::Cow;

use super::told::said_in_parts;
use super::{MendedTurn, NO_RESULT, appended, insert, quoted, run_of, tool_turn};
use crate::trajectory::edit::responses::replaced;
use crate::trajectory::parse::results::elements;
use crate::trajectory::structure::{CallPlace, Structure};
use crate::trajectory::{Format, Record, Role, Turn, view};

/// Adds an answer to each call that was never answered.
pub(super) fn answer<'a>(
    record: &Record<'a>,
    structure: &Structure<'a>,
    items: &mut Vec<MendedTurn<'a>>,
) -> bool {
    let (envelopes, keys) = (uses_envelopes(record), keys(record));
    let tool = record
        .turns
        .iter()
        .find(|turn| turn.speaker() == Role::Tool && !turn.opaque);
    let mut is_changed = false;
    let mut new = Vec::new();
    // Calls are handled turn by turn, so that each turn is decoded once.
    for calls in structure.unanswered.chunk_by(|a, b| a.0 == b.0) {
        let Some((turn, caller)) = calls
            .first()
            .and_then(|&(turn, _)| Some((turn, record.turns.get(turn)?)))
        else {
            continue;
        };
        let shape = structure.shapes.get(turn);
        let in_parts = shape.as_ref().map_or(0..0, |shape| shape.calls_in_parts.clone());
        let next = record.turns.get(turn + 1).map(Turn::speaker);
        let is_apart = |(_, place): &&CallPlace| in_parts.contains(place) && next != Some(Role::Tool);
        let (apart, calls): (Vec<&CallPlace>, Vec<&CallPlace>) = calls.iter().partition(is_apart);
        let asked = shape.map_or(&[][..], |shape| shape.calls);
        let id_of = |place: usize| asked.get(place)?.as_deref();
        let results = apart
            .into_iter()
            .filter_map(|(_, place)| id_of(*place))
            .map(result);
        let results: Vec<String> = results.collect();
        if !results.is_empty() {
            is_changed = true;
            match beside_results(record, structure, turn + 1, &results).zip(items.get_mut(turn + 1)) {
                Some((text, item)) => item.text = Cow::Owned(text),
                None => new.push((turn, said_in_parts(record, &results))),
            }
        }
        if calls.is_empty() {
            continue;
        }
        is_changed = true;
        let view = view(caller, turn);
        let is_written = caller.tool_calls().is_none() && caller.function_call().is_none();
        let run = match next {
            Some(Role::Tool) => run_of(record, turn + 1),
            _ => turn..turn + 1,
        };
        let is_bare = caller.role_name() == Some("\"function_call\"");
        let in_envelope = is_written && in_parts.is_empty() && !is_bare && envelopes;
        // If answers are packed in one turn, the new ones join them.
        let packed = run.clone().find(|index| {
            let turn = record.turns.get(*index);
            record.format == Format::ShareGpt
                && turn.is_some_and(|turn| has_envelope(turn) && turn.is_plain_text())
        });
        let role = role_of_tools(tool, caller);
        let mut joining = String::new();
        let mut apart = Vec::new();
        for &&(_, place) in &calls {
            let name = view
                .calls
                .get(place)
                .map(|call| call.name.as_ref())
                .filter(|name| !name.is_empty());
            let id = id_of(place);
            let text = if in_envelope {
                envelope(id, name)
            } else {
                NO_RESULT.to_owned()
            };
            if in_envelope && packed.is_some() {
                joining.push('\n');
                joining.push_str(&text);
            }
            let id = id.filter(|_| caller.tool_calls().is_some() || in_parts.contains(&place));
            let name = name.filter(|_| role == "\"function\"").map(quoted);
            let made = tool_turn(keys, &role, id, name.as_deref(), &text);
            apart.push((run.end - 1, made));
        }
        let joined = packed.filter(|_| !joining.is_empty()).and_then(|index| {
            let item = items.get_mut(index)?;
            item.text = Cow::Owned(appended(record, &item.text, &joining)?);
            Some(())
        });
        if joined.is_none() {
            new.extend(apart);
        }
    }
    insert(items, new);
    is_changed
}

/// Returns the part that answers the call with this id.
fn result(id: &str) -> String {
    let content = quoted(NO_RESULT);
    format!("{{\"type\": \"tool_result\", \"tool_use_id\": {id}, \"content\": {content}}}")
}

/// Returns the turn at `index` with more results after its first ones, if it is a person's with results.
fn beside_results(
    record: &Record<'_>,
    structure: &Structure<'_>,
    index: usize,
    results: &[String],
) -> Option<String> {
    let read = record.turns.get(index)?;
    let shape = structure.shapes.get(index)?;
    if read.speaker() != Role::Human || shape.in_parts == 0 {
        return None;
    }
    let content = read.content()?;
    let elements = elements(content);
    let first = elements.iter().take_while(|(_, id)| id.is_some()).count();
    let (before, after) = elements.split_at_checked(first)?;
    let before = before.iter().map(|(element, _)| *element);
    let after = after.iter().map(|(element, _)| *element);
    let all: Vec<&str> = before
        .chain(results.iter().map(String::as_str))
        .chain(after)
        .collect();
    replaced(read.text, content, &format!("[{}]", all.join(", ")))
}

fn envelope(id: Option<&str>, name: Option<&str>) -> String {
    let id = id
        .map(|id| format!("\"tool_call_id\": {id}, "))
        .unwrap_or_default();
    let name = name
        .map(|name| format!("\"name\": {}, ", quoted(name)))
        .unwrap_or_default();
    format!(
        "<tool_response>\n{{{id}{name}\"content\": {}}}\n</tool_response>",
        quoted(NO_RESULT)
    )
}

fn has_envelope(turn: &Turn<'_>) -> bool {
    turn.speaker() == Role::Tool
        && turn
            .content()
            .is_some_and(|content| content.contains("<tool_response>"))
}

/// Returns true if tools of this record answer in envelopes; without any answer, true for `ShareGPT`.
fn uses_envelopes(record: &Record<'_>) -> bool {
    let mut tools = record
        .turns
        .iter()
        .filter(|turn| turn.speaker() == Role::Tool)
        .peekable();
    match tools.peek() {
        None => record.format == Format::ShareGpt,
        Some(_) => tools.any(has_envelope),
    }
}

/// Returns the keys that the record's turns use for speaker and text.
fn keys(record: &Record<'_>) -> (&'static str, &'static str) {
    let tool = record
        .turns
        .iter()
        .find(|turn| turn.speaker() == Role::Tool && !turn.opaque);
    let any = tool.or_else(|| record.turns.iter().find(|turn| !turn.opaque));
    any.map_or(("role", "content"), Turn::keys)
}

/// Returns the role name of tools in this record, as JSON; `tool` is one of their turns.
fn role_of_tools(tool: Option<&Turn<'_>>, caller: &Turn<'_>) -> String {
    let usual = match caller.role_name() {
        Some("\"function_call\"") => "\"observation\"",
        _ if caller.tool_calls().is_none() && caller.function_call().is_some() => "\"function\"",
        _ => "\"tool\"",
    };
    tool.and_then(Turn::role_name).unwrap_or(usual).to_owned()
}
