//! Events: each tool call with its answers, how it ended, what it did to which files, and what came of it later.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use rustc_hash::FxHashMap;

use super::command::tell_directories;
use super::outcome::error_line::refuses;
use super::outcome::success::changed_nothing;
use super::outcome::told::Told;
use super::outcome::{Answer, Outcome, edges, outcome};
use super::pairing::{Pairing, Place};
use super::resolved::close_resolved;
use super::shell::programs::is_editor;
use super::shell::{Step, Touch};
use super::source::SourceTurn;
use super::target::{Effect, Target, target};
use super::words::starts_with_any;
use crate::trajectory::Role;

/// A tool call and how it ended.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    /// Place among the turns.
    pub turn: usize,
    /// Place among the calls of that turn.
    pub call: usize,
    /// The tool and what it was used on, in one line.
    pub target: Target,
    /// How it ended; of the last one where it was repeated.
    pub outcome: Outcome,
    /// What it did to files, in order; nothing that an error kept it from.
    pub touches: Vec<Touch>,
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
    /// The place of the same call later, among the events, which tells of this one as well.
    pub superseded_by: Option<usize>,
}

/// Starts of names of tools that only look something up.
const LOOKUPS: [&str; 12] = [
    "calculate",
    "check_",
    "describe_",
    "find_",
    "get_",
    "list_",
    "lookup_",
    "query_",
    "search_",
    "show_",
    "think",
    "view_",
];

/// If a tool only looks something up, as its name says.
pub(super) fn names_lookup(tool: &str) -> bool {
    starts_with_any(tool, &LOOKUPS)
}

impl Event {
    /// If the call was to change nothing.
    pub fn is_lookup(&self) -> bool {
        let target = &self.target;
        target.effect == Effect::Read || target.effect == Effect::Other && names_lookup(&target.line)
    }
}

/// The calls of the turns in order of their last run, each told once, and the earlier runs.
pub(crate) fn actions(turns: &[SourceTurn<'_>]) -> (Vec<Event>, Vec<Event>) {
    let is_last = |event: &Event| event.superseded_by.is_none();
    let (mut all, earlier): (Vec<Event>, Vec<Event>) = events(turns).into_iter().partition(is_last);
    close_resolved(&mut all);
    (all, earlier)
}

/// All calls of the turns in order.
pub(crate) fn events(turns: &[SourceTurn<'_>]) -> Vec<Event> {
    let pairing = Pairing::of(turns);
    let (places, mut targets): (Vec<Place>, Vec<Target>) = calls(turns, &pairing).unzip();
    tell_directories(&mut targets);
    let things = things(&targets);
    let again = again(&targets, &things);
    let mut all: Vec<Event> = Vec::with_capacity(targets.len());
    let mut latest: Vec<Option<usize>> = vec![None; targets.len()];
    let mut told = Told::default();
    let mut open_file = OpenFile::default();
    let attempts = places.into_iter().zip(targets).zip(things.into_iter().zip(again));
    for ((place, mut target), (thing, is_again)) in attempts {
        let is_open_edit = target.touches.iter().any(|touch| touch.file.is_none());
        if is_open_edit {
            open_file.read_until(turns, place.0);
        }
        let answered = pairing.answer(place);
        let answer = answered.and_then(|answer| answer_at(turns, answer));
        let index = all.len();
        let earlier = latest.get_mut(thing).and_then(|latest| latest.replace(index));
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
        // An answer to several calls tells how the last one ended.
        let own = answer.filter(|_| answered.and_then(|answer| pairing.call(answer)) == Some(place));
        let outcome = own
            .map(|answer| outcome(answer, target.effect, &target.line, told))
            .unwrap_or_default();
        let is_open = outcome.failed() == Some(true);
        let text = answer.map(|answer| answer.text);
        let touches = touches(&target, &outcome, text, &open_file);
        if is_open_edit && target.effect == Effect::Modify && target.file.is_none() {
            let told = text.and_then(opened_in).or(open_file.name.as_deref());
            target.file = told.filter(|name| !name.is_empty()).map(str::to_owned);
        }
        let mut event = Event {
            turn: place.0,
            call: place.1,
            changed_nothing: changed_nothing(&target, &outcome),
            target,
            outcome,
            touches,
            is_answered: answer.is_some(),
            times: 1,
            failures: usize::from(is_open),
            is_open,
            superseded_by: None,
        };
        // What succeeds now is open no more; what failed the same way before is told once.
        if let Some(earlier) = earlier {
            let is_still_open = earlier.is_open && !is_open && shows_less(&event.outcome, &earlier.outcome);
            if !is_still_open {
                earlier.is_open = false;
            } else if is_repeated {
                event.is_open = true;
                event.outcome.error.clone_from(&earlier.outcome.error);
            }
            if is_repeated {
                event.times += earlier.times;
                event.failures += earlier.failures;
                event.changed_nothing &= earlier.changed_nothing;
                // The same words may be about another file, where an editor has it open.
                let mut touches = earlier.touches.clone();
                touches.truncate(MAX_TOUCHES);
                touches.retain(|touch| !event.touches.contains(touch));
                event.touches.splice(..0, touches);
                earlier.superseded_by = Some(index);
            }
        }
        all.push(event);
    }
    all
}

/// Whether a run does not show that tests pass which failed before: it ran none, or a pipe took the counts away.
fn shows_less(outcome: &Outcome, earlier: &Outcome) -> bool {
    earlier.tests.is_some() && outcome.tests.is_none()
}

fn answer_at<'t>(turns: &'t [SourceTurn<'_>], (turn, place): Place) -> Option<Answer<'t>> {
    let turn = turns.get(turn)?;
    let (_, text) = turn.answers.get(place)?;
    let flags = turn.flags.get(place).copied().unwrap_or_default();
    Some(Answer {
        text,
        is_error: flags.is_error,
        exit_code: flags.exit_code,
    })
}

/// Every call: its place and its target.
fn calls(turns: &[SourceTurn<'_>], pairing: &Pairing) -> impl Iterator<Item = (Place, Target)> {
    let speaking = turns.iter().enumerate();
    let speaking = speaking.filter(|(_, turn)| turn.role == Role::Assistant);
    speaking.flat_map(move |(index, turn)| {
        let calls = turn.calls.iter().enumerate();
        calls.map(move |(number, call)| {
            let place = (index, number);
            let named = pairing
                .answer(place)
                .and_then(|(turn, place)| *turns.get(turn)?.tools.get(place)?);
            (place, target(call, named))
        })
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

/// What editors of lines say of the file that is open in them.
static OPEN_FILE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("(Open file: "));

/// What they begin with when they show it.
const SHOWN_FILE: &str = "[File: ";

/// The file that is open in an editor of lines, as the answers say.
#[derive(Default)]
struct OpenFile {
    name: Option<String>,
    /// The turns that were read.
    read: usize,
}

impl OpenFile {
    fn read_until(&mut self, turns: &[SourceTurn<'_>], turn: usize) {
        for source in turns.get(self.read..turn).unwrap_or_default() {
            let mut answers = source.answers.iter().rev();
            if let Some(name) = answers.find_map(|(_, answer)| opened_in(answer)) {
                self.name = Some(name.to_owned());
            }
        }
        self.read = self.read.max(turn);
    }
}

/// The file that an answer says is open; nothing where it says that none is.
fn opened_in(answer: &str) -> Option<&str> {
    let told = |start: usize, end: &str| {
        let rest = answer.get(start..)?.lines().next()?;
        let name = rest.get(..rest.find(end)?)?.trim();
        (!name.is_empty() && !name.starts_with('<')).then_some(name)
    };
    // Its state is the last thing that a terminal shows.
    let tail = edges(answer).1;
    if let Some(start) = OPEN_FILE.find_iter(tail.as_bytes()).last() {
        let start = answer.len() - tail.len() + start;
        let name = told(start + OPEN_FILE.needle().len(), ")")?;
        return Some(if name == "n/a" { "" } else { name });
    }
    let shown = answer.trim_start().strip_prefix(SHOWN_FILE)?;
    told(answer.len() - shown.len(), " (")
}

/// Steps of earlier runs of the same call that are told with its last one at most.
const MAX_TOUCHES: usize = 64;

/// Longest answer that is an error as a whole, in bytes.
const MAX_ERROR: usize = 400;

/// What `patch` says of each file that it changes.
static PATCHED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("patching file "));

/// Files that `patch` is heard of at most.
const MAX_PATCHED: usize = 64;

/// What a call did to files, as far as it went well.
fn touches(target: &Target, outcome: &Outcome, answer: Option<&str>, open: &OpenFile) -> Vec<Touch> {
    if target.touches.is_empty() && target.command.is_none() {
        return Vec::new();
    }
    if answer.is_some_and(|answer| is_refused(target, answer)) {
        return Vec::new();
    }
    let mut touches = target.touches.clone();
    touches.extend(patched_by(target, answer.unwrap_or_default()));
    if outcome.failed() == Some(true) {
        let is_edit = touches.iter().any(|touch| touch.file.is_none());
        let has_changed = target.effect == Effect::Modify && !is_edit && !changed_nothing(target, outcome);
        touches.retain(|touch| has_changed && touch.step != Step::Read);
    }
    for touch in touches.iter_mut().filter(|touch| touch.file.is_none()) {
        let told = answer.and_then(opened_in).or(open.name.as_deref());
        touch.file = told.map(str::to_owned);
    }
    touches
}

/// Whether a tool that works on one file, or a command of an editor, answers that it did nothing.
fn is_refused(target: &Target, answer: &str) -> bool {
    let answer = answer.trim_start();
    let line = answer
        .lines()
        .next()
        .unwrap_or_default()
        .trim_end_matches(['.', ' ']);
    let command = target.command.as_deref().unwrap_or_default();
    let program = command.split_whitespace().next().unwrap_or_default();
    let is_tool = target.command.is_none();
    if !is_tool && !is_editor(program) {
        return false;
    }
    let is_error = || answer.starts_with("Error: ") && answer.len() <= MAX_ERROR;
    line.len() <= MAX_ERROR && refuses(line) || is_tool && target.file.is_some() && is_error()
}

/// The files that `patch` says it changed.
fn patched_by(target: &Target, answer: &str) -> Vec<Touch> {
    let is_patch = |command: &str| command.contains("patch");
    let is_told = || PATCHED.find(answer.as_bytes()).is_some();
    if !(target.command.as_deref().is_some_and(is_patch) && is_told()) {
        return Vec::new();
    }
    let mark = std::str::from_utf8(PATCHED.needle()).unwrap_or_default();
    let directory = target.touches.last().map_or("", |touch| touch.directory.as_str());
    let names = answer.lines().filter_map(|line| line.strip_prefix(mark));
    let names = names.map(|name| name.trim().trim_matches('\''));
    let touch = |name: &str| Touch {
        directory: directory.to_owned(),
        ..Touch::of(Step::Write, name)
    };
    names
        .filter(|name| !name.is_empty())
        .take(MAX_PATCHED)
        .map(touch)
        .collect()
}
