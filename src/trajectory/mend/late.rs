//! Mends answers that come after somebody else spoke: they are moved to their call.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::split::{Split, split};
use super::{MendedTurn, insert};
use crate::trajectory::parse::results::is_results_only;
use crate::trajectory::structure::shape::CallsAndAnswers;
use crate::trajectory::structure::{CallPlace, Structure};
use crate::trajectory::{Record, Role, Turn};

/// Moves late answers behind the answers to their call, or to other calls of the same turn. A turn with other content
/// is split; one whose answers cannot be separated stays.
pub(super) fn bring_back<'a>(
    record: &Record<'a>,
    structure: &Structure<'a>,
    items: &mut Vec<MendedTurn<'a>>,
) -> bool {
    let mut is_gone = vec![false; record.turns.len()];
    let mut last_answers: FxHashMap<(usize, Role), usize> = FxHashMap::default();
    let mut new = Vec::new();
    for late in structure.late.chunk_by(|a, b| a.0.0 == b.0.0) {
        let Some(&((turn, _), _)) = late.first() else {
            continue;
        };
        let (Some(read), Some(shape)) = (record.turns.get(turn), structure.shapes.get(turn)) else {
            continue;
        };
        let links = structure.links.iter();
        let from = structure.links.partition_point(|(answer, _)| answer.0 < turn);
        let linked = links
            .skip(from)
            .take_while(|(answer, _)| answer.0 == turn)
            .count();
        let Some(Split { pieces, left }) = apart(read, &shape, late, linked) else {
            continue;
        };
        for (caller, piece) in pieces {
            let after = last_answers
                .entry((caller, read.speaker()))
                .or_insert_with(|| last_answer(record, caller, read.speaker()));
            new.push((*after, piece));
        }
        match (left, items.get_mut(turn), is_gone.get_mut(turn)) {
            (Some(left), Some(item), _) => item.text = Cow::Owned(left),
            (None, _, Some(is_gone)) => *is_gone = true,
            _ => {}
        }
    }
    let is_changed = !new.is_empty();
    items.retain(|item| item.place.and_then(|place| is_gone.get(place)) != Some(&true));
    insert(items, new);
    is_changed
}

/// Separates the late answers of a turn from its other content; a turn that belongs to one caller as a whole is moved
/// unchanged. `linked` is the number of its answers that have calls.
fn apart(
    read: &Turn<'_>,
    shape: &CallsAndAnswers<'_, '_>,
    late: &[(CallPlace, CallPlace)],
    linked: usize,
) -> Option<Split> {
    let (_, (caller, _)) = *late.first()?;
    let own = late.partition_point(|((_, place), _)| *place < shape.own_answers());
    let is_one = late.iter().all(|(_, call)| call.0 == caller);
    let is_all = match read.speaker() {
        // Parts that answer no call are ordinary content.
        Role::Tool => late.len() == linked && own == shape.own_answers(),
        _ => late.len() == shape.answers.len() && read.content().is_some_and(is_results_only),
    };
    let is_whole = is_one && is_all;
    if !is_whole {
        return split(read, shape, late);
    }
    Some(Split {
        pieces: vec![(caller, read.text.to_owned())],
        left: None,
    })
}

/// Returns the last of the answers right after a turn, or the turn itself. Answers of people follow those of tools.
fn last_answer(record: &Record<'_>, caller: usize, role: Role) -> usize {
    let answers = |turn: &&Turn<'_>| match turn.speaker() {
        Role::Tool => true,
        Role::Human => role == Role::Human && turn.content().is_some_and(is_results_only),
        _ => false,
    };
    let following = record.turns.iter().skip(caller + 1);
    caller + following.take_while(answers).count()
}
