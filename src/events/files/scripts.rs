//! Scripts that calls write and later ones run: what they do to files when they run.

use rustc_hash::FxHashMap;

use crate::events::line::{cleaned, shortened};
use crate::events::pairing::Place;
use crate::events::shell::{Step, Touch, last_step};
use crate::events::target::MAX_TARGET;

/// Files that a script writes which its line names.
const MAX_NAMED: usize = 3;

/// The scripts written so far, by their file names.
#[derive(Default)]
pub(crate) struct Scripts(FxHashMap<String, Script>);

/// The steps of a script on files, and the call that wrote it.
struct Script {
    steps: Vec<(Step, String)>,
    written_by: Place,
}

impl Scripts {
    /// Goes through the steps of a call in order: if it went well, those that run a known script get what it does.
    pub fn follow(&mut self, touches: &mut [Touch], went_well: bool, call: Place) {
        for touch in touches {
            let Some(name) = touch.file.as_deref().map(last_step) else {
                continue;
            };
            match touch.step {
                Step::Create => {
                    let steps = touch.script.clone();
                    let script = Script {
                        steps,
                        written_by: call,
                    };
                    self.0.insert(name.to_owned(), script);
                }
                Step::Run if went_well => {
                    if let Some(script) = self.0.get(name) {
                        touch.script.clone_from(&script.steps);
                    }
                }
                _ => {}
            }
        }
    }

    /// The calls that wrote the scripts which a call runs.
    pub fn written_by<'s>(&'s self, touches: &'s [Touch]) -> impl Iterator<Item = Place> + 's {
        let ran = touches.iter().filter(|touch| touch.step == Step::Run);
        ran.filter_map(|touch| Some(self.0.get(last_step(touch.file.as_deref()?))?.written_by))
    }
}

/// The files that a script changes, as a line names them: `writes a.py, b.py`.
pub(crate) fn written_by(script: &[(Step, String)]) -> Option<String> {
    let mut named: Vec<String> = Vec::new();
    let changed = script.iter().filter(|(step, _)| *step != Step::Read);
    for (_, file) in changed {
        let file = cleaned(file);
        if named.len() < MAX_NAMED && !named.contains(&file) {
            named.push(file);
        }
    }
    let named = named.join(", ");
    let named = shortened(&named, MAX_TARGET).filter(|named| !named.is_empty())?;
    Some(["writes ", &named].concat())
}
