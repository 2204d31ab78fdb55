//! What was done: every tool call of the region with its target and how it ended, repeated ones counted once.

use rustc_hash::FxHashMap;

use super::command::tell_directories;
use super::line::cleaned;
use super::missing::close_found;
use super::outcome::success::changed_nothing;
use super::outcome::told::Told;
use super::outcome::{Outcome, edges, outcome};
use super::resolved::{close_looked_up, close_resolved};
use super::source::{SourceCall, SourceTurn};
use super::target::{Effect, Target, target};
use crate::trajectory::{OpenCalls, Role};

/// A tool call and how it ended.
pub(crate) struct Action {
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
pub(crate) fn actions(turns: &[SourceTurn<'_>]) -> Vec<Action> {
    let (calls, mut targets): (Vec<_>, Vec<_>) = calls(turns).unzip();
    tell_directories(&mut targets);
    let things = things(&targets);
    let again = again(&targets, &things);
    let mut all: Vec<Action> = Vec::with_capacity(targets.len());
    let mut latest: Vec<Option<usize>> = vec![None; targets.len()];
    let mut told = Told::default();
    let mut answers: Option<(usize, Answers<'_>)> = None;
    let attempts = calls.into_iter().zip(targets).zip(things.into_iter().zip(again));
    for (((turn, number), mut target), (thing, is_again)) in attempts {
        let of_turn = match answers.take() {
            Some((index, answers)) if index == turn => answers,
            _ => Answers::after(turns, turn),
        };
        let call = turns.get(turn).and_then(|turn| turn.calls.get(number));
        let answer = call.and_then(|call| of_turn.of(call, number));
        answers = Some((turn, of_turn));
        let earlier = latest.get_mut(thing).and_then(|latest| latest.replace(all.len()));
        let earlier = earlier.and_then(|earlier| all.get_mut(earlier));
        let is_repeated = earlier
            .as_ref()
            .is_some_and(|earlier| is_same(&earlier.target, &target));
        // What a call that comes again told is told nowhere; its last run tells all.
        let mut untold = Told::default();
        let told = if is_again || is_repeated {
            &mut untold
        } else {
            &mut told
        };
        let outcome = answer
            .map(|answer| outcome(answer, target.effect, &target.line, told))
            .unwrap_or_default();
        if target.effect == Effect::Modify && target.file.is_none() {
            target.file = answer.and_then(open_file);
        }
        let is_open = outcome.failed() == Some(true);
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
        if let Some(earlier) = earlier {
            let is_still_open = earlier.is_open && !is_open && shows_less(&action.outcome, &earlier.outcome);
            if !is_still_open {
                earlier.is_open = false;
            } else if is_repeated {
                action.is_open = true;
                action.outcome.error = earlier.outcome.error.take();
            }
            if is_repeated {
                action.times += earlier.times;
                action.failures += earlier.failures;
                action.changed_nothing &= earlier.changed_nothing;
                earlier.times = 0;
            }
        }
        all.push(action);
    }
    all.retain(|action| action.times > 0);
    close_found(&mut all);
    close_resolved(&mut all);
    close_looked_up(&mut all);
    all
}

/// Whether a run does not show that tests pass which failed before: it ran none, or a pipe took the counts away.
fn shows_less(outcome: &Outcome, earlier: &Outcome) -> bool {
    earlier.tests.is_some() && outcome.tests.is_none()
}

/// The file that an editor of lines had open, as its terminal says after what it printed.
fn open_file(answer: &str) -> Option<String> {
    let (_, after) = edges(answer).1.rsplit_once("(Open file: ")?;
    let (file, _) = after.split_once(')')?;
    (file.contains(['/', '.']) && file != "n/a").then(|| cleaned(file))
}

/// Every call of the region: its turn and its place in it, and its target.
fn calls(turns: &[SourceTurn<'_>]) -> impl Iterator<Item = ((usize, usize), Target)> {
    let speaking = turns.iter().enumerate();
    let speaking = speaking.filter(|(_, turn)| turn.role == Role::Assistant);
    speaking.flat_map(|(index, turn)| {
        let calls = turn.calls.iter().enumerate();
        calls.map(move |(number, call)| ((index, number), target(call)))
    })
}

/// For each target the place of the first one that is an attempt at the same thing.
fn things(targets: &[Target]) -> Vec<usize> {
    let mut first: FxHashMap<&str, usize> = FxHashMap::default();
    let targets = targets.iter().enumerate();
    targets
        .map(|(place, target)| *first.entry(&target.key).or_insert(place))
        .collect()
}

/// For each target, whether the next attempt at the same thing is the same call, whose line stands for both.
fn again(targets: &[Target], things: &[usize]) -> Vec<bool> {
    let mut next: Vec<Option<&Target>> = vec![None; targets.len()];
    let mut again = vec![false; targets.len()];
    for ((target, thing), again) in targets.iter().zip(things).zip(&mut again).rev() {
        let later = next.get_mut(*thing).and_then(|next| next.replace(target));
        *again = later.is_some_and(|later| is_same(target, later));
    }
    again
}

/// Whether two attempts at the same thing are told in one line: the same command with another pipe behind it is the same.
fn is_same(earlier: &Target, later: &Target) -> bool {
    earlier.line == later.line || later.effect == Effect::Other
}

/// What came back after an assistant turn.
pub(crate) struct Answers<'t> {
    /// The first answer of each id.
    by_id: FxHashMap<&'t str, &'t str>,
    /// What else came back, at the place of the call that it belongs to.
    by_place: Vec<Option<&'t str>>,
}

impl<'t> Answers<'t> {
    /// The answers to the calls of the turn at `index`.
    pub(crate) fn after(turns: &'t [SourceTurn<'_>], index: usize) -> Self {
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
            .take_while(|next| next.role == Role::Tool || !next.answers.is_empty())
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
    pub(crate) fn of(&self, call: &SourceCall<'_>, number: usize) -> Option<&'t str> {
        let by_id = call.id.and_then(|id| self.by_id.get(id).copied());
        by_id.or_else(|| *self.by_place.get(number)?)
    }
}
