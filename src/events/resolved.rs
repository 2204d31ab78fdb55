//! Errors of runs and edits, closed once the same went well in other words: with other flags, in a wider run of tests, by
//! another editor; and of lookups that found nothing, once another way to look the same up found it.

use rustc_hash::FxHashMap;

use super::event::Event;
use super::run::Run;
use super::target::Effect;
use super::words::starts_with_any;
use crate::events::shell::{is_same_file, last_step};

/// What the names of tools start with that only look something up.
pub(crate) const LOOKUPS: [&str; 11] = [
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
    "view_",
];

/// Later runs of one program, or of tests, that an error is compared with.
const MAX_RUNS: usize = 64;

/// What went well later.
#[derive(Default)]
struct Later<'a> {
    by_program: FxHashMap<&'a str, Vec<&'a Run>>,
    tests: Vec<&'a Run>,
    /// Files by their last steps.
    edited: FxHashMap<&'a str, Vec<&'a str>>,
}

/// Closes the errors of what went well later.
pub(crate) fn close_resolved(actions: &mut [Event]) {
    // Most regions leave nothing open.
    let Some(first) = actions.iter().position(|action| action.is_open) else {
        return;
    };
    let mut later = Later::default();
    let mut resolved: Vec<usize> = Vec::new();
    for (index, action) in actions.iter().enumerate().skip(first).rev() {
        if action.is_open && later.resolves(action) {
            resolved.push(index);
        } else if action.outcome.failed() != Some(true) && action.is_answered {
            later.note_edit(action);
            for run in &action.target.runs {
                if !run.is_of_tests() || has_passed(action) {
                    later.note(run);
                }
            }
        }
    }
    for index in resolved {
        if let Some(action) = actions.get_mut(index) {
            action.is_open = false;
        }
    }
}

/// Closes the errors of lookups where the same was found by something else in the same turn or a later one:
/// `find_user_by_name` fails, `find_user_by_email` does not.
pub(crate) fn close_looked_up(actions: &mut [Event]) {
    if !actions
        .iter()
        .any(|action| action.is_open && looked_up(action).is_some())
    {
        return;
    }
    let mut found: FxHashMap<String, usize> = FxHashMap::default();
    let is_found = |action: &&Event| {
        let outcome = &action.outcome;
        outcome.failed() != Some(true) && (outcome.lines > 0 || outcome.result.is_some())
    };
    for action in actions.iter().filter(is_found) {
        if let Some(thing) = looked_up(action) {
            found.insert(thing.to_owned(), action.turn);
        }
    }
    for action in actions.iter_mut().filter(|action| action.is_open) {
        let last = looked_up(action).and_then(|thing| found.get(thing));
        action.is_open = last.is_none_or(|last| *last < action.turn);
    }
}

/// What a tool looks up by one thing or another, as its name says: `find_user` of `find_user_by_email`.
fn looked_up(action: &Event) -> Option<&str> {
    let (tool, _) = action.target.line.split_once('(')?;
    let (thing, _) = tool.split_once("_by_")?;
    starts_with_any(tool, &LOOKUPS).then_some(thing)
}

/// Whether an action that ran tests shows that they passed.
fn has_passed(action: &Event) -> bool {
    let outcome = &action.outcome;
    let ran_none = |said: &str| said.contains("no tests") || said.contains("Ran 0 tests");
    match &outcome.result {
        Some(said) if ran_none(said) => false,
        Some(counts) if outcome.tests.is_some() => counts.contains(|c: char| c.is_ascii_digit()),
        // Of a pipe it is the last program's.
        _ => outcome.exit_code == Some(0) && !action.target.runs.iter().any(|run| run.is_piped),
    }
}

/// The turn since which all tests pass that failed before, if they do: a run of tests passed last, and none is left open.
pub(crate) fn tests_pass_since(actions: &[Event]) -> Option<usize> {
    let mut runs = actions.iter().filter(|action| action.outcome.tests.is_some());
    let is_green = |action: &&Event| action.outcome.failed() != Some(true) && has_passed(action);
    let last = runs.clone().rev().find(is_green)?;
    let is_left = |action: &Event| {
        action.is_open && (action.outcome.tests.is_some() || action.target.key.contains("test"))
    };
    let have_failed = runs.any(|action| action.failures > 0) && !actions.iter().any(is_left);
    // What a turn calls comes after what it says.
    have_failed.then_some(last.turn + 1)
}

impl<'a> Later<'a> {
    fn note_edit(&mut self, action: &'a Event) {
        let file = action.target.file.as_deref();
        if action.target.effect != Effect::Modify || action.changed_nothing {
            return;
        }
        if let Some(file) = file {
            let of_name = self.edited.entry(last_step(file)).or_default();
            if of_name.len() < MAX_RUNS && !of_name.contains(&file) {
                of_name.push(file);
            }
        }
    }

    fn note(&mut self, run: &'a Run) {
        if run.is_of_tests() && self.tests.len() < MAX_RUNS && !self.tests.contains(&run) {
            self.tests.push(run);
        }
        let of_program = self.by_program.entry(run.program.as_str()).or_default();
        if of_program.len() < MAX_RUNS && !of_program.contains(&run) {
            of_program.push(run);
        }
    }

    fn resolves(&self, action: &Event) -> bool {
        let target = &action.target;
        let file = target.file.as_deref();
        let file = file.filter(|_| target.effect == Effect::Modify && action.changed_nothing);
        let is_edited = file.is_some_and(|file| {
            let of_name = self.edited.get(last_step(file));
            of_name.is_some_and(|edited| edited.iter().any(|edited| is_same_file(edited, file)))
        });
        let runs = &target.runs;
        is_edited || !runs.is_empty() && runs.iter().all(|run| self.covers(run))
    }

    /// A file of tests that ran by itself may have run among others since.
    fn covers(&self, run: &Run) -> bool {
        let same = self.by_program.get(run.program.as_str()).into_iter().flatten();
        same.chain(&self.tests).any(|later| later.covers(run))
    }
}
