//! The steps that a call and the scripts which it ran took on files.

use rustc_hash::FxHashSet;

use crate::events::shell::{Step, Touch, last_step, path_of};

/// A step that a call did to a file itself, or that a script which it ran did.
pub(super) struct DoneStep<'e> {
    /// The place of its touch.
    pub place: usize,
    pub touch: &'e Touch,
    pub step: Step,
    pub name: &'e str,
}

impl DoneStep<'_> {
    pub fn path(&self) -> String {
        path_of(&self.touch.directory, self.name)
    }
}

/// The steps of a call's touches; a run of a script is what the script changed. The source of a copy that it made, and a script
/// that it wrote to run it, are not told.
pub(super) fn steps(touches: &[Touch]) -> impl Iterator<Item = DoneStep<'_>> {
    let sources: FxHashSet<&str> = touches
        .iter()
        .filter_map(|touch| touch.copied_from.as_deref())
        .collect();
    let ran = touches
        .iter()
        .filter(|touch| touch.step == Step::Run && !touch.script.is_empty());
    let ran: FxHashSet<&str> = ran
        .filter_map(|touch| touch.file.as_deref())
        .map(last_step)
        .collect();
    let numbered = touches.iter().enumerate();
    numbered.flat_map(move |(place, touch)| {
        let name = touch.file.as_deref().unwrap_or_default();
        let is_run = touch.step == Step::Run;
        let is_told = match touch.step {
            Step::Read => !sources.contains(name),
            Step::Create => !ran.contains(last_step(name)),
            _ => !is_run,
        };
        let script = touch
            .script
            .iter()
            .filter(move |(step, _)| is_run && *step != Step::Read);
        let script = script.map(|(step, name)| (*step, name.as_str()));
        let own = is_told.then_some((touch.step, name));
        let all = own.into_iter().chain(script);
        all.map(move |(step, name)| DoneStep {
            place,
            touch,
            step,
            name,
        })
    })
}
