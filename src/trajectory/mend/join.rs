//! Neighbours of one role, mended: two turns that are nothing but text become one.

use std::borrow::Cow;

use super::{Item, appended, is_exact};
use crate::trajectory::structure::Structure;
use crate::trajectory::{Record, Turn, turn_of, view};

/// A turn beside one of the same role, both nothing but text, becomes one with it.
pub(super) fn join<'a>(record: &Record<'a>, structure: &Structure<'a>, items: &mut Vec<Item<'a>>) -> bool {
    let mut is_changed = false;
    for &turn in structure.neighbours.iter().rev() {
        let Some([before, after]) = turn
            .checked_sub(1)
            .and_then(|start| record.turns.get(start..=turn))
        else {
            continue;
        };
        let is_text = |turn: &Turn<'_>| {
            let others = [turn.reasoning, turn.tool_calls, turn.function_call];
            turn.is_plain_text() && is_exact(turn) && others == [None; 3]
        };
        let has_calls = structure
            .shapes
            .get(turn - 1..=turn)
            .unwrap_or_default()
            .iter()
            .any(|shape| !shape.calls.is_empty());
        if !is_text(before) || !is_text(after) || has_calls {
            continue;
        }
        // From the back: what was joined to the later one goes along.
        let Some(at) = items.iter().position(|item| item.place == Some(turn)) else {
            continue;
        };
        let later = items
            .get(at)
            .and_then(|item| turn_of(&item.text).map(|read| view(&read, turn).text.into_owned()));
        let earlier = at.checked_sub(1).and_then(|at| items.get_mut(at));
        let (Some(later), Some(earlier)) = (later, earlier) else {
            continue;
        };
        let Some(text) = appended(record, &earlier.text, &format!("\n\n{later}")) else {
            continue;
        };
        earlier.text = Cow::Owned(text);
        items.remove(at);
        is_changed = true;
    }
    is_changed
}
