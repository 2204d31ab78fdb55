//! Answers that nobody asked for, mended: they are told by a human turn.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::{Item, STRAY_END, STRAY_OUTPUT, insert, is_exact, run_of};
use crate::trajectory::shape::Shape;
use crate::trajectory::structure::Structure;
use crate::trajectory::{Record, new_turn, view, without_responses};

/// Answers to nobody are told by a human turn after the turns of tools around them: dropping them would take away what later
/// turns may rely on, and left as they are, trainers and templates refuse them.
pub(super) fn tell_orphans<'a>(
    record: &Record<'a>,
    structure: &Structure<'a>,
    items: &mut Vec<Item<'a>>,
) -> bool {
    // By turn: the places of its answers to nobody, and what is left of it, if anything is.
    let mut strays: FxHashMap<usize, (Vec<usize>, Option<String>)> = FxHashMap::default();
    for orphans in structure.orphans.chunk_by(|a, b| a.0 == b.0) {
        let Some(&(turn, _)) = orphans.first() else {
            continue;
        };
        let Some(read) = record.turns.get(turn) else {
            continue;
        };
        let places: Vec<usize> = orphans.iter().map(|(_, place)| *place).collect();
        let answers = structure.shapes.get(turn).map_or(0, Shape::own_answers);
        if !read.is_plain_text() || !is_exact(read) {
            continue;
        }
        if places.len() == answers {
            strays.insert(turn, (places, None));
        } else if let Some(left) = without_responses(read, &places) {
            strays.insert(turn, (places, Some(left)));
        }
    }
    let mut new = Vec::new();
    let mut end = record.turns.len();
    while let Some(last) = (0..end).rev().find(|turn| strays.contains_key(turn)) {
        let run = run_of(record, last);
        let mut told = String::new();
        for turn in run.clone() {
            if let (Some(read), Some((places, left))) = (record.turns.get(turn), strays.get(&turn)) {
                let view = view(read, turn);
                let around = left.is_none().then_some(view.text.as_ref());
                let stray = places.iter().filter_map(|place| view.responses.get(*place));
                let stray = stray.map(|response| response.content.as_ref());
                let texts = around.into_iter().chain(stray).map(str::trim);
                texts
                    .filter(|text| !text.is_empty())
                    .for_each(|text| tell(&mut told, text));
            }
        }
        if told.is_empty() {
            tell(&mut told, "");
        }
        new.push((run.end - 1, new_turn(record, &told)));
        end = run.start;
    }
    for item in items.iter_mut() {
        let left = item.place.and_then(|place| strays.get_mut(&place)?.1.take());
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

fn tell(told: &mut String, text: &str) {
    if !told.is_empty() {
        told.push_str("\n\n");
    }
    for line in [STRAY_OUTPUT, text, STRAY_END] {
        if !line.is_empty() {
            told.push_str(line);
            told.push('\n');
        }
    }
    told.truncate(told.trim_end().len());
}
