//! What was done: every tool call of the region with its target and how it ended, repeated ones counted once.

use rustc_hash::{FxHashMap, FxHashSet};

use super::outcome::{Outcome, outcome};
use super::source::{SourceCall, SourceTurn};
use super::success::changed_nothing;
use super::target::{Effect, Target, target};
use super::told::Told;
use crate::trajectory::Role;

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
    /// Whether none of them changed anything, as far as they were to.
    pub changed_nothing: bool,
    /// Whether it failed and no later run of the same succeeded.
    pub is_open: bool,
}

/// The calls of the region in order of their last run.
pub(super) fn actions(turns: &[SourceTurn<'_>]) -> Vec<Action> {
    let mut all: Vec<Action> = Vec::new();
    let mut place: FxHashMap<String, usize> = FxHashMap::default();
    let mut told = Told::default();
    let calls = targets(turns);
    let again = again(&calls);
    let mut answers: Option<(usize, Answers<'_>)> = None;
    for ((turn, number, target), is_again) in calls.into_iter().zip(again) {
        let of_turn = match answers.take() {
            Some((index, answers)) if index == turn => answers,
            _ => Answers::after(turns, turn),
        };
        let call = turns.get(turn).and_then(|turn| turn.calls.get(number));
        let answer = call.and_then(|call| of_turn.of(call, number));
        answers = Some((turn, of_turn));
        let is_reading = target.effect == Effect::Read;
        let outcome = answer
            .map(|answer| {
                // What a call that comes again told is told nowhere; its last run tells all.
                let earlier = place.get(&target.key).and_then(|at| all.get(*at));
                let is_repeated = earlier.is_some_and(|earlier| is_same(&earlier.target, &target));
                let mut untold = Told::default();
                let told = if is_again || is_repeated {
                    &mut untold
                } else {
                    &mut told
                };
                outcome(answer, is_reading, &target.line, told)
            })
            .unwrap_or_default();
        let is_open = outcome.failed == Some(true);
        let mut action = Action {
            turn,
            changed_nothing: changed_nothing(&target, &outcome),
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
            if is_same(&earlier.target, &action.target) {
                action.times += earlier.times;
                action.failures += earlier.failures;
                action.changed_nothing &= earlier.changed_nothing;
                earlier.times = 0;
            }
        }
        place.insert(action.target.key.clone(), all.len());
        all.push(action);
    }
    all.retain(|action| action.times > 0);
    all
}

/// Every call of the region: its turn, its place in it, and its target.
fn targets(turns: &[SourceTurn<'_>]) -> Vec<(usize, usize, Target)> {
    let speaking = turns
        .iter()
        .enumerate()
        .filter(|(_, turn)| turn.role == Role::Assistant);
    let calls = speaking.flat_map(|(index, turn)| {
        let calls = turn.calls.iter().enumerate();
        calls.map(move |(number, call)| (index, number, target(call)))
    });
    calls.collect()
}

/// For each call, whether the next attempt at the same thing is the same call, whose line stands for both.
fn again(calls: &[(usize, usize, Target)]) -> Vec<bool> {
    let mut next: FxHashMap<&str, &Target> = FxHashMap::default();
    let mut again: Vec<bool> = calls
        .iter()
        .rev()
        .map(|(_, _, target)| {
            let later = next.insert(&target.key, target);
            later.is_some_and(|later| is_same(target, later))
        })
        .collect();
    again.reverse();
    again
}

/// Whether two attempts at the same thing are told in one line: the same command with another pipe behind it is the same.
fn is_same(earlier: &Target, later: &Target) -> bool {
    earlier.line == later.line || later.effect == Effect::Other
}

/// What came back after an assistant turn.
pub(in crate::summarize) struct Answers<'t> {
    all: Vec<(Option<&'t str>, &'t str)>,
    /// The first answer of each id.
    by_id: FxHashMap<&'t str, usize>,
    /// The ids of the turn's calls: what answers one of them answers no other.
    called: FxHashSet<&'t str>,
}

impl<'t> Answers<'t> {
    /// The answers to the calls of the turn at `index`.
    pub(in crate::summarize) fn after(turns: &'t [SourceTurn<'_>], index: usize) -> Self {
        let following = turns.get(index + 1..).unwrap_or_default().iter();
        let all: Vec<(Option<&str>, &str)> = following
            .take_while(|next| next.role == Role::Tool)
            .flat_map(|next| &next.answers)
            .map(|(id, content)| (*id, content.as_ref()))
            .collect();
        let mut by_id = FxHashMap::default();
        for (place, (id, _)) in all.iter().enumerate() {
            if let Some(id) = id {
                by_id.entry(*id).or_insert(place);
            }
        }
        let calls = turns.get(index).into_iter().flat_map(|turn| &turn.calls);
        Self {
            all,
            by_id,
            called: calls.filter_map(|call| call.id).collect(),
        }
    }

    /// The answer to the turn's call at place `number`: by id, else by place.
    pub(in crate::summarize) fn of(&self, call: &SourceCall<'_>, number: usize) -> Option<&'t str> {
        let by_id = call.id.and_then(|id| self.all.get(*self.by_id.get(id)?));
        let by_place = || {
            let answer = self.all.get(number)?;
            let is_of_another = call.id.is_some() && answer.0.is_some_and(|id| self.called.contains(id));
            (!is_of_another).then_some(answer)
        };
        by_id.or_else(by_place).map(|(_, content)| *content)
    }
}
