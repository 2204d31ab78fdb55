//! Ids that several calls have, mended: each call gets one of its own.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Item;
use crate::trajectory::Record;
use crate::trajectory::structure::{Place, Structure};

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
    let literal = ids.and_then(|ids| match ids.get(place)? {
        Some(Cow::Borrowed(literal)) => Some(*literal),
        _ => None,
    });
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
