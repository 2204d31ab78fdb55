//! What later events make of one, in a few words.

use super::end_states::EndStates;
use super::steps::{DoneStep, steps};
use crate::events::event::Event;
use crate::events::shell::Step;
use crate::events::target::Effect;

/// The mark of what stands no more as the event left it.
pub(crate) const CHANGED: &str = "changed later";

/// The other marks.
pub(crate) const BEFORE_EDITS: &str = "before later edits";
const RUN_FAILED: &str = "its last run failed";
const SET_ASIDE: &str = "changes stashed";

/// All marks.
pub(crate) const MARKS: [&str; 4] = [CHANGED, BEFORE_EDITS, RUN_FAILED, SET_ASIDE];

impl EndStates {
    /// What later events make of one, in a few words.
    pub fn mark_of(&self, event: &Event) -> Option<&'static str> {
        if event.is_outdated {
            return Some(CHANGED);
        }
        if event.ran_without_changes() {
            return Some(SET_ASIDE);
        }
        // What it shows stands there no more.
        let is_old = || event.target.effect == Effect::Read && self.is_overtaken(event);
        if self.is_before_edits(event) || is_old() {
            return Some(BEFORE_EDITS);
        }
        self.failed_when_run(event).then_some(RUN_FAILED)
    }

    /// If an event wrote a file as it stayed, and the last run of that, by a later event, failed.
    fn failed_when_run(&self, event: &Event) -> bool {
        let failed = |run: usize| run > event.number && self.0.failed.binary_search(&run).is_ok();
        let writes = |step: &DoneStep<'_>| matches!(step.step, Step::Create | Step::Write);
        let mut written = steps(event.own_touches()).filter(writes);
        written.any(|step| {
            let path = step.path();
            let mut files = self.0.alike(&path);
            files.any(|file| file.changed_by == Some(event.number) && file.run_by.is_some_and(failed))
        })
    }

    /// If an event tried code that was edited or put back after it.
    fn is_before_edits(&self, event: &Event) -> bool {
        let is_before = self.0.last_edit.is_some_and(|last| event.number < last);
        is_before && self.only_tried(event) || self.tried_undone(event)
    }

    /// If an event tried code between a change of it and the undoing.
    pub fn tried_undone(&self, event: &Event) -> bool {
        let is_between = |(from, to): (usize, usize)| from < event.number && event.number < to;
        self.0.last_put_back.is_some_and(is_between) && self.only_tried(event)
    }

    /// If the last event that put a changed file back is this one or a later one.
    pub fn puts_back_from(&self, number: usize) -> bool {
        self.0.last_put_back.is_some_and(|(_, back)| back >= number)
    }

    /// If an event tried code, was answered, and changed nothing.
    fn only_tried(&self, event: &Event) -> bool {
        let tries = (event.is_trial() || event.checks_code()) && !event.is_lookup();
        tries && event.is_answered && event.target.effect != Effect::Modify && !self.edits(event)
    }
}
