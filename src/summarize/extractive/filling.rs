//! Fills a budget with quotations, other lines, and room for references to the identifiers that neither holds.

use super::candidate::Candidate;
use super::changed_files;
use super::passages::Passages;
use super::quoted::Quoted;
use super::rank::{self, Chosen};
use super::render;
use crate::compress::anchors::Matcher;
use crate::events::files::end_states::EndStates;
use crate::summarize::grounding::References;
use crate::tokens::TokenCounter;

/// The part of the budget that quotations may take before other lines had their turn; more where those leave it.
const QUOTED_SHARE: f64 = 0.9;

/// The same where an earlier summary is updated.
const UPDATED_SHARE: f64 = 0.6;

/// The part of the budget that the list of changed files takes at most.
const FILES_SHARE: f64 = 0.1;

/// The number of times that quotations and other lines are fitted to each other, and the most where they do not fit yet.
const PASSES: usize = 3;
const MOST_PASSES: usize = 6;

/// Tokens that may be lost where parts of a summary are joined.
const JOINT: usize = 4;

/// A budget, and what is put into it.
#[derive(Clone, Copy)]
pub(super) struct Filling<'a> {
    pub references: &'a References<'a>,
    pub matcher: &'a Matcher<'a>,
    pub counter: &'a dyn TokenCounter,
    /// The lines of what people said, which stand already.
    pub said: &'a [Chosen],
    /// Tokens below the marker and beside these.
    pub budget: usize,
    /// The same up to which room that is left is filled.
    pub target: usize,
    /// If an earlier summary is updated.
    pub is_update: bool,
}

impl Filling<'_> {
    /// The lines for the budget, and one with the changed files that no other line names.
    pub fn filled_naming(
        &self,
        files: Option<&EndStates>,
        candidates: &[Candidate],
        passages: &Passages,
    ) -> Vec<Chosen> {
        let lines = self.filled(candidates, passages);
        let most = (self.budget as f64 * FILES_SHARE) as usize;
        let unnamed =
            |lines: &[Chosen], most: usize| changed_files::unnamed(files?, lines, most, self.counter);
        let Some(list) = unnamed(&lines, most) else {
            return lines;
        };
        let room = render::tokens(std::slice::from_ref(&list), self.counter);
        let less = Self {
            budget: self.budget.saturating_sub(room),
            target: self.target.saturating_sub(room),
            ..*self
        };
        let mut lines = less.filled(candidates, passages);
        let unnamed = unnamed(&lines, list.cost);
        lines.extend(unnamed);
        lines.sort_by_key(|line| line.candidate.place());
        lines
    }

    /// The tokens that lines and references leave.
    pub fn left_by(&self, lines: &[Chosen]) -> usize {
        let none = vec![false; self.references.anchors().len()];
        let held = held_or(&none, lines.iter().chain(self.said));
        let taken = render::tokens(lines, self.counter) + self.references.room(&held, self.budget);
        self.budget.saturating_sub(taken)
    }

    /// The lines for the budget, quotations last, in the order printed.
    pub fn filled(&self, candidates: &[Candidate], passages: &Passages) -> Vec<Chosen> {
        let (budget, counter) = (self.budget, self.counter);
        let none = held_or(&vec![false; self.references.anchors().len()], self.said.iter());
        let share = if self.is_update {
            UPDATED_SHARE
        } else {
            QUOTED_SHARE
        };
        // Lines beside quotations, and what they leave of the budget once all identifiers have their room.
        let beside = |quoted: &Quoted, room: usize| {
            let untold = candidates.iter().filter(|candidate| !quoted.tells(candidate));
            let lines = rank::chosen(
                untold.cloned().collect(),
                self.references,
                self.matcher,
                &held_or(&none, quoted.lines.iter()),
                room,
                budget,
                counter,
            );
            let held = held_or(&none, lines.iter().chain(&quoted.lines));
            let named = self.references.room(&held, budget);
            let left = budget.saturating_sub(render::tokens(&lines, counter) + named + JOINT);
            (lines, left)
        };
        let mut room = (budget as f64 * share) as usize;
        let mut quoted = passages.quoted(room, self.matcher, counter);
        let mut passes = 0;
        let mut lines = loop {
            // Lines take nothing of the room of quotations, however little these take of it: else both would give way in turn.
            let (lines, left) = beside(&quoted, budget.saturating_sub(room.max(quoted.tokens)));
            let is_settled = passes >= PASSES || room.abs_diff(left) <= budget / 40;
            if quoted.tokens <= left && is_settled || passes >= MOST_PASSES {
                break lines;
            }
            passes += 1;
            room = left;
            quoted = passages.quoted(room, self.matcher, counter);
        };
        let (more, left) = beside(&quoted, budget.saturating_sub(quoted.tokens + JOINT));
        if quoted.tokens <= left {
            lines = more;
        }
        let held = held_or(&none, lines.iter().chain(&quoted.lines));
        let beside = render::tokens(&lines, counter) + self.references.room(&held, budget) + JOINT;
        quoted = passages.filled_up(quoted, self.target.saturating_sub(beside), self.matcher, counter);
        lines.retain(|line| !quoted.tells(&line.candidate));
        lines.extend(quoted.lines);
        lines
    }
}

/// For each anchor whether one of the lines holds it, or it `is_lost`.
pub(super) fn held_or<'l>(is_lost: &[bool], lines: impl Iterator<Item = &'l Chosen>) -> Vec<bool> {
    let mut held = is_lost.to_vec();
    for index in lines.flat_map(|line| &line.held) {
        if let Some(is_held) = held.get_mut(*index) {
            *is_held = true;
        }
    }
    held
}
