//! What later events make of one, in a few words.

use super::end_states::EndStates;
use crate::events::event::Event;
use crate::events::resolved::cause_of;
use crate::events::run::ProgramRun;
use crate::events::target::Effect;

/// The mark of a failure whose cause is gone.
pub(crate) const NO_LONGER_SO: &str = "no longer so";

/// The other marks.
const CHANGED: &str = "changed later";
const BEFORE_EDITS: &str = "before later edits";
const BEFORE_INSTALLS: &str = "before later installs";
const BEFORE_BOTH: &str = "before later edits and installs";
const OTHERS_PASSED: &str = "other tests passed later";

/// All marks.
pub(crate) const MARKS: [&str; 6] = [
    NO_LONGER_SO,
    CHANGED,
    BEFORE_EDITS,
    BEFORE_INSTALLS,
    BEFORE_BOTH,
    OTHERS_PASSED,
];

impl EndStates {
    /// What later events make of one, in a few words.
    pub fn mark_of(&self, event: &Event) -> Option<&'static str> {
        if event.is_outdated {
            return Some(CHANGED);
        }
        if self.0.mended.binary_search(&event.number).is_ok() || self.is_cause_gone(event) {
            return Some(NO_LONGER_SO);
        }
        match (self.is_before_edits(event), self.is_before_installs(event)) {
            (true, true) => Some(BEFORE_BOTH),
            (true, false) => Some(BEFORE_EDITS),
            (false, true) => Some(BEFORE_INSTALLS),
            (false, false) => {
                let is_passed = self.0.last_pass.is_some_and(|last| event.number < last);
                (is_passed && event.passed_no_test()).then_some(OTHERS_PASSED)
            }
        }
    }

    /// If an event tried code that was edited or put back after it.
    fn is_before_edits(&self, event: &Event) -> bool {
        let is_undone = |(from, to): (usize, usize)| from < event.number && event.number < to;
        let is_before = self.0.last_edit.is_some_and(|last| event.number < last)
            || self.0.last_put_back.is_some_and(is_undone);
        let tries = event.is_trial() || event.checks_code();
        is_before && tries && !event.is_lookup() && self.only_tried(event)
    }

    /// If an event failed, or found nothing, in an environment in which packages were installed after it.
    fn is_before_installs(&self, event: &Event) -> bool {
        let outcome = &event.outcome;
        let failed = outcome.failed() == Some(true) || outcome.exit_code.is_some_and(|code| code != 0);
        let runs_none = outcome.tests.is_none_or(|tests| !tests.any_passed());
        let asks = || event.target.runs.iter().any(ProgramRun::is_of_packages);
        let tries = || event.is_trial() || event.checks_code() || asks();
        failed && runs_none && self.0.last_install > Some(event.number) && tries() && self.only_tried(event)
    }

    /// If an event was answered, and changed nothing.
    fn only_tried(&self, event: &Event) -> bool {
        event.is_answered && event.target.effect != Effect::Modify && !self.edits(event)
    }

    /// If an event failed because something was missing or in the way, and at the end it is there, or removed.
    fn is_cause_gone(&self, event: &Event) -> bool {
        let Some(cause) = cause_of(event) else {
            return false;
        };
        let is_later = |by: Option<usize>| by.is_some_and(|by| by > event.number);
        let mut files = self.0.alike(cause.name).peekable();
        if cause.is_in_the_way {
            files.peek().is_some() && files.all(|file| file.is_gone)
        } else {
            files.any(|file| !file.is_gone && (is_later(file.changed_by) || is_later(file.run_by)))
        }
    }
}
