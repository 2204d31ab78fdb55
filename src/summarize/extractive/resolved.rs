//! Errors of runs and edits, closed once the same went well in other words: with other flags, in a wider run of tests, by
//! another editor.

use rustc_hash::FxHashMap;

use super::action::Action;
use super::removed::is_same_file;
use super::run::{Run, runs};
use super::target::Effect;

/// Later runs of one program that an error is compared with.
const MAX_RUNS: usize = 64;

/// What went well later.
#[derive(Default)]
struct Later<'a> {
    runs: FxHashMap<String, Vec<Run<'a>>>,
    edited: Vec<&'a str>,
}

/// Closes the errors of what went well later.
pub(super) fn close_resolved(actions: &mut [Action]) {
    // Most regions leave nothing open.
    let Some(first) = actions.iter().position(|action| action.is_open) else {
        return;
    };
    let mut later = Later::default();
    let mut resolved: Vec<usize> = Vec::new();
    for (index, action) in actions.iter().enumerate().skip(first).rev() {
        if action.is_open && later.resolves(action) {
            resolved.push(index);
        } else if action.outcome.failed != Some(true) && action.is_answered {
            later.note(action);
        }
    }
    for index in resolved {
        if let Some(action) = actions.get_mut(index) {
            action.is_open = false;
        }
    }
}

impl<'a> Later<'a> {
    fn note(&mut self, action: &'a Action) {
        if action.target.effect == Effect::Modify && !action.changed_nothing {
            self.edited.extend(action.target.file.as_deref());
        }
        for run in runs(&action.target.key) {
            let of_program = self.runs.entry(run.program.clone()).or_default();
            if of_program.len() < MAX_RUNS && !of_program.contains(&run) {
                of_program.push(run);
            }
        }
    }

    fn resolves(&self, action: &Action) -> bool {
        let target = &action.target;
        if target.effect == Effect::Modify
            && action.changed_nothing
            && let Some(file) = target.file.as_deref()
            && self.edited.iter().any(|edited| is_same_file(edited, file))
        {
            return true;
        }
        let runs = runs(&target.key);
        !runs.is_empty() && runs.iter().all(|run| self.covers(run))
    }

    fn covers(&self, run: &Run<'_>) -> bool {
        let same = self.runs.get(&run.program);
        same.is_some_and(|runs| runs.iter().any(|later| later.covers(run)))
            || run.is_script() && self.runs.values().flatten().any(|later| later.covers(run))
    }
}
