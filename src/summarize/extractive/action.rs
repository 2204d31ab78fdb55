//! What was done: every tool call of the region with its target and how it ended, repeated ones counted once.

use rustc_hash::FxHashMap;

use super::command::tell_directories;
use super::outcome::{Outcome, outcome};
use super::source::{SourceCall, SourceTurn};
use super::target::{Effect, Target, target};
use super::told::Told;
use crate::trajectory::{OpenCalls, Role};

/// A tool call and how it ended.
pub(super) struct Action {
    /// Place among the region's turns.
    pub turn: usize,
    /// The tool and what it was used on, in one line.
    pub target: Target,
    /// How it ended; of the last one where it was repeated.
    pub outcome: Outcome,
    /// Whether anything came back.
    pub is_answered: bool,
    /// How many times in all.
    pub times: usize,
    /// Of these, how many failed.
    pub failures: usize,
    /// Whether it failed and no later run of the same succeeded.
    pub is_open: bool,
}

/// The calls of the region in order of their last run.
pub(super) fn actions(turns: &[SourceTurn<'_>]) -> Vec<Action> {
    let mut all: Vec<Action> = Vec::new();
    let mut targets = targets(turns).into_iter();
    let mut place: FxHashMap<String, usize> = FxHashMap::default();
    let mut told = Told::default();
    for (index, turn) in turns
        .iter()
        .enumerate()
        .filter(|(_, turn)| turn.role == Role::Assistant)
    {
        let answers = Answers::after(turns, index);
        for (number, call) in turn.calls.iter().enumerate() {
            let Some(target) = targets.next() else { break };
            let answer = answers.of(call, number);
            let is_reading = target.effect == Effect::Read;
            let outcome = answer
                .map(|answer| outcome(answer, is_reading, &target.line, &mut told))
                .unwrap_or_default();
            let is_open = outcome.failed == Some(true);
            let mut action = Action {
                turn: index,
                target,
                outcome,
                is_answered: answer.is_some(),
                times: 1,
                failures: usize::from(is_open),
                is_open,
            };
            // What succeeds now is open no more; what failed the same way before is told once.
            if let Some(earlier) = place.get(&action.target.key).and_then(|at| all.get_mut(*at)) {
                earlier.is_open = false;
                // The same command with another pipe behind it is the same command.
                if earlier.target.line == action.target.line || action.target.effect == Effect::Other {
                    action.times += earlier.times;
                    action.failures += earlier.failures;
                    earlier.times = 0;
                }
            }
            place.insert(action.target.key.clone(), all.len());
            all.push(action);
        }
    }
    all.retain(|action| action.times > 0);
    all
}

/// What the calls of the region are about, one after the other.
fn targets(turns: &[SourceTurn<'_>]) -> Vec<Target> {
    let callers = turns.iter().filter(|turn| turn.role == Role::Assistant);
    let mut targets: Vec<Target> = callers.flat_map(|turn| &turn.calls).map(target).collect();
    tell_directories(&mut targets);
    targets
}

/// What came back after an assistant turn.
pub(in crate::summarize) struct Answers<'t> {
    /// The first answer of each id.
    by_id: FxHashMap<&'t str, &'t str>,
    /// What else came back, at the place of the call that it belongs to.
    by_place: Vec<Option<&'t str>>,
}

impl<'t> Answers<'t> {
    /// The answers to the calls of the turn at `index`.
    pub(in crate::summarize) fn after(turns: &'t [SourceTurn<'_>], index: usize) -> Self {
        let calls = turns.get(index).map_or(&[][..], |turn| &turn.calls);
        // What answers one of the calls by its id answers no other.
        let called = calls.iter().enumerate().rev();
        let called: FxHashMap<&str, usize> = called
            .filter_map(|(place, call)| Some((call.id?, place)))
            .collect();
        let mut open = OpenCalls::new(calls.iter().map(|call| call.name.as_ref()));
        let mut answers = Self {
            by_id: FxHashMap::default(),
            by_place: vec![None; calls.len()],
        };
        let following = turns.get(index + 1..).unwrap_or_default().iter();
        let tools = |turn: &'t SourceTurn<'_>| turn.tools.iter().copied().chain(std::iter::repeat(None));
        let all = following
            .take_while(|next| next.role == Role::Tool)
            .flat_map(|next| next.answers.iter().zip(tools(next)));
        for ((id, content), tool) in all {
            if let Some(id) = id {
                answers.by_id.entry(id).or_insert(content);
            }
            if let Some(place) = id.and_then(|id| called.get(id)) {
                open.note(Some(*place));
                continue;
            }
            let place = open.answered_by(tool.filter(|_| id.is_none()));
            if let Some(answer) = place.and_then(|place| answers.by_place.get_mut(place)) {
                *answer = Some(content);
            }
        }
        answers
    }

    /// The answer to the turn's call at place `number`: by id, else by the name of its tool, else by place.
    pub(in crate::summarize) fn of(&self, call: &SourceCall<'_>, number: usize) -> Option<&'t str> {
        let by_id = call.id.and_then(|id| self.by_id.get(id).copied());
        by_id.or_else(|| *self.by_place.get(number)?)
    }
}
