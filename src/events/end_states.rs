//! Events that later ones overtook, by what became of the files that they touched.

use super::files::TrackedFiles;
use super::shell::{Step, Touch, path_of};

/// The end states of the files that events touched.
pub(crate) struct EndStates(TrackedFiles);

impl EndStates {
    /// Reads what each event did to files, in order.
    pub fn of<'t>(touches: impl IntoIterator<Item = &'t [Touch]>) -> Self {
        let mut files = TrackedFiles::default();
        for (number, touches) in touches.into_iter().enumerate() {
            files.event = number;
            for touch in touches {
                files.note(touch);
            }
        }
        Self(files)
    }

    /// The end of what an event did to files, where that is no more: `removed later`, `undone later`.
    pub fn end_of(&self, number: usize, touches: &[Touch]) -> Option<&'static str> {
        let changes = |touch: &&Touch| matches!(touch.step, Step::Create | Step::Write);
        let touch = touches
            .iter()
            .find(changes)
            .filter(|_| self.is_overtaken(number, touches))?;
        let path = path_of(&touch.directory, touch.file.as_deref()?);
        let mut same = self.0.alike(&path);
        if same.any(|file| file.put_back_by > Some(number)) {
            return Some("undone later");
        }
        let is_gone = self.0.alike(&path).all(|file| file.is_gone);
        is_gone.then_some("removed later")
    }

    /// If an event only made or removed files that are gone now or ran later, which tells more, only changed files that were put
    /// back since, or only read files that a later event changed.
    pub fn is_overtaken(&self, number: usize, touches: &[Touch]) -> bool {
        let is_overtaken = |(step, directory, name): (Step, &str, &str)| {
            let path = path_of(directory, name);
            let same = || self.0.alike(&path);
            let is_later = |by: Option<usize>| by.is_some_and(|later| later > number);
            // A name may be given again: the event worked on the first file that lasted longer.
            let lasted = same().filter(|file| file.changed_by >= Some(number));
            let own = lasted
                .min_by_key(|file| file.changed_by)
                .or_else(|| same().next())?;
            Some(match step {
                Step::Read | Step::Search => same().any(|file| is_later(file.changed_by)),
                Step::Remove => own.is_gone || same().any(|file| is_later(file.changed_by)),
                step => {
                    let is_run = step == Step::Create && is_later(own.run_by);
                    own.is_gone || is_run || is_later(own.put_back_by)
                }
            })
        };
        let mut any = false;
        for touch in touches {
            let Some(name) = touch.file.as_deref() else {
                return false;
            };
            let script = self.changes_by(touch);
            let own = (touch.step != Step::Run).then_some((touch.step, name));
            for (step, name) in own.into_iter().chain(script) {
                any = true;
                if is_overtaken((step, &touch.directory, name)) != Some(true) {
                    return false;
                }
            }
        }
        any
    }

    /// The changes that the script makes which a step runs, as far as they are known.
    fn changes_by(&self, run: &Touch) -> impl Iterator<Item = (Step, &str)> {
        let name = run.file.as_deref().filter(|_| run.step == Step::Run);
        let path = name.map(|name| path_of(&run.directory, name));
        let script = path.and_then(|path| self.0.script_of(&path)).unwrap_or_default();
        let changes = script.iter().filter(|(step, _)| *step != Step::Read);
        changes.map(|(step, name)| (*step, name.as_str()))
    }
}

impl EndStates {
    /// If all that was done to files was to run new ones, made for once.
    pub fn only_tries(&self, touches: &[Touch]) -> bool {
        touches
            .iter()
            .all(|touch| match (touch.step, touch.file.as_deref()) {
                (Step::Run | Step::Create, Some(name)) if touch.script.is_empty() => {
                    let path = path_of(&touch.directory, name);
                    self.0.alike(&path).any(|file| file.is_new)
                }
                (Step::Read, _) => true,
                _ => false,
            })
    }

    /// If all that was done to files made new ones, or changed files that were new.
    pub fn only_makes(&self, touches: &[Touch]) -> bool {
        let makes = |touch: &Touch| match (touch.step, touch.file.as_deref()) {
            (Step::Create, _) => true,
            (Step::Write, Some(name)) => {
                let path = path_of(&touch.directory, name);
                self.0.alike(&path).any(|file| file.is_new)
            }
            _ => false,
        };
        !touches.is_empty() && touches.iter().all(makes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::shell::Command;

    #[test]
    fn events_are_overtaken_whose_files_are_gone_put_back_run_or_changed() {
        let overtaken = |commands: &[&str]| -> Vec<bool> {
            let touches = commands.iter().map(|command| Command::read(command).touches());
            let touches: Vec<Vec<Touch>> = touches.collect();
            let states = EndStates::of(touches.iter().map(Vec::as_slice));
            let numbered = touches.iter().enumerate();
            numbered
                .map(|(number, touches)| states.is_overtaken(number, touches))
                .collect()
        };
        assert_eq!(overtaken(&["echo 1 > a.py", "rm a.py"]), [true, true]);
        assert_eq!(overtaken(&["echo 1 > a.py", "python a.py"]), [true, false]);
        assert_eq!(
            overtaken(&["echo 1 > a.py", "rm a.py", "echo 2 > a.py"]),
            [true, true, false]
        );
        assert_eq!(overtaken(&["cat b.py", "sed -i s/x/y/ b.py"]), [true, false]);
        assert_eq!(overtaken(&["sed -i s/x/y/ b.py", "cat b.py"]), [false, false]);
        assert_eq!(
            overtaken(&["cat b.py", "sed -i s/x/y/ b.py", "git checkout b.py"]),
            [true, true, false]
        );
        assert_eq!(
            overtaken(&["grep -n x b.py", "sed -i s/x/y/ b.py", "cp b.py.orig b.py"]),
            [true, true, false]
        );
    }
}
