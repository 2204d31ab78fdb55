//! Open errors closed: by a later success of the same thing, by what was missing being there, or by having become needless.

use rustc_hash::FxHashMap;

use super::tried_again::Tries;
use crate::events::event::Event;
use crate::events::outcome::success::changed_nothing;
use crate::events::run::ProgramRun;
use crate::events::shell::{Step, is_same_file, last_step};
use crate::events::target::Effect;
use crate::knowledge::errors::ErrorKind;
use crate::knowledge::reading::kind_of;

/// Later runs of tests, changes of one name and keys that an error is compared with.
const MAX_RUNS: usize = 64;

/// Edited files that are compared with those that were put back.
const MAX_EDITED: usize = 256;

/// The files that calls edited, those left out that only put files back.
pub(crate) fn edited<'e>(actions: impl Iterator<Item = &'e Event>) -> Vec<&'e str> {
    let puts_back = |action: &Event| action.touches.iter().any(|touch| touch.step == Step::Restore);
    let changes = actions.filter(|action| action.target.effect == Effect::Modify && !puts_back(action));
    changes
        .filter_map(|action| action.target.file.as_deref())
        .take(MAX_EDITED)
        .collect()
}

/// Runs that went well after an error which nobody tried again: it stood in nobody's way. Of code that was written for once one
/// change or run tells so.
const NEEDLESS: usize = 2;

/// Later successes.
#[derive(Default)]
pub(crate) struct Later<'a> {
    good: Tries<'a>,
    /// Those that failed as well: the newer error stands for both.
    failed: Tries<'a>,
    /// Files by their last steps.
    edited: FxHashMap<&'a str, Vec<&'a str>>,
    /// Everything that was changed or run, by the keys of the calls.
    keys: Vec<&'a str>,
    /// Changes and runs that went well.
    went_well: usize,
    /// Of these, runs that changed no file.
    runs: usize,
    /// If a change comes next.
    is_mended: bool,
    /// Files that were put back to what they were before.
    put_back: Vec<&'a str>,
}

/// Closes the errors that nothing is left of at the end.
pub(crate) fn close_resolved(actions: &mut [Event]) {
    // Most regions leave nothing open.
    let Some(first) = actions.iter().position(|action| action.is_open) else {
        return;
    };
    let edited = edited(actions.iter());
    let mut later = Later::default();
    let mut resolved: Vec<usize> = Vec::new();
    for (index, action) in actions.iter().enumerate().skip(first).rev() {
        if action.is_open
            && (only_looked(action) || later.makes_good(action, &edited) || later.is_needless(action))
        {
            resolved.push(index);
        } else if action.outcome.failed() != Some(true) && action.is_answered {
            later.note(action);
        } else if action.target.effect != Effect::Read && missed(action).is_none() {
            // It failed for another reason: what was missing is there.
            later.note_key(action);
        }
        later.note_failed(action);
    }
    for index in resolved {
        if let Some(action) = actions.get_mut(index) {
            action.is_open = false;
        }
    }
}

/// Returns true if an action looked for a file that is not there: whoever guesses a path has lost nothing.
fn only_looked(action: &Event) -> bool {
    let is_missing = |error: &str| kind_of(error) == Some(ErrorKind::NotFound);
    action.is_lookup() && action.outcome.error.as_deref().is_some_and(is_missing)
}

/// Returns true if an action that ran tests shows that they passed.
pub(crate) fn has_passed(action: &Event) -> bool {
    let outcome = &action.outcome;
    let ran_none = |said: &str| said.contains("no tests") || said.contains("Ran 0 tests");
    match (&outcome.result, outcome.tests) {
        (Some(said), _) if ran_none(said) => false,
        (_, Some(tests)) => tests.any_passed(),
        // Of a pipe it is the last program's.
        _ => outcome.exit_code == Some(0) && !action.target.runs.iter().any(|run| run.is_piped),
    }
}

/// The name of what the error of an action says is missing.
fn missed(action: &Event) -> Option<&str> {
    Some(cause(action.outcome.error.as_deref()?)?.name)
}

/// Something that an error says is missing, or is in the way.
pub(crate) struct Cause<'e> {
    /// A module, a program, the last step of a path.
    pub name: &'e str,
    pub is_in_the_way: bool,
}

/// The cause that the error of a failed call names.
pub(crate) fn cause_of(event: &Event) -> Option<Cause<'_>> {
    let error = event.outcome.error.as_deref();
    cause(error.filter(|_| event.outcome.failed() == Some(true))?)
}

/// The cause that an error names.
fn cause(error: &str) -> Option<Cause<'_>> {
    let is_in_the_way = error.contains("already exists");
    let words = error.split(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '‘' | '’' | '`' | ':'));
    let name = if error.contains("No such file or directory") || is_in_the_way {
        words
            .map(|word| word.trim_end_matches('.'))
            .rfind(|word| word.contains(['/', '.']))
    } else if let Some((_, after)) = error
        .split_once("No module named ")
        .or_else(|| error.split_once("Cannot find module "))
    {
        let name = after.trim_start_matches(['\'', '"']);
        name.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-')))
            .next()
    } else {
        let (before, _) = error.split_once(": command not found")?;
        before.rsplit([' ', ':']).next()
    };
    let name = name.map(last_step).filter(|name| name.len() > 1)?;
    Some(Cause { name, is_in_the_way })
}

impl<'a> Later<'a> {
    /// The calls that were answered.
    pub(crate) fn of(actions: &'a [Event]) -> Self {
        let mut later = Self::default();
        for action in actions.iter().filter(|action| action.is_answered) {
            if action.outcome.failed() != Some(true) {
                later.note(action);
            }
            later.note_failed(action);
        }
        later
    }

    fn note(&mut self, action: &'a Event) {
        let target = &action.target;
        self.good.note_call(action);
        if target.effect == Effect::Modify
            && !action.changed_nothing
            && let Some(file) = target.file.as_deref()
        {
            let of_name = self.edited.entry(last_step(file)).or_default();
            if of_name.len() < MAX_RUNS && !of_name.contains(&file) {
                of_name.push(file);
            }
        }
        let put_back = action.touches.iter().filter(|touch| touch.step == Step::Restore);
        let room = MAX_RUNS.saturating_sub(self.put_back.len());
        self.put_back
            .extend(put_back.filter_map(|touch| touch.file.as_deref()).take(room));
        if target.effect != Effect::Read {
            self.note_key(action);
            self.went_well += 1;
            self.is_mended = target.effect == Effect::Modify;
            self.runs += usize::from(target.is_run && target.effect == Effect::Other);
        }
        for run in target
            .runs
            .iter()
            .filter(|run| !run.is_of_tests() || has_passed(action))
        {
            self.good.note_run(run);
        }
    }

    /// Notes a call that failed: of its programs the one that decided it, and as a good one its tests, if they passed before another failed.
    fn note_failed(&mut self, action: &'a Event) {
        if action.outcome.failed() != Some(true) {
            return;
        }
        let tests = action.outcome.tests;
        if tests.is_some_and(|tests| tests.any_passed() && !tests.fails()) {
            for run in action.target.runs.iter().filter(|run| run.is_of_tests()) {
                self.good.note_run(run);
            }
        } else {
            self.failed.note_call(action);
            if let Some(run) = action.deciding_run() {
                self.failed.note_run(run);
            }
        }
    }

    fn note_key(&mut self, action: &'a Event) {
        if self.keys.len() < MAX_RUNS {
            self.keys.push(&action.target.key);
        }
    }

    /// If what failed was done later: by another try, another run, or tried again without success, or because what was `edited` is no more what it was.
    pub(crate) fn makes_good(&self, action: &Event, edited: &[&str]) -> bool {
        let (target, runs) = (&action.target, &action.target.runs);
        let file = target.file.as_deref();
        let file =
            file.filter(|_| target.effect == Effect::Modify && changed_nothing(target, &action.outcome));
        let is_edited = file.is_some_and(|file| {
            let of_name = self.edited.get(last_step(file));
            of_name.is_some_and(|edited| edited.iter().any(|edited| is_same_file(edited, file)))
        });
        let name = missed(action);
        let plain = |text: &str| text.to_ascii_lowercase().replace('_', "-");
        let is_there =
            || name.is_some_and(|name| self.keys.iter().any(|key| plain(key).contains(&plain(name))));
        let is_put_back = || {
            let mut files = self.put_back.iter();
            files.any(|file| edited.iter().any(|edited| is_same_file(edited, file)))
        };
        is_edited
            || self.good.have(action)
            || self.good.ran_named(action)
            || self.failed.have(action)
            || action.is_check() && (is_put_back() || runs.iter().any(ProgramRun::sets_aside))
            || is_there()
    }

    /// If the work went on without what failed.
    fn is_needless(&self, action: &Event) -> bool {
        let target = &action.target;
        let is_once = target.runs.is_empty() && self.went_well > 0;
        let is_script = target.is_run && (target.effect == Effect::Other || !target.runs.is_empty());
        let is_without = self.runs >= NEEDLESS || self.is_mended || is_once;
        is_without && is_script && action.outcome.tests.is_none()
    }
}
