//! Scripts that calls write and later ones run: what they do to files when they run.

use rustc_hash::FxHashMap;

use crate::events::line::cleaned;
use crate::events::shell::{Step, Touch, last_step};

/// Files that a script writes which its line names.
const MAX_NAMED: usize = 3;

/// The scripts written so far, by their file names.
#[derive(Default)]
pub(crate) struct Scripts(FxHashMap<String, Vec<(Step, String)>>);

impl Scripts {
    /// Goes through the steps of a call in order: if it went well, those that run a known script get what it does.
    pub fn follow(&mut self, touches: &mut [Touch], went_well: bool) {
        for touch in touches {
            let Some(name) = touch.file.as_deref().map(last_step) else {
                continue;
            };
            match touch.step {
                Step::Create => {
                    self.0.insert(name.to_owned(), touch.script.clone());
                }
                Step::Run if went_well => {
                    if let Some(script) = self.0.get(name) {
                        touch.script.clone_from(script);
                    }
                }
                _ => {}
            }
        }
    }
}

/// The files that a script changes, as a line names them: `a.py, b.py`.
pub(crate) fn written_by(script: &[(Step, String)]) -> Option<String> {
    let mut named: Vec<String> = Vec::new();
    let changed = script.iter().filter(|(step, _)| *step != Step::Read);
    for (_, file) in changed {
        let file = cleaned(file);
        if named.len() < MAX_NAMED && !named.contains(&file) {
            named.push(file);
        }
    }
    (!named.is_empty()).then(|| named.join(", "))
}
