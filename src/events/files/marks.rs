//! What later events make of one, in a few words.

use super::Tracked;
use super::end_states::EndStates;
use super::script_uses::written_scripts;
use crate::events::event::Event;
use crate::events::resolved::cause;
use crate::events::run::ProgramRun;
use crate::events::shell::{last_step, path_of};
use crate::events::target::Effect;

impl EndStates {
    /// What later events make of one, in a few words.
    pub fn mark_of(&self, event: &Event) -> Option<&'static str> {
        if event.is_outdated {
            return Some("changed later");
        }
        if self.0.mended.binary_search(&event.number).is_ok() || self.is_cause_gone(event) {
            return Some("no longer so");
        }
        match (self.is_before_edits(event), self.is_before_installs(event)) {
            (true, true) => Some("before later edits and installs"),
            (true, false) => Some("before later edits"),
            (false, true) => Some("before later installs"),
            (false, false) if self.is_unused(event) => Some("not used yet"),
            (false, false) => {
                let is_passed = self.0.last_pass.is_some_and(|last| event.number < last);
                (is_passed && event.passed_no_test()).then_some("other tests passed later")
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
        failed && runs_none && self.0.installed.any_after(event.number) && tries() && self.only_tried(event)
    }

    /// If an event wrote a script or a patch that is to change files, and no call after it was to use that.
    fn is_unused(&self, event: &Event) -> bool {
        let mut written = written_scripts(event);
        written.any(|touch| {
            let path = path_of(&touch.directory, touch.file.as_deref().unwrap_or_default());
            let file = self.worked_on(event.number, &path).filter(|file| !file.is_gone);
            let is_run = |file: &Tracked| file.run_by.is_some_and(|run| run >= event.number);
            file.is_some_and(|file| !is_run(file))
                && !self.0.script_uses.is_used_after(last_step(&path), event.number)
        })
    }

    /// If an event wrote such a script, and the work went on without it.
    pub(super) fn is_given_up(&self, event: &Event) -> bool {
        self.0.last_change.is_some_and(|last| event.number < last) && self.is_unused(event)
    }

    /// If an event was answered, and changed nothing.
    fn only_tried(&self, event: &Event) -> bool {
        event.is_answered && event.target.effect != Effect::Modify && !self.edits(event)
    }

    /// If an event failed because something was missing or in the way, and at the end it is there, or removed.
    fn is_cause_gone(&self, event: &Event) -> bool {
        let error = event.outcome.error.as_deref();
        let error = error.filter(|_| event.outcome.failed() == Some(true));
        let Some(cause) = error.and_then(cause) else {
            return false;
        };
        let is_later = |by: Option<usize>| by.is_some_and(|by| by > event.number);
        let mut files = self.0.alike(cause.name).peekable();
        if cause.is_in_the_way {
            files.peek().is_some() && files.all(|file| file.is_gone)
        } else {
            files.any(|file| !file.is_gone && (is_later(file.changed_by) || is_later(file.run_by)))
                || self.0.installed.brought(cause.name, event.number)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::files::scripts::Scripts;
    use crate::events::outcome::status::CallStatus;
    use crate::events::shell::Command;

    #[test]
    fn a_script_that_changes_files_says_that_no_call_used_it() {
        let script = |file: &str| format!("cat > {file} <<'E'\nopen('a.py', 'w').write(text)\nE");
        let read = |commands: &[&str]| -> Vec<Event> {
            let mut scripts = Scripts::default();
            let event = |(number, command): (usize, &&str)| {
                let mut touches = Command::read(command).touches();
                scripts.follow(&mut touches, true, (0, 0));
                let mut event = Event {
                    number,
                    touches,
                    ..Event::default()
                };
                (*command).clone_into(&mut event.target.key);
                event.target.is_run = command.starts_with("uv ");
                if command.ends_with("# fails") {
                    event.touches.clear();
                    event.outcome.status = CallStatus::Failed;
                }
                event
            };
            commands.iter().enumerate().map(event).collect()
        };
        let waits = |commands: &[&str]| -> Vec<bool> {
            let events = read(commands);
            let states = EndStates::of(&events);
            let marks = events.iter().map(|event| states.mark_of(event));
            marks.map(|mark| mark == Some("not used yet")).collect()
        };
        let (fix, again) = (script("fix.py"), "python fix.py");
        assert_eq!(waits(&[&fix]), [true]);
        let given_up = |commands: &[&str]| -> Vec<bool> {
            let events = read(commands);
            let states = EndStates::of(&events);
            events.iter().map(|event| states.is_given_up(event)).collect()
        };
        let other = script("other.py");
        assert_eq!(given_up(&[&fix, &other]), [true, false]);
        assert_eq!(given_up(&[&fix, "sed -i s/1/2/ a.py"]), [true, false]);
        assert_eq!(given_up(&[&fix, &other, again]), [false; 3]);
        assert_eq!(waits(&[&fix, again]), [false; 2]);
        assert_eq!(waits(&[&fix, again, &fix]), [false, false, true]);
        assert_eq!(waits(&[&fix, "python fix.py # fails"]), [false; 2]);
        assert_eq!(waits(&["python fix.py # fails", &fix]), [false, true]);
        assert_eq!(waits(&[&fix, "uv run --x ./fix.py"]), [false; 2]);
        assert_eq!(waits(&[&fix, "cat fix.py"]), [true, false]);
        assert_eq!(waits(&[&format!("{fix}\npython fix.py")]), [false]);
        assert_eq!(waits(&["cat > a.py <<'E'\nx = 1\nE"]), [false]);
    }
}
