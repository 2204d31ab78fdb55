//! Calls and runs that try again what a failed one was to do.

use rustc_hash::FxHashMap;

use crate::events::event::Event;
use crate::events::run::ProgramRun;
use crate::knowledge::test_counts::TestCounts;

/// Later calls of one tool, or runs of one program, that an error is compared with.
const MAX_TRIES: usize = 64;

/// Later calls and runs.
#[derive(Default)]
pub(super) struct Tries<'a> {
    /// Calls with arguments, by tool.
    by_tool: FxHashMap<&'a str, Vec<Vec<&'a str>>>,
    by_program: FxHashMap<&'a str, Vec<&'a ProgramRun>>,
}

impl<'a> Tries<'a> {
    pub fn note_call(&mut self, action: &'a Event) {
        if let Some((tool, told)) = arguments(action) {
            let of_tool = self.by_tool.entry(tool).or_default();
            if of_tool.len() < MAX_TRIES {
                of_tool.push(told);
            }
        }
    }

    pub fn note_run(&mut self, run: &'a ProgramRun) {
        let of_program = self.by_program.entry(run.program.as_str()).or_default();
        if of_program.len() < MAX_TRIES && !of_program.contains(&run) {
            of_program.push(run);
        }
    }

    /// The runs of the program of a run.
    pub fn of_program(&self, run: &ProgramRun) -> impl Iterator<Item = &&'a ProgramRun> {
        self.by_program.get(run.program.as_str()).into_iter().flatten()
    }

    /// If one of them tries what an action was to do: by the same tool, or by the program that decided how it ended.
    pub fn have(&self, action: &Event) -> bool {
        self.have_call(action) || self.have_run(action)
    }

    fn have_call(&self, action: &Event) -> bool {
        let Some((tool, told)) = arguments(action) else {
            return false;
        };
        let error = action.outcome.error.as_deref().unwrap_or_default();
        let of_tool = self.by_tool.get(tool);
        of_tool.is_some_and(|later| later.iter().any(|later| tries_again(tool, error, &told, later)))
    }

    fn have_run(&self, action: &Event) -> bool {
        let Some(run) = action.deciding_run() else {
            return false;
        };
        let outcome = &action.outcome;
        let is_check = run.checks_code() || outcome.tests.is_some() || outcome.diagnostics.is_some();
        let mut same = self.of_program(run).filter(|later| {
            if is_check {
                later.works_on(run)
            } else {
                later.resumes(run)
            }
        });
        !run.is_of_installer() && same.any(|later| later.is_at_place_of(run))
    }

    /// If one of them ran the one test that an action says failed.
    pub fn ran_named(&self, action: &Event) -> bool {
        let outcome = &action.outcome;
        let failed = outcome.tests.and_then(|tests| tests.failed).unwrap_or(1);
        let error = outcome.error.as_deref().filter(|_| failed <= 1);
        let run = action.deciding_run().filter(|run| run.is_of_tests());
        let (Some(error), Some(run)) = (error, run) else {
            return false;
        };
        let mut same = self.of_program(run);
        same.any(|later| later.is_at_place_of(run) && later.is_of_named(run, error))
    }
}

impl Event {
    /// The program that decided how a command ended: the tests that failed, or else the last one.
    pub(super) fn deciding_run(&self) -> Option<&ProgramRun> {
        let mut runs = self.target.runs.iter();
        let failed = self.outcome.tests.is_some_and(TestCounts::fails);
        let of_tests = runs.clone().rfind(|run| run.is_of_tests()).filter(|_| failed);
        of_tests.or_else(|| runs.next_back())
    }
}

/// The tool of a call with arguments, and what its line tells of them: `order_card(card: C1, branch: 22)`.
fn arguments(action: &Event) -> Option<(&str, Vec<&str>)> {
    let (tool, rest) = action.target.line.split_once('(')?;
    let told = rest.strip_suffix(')').filter(|_| !tool.contains(' '))?;
    Some((tool, told.split(", ").collect()))
}

/// If a call of the same tool tries again what one with these arguments was to do: on the same object, where most ids are the same.
/// One that holds no id, as a query does, is tried again by one that begins alike.
fn tries_again(tool: &str, error: &str, told: &[&str], later: &[&str]) -> bool {
    let ids = || told.iter().filter(|argument| is_id(value_of(argument)));
    let is_same = |argument: &str| later.contains(&argument);
    // What the error says is missing is given.
    let is_missing = |argument: &&str| {
        let key = key_of(argument);
        is_word_of(error, key) && !told.iter().any(|other| key_of(other) == key)
    };
    if later.iter().any(is_missing) && told.iter().any(|argument| is_same(argument)) {
        return true;
    }
    let all = ids().count();
    if all == 0 {
        return match (told.first(), later.first()) {
            (Some(one), Some(other)) => begins_alike(value_of(one), value_of(other)),
            (one, other) => one == other,
        };
    }
    // `reservation_id` is what `cancel_reservation` is about, and the first id what others are.
    let is_named = |argument: &&&str| {
        let name = key_of(argument).split('_').next();
        name.is_some_and(|name| tool.contains(name))
    };
    let object = ids().find(is_named).or_else(|| ids().next());
    // Another value where the error names the one that was wrong, or its key, is the same corrected.
    let has_key = |argument: &str| later.iter().any(|other| key_of(other) == key_of(argument));
    let stays = |argument: &&&str| is_same(argument) || names_value(error, argument) && has_key(argument);
    object.is_none_or(|object| is_same(object)) && 2 * ids().filter(stays).count() > all
}

/// Letters of a part of a key that people write as a word.
const PART: usize = 4;

/// If an error names an argument: its value, or a part of its key (`hs_code` is a code in words).
fn names_value(error: &str, argument: &str) -> bool {
    let key = key_of(argument);
    let mut parts = key.split('_').filter(|part| part.len() >= PART);
    error.contains(value_of(argument)) || is_word_of(error, key) || parts.any(|part| is_word_of(error, part))
}

fn is_word_of(error: &str, name: &str) -> bool {
    let is_sign = |sign: char| !(sign.is_alphanumeric() || sign == '_');
    error.split(is_sign).any(|word| word.eq_ignore_ascii_case(name))
}

/// Digits of the shortest number that is an id.
const MIN_NUMBER: usize = 3;

/// If a value is one word that names something: an id, an address; a short number and a time (`15m`) do not.
fn is_id(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let unit = value.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let is_time = !unit.is_empty() && unit.len() <= 2 && unit.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_short = digits == value.len() && digits < MIN_NUMBER;
    let has_sign = digits > 0 || value.contains('@');
    value.len() > 1 && has_sign && !value.contains(' ') && !(digits > 0 && is_time) && !is_short
}

/// If two texts begin with the same word.
fn begins_alike(one: &str, other: &str) -> bool {
    if one.contains(' ') && other.contains(' ') {
        let first = |text: &str| text.split_whitespace().next().map(str::to_ascii_lowercase);
        first(one) == first(other)
    } else {
        one == other
    }
}

fn value_of(argument: &str) -> &str {
    argument.split_once(": ").map_or(argument, |(_, value)| value)
}

/// The key of an argument in a call's line: `until` of `until: 2025-09-01`.
fn key_of(argument: &str) -> &str {
    argument.split_once(": ").map_or("", |(key, _)| key)
}
