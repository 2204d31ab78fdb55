//! The turns that are never summarized: the protected head and the protected tail.

use std::ops::Range;

use super::{CutPoints, Outline, TurnFacts};
use crate::trajectory::Role;

/// The turns to be protected: the section `protected_turns` of the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key")]
pub struct Protection {
    /// The first system turn is protected.
    pub first_system: bool,
    /// The first human turn is protected.
    pub first_human: bool,
    /// The first assistant turn with content is protected.
    pub first_gpt: bool,
    /// The tool turns that answer it are protected.
    pub first_tool: bool,
    /// Number of turns protected at the end.
    pub last_n_turns: usize,
    /// Tokens up to which turns at the end are protected.
    pub tail_tokens: usize,
}

impl Default for Protection {
    fn default() -> Self {
        Self {
            first_system: true,
            first_human: true,
            first_gpt: true,
            first_tool: true,
            last_n_turns: 4,
            tail_tokens: 0,
        }
    }
}

/// Returns the turns between protected head and protected tail; empty where the two meet. Both ends are cut points.
pub fn compressible_region(
    outline: &Outline,
    cut_points: &CutPoints,
    protection: &Protection,
    budget: usize,
) -> Range<usize> {
    let first_half = outline.turns.len() / 2;
    let tail_start = cut_points.at_or_before(tail_start(outline, protection));
    let tail = outline.turns.get(tail_start..).unwrap_or_default();
    let room = budget.saturating_sub(tail.iter().map(|turn| turn.tokens).sum());
    let head_end = cut_points.at_or_after(head_end(outline, first_half, protection, room));
    head_end..tail_start.max(head_end)
}

/// Returns the end of the protected head: the prefix up to the last protected opening turn of the first half. A call with its answer in a
/// person's role is part of it only if they leave half of the `room`.
pub(super) fn head_end(outline: &Outline, first_half: usize, protection: &Protection, room: usize) -> usize {
    let assistant = outline.answers_given().next();
    let single = |wanted: bool, role| outline.first_of(role).filter(|_| wanted).map(|index| index + 1);
    let answered = assistant.map(|index| {
        if protection.first_tool {
            outline.group_end(index)
        } else {
            index + 1
        }
    });
    let has_room = |end: &usize| {
        let turns = outline.turns.get(..*end).unwrap_or_default();
        let cost: usize = turns.iter().map(|turn| turn.tokens).sum();
        let is_persons =
            |turn: &TurnFacts| turn.role == Role::Human && turn.quotable && turn.asked_before.is_some();
        !turns.iter().any(is_persons) || cost <= room / 2
    };
    [
        single(protection.first_system, Role::System),
        single(protection.first_human, Role::Human),
        answered.filter(|_| protection.first_gpt).filter(has_room),
    ]
    .into_iter()
    .flatten()
    .filter(|&end| end <= first_half)
    .max()
    .unwrap_or(0)
}

/// Returns the first turn of the protected tail, before it moves to a cut point. The last assistant turn, and the last
/// one with content, are always in the tail.
fn tail_start(outline: &Outline, protection: &Protection) -> usize {
    let count = outline.turns.len();
    let last_answer = outline.answers_given().next_back();
    let last_assistant = last_answer.or(outline.last_of(Role::Assistant)).unwrap_or(count);
    tail_start_before(outline, count, protection).min(last_assistant)
}

/// Returns the first of the last turns before `end` that are protected by their number or their tokens.
pub(super) fn tail_start_before(outline: &Outline, end: usize, protection: &Protection) -> usize {
    let by_number = end.saturating_sub(protection.last_n_turns);
    by_number.min(tail_by_tokens(outline, end, protection.tail_tokens))
}

/// Walks backward while the sum is within `tail_tokens`; one turn may exceed it, up to one and a half times.
fn tail_by_tokens(outline: &Outline, end: usize, tail_tokens: usize) -> usize {
    let mut start = end;
    let mut sum = 0_usize;
    for (index, turn) in outline.turns.iter().enumerate().take(end).rev() {
        sum += turn.tokens;
        if tail_tokens == 0 || sum > tail_tokens + tail_tokens / 2 {
            break;
        }
        start = index;
        if sum > tail_tokens {
            break;
        }
    }
    start
}
