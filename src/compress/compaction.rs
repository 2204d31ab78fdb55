//! The plan of `trajfit unroll`: the steps at which an agent with a bounded context compacts it, and the turns that go.

use std::ops::Range;

use super::protect::{head_end, tail_start_before};
use super::{CutPoints, Outline, Protection, freed};
use crate::trajectory::Role;

/// Number of compactions in a row that may save little before the trigger is ignored.
const STRIKES: usize = 2;

/// Returns the steps of a trajectory, in order and without gaps: each step ends with one group. Turns after the last
/// group belong to the last step, and a trajectory without an assistant turn is one step.
pub fn steps(outline: &Outline, cut_points: &CutPoints) -> Vec<Range<usize>> {
    let count = outline.turns.len();
    let mut steps: Vec<Range<usize>> = Vec::new();
    let (mut start, mut from) = (0, 0);
    while from < count {
        let end = cut_points.at_or_after(from + 1);
        if has_assistant(outline, from..end) {
            steps.push(start..end);
            start = end;
        }
        from = end;
    }
    match steps.last_mut() {
        Some(last) => last.end = count,
        None if count > 0 => steps.push(0..count),
        None => {}
    }
    steps
}

fn has_assistant(outline: &Outline, turns: Range<usize>) -> bool {
    let turns = outline.turns.get(turns).unwrap_or_default();
    turns.iter().any(|turn| turn.role == Role::Assistant)
}

/// The size of a context, or a bound of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Tokens of the whole.
    pub tokens: usize,
    /// Number of its turns.
    pub turns: usize,
}

/// The size at which a context is compacted, and the tokens that it may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompactionWindow {
    /// A context that would go beyond this size is compacted first.
    pub trigger: Size,
    /// No context may go beyond these tokens.
    pub budget: usize,
}

impl CompactionWindow {
    /// Returns the size that a compaction should leave of a context that would have size `next`: a part of the trigger's tokens
    /// where these are why it is made, and half its turns where turns are.
    pub fn goal(self, next: Size, part: f64) -> Size {
        let is_full = next.turns > self.trigger.turns;
        let is_long = next.tokens > self.trigger.tokens || !is_full;
        Size {
            tokens: if is_long {
                (self.trigger.tokens as f64 * part) as usize
            } else {
                usize::MAX
            },
            turns: if is_full {
                self.trigger.turns / 2
            } else {
                usize::MAX
            },
        }
    }
}

/// Prevents a compaction at every step where compactions save little.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Guard {
    low_savings: usize,
}

impl Guard {
    /// Returns true if a context that would have size `next` with its next step is compacted before it.
    pub fn wants_compaction(self, next: Size, window: CompactionWindow) -> bool {
        let is_large = next.tokens > window.trigger.tokens || next.turns > window.trigger.turns;
        next.tokens > window.budget || (is_large && self.low_savings < STRIKES)
    }

    /// Records a compaction from `before` to `after` tokens; saving less than the part `least` of `before` is a strike.
    pub fn note(&mut self, before: usize, after: usize, least: f64) {
        let saved = before.saturating_sub(after) as f64;
        self.low_savings = if saved < least * before as f64 {
            self.low_savings + 1
        } else {
            0
        };
    }
}

/// The context of an agent before its next step.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Number of turns in the context; the turns of the next step follow them.
    pub held: usize,
    /// Number of turns known to the agent: those in the context, and the messages it has received since.
    pub known: usize,
    /// The end of the head of the last compaction; `None` before the first one.
    pub head: Option<usize>,
}

/// Returns the end of the head: the protected opening at the first compaction, and the same turns at later ones.
pub fn head_of(outline: &Outline, cut_points: &CutPoints, bounds: Bounds, protection: &Protection) -> usize {
    let first = || cut_points.at_or_after(head_end(outline, bounds.held / 2, protection, usize::MAX));
    bounds.head.unwrap_or_else(first).min(bounds.held)
}

/// Returns the end of the smallest head: system turns, and the human turn after them if it is the last human turn.
pub fn smallest_head(outline: &Outline, cut_points: &CutPoints, bounds: Bounds) -> usize {
    let is_system = |turn: &&super::TurnFacts| turn.role == Role::System;
    let system = outline.turns.iter().take_while(is_system).count();
    let is_in_progress = outline.last_human == Some(system);
    let end = (system + usize::from(is_in_progress)).min(bounds.held);
    cut_points.at_or_before(end)
}

/// Returns the turns to be replaced, from the head to the tail. The tail shrinks, oldest turns first, until the context
/// with its next step and a summary (`summary_tokens` of the freed tokens) is at most `goal`, or the tail is empty.
pub fn compacted(
    outline: &Outline,
    cut_points: &CutPoints,
    bounds: Bounds,
    protection: &Protection,
    head: usize,
    goal: Size,
    summary_tokens: impl Fn(usize) -> usize,
) -> Range<usize> {
    let total = outline.total();
    let wanted = cut_points.at_or_before(tail_start_before(outline, bounds.known, protection));
    let mut end = wanted.clamp(head, bounds.held);
    while end < bounds.held {
        let freed = freed(outline, &(head..end));
        let tokens = (total + summary_tokens(freed)).saturating_sub(freed);
        let turns = outline.turns.len() + 1 - (end - head);
        if end > head && tokens <= goal.tokens && turns <= goal.turns {
            break;
        }
        end = cut_points.at_or_after(end + 1).min(bounds.held);
    }
    head..end
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::outline;
    use super::*;

    fn steps_of(letters: &str) -> Vec<Range<usize>> {
        let outline = outline(letters);
        steps(&outline, &CutPoints::of(&outline))
    }

    #[test]
    fn a_step_ends_with_its_group_and_begins_with_what_was_said_before() {
        assert_eq!(steps_of("shgttgthg"), [0..5, 5..7, 7..9]);
        assert_eq!(steps_of("shggth"), [0..3, 3..6]);
        assert_eq!(steps_of("shh").as_slice(), std::slice::from_ref(&(0..3)));
        assert_eq!(steps_of(""), Vec::<Range<usize>>::new());
    }

    fn region(
        letters: &str,
        held: usize,
        head: Option<usize>,
        goal: usize,
        last_n_turns: usize,
    ) -> Range<usize> {
        let outline = outline(letters);
        let cut_points = CutPoints::of(&outline);
        let bounds = Bounds {
            held,
            known: held,
            head,
        };
        let protection = Protection {
            last_n_turns,
            ..Protection::default()
        };
        let head = head_of(&outline, &cut_points, bounds, &protection);
        let goal = Size {
            tokens: goal,
            turns: usize::MAX,
        };
        compacted(&outline, &cut_points, bounds, &protection, head, goal, |_| 10)
    }

    #[test]
    fn what_lies_between_head_and_tail_goes() {
        assert_eq!(region("shgtgtgtgtgtgt", 12, None, 1000, 4), 4..8);
        assert_eq!(region("shgtHgtgtgtgt", 11, Some(4), 1000, 2), 4..9);
    }

    #[test]
    fn the_tail_gives_way_group_by_group() {
        // 14 turns of 10 tokens: replacing 4..8 leaves 100, and a summary of 10.
        assert_eq!(region("shgtgtgtgtgtgt", 12, None, 110, 4), 4..8);
        assert_eq!(region("shgtgtgtgtgtgt", 12, None, 109, 4), 4..10);
        assert_eq!(region("shgtgtgtgtgtgt", 12, None, 1, 4), 4..12);
        // A tail that reaches the head leaves nothing to compact unless it shrinks.
        assert_eq!(region("shgtgtgtgtgtgt", 12, None, 1000, 99), 4..6);
    }

    #[test]
    fn the_smallest_head_holds_the_request_only_while_it_is_in_progress() {
        let smallest = |letters: &str, held: usize| {
            let outline = outline(letters);
            let bounds = Bounds {
                held,
                known: held,
                head: None,
            };
            smallest_head(&outline, &CutPoints::of(&outline), bounds)
        };
        assert_eq!(smallest("shgtgtgt", 6), 2);
        assert_eq!(smallest("shgthgtgt", 7), 1);
        assert_eq!(smallest("hgtgtgt", 5), 1);
    }

    #[test]
    fn two_strikes_end_the_trigger_but_never_the_budget() {
        let size = |tokens, turns| Size { tokens, turns };
        let window = CompactionWindow {
            trigger: size(50, 8),
            budget: 100,
        };
        let wants = |guard: Guard, tokens| guard.wants_compaction(size(tokens, 8), window);
        let mut guard = Guard::default();
        assert!(wants(guard, 51) && !wants(guard, 50));
        guard.note(100, 95, 0.1);
        assert!(wants(guard, 51));
        guard.note(100, 95, 0.1);
        assert!(!wants(guard, 51) && wants(guard, 101));
        guard.note(100, 90, 0.1);
        assert!(wants(guard, 51) && guard.wants_compaction(size(1, 9), window));
    }

    #[test]
    fn a_compaction_leaves_less_of_what_there_was_too_much_of() {
        let size = |tokens, turns| Size { tokens, turns };
        let window = CompactionWindow {
            trigger: size(50, 8),
            budget: 100,
        };
        assert_eq!(window.goal(size(51, 8), 0.9), size(45, usize::MAX));
        assert_eq!(window.goal(size(50, 9), 0.9), size(usize::MAX, 4));
        assert_eq!(window.goal(size(51, 9), 0.5), size(25, 4));
    }

    proptest! {
        #[test]
        fn steps_cover_all_turns_and_split_no_group(letters in "[shgetuo]{0,30}") {
            let outline = outline(&letters);
            let cut_points = CutPoints::of(&outline);
            let steps = steps(&outline, &cut_points);
            let mut end = 0;
            for step in &steps {
                prop_assert_eq!(step.start, end);
                prop_assert!(step.end > step.start && cut_points.is_cut(step.end));
                end = step.end;
            }
            prop_assert_eq!(end, outline.turns.len());
            let some = outline.turns.iter().any(|turn| turn.role == Role::Assistant);
            prop_assert!(!some || steps.iter().all(|step| has_assistant(&outline, step.clone())));
        }
    }
}
