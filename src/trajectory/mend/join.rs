//! Neighbours of one role, mended: two turns that are nothing but text become one.

use std::borrow::Cow;

use super::{Item, appended, is_exact};
use crate::trajectory::calls::raw_calls;
use crate::trajectory::decode::content_text;
use crate::trajectory::structure::Structure;
use crate::trajectory::{Record, Turn};

/// Turns beside each other of one role, all nothing but text, become one.
pub(super) fn join<'a>(record: &Record<'a>, structure: &Structure<'a>, items: &mut Vec<Item<'a>>) -> bool {
    let mut follows = vec![false; record.turns.len()];
    for &turn in &structure.neighbours {
        if let Some(follows) = follows.get_mut(turn) {
            *follows = may_join(record, structure, turn);
        }
    }
    let mut is_gone = vec![false; record.turns.len()];
    let mut start = 0;
    while start < record.turns.len() {
        let rest = follows.get(start + 1..).unwrap_or_default();
        let more = rest.iter().take_while(|follows| **follows).count();
        let first = record.turns.get(start).filter(|_| more > 0);
        let takes_more = |turn: &&Turn<'_>| appended(record, turn.text, "\n").is_some();
        let Some(first) = first.filter(takes_more) else {
            start += 1;
            continue;
        };
        let later = start + 1..start + 1 + more;
        let turns = record.turns.get(later.clone()).unwrap_or_default();
        let mut addition = String::new();
        for content in turns.iter().filter_map(|turn| turn.content) {
            addition.push_str("\n\n");
            addition.push_str(&content_text(content));
        }
        if let (Some(text), Some(item)) = (appended(record, first.text, &addition), items.get_mut(start)) {
            item.text = Cow::Owned(text);
            is_gone.get_mut(later.clone()).unwrap_or_default().fill(true);
        }
        start = later.end;
    }
    let before = items.len();
    items.retain(|item| {
        let gone = item.place.and_then(|place| is_gone.get(place));
        gone != Some(&true)
    });
    items.len() < before
}

/// Whether a turn and the one before it are nothing but text.
fn may_join(record: &Record<'_>, structure: &Structure<'_>, turn: usize) -> bool {
    let Some(start) = turn.checked_sub(1) else {
        return false;
    };
    // A list of no calls says no more than none.
    let is_text = |turn: &Turn<'_>| {
        let thinks = turn.reasoning.is_some_and(|reasoning| reasoning != "\"\"");
        turn.is_plain_text() && is_exact(turn) && !thinks && raw_calls(turn).is_empty()
    };
    let turns = record.turns.get(start..=turn).unwrap_or_default();
    let shapes = structure.shapes.get(start..=turn).unwrap_or_default();
    turns.iter().all(is_text) && shapes.iter().all(|shape| shape.calls.is_empty())
}
