//! Answers that come after somebody else spoke, mended: they go to their call.

use rustc_hash::FxHashMap;

use super::{Item, insert, run_of};
use crate::trajectory::structure::Structure;
use crate::trajectory::{Record, Role};

/// Turns of tools whose answers all belong to one earlier call, or calls of one turn, go behind the answers that it has there;
/// others, which answer several turns at once, stay.
pub(super) fn bring_back<'a>(
    record: &Record<'a>,
    structure: &Structure<'a>,
    items: &mut Vec<Item<'a>>,
) -> bool {
    let mut is_gone = vec![false; record.turns.len()];
    let mut last_answers: FxHashMap<usize, usize> = FxHashMap::default();
    let mut new = Vec::new();
    for late in structure.late.chunk_by(|a, b| a.0.0 == b.0.0) {
        let Some(&((turn, _), (caller, _))) = late.first() else {
            continue;
        };
        let answers = structure.shapes.get(turn).map(|shape| shape.answers.len());
        let is_whole = answers == Some(late.len()) && late.iter().all(|(_, call)| call.0 == caller);
        let (Some(read), Some(is_gone)) = (record.turns.get(turn), is_gone.get_mut(turn)) else {
            continue;
        };
        if !is_whole {
            continue;
        }
        let after = last_answers
            .entry(caller)
            .or_insert_with(|| last_answer(record, caller));
        new.push((*after, read.text.to_owned()));
        *is_gone = true;
    }
    let is_changed = !new.is_empty();
    items.retain(|item| item.place.and_then(|place| is_gone.get(place)) != Some(&true));
    insert(items, new);
    is_changed
}

/// The last of the tool turns right after a turn; that turn where there is none.
fn last_answer(record: &Record<'_>, caller: usize) -> usize {
    match record.turns.get(caller + 1) {
        Some(next) if next.role == Role::Tool => run_of(record, caller + 1).end - 1,
        _ => caller,
    }
}
