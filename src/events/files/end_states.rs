//! Events that later ones overtook, by what became of the files that they touched.

use super::{Tracked, TrackedFiles};
use crate::events::event::Event;
use crate::events::shell::{Step, Touch, path_of};

/// The end states of the files that events touched.
pub(crate) struct EndStates(TrackedFiles);

impl EndStates {
    /// Reads what each event did to files; those of several lists together.
    pub fn of<'e>(events: impl IntoIterator<Item = &'e Event>) -> Self {
        let mut events: Vec<&Event> = events.into_iter().collect();
        events.sort_by_key(|event| event.number);
        let mut files = TrackedFiles::default();
        for event in events {
            files.event = event.number;
            for touch in event.own_touches() {
                files.note(touch);
            }
        }
        Self(files)
    }

    /// The end of what an event did to files, where nothing of it is left: `removed later`, `replaced later`, `undone later`.
    pub fn end_of(&self, event: &Event) -> Option<&'static str> {
        let changes = |touch: &&Touch| matches!(touch.step, Step::Create | Step::Write);
        let touch = event.own_touches().iter().find(changes)?;
        if !self.is_overtaken(event) {
            return None;
        }
        let path = path_of(&touch.directory, touch.file.as_deref()?);
        let own = self.worked_on(event.number, &path)?;
        if own.is_gone {
            let is_there = self.0.alike(&path).any(|file| !file.is_gone);
            return Some(if is_there {
                "replaced later"
            } else {
                "removed later"
            });
        }
        (!self.0.holds(own, event.number)).then_some("undone later")
    }

    /// If nothing is left of what an event did to files: changes that are no more, or a removal of a file made anew.
    pub fn is_void(&self, event: &Event) -> bool {
        let removes = || event.own_touches().iter().any(|touch| touch.step == Step::Remove);
        self.end_of(event).is_some() || removes() && self.is_overtaken(event)
    }

    /// The file that an event worked on: a name may be given again, so the first one that lasted longer.
    fn worked_on<'p>(&'p self, number: usize, path: &'p str) -> Option<&'p Tracked> {
        let lasted = self.0.alike(path).filter(|file| file.changed_by >= Some(number));
        let first = lasted.min_by_key(|file| file.changed_by);
        first.or_else(|| self.0.alike(path).next())
    }

    /// If an event only made or removed files that are gone now, or that ran or were changed later, which tells more, only kept
    /// copies, only changed files in a way that was undone, or only read files that a later event changed.
    pub fn is_overtaken(&self, event: &Event) -> bool {
        let touches = &event.touches;
        let mut any = false;
        for (place, touch) in touches.iter().enumerate() {
            let Some(name) = touch.file.as_deref() else {
                return false;
            };
            let is_source = |copy: &Touch| copy.copied_from.as_deref() == Some(name);
            if touch.step == Step::Read && touches.iter().any(is_source) {
                continue;
            }
            let is_earlier = place < event.earlier_touches;
            let is_run = touch.step == Step::Run;
            let script = touch
                .script
                .iter()
                .filter(|(step, _)| is_run && *step != Step::Read);
            let script = script.map(|(step, name)| (*step, name.as_str()));
            let own = (!is_run).then_some((touch.step, name));
            for (step, name) in own.into_iter().chain(script) {
                any = true;
                let path = path_of(&touch.directory, name);
                if self.is_step_overtaken(event.number, step, &path, is_earlier) != Some(true) {
                    return false;
                }
            }
        }
        any
    }

    /// If a step of an event is overtaken; of a step of an earlier run (`is_earlier`) only the end of the file is known.
    fn is_step_overtaken(&self, number: usize, step: Step, path: &str, is_earlier: bool) -> Option<bool> {
        let same = || self.0.alike(path);
        let is_later = |by: Option<usize>| by.is_some_and(|later| later > number);
        let own = self.worked_on(number, path)?;
        let is_changed = || same().any(|file| is_later(file.changed_by));
        let is_undone = || !is_earlier && !self.0.holds(own, number);
        Some(match step {
            Step::Read | Step::Search => is_changed(),
            Step::Remove | Step::Restore => own.is_gone || is_changed(),
            Step::Create => {
                let is_told_later = is_later(own.run_by) || own.is_new && is_later(own.changed_by);
                own.is_gone || own.is_kept || is_told_later || is_undone()
            }
            Step::Write => own.is_gone || is_undone(),
            Step::Run => own.is_gone,
        })
    }

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

    fn events(commands: &[&str]) -> Vec<Event> {
        let event = |(number, command): (usize, &&str)| Event {
            number,
            touches: Command::read(command).touches(),
            ..Event::default()
        };
        commands.iter().enumerate().map(event).collect()
    }

    #[test]
    fn events_are_overtaken_whose_files_are_gone_put_back_run_or_changed() {
        let overtaken = |commands: &[&str]| -> Vec<bool> {
            let events = events(commands);
            let states = EndStates::of(&events);
            events.iter().map(|event| states.is_overtaken(event)).collect()
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
        let written = ["cat b.py", "echo 1 > b.py", "sed -i s/x/y/ b.py"];
        assert_eq!(overtaken(&written), [true, false, false]);
        // The edit after a restore tells that the file is no more as it was.
        let mended = ["sed -i s/x/y/ b.py", "git checkout b.py", "sed -i s/x/z/ b.py"];
        assert_eq!(overtaken(&mended), [true, true, false]);
        assert_eq!(
            overtaken(&["touch new.py", "sed -i s/x/y/ new.py"]),
            [true, false]
        );
    }

    #[test]
    fn a_copy_that_is_put_back_brings_the_edits_back_that_it_was_made_with() {
        let ends = |commands: &[&str]| -> Vec<Option<&str>> {
            let events = events(commands);
            let states = EndStates::of(&events);
            events.iter().map(|event| states.end_of(event)).collect()
        };
        let copied = [
            "sed -i s/1/2/ a.py",
            "cp a.py a.py.simple_fix",
            "sed -i s/2/3/ a.py",
            "git checkout a.py",
            "cp a.py.simple_fix a.py",
        ];
        let undone = Some("undone later");
        assert_eq!(ends(&copied), [None, None, undone, None, None]);
        let original = [
            &["cp a.py a.py.original"],
            &copied[..],
            &["cp a.py.original a.py"],
        ]
        .concat();
        assert_eq!(ends(&original), [None, undone, None, undone, None, undone, None]);
        let written = ["echo 1 > b.py", "rm b.py", "echo 2 > b.py"];
        assert_eq!(ends(&written), [Some("replaced later"), None, None]);
    }
}
