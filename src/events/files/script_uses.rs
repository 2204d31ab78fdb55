//! Calls that were to use a script or a patch, whatever came of it.

use rustc_hash::FxHashMap;

use crate::events::event::Event;
use crate::events::shell::{Step, Touch, last_step};

/// Bytes of a call in which names are looked for.
const MAX_KEY: usize = 4096;

/// The last call that was to use each script, by the last step of its path.
#[derive(Debug, Default)]
pub(super) struct ScriptUses(FxHashMap<String, usize>);

impl ScriptUses {
    /// Looks for the names of written scripts in the calls that ran something or failed.
    pub fn by(events: &[&Event]) -> Self {
        let written = events.iter().flat_map(|event| written_scripts(event));
        let names = written.filter_map(|touch| touch.file.as_deref());
        let mut last: FxHashMap<String, usize> = names.map(|name| (last_step(name).to_owned(), 0)).collect();
        if last.is_empty() {
            return Self(last);
        }
        let uses = |event: &&&Event| event.target.is_run || event.outcome.failed() == Some(true);
        let others = events
            .iter()
            .filter(|event| written_scripts(event).next().is_none());
        for event in others.filter(uses) {
            let key = &event.target.key;
            let key = key.get(..key.floor_char_boundary(MAX_KEY)).unwrap_or_default();
            for word in key.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))) {
                if let Some(last) = last.get_mut(word) {
                    *last = event.number;
                }
            }
        }
        Self(last)
    }

    /// If a call after an event was to use a script.
    pub fn is_used_after(&self, name: &str, event: usize) -> bool {
        self.0.get(name).is_some_and(|last| *last > event)
    }
}

/// The scripts and patches that an event wrote and that are to change files.
pub(super) fn written_scripts(event: &Event) -> impl Iterator<Item = &Touch> {
    let written = |touch: &&Touch| matches!(touch.step, Step::Create | Step::Write);
    let changes = |touch: &&Touch| touch.script.iter().any(|(step, _)| *step != Step::Read);
    event.own_touches().iter().filter(written).filter(changes)
}
