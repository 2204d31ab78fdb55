//! Answers that nobody asked for, mended: they are told by a human turn.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};

use super::told::Told;
use super::{Item, insert, is_exact, run_of};
use crate::trajectory::shape::Shape;
use crate::trajectory::structure::{Place, Structure};
use crate::trajectory::{Record, Turn, new_turn, view, without_responses};

/// A turn with answers to nobody.
struct Stray {
    /// Their places.
    places: Vec<usize>,
    /// What is left of the turn, if anything is.
    left: Option<String>,
}

/// Answers to nobody are told by a human turn after the turns of tools around them: dropping them would take away what later
/// turns may rely on, and left as they are, trainers and templates refuse them.
pub(super) fn tell_orphans<'a>(
    record: &Record<'a>,
    structure: &Structure<'a>,
    items: &mut Vec<Item<'a>>,
) -> bool {
    let mut strays = strays(record, structure);
    let mut new = Vec::new();
    let mut end = record.turns.len();
    while let Some(last) = (0..end).rev().find(|turn| strays.contains_key(turn)) {
        let run = run_of(record, last);
        let mut told = Told::default();
        for turn in run.clone() {
            if let (Some(read), Some(stray)) = (record.turns.get(turn), strays.get(&turn)) {
                tell(&mut told, read, turn, stray);
            }
        }
        new.push((run.end - 1, told.turn(|text| new_turn(record, text))));
        end = run.start;
    }
    for item in items.iter_mut() {
        let left = item.place.and_then(|place| strays.get_mut(&place)?.left.take());
        if let Some((left, place)) = left.zip(item.place) {
            item.text = Cow::Owned(left);
            strays.remove(&place);
        }
    }
    let is_changed = !new.is_empty();
    insert(items, new);
    items.retain(|item| item.place.is_none_or(|place| !strays.contains_key(&place)));
    is_changed
}

/// By turn, the answers to nobody that can be told.
fn strays(record: &Record<'_>, structure: &Structure<'_>) -> FxHashMap<usize, Stray> {
    let answering: FxHashSet<usize> = structure.links.iter().map(|((turn, _), _)| *turn).collect();
    let stray_of = |orphans: &[Place]| {
        let (turn, _) = *orphans.first()?;
        let read = record.turns.get(turn).filter(|read| !read.opaque)?;
        let places: Vec<usize> = orphans.iter().map(|(_, place)| *place).collect();
        let answers = structure.shapes.get(turn).map_or(0, Shape::own_answers);
        let left = if places.len() < answers {
            let is_text = read.is_plain_text() && is_exact(read);
            Some(is_text.then(|| without_responses(read, &places)).flatten()?)
        } else if answering.contains(&turn) {
            // Parts of it are answers to somebody.
            return None;
        } else {
            None
        };
        Some((turn, Stray { places, left }))
    };
    let by_turn = structure.orphans.chunk_by(|a, b| a.0 == b.0);
    by_turn.filter_map(stray_of).collect()
}

/// Tells the answers to nobody of a turn; of a turn that is nothing else, all that it says.
fn tell(told: &mut Told, read: &Turn<'_>, turn: usize, stray: &Stray) {
    let content = read.content.unwrap_or_default();
    let is_text = read.is_plain_text() && is_exact(read);
    if stray.left.is_none() && read.images() > 0 {
        told.parts(content);
    } else if !is_text && !content.is_empty() {
        told.text(content);
    } else {
        let view = view(read, turn);
        let around = stray.left.is_none().then_some(view.text.as_ref());
        let answers = stray.places.iter().filter_map(|place| view.responses.get(*place));
        let answers = answers.map(|response| response.content.as_ref());
        around.into_iter().chain(answers).for_each(|text| told.text(text));
    }
}
