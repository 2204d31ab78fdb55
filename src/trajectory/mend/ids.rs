//! Ids that several calls have, mended: each call gets one of its own.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Item, quoted};
use crate::trajectory::calls::{raw_call, raw_calls};
use crate::trajectory::decode::{tagged_calls_of, tagged_responses};
use crate::trajectory::fields::fields;
use crate::trajectory::json;
use crate::trajectory::structure::{Place, Structure};
use crate::trajectory::{Record, turn_of};

/// Calls with an id that an earlier one has get one of their own, and so do their answers.
pub(super) fn rename<'a>(record: &Record<'a>, structure: &Structure<'a>, items: &mut Vec<Item<'a>>) -> bool {
    let shapes = structure.shapes.iter();
    let mut taken: FxHashSet<String> = shapes
        .flat_map(|shape| shape.calls.iter().chain(&shape.answers))
        .filter_map(|id| id.as_deref().map(str::to_owned))
        .collect();
    let answers: FxHashMap<Place, Place> = structure
        .links
        .iter()
        .map(|(answer, call)| (*call, *answer))
        .collect();
    let mut numbers: FxHashMap<&str, usize> = FxHashMap::default();
    let mut is_changed = false;
    for &(turn, place) in &structure.repeated {
        let calls = structure.shapes.get(turn).map(|shape| &shape.calls);
        let id = calls.and_then(|calls| calls.get(place)?.as_deref());
        let Some(bare) = id.and_then(|id| id.strip_suffix('"').filter(|id| id.starts_with('"'))) else {
            continue;
        };
        let number = numbers.entry(bare).or_insert(1);
        let free = loop {
            *number += 1;
            let free = format!("{bare}_{number}\"");
            if taken.insert(free.clone()) {
                break free;
            }
        };
        is_changed |= renamed(record, structure, items, (turn, place), false, &free);
        if let Some(answer) = answers.get(&(turn, place)) {
            renamed(record, structure, items, *answer, true, &free);
        }
    }
    is_changed
}

/// Writes `free` for the id at a place of a turn.
fn renamed<'a>(
    record: &Record<'a>,
    structure: &Structure<'a>,
    items: &mut [Item<'a>],
    (turn, place): Place,
    is_answer: bool,
    free: &str,
) -> bool {
    let shape = structure.shapes.get(turn);
    let ids = shape.map(|shape| if is_answer { &shape.answers } else { &shape.calls });
    let id = ids.and_then(|ids| ids.get(place)?.as_ref());
    if let (Some(Cow::Owned(_)), Some(read), Some(item)) = (id, record.turns.get(turn), items.get_mut(turn)) {
        let before = if is_answer { 0 } else { raw_calls(read).len() };
        let new = renamed_in_text(&item.text, place.saturating_sub(before), is_answer, free);
        let is_renamed = new.is_some();
        item.text = new.map_or_else(|| std::mem::take(&mut item.text), Cow::Owned);
        return is_renamed;
    }
    let literal = match id {
        Some(Cow::Borrowed(literal)) => Some(*literal),
        _ => None,
    };
    let (Some(literal), Some(read), Some(item)) = (literal, record.turns.get(turn), items.get_mut(turn))
    else {
        return false;
    };
    let start = (literal.as_ptr() as usize).saturating_sub(read.text.as_ptr() as usize);
    // Ids earlier in the same turn have grown by now.
    let from = start + item.text.len() - read.text.len();
    let is_there = item
        .text
        .get(from..)
        .is_some_and(|rest| rest.starts_with(literal));
    if is_there {
        item.text.to_mut().replace_range(from..from + literal.len(), free);
    }
    is_there
}

/// The turn with another id in a call or an answer that stands in its text, by its place among these.
fn renamed_in_text(turn: &str, place: usize, is_answer: bool, free: &str) -> Option<String> {
    let read = turn_of(turn)?;
    let content = read.content.filter(|content| content.starts_with('"'))?;
    let (text, is_exact) = json::decode(content);
    let text = is_exact.then_some(text.as_ref())?;
    let blocks = if is_answer {
        tagged_responses(text)
    } else {
        tagged_calls_of(text)
    };
    let block = text.get(blocks.get(place)?.clone())?.trim();
    let id = if is_answer {
        fields(block, &["tool_call_id"]).ok()?.values[0]?
    } else {
        raw_call(block).id?
    };
    let start = (id.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    let offset = (content.as_ptr() as usize).checked_sub(turn.as_ptr() as usize)?;
    let from = offset + json::place_in(content, start)?;
    let to = offset + json::place_in(content, start + id.len())?;
    let written = quoted(free);
    let escaped = written.strip_prefix('"')?.strip_suffix('"')?;
    Some([turn.get(..from)?, escaped, turn.get(to..)?].concat())
}
