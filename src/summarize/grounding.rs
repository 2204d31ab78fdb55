//! Keeps the identifiers that later turns rely on: those a summary lost are added as its last line.

use crate::compress::anchors::{Anchor, held_mask};
use crate::summarize::redact::redact;
use crate::tokens::TokenCounter;

/// What the last line starts with.
pub const KEY_REFERENCES: &str = "Key references:";

/// Identifiers added at most: a longer list is no help to a reader.
const MAX_REFERENCES: usize = 400;

/// `text` with the anchors it lost as a last `Key references:` line, the most used first, within `max_tokens` for the
/// whole; and how many of all anchors it holds then. No other line is touched: what does not fit is left out.
pub fn ground(
    text: String,
    anchors: &[Anchor],
    max_tokens: usize,
    counter: &dyn TokenCounter,
) -> (String, usize) {
    let held = held_mask(anchors, &text);
    let mut held_count = held.iter().filter(|is_held| **is_held).count();
    let missing: Vec<&Anchor> = lost(anchors, &held).collect();
    if missing.is_empty() {
        return (text, held_count);
    }
    let base = text.trim_end();
    let has_line = base
        .lines()
        .next_back()
        .is_some_and(|line| line.starts_with(KEY_REFERENCES));
    let lead = if has_line {
        ", ".to_owned()
    } else {
        format!("\n{KEY_REFERENCES} ")
    };
    let mut room = max_tokens.saturating_sub(counter.count(base) + counter.count(&lead));
    // By estimate first, then by exact counts of the whole: joined pieces may cost a token more than alone.
    let mut added: Vec<(&str, usize)> = Vec::new();
    for anchor in missing {
        let cost = counter.count(&format!(", {}", anchor.text));
        if cost <= room {
            room -= cost;
            added.push((&anchor.text, cost));
        }
    }
    while !added.is_empty() {
        let list = added.iter().map(|(text, _)| *text).collect::<Vec<_>>().join(", ");
        let whole = format!("{base}{lead}{list}");
        let mut excess = counter.count(&whole).saturating_sub(max_tokens);
        if excess == 0 {
            held_count = held_mask(anchors, &whole)
                .iter()
                .filter(|is_held| **is_held)
                .count();
            return (whole, held_count);
        }
        while excess > 0 {
            let Some((_, cost)) = added.pop() else { break };
            excess = excess.saturating_sub(cost.max(1));
        }
    }
    (text, held_count)
}

/// The tokens that references to the anchors missing in `text` will take, at most `most`.
pub(super) fn reference_room(
    text: &str,
    anchors: &[Anchor],
    most: usize,
    counter: &dyn TokenCounter,
) -> usize {
    let held = held_mask(anchors, text);
    let mut total = 0;
    for anchor in lost(anchors, &held) {
        let cost = counter.count(&format!(", {}", anchor.text));
        if total + cost <= most {
            total += cost;
        }
    }
    if total == 0 {
        0
    } else {
        total + counter.count(KEY_REFERENCES) + 1
    }
}

/// What each anchor costs in a list of references.
pub(super) fn reference_costs(anchors: &[Anchor], counter: &dyn TokenCounter) -> Vec<usize> {
    anchors
        .iter()
        .enumerate()
        .map(|(index, anchor)| {
            if index < MAX_REFERENCES {
                counter.count(&format!(", {}", anchor.text))
            } else {
                usize::MAX / 4
            }
        })
        .collect()
}

/// The anchors not held that a reference may name: no secrets, nothing that breaks the line.
fn lost<'a>(anchors: &'a [Anchor], held: &'a [bool]) -> impl Iterator<Item = &'a Anchor> {
    anchors
        .iter()
        .zip(held)
        .filter(|(anchor, is_held)| {
            !**is_held && !anchor.text.chars().any(char::is_control) && redact(&anchor.text).1 == 0
        })
        .map(|(anchor, _)| anchor)
        .take(MAX_REFERENCES)
}
