//! The line that tells a call, read back from an earlier summary: its parts, and the call as an event.

use std::fmt::Write as _;

use super::verdicts::without_verdict;
use super::work::NO_ANSWER;
use crate::events::call::REMOVES;
use crate::events::command::EDITS;
use crate::events::event::Event;
use crate::events::files::marks::{CHANGED, MARKS};
use crate::events::outcome::later_calls::LaterCalls;
use crate::events::outcome::outcome;
use crate::events::outcome::reported::ReportedFields;
use crate::events::outcome::status::{Answer, Outcome};
use crate::events::outcome::text::tool_of;
use crate::events::read_back::{names_arguments, target_of_line};
use crate::events::shell::{Step, Touch};
use crate::events::target::{Effect, Target};
use crate::knowledge::tool_names::is_lookup;

/// The line of a call, in its parts: `bash: make (x2, 1 failed) (before later edits) -> exit 1: no rule`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CallLine<'l> {
    pub label: &'l str,
    /// The files that the script writes which it runs.
    pub writes: Option<&'l str>,
    /// The files that a patch removes.
    removes: Option<&'l str>,
    /// The number of runs, as the line tells it.
    runs: Option<&'l str>,
    mark: Option<&'static str>,
    /// Its ending.
    pub ending: Option<&'l str>,
    /// The line that an edit put in, `+ line`: in the ending, or where that is missing.
    pub put_in: Option<&'l str>,
}

/// The beginning of a query that only reads, behind the name of its argument.
const SELECTS: &str = ": select ";

/// The mark before what an edit put in, where that ends a line.
const PUT_IN: &str = ": + ";

impl<'l> CallLine<'l> {
    pub fn of(line: &'l str) -> Self {
        let put_in = |text: &'l str| text.find(PUT_IN).and_then(|at| text.get(at + 2..));
        let (label, ending, put_in) = match line.split_once(" -> ") {
            Some((label, ending)) => (label, Some(ending), put_in(ending)),
            None => match line.split_once(PUT_IN) {
                Some((label, _)) => (label, None, put_in(line)),
                None => (line, None, None),
            },
        };
        let mut read = Self {
            label,
            ending,
            put_in,
            ..Self::default()
        };
        while let Some((label, note)) = read
            .label
            .strip_suffix(')')
            .and_then(|line| line.rsplit_once(" ("))
        {
            if let Some(mark) = MARKS.into_iter().find(|mark| *mark == note) {
                read.mark = Some(mark);
            } else if runs_of(note).is_some() {
                read.runs = Some(note);
            } else if let Some(files) = note.strip_prefix("writes ") {
                read.writes = Some(files);
            } else if let Some(files) = note.strip_prefix(REMOVES) {
                read.removes = Some(files);
            } else {
                break;
            }
            read.label = label;
        }
        read
    }

    /// The line with a mark that later calls make on it.
    pub fn marked(&self, mark: &str) -> String {
        let mut line = self.label.to_owned();
        if let Some(files) = self.writes {
            let _ = write!(line, " (writes {files})");
        }
        if let Some(files) = self.removes {
            let _ = write!(line, " ({REMOVES}{files})");
        }
        if let Some(runs) = self.runs {
            let _ = write!(line, " ({runs})");
        }
        let _ = write!(line, " ({mark})");
        if let Some(ending) = self.ending {
            let _ = write!(line, " -> {ending}");
        } else if let Some(put_in) = self.put_in {
            let _ = write!(line, ": {put_in}");
        }
        line
    }

    /// If nothing is left of a call that only looked something up or ran code of its own once: what came back is told nowhere.
    pub fn tells_nothing(&self, event: Option<&Event>) -> bool {
        if self.ending.is_some() || self.put_in.is_some() || self.runs.is_some() {
            return false;
        }
        match event {
            // `type(value: Kiel)` acts on a page.
            Some(event) if event.target.is_run => {
                let command = event.target.command.as_deref().unwrap_or_default();
                let is_code = event.runs_code() && event.target.runs.is_empty() && !command.contains(EDITS);
                (is_code || event.target.effect == Effect::Read) && !names_arguments(command)
            }
            Some(event) if event.target.effect == Effect::Modify => false,
            _ => {
                names_arguments(self.label)
                    && (is_lookup(tool_of(self.label)) || self.label.contains(SELECTS))
            }
        }
    }

    /// If what an edit put in was changed later.
    pub fn is_edited_again(&self) -> bool {
        self.put_in.is_some() && self.mark == Some(CHANGED)
    }

    /// The code that it ended with, or else whether it failed, where it says so.
    pub fn status(&self) -> (Option<i32>, Option<bool>) {
        let ending = self.ending.unwrap_or_default();
        let is = |status: &str| {
            ending
                .strip_prefix(status)
                .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        };
        let code = ending.strip_prefix("exit ").and_then(|rest| {
            let digits = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '-');
            rest.get(..digits.unwrap_or(rest.len()))?.parse::<i32>().ok()
        });
        match code {
            Some(code) => (Some(code), Some(code != 0 || is("exit 0 with an error"))),
            None if is("failed") => (None, Some(true)),
            None if is("ok") => (None, Some(false)),
            None => (None, None),
        }
    }

    /// The number of runs, and of those that failed; `failed` if the last one did.
    pub fn runs(&self, failed: bool) -> (usize, usize) {
        let (times, failures) = self.runs.and_then(runs_of).unwrap_or((1, None));
        (times, failures.unwrap_or(if failed { times } else { 0 }))
    }

    /// A failed call of a tool on arguments, which no command or file tells: enough to see that a later one mended it.
    pub fn failed_on_arguments(&self) -> Option<Event> {
        let error = self.ending?.strip_prefix("failed: ")?;
        let mut event = Event::default();
        self.label.clone_into(&mut event.target.line);
        event.outcome = self.outcome_of(error, &event.target);
        Some(event)
    }

    /// The outcome that an ending tells.
    fn outcome_of(&self, text: &str, target: &Target) -> Outcome {
        let (exit_code, is_error) = self.status();
        // Behind the counts of a runner, which were a line of their own, stands what failed.
        let text = text.replacen("; ", "\n", 1);
        let answer = Answer {
            text: &text,
            is_error,
            exit_code,
        };
        let told = &mut ReportedFields::default();
        outcome(answer, target.effect, &target.line, told, LaterCalls::default())
    }

    /// The call as an event, the first of its summary being number 0; `None` if it is not known what it was.
    pub fn event(&self, number: usize) -> Option<Event> {
        let mut target = target_of_line(self.label)?;
        let ending = self.ending.unwrap_or_default();
        let ending = without_verdict(ending);
        let text = match self.status().1 {
            Some(_) => ending.split_once(": ").map_or("", |(_, text)| text),
            None => ending,
        };
        let mut touches = std::mem::take(&mut target.touches);
        if let Some(files) = self.writes {
            target.effect = Effect::Modify;
            touches.extend(files.split(", ").map(|file| Touch::of(Step::Write, file)));
        }
        if let Some(files) = self.removes {
            touches.extend(files.split(", ").map(|file| Touch::of(Step::Remove, file)));
        }
        let outcome = self.outcome_of(text, &target);
        let failed = outcome.failed() == Some(true);
        let is_answered = ending != NO_ANSWER;
        touches.retain(|touch| touch.step == Step::Run || !failed && is_answered);
        let (times, failures) = self.runs(failed);
        Some(Event {
            number,
            target,
            outcome,
            touches,
            is_answered,
            is_unanswered: !is_answered,
            times,
            failures,
            is_open: failed,
            ..Event::default()
        })
    }
}

/// `x3, 2 failed`: how many runs, and how many of them failed where others did not.
fn runs_of(note: &str) -> Option<(usize, Option<usize>)> {
    let note = note.strip_prefix('x')?;
    let Some((times, failures)) = note.split_once(", ") else {
        return Some((note.parse().ok()?, None));
    };
    let failures = failures.strip_suffix(" earlier").unwrap_or(failures);
    let (times, failures): (usize, usize) = (
        times.parse().ok()?,
        failures.strip_suffix(" failed")?.parse().ok()?,
    );
    (failures <= times).then_some((times, Some(failures)))
}
