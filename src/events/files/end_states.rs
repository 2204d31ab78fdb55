//! Events that later ones overtook, by what became of the files that they touched.

use super::changed::Changes;
use super::steps::{DoneStep, steps};
use super::{Tracked, TrackedFiles};
use crate::events::event::Event;
use crate::events::shell::{Step, Touch, path_of};

/// The end states of the files that events touched.
pub(crate) struct EndStates(pub(super) TrackedFiles, Changes);

impl EndStates {
    /// Reads what each event did to files; those of several lists together.
    pub fn of<'e>(events: impl IntoIterator<Item = &'e Event>) -> Self {
        let mut events: Vec<&Event> = events.into_iter().collect();
        events.sort_by_key(|event| event.number);
        let mut files = TrackedFiles::default();
        for event in &events {
            files.event = event.number;
            if event.times > 1 || event.earlier_touches > 0 {
                files.repeated.insert(event.number);
            }
            for touch in event.own_touches() {
                files.note(touch);
            }
        }
        let changes = Changes::of(&files, &events);
        let mut states = Self(files, changes);
        states.0.last_edit = events
            .iter()
            .rev()
            .find(|event| states.edits(event) && !states.is_undone(event))
            .map(|event| event.number);
        let failed = events.iter().filter(|event| event.outcome.failed() == Some(true));
        states.0.failed = failed.map(|event| event.number).collect();
        states
    }

    /// The files that are not as they were, the latest first, by the names that were used last.
    pub fn changed(&self) -> Vec<&str> {
        self.1.standing(&self.0)
    }

    /// If an event changed, wrote anew or removed a file that was there before.
    pub(super) fn edits(&self, event: &Event) -> bool {
        let is_old = |step: &DoneStep<'_>| self.0.alike(&step.path()).any(|file| !file.is_new);
        steps(event.own_touches()).any(|step| match step.step {
            Step::Create if step.touch.step != Step::Run => is_old(&step),
            Step::Remove => is_old(&step),
            Step::Create | Step::Write => !self.makes(&step),
            _ => false,
        })
    }

    /// If nothing is left of what an event changed in files: they were put back, removed, or replaced.
    fn is_undone(&self, event: &Event) -> bool {
        let changes = |step: &DoneStep<'_>| matches!(step.step, Step::Create | Step::Write);
        let Some(first) = steps(event.own_touches()).find(changes) else {
            return false;
        };
        let path = first.path();
        self.is_overtaken(event)
            && self.worked_on(event.number, &path).is_some_and(|own| {
                let ran_for_nothing = |run| first.step == Step::Create && self.is_run_undone(&first, run);
                own.is_gone || own.run_by.is_some_and(ran_for_nothing) || !self.0.holds(own, event.number)
            })
    }

    /// If a script changed files when it ran, and nothing of that is left.
    fn is_run_undone(&self, written: &DoneStep<'_>, run: usize) -> bool {
        let changes = written
            .touch
            .script
            .iter()
            .filter(|(step, _)| *step != Step::Read);
        let mut changes = changes.peekable();
        changes.peek().is_some()
            && changes.all(|(_, name)| {
                let path = path_of(&written.touch.directory, name);
                let file = self.worked_on(run, &path);
                file.is_some_and(|file| file.is_gone || !self.0.holds(file, run))
            })
    }

    /// If nothing is left of what an event did to files: changes that are no more, or a removal of a file made anew.
    pub fn is_void(&self, event: &Event) -> bool {
        let removes = || event.own_touches().iter().any(|touch| touch.step == Step::Remove);
        self.is_undone(event) || removes() && self.is_overtaken(event)
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
        let mut steps = steps(&event.touches).peekable();
        let any = steps.peek().is_some();
        let is_known = event.touches.iter().all(|touch| touch.file.is_some());
        any && is_known
            && steps.all(|step| {
                let is_earlier = step.place < event.earlier_touches;
                self.is_step_overtaken(event.number, step.step, &step.path(), is_earlier) == Some(true)
            })
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
            Step::Remove | Step::Restore | Step::Undo => own.is_gone || is_changed(),
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

    /// If all that was done to files, by scripts too, made new ones, or changed files that were new.
    pub fn only_makes(&self, touches: &[Touch]) -> bool {
        let mut steps = steps(touches).peekable();
        let is_told = |touch: &Touch| touch.step != Step::Run || !touch.script.is_empty();
        steps.peek().is_some() && touches.iter().all(is_told) && steps.all(|step| self.makes(&step))
    }

    /// If a step made a new file, or changed one that was new.
    fn makes(&self, step: &DoneStep<'_>) -> bool {
        match step.step {
            Step::Create if step.touch.step != Step::Run => true,
            // A script that opens a file to write may change one that was there.
            Step::Create | Step::Write => {
                let mut script = step.touch.script.iter();
                let was_there = script.any(|(other, name)| *other == Step::Read && name == step.name);
                !was_there && self.0.alike(&step.path()).any(|file| file.is_new)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::files::scripts::Scripts;
    use crate::events::outcome::status::CallStatus;
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
        let undone = |commands: &[&str]| -> Vec<usize> {
            let events = events(commands);
            let states = EndStates::of(&events);
            let undone = events.iter().filter(|event| states.is_undone(event));
            undone.map(|event| event.number).collect()
        };
        let copied = [
            "sed -i s/1/2/ a.py",
            "cp a.py a.py.simple_fix",
            "sed -i s/2/3/ a.py",
            "git checkout a.py",
            "cp a.py.simple_fix a.py",
        ];
        assert_eq!(undone(&copied), [2]);
        let original = [
            &["cp a.py a.py.original"],
            &copied[..],
            &["cp a.py.original a.py"],
        ]
        .concat();
        assert_eq!(undone(&original), [1, 3, 5]);
        let written = ["echo 1 > b.py", "rm b.py", "echo 2 > b.py"];
        assert_eq!(undone(&written), [0]);
        // Put back twice: both times it is the file as it is at the end.
        let twice = [
            "cp a.py a.bak",
            "cp a.bak a.py",
            "sed -i s/1/2/ a.py",
            "cp a.bak a.py",
        ];
        assert_eq!(undone(&twice), [2]);
        let tried = [
            "cp a.py a.py.orig",
            "sed s/1/2/ a.py > a.py.fixed",
            "cp a.py.fixed a.py",
            "cp a.py.orig a.py",
        ];
        assert_eq!(undone(&tried), [2]);
        assert_eq!(undone(&tried[..3]), [0; 0]);
        for last in ["cat a.py.fixed > a.py", "cp a.py.fixed b.py"] {
            assert_eq!(undone(&[&tried[..], &[last]].concat()), [2], "{last}");
        }
        let mut edits = events(&["sed -i s/1/2/ a.py", "sed -i s/2/3/ a.py", "true"]);
        edits[2].touches = vec![crate::events::shell::Touch::of(Step::Undo, "a.py")];
        let states = EndStates::of(&edits);
        let is_undone: Vec<bool> = edits.iter().map(|event| states.is_undone(event)).collect();
        assert_eq!(is_undone, [false, true, false]);
        let old = ["cat a.py.fixed", "sed -i s/1/2/ a.py.fixed"];
        assert_eq!(undone(&[&tried[..1], &old, &tried[2..]].concat()), [3]);
        let kept = ["sed -i s/1/2/ a.py", "cp a.py a.py.bak", "sed -i s/2/3/ a.py"];
        assert_eq!(undone(&[&kept[..], &["cp b.py a.py.bak"]].concat()), [1]);
    }

    #[test]
    fn a_run_between_a_change_and_its_undoing_is_before_later_edits() {
        let marks = |commands: &[&str]| -> Vec<bool> {
            let mut events = events(commands);
            for event in &mut events {
                event.target.is_run = event.touches.is_empty();
                event.is_answered = true;
            }
            let states = EndStates::of(&events);
            let marks = events.iter().map(|event| states.mark_of(event));
            marks.map(|mark| mark == Some("before later edits")).collect()
        };
        let (change, test, back) = ("sed -i s/1/2/ a.py", "pytest", "git checkout a.py");
        assert_eq!(marks(&[change, test, back, test]), [false, true, false, false]);
        assert_eq!(marks(&[test, back, test]), [false; 3]);
        assert_eq!(marks(&[change, test]), [false; 2]);
    }

    #[test]
    fn a_script_whose_last_run_failed_says_so() {
        let marks = |commands: &[&str], failed: usize| -> Vec<Option<&str>> {
            let mut events = events(commands);
            events[failed].outcome.status = CallStatus::Failed;
            let states = EndStates::of(&events);
            events.iter().map(|event| states.mark_of(event)).collect()
        };
        let (write, run) = ("echo 1 > t.py", "python t.py");
        assert_eq!(marks(&[write, run], 1)[0], Some("its last run failed"));
        assert_eq!(marks(&[write, run, run], 1)[0], None);
        assert_eq!(marks(&[write, run, write], 1), [None; 3]);
    }

    #[test]
    fn a_script_makes_only_new_files_if_none_of_those_that_it_writes_was_there() {
        let new = "cat > fix.py <<'E'\nopen('a.py', 'w').write(text)\nE\n";
        let mended = "cat > fix.py <<'E'\ntext = open('a.py').read()\nopen('a.py', 'w').write(text)\nE\n";
        for (before, write, only_makes) in
            [("ls", new, true), ("cat a.py", new, false), ("ls", mended, false)]
        {
            let mut scripts = Scripts::default();
            let mut events = events(&[before, write, "python fix.py"]);
            for event in &mut events {
                scripts.follow(&mut event.touches, true, (0, 0));
            }
            let states = EndStates::of(&events);
            assert_eq!(
                states.only_makes(&events[2].touches),
                only_makes,
                "{before} {write}"
            );
        }
    }

    #[test]
    fn many_copies_in_one_command_are_followed_in_linear_time() {
        let copies: Vec<String> = (0..60_000)
            .map(|number| format!("cp a{number}.py b{number}.py"))
            .collect();
        let copies = copies.join("; ");
        let events = events(&[&copies, "cp b7.py a7.py"]);
        let states = EndStates::of(&events);
        assert_eq!(
            (states.is_overtaken(&events[0]), states.is_undone(&events[1])),
            (false, false)
        );
    }

    #[test]
    fn a_script_whose_changes_were_put_back_is_undone_whether_written_before_its_run_or_with_it() {
        let write = "cat > fix.py <<'E'\nopen('a.py', 'w').write(text)\nE\n";
        let both = [write, "python fix.py"].concat();
        let mut scripts = Scripts::default();
        let mut ends = |commands: &[&str]| -> Vec<(bool, bool)> {
            let mut events = events(commands);
            for event in &mut events {
                scripts.follow(&mut event.touches, true, (0, 0));
            }
            let states = EndStates::of(&events);
            let end = |event| (states.is_overtaken(event), states.is_undone(event));
            events.iter().map(end).collect()
        };
        let undone = (true, true);
        let back = ["cp a.py a.bak", "cp a.bak a.py"];
        assert_eq!(
            ends(&[back[0], write, "python fix.py", back[1]])[1..3],
            [undone; 2]
        );
        assert_eq!(ends(&[back[0], &both, back[1]])[1], undone);
        assert_eq!(ends(&[back[0], &both])[1], (false, false));
        assert_eq!(ends(&[write, "python fix.py"]), [(true, false), (false, false)]);
        assert_eq!(ends(&["echo 1 > t.py; python t.py"]), [(false, false)]);
    }
}
