//! How a tool call ended, read off what came back.

pub(crate) mod envelope;
pub(crate) mod error_line;
pub(crate) mod field_line;
pub(crate) mod fields;
mod printed;
pub(crate) mod success;
mod terminal;
pub(crate) mod told;

use std::borrow::Cow;

use crate::events::control::without_control;
use crate::events::line::{cleaned, shortened};
use crate::events::target::Effect;
use crate::knowledge::runners::{Diagnostics, TestCounts};
use crate::trajectory::leaves::leaves;
use envelope::{longest_text, unwrapped};
use fields::outcome_of;
use printed::of_printed;
use terminal::exit_code;
use told::Told;

/// The end that a call came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Status {
    Ok,
    Failed,
    /// Not carried out: nothing was changed.
    Refused,
    /// Only a part of it was done.
    Partly,
    #[default]
    Unknown,
}

/// The source of a status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Basis {
    /// A flag of the record: `is_error`.
    Flag,
    ExitCode,
    /// A field of a JSON answer.
    Field,
    /// The text of the answer.
    Text,
    #[default]
    None,
}

/// How a call ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub status: Status,
    pub basis: Basis,
    /// Exit code, where one is told.
    pub exit_code: Option<i32>,
    /// The line that names the error.
    pub error: Option<String>,
    /// The result in a few words: test counts, fields, hits, the only line.
    pub result: Option<String>,
    /// Tests that ran.
    pub tests: Option<TestCounts>,
    /// Errors and warnings of a compiler or a linter.
    pub diagnostics: Option<Diagnostics>,
    /// Lines that came back.
    pub lines: usize,
    /// The first of them, where each is a hit of a search.
    pub first_hit: Option<String>,
    /// Whether the first of them says that a change was made.
    pub says_done: bool,
    /// Whether the result is a line that the output marks as failed.
    pub is_marked: bool,
}

impl Outcome {
    /// Returns true if it failed; `None` where nothing says so.
    pub fn failed(&self) -> Option<bool> {
        match self.status {
            Status::Ok => Some(false),
            Status::Unknown => None,
            Status::Failed | Status::Refused | Status::Partly => Some(true),
        }
    }

    /// Takes over what a text among the fields of an answer tells beyond them.
    fn add(&mut self, printed: Self) {
        if self.status == Status::Unknown || self.failed() != Some(true) && printed.failed() == Some(true) {
            (self.status, self.basis) = (printed.status, printed.basis);
        }
        self.exit_code = self.exit_code.or(printed.exit_code);
        self.error = self.error.take().or(printed.error);
        self.result = self.result.take().or(printed.result);
        self.tests = printed.tests;
        self.diagnostics = printed.diagnostics;
        self.lines = printed.lines;
    }
}

/// The answer to a call.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Answer<'a> {
    pub text: &'a str,
    /// The flag of the record beside its text: `is_error`, `isError`.
    pub is_error: Option<bool>,
    /// The exit code that the record tells beside its text: `details.exitCode`.
    pub exit_code: Option<i32>,
}

impl<'a> From<&'a str> for Answer<'a> {
    fn from(text: &'a str) -> Self {
        Self {
            text,
            is_error: None,
            exit_code: None,
        }
    }
}

/// Longest line taken over from an output.
pub(crate) const MAX_LINE: usize = 160;

/// Bytes at an output's start and end in which exit codes, counts and most error texts are looked for.
const EDGE: usize = 1_200;

/// The outcome of a call from its answer. Errors that stand in what was read (`effect`) are none of the call's. Of a JSON answer the result tells the status, and what neither the call itself
/// (`target`) nor an earlier answer told already (`told`).
pub(crate) fn outcome<'a>(
    answer: impl Into<Answer<'a>>,
    effect: Effect,
    target: &str,
    told: &mut Told,
) -> Outcome {
    let answer = answer.into();
    let printed = |text: &str, code: Option<i32>, is_error: Option<bool>| {
        let text = without_colours(text.trim());
        let text = text.as_ref();
        let exit_code = code.or_else(|| exit_code(text, effect == Effect::Read));
        of_printed(
            Answer {
                text,
                is_error,
                exit_code,
            },
            effect,
            target,
        )
    };
    let Some(fields) = leaves(answer.text.trim(), 64) else {
        return printed(answer.text, answer.exit_code, answer.is_error);
    };
    if let Some((text, code)) = unwrapped(&fields) {
        return printed(&text, answer.exit_code.or(Some(code)), answer.is_error);
    }
    let mut ended = outcome_of(answer.text.trim(), &fields, effect, target, told);
    if let Some(text) = longest_text(&fields) {
        ended.add(printed(&text, None, None));
    }
    match answer.is_error {
        Some(true) if ended.failed() != Some(true) => Outcome {
            status: Status::Failed,
            basis: Basis::Flag,
            ..ended
        },
        Some(false) if ended.status == Status::Unknown => Outcome {
            status: Status::Ok,
            basis: Basis::Flag,
            ..ended
        },
        _ => ended,
    }
}

/// A text without a terminal's colours.
fn without_colours(text: &str) -> Cow<'_, str> {
    match memchr::memchr(0x1b, text.as_bytes()) {
        Some(_) => without_control(text),
        None => Cow::Borrowed(text),
    }
}

pub(crate) fn edges(text: &str) -> (&str, &str) {
    let mut head = EDGE.min(text.len());
    while !text.is_char_boundary(head) {
        head -= 1;
    }
    let mut tail = text.len().saturating_sub(EDGE);
    while !text.is_char_boundary(tail) {
        tail += 1;
    }
    (
        text.get(..head).unwrap_or_default(),
        text.get(tail..).unwrap_or_default(),
    )
}

pub(crate) fn quote(line: &str) -> Option<String> {
    let line = cleaned(line);
    shortened(&line, MAX_LINE)
        .map(std::borrow::Cow::into_owned)
        .filter(|line| !line.is_empty())
}

#[cfg(test)]
mod table_tests;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(target: &str, answer: &str, is_reading: bool) -> Outcome {
        let effect = if is_reading { Effect::Read } else { Effect::Other };
        outcome(answer, effect, target, &mut Told::default())
    }

    #[test]
    fn exit_codes_stand_at_the_end_and_in_no_text_that_was_read() {
        let log = "job started\nstep exited with code 3\nretry\nall good\nfinished";
        assert_eq!(of("run_tests(suite: all)", log, false).exit_code, None);
        let log = "started\nstep exited with code 3";
        assert_eq!(of("make: x", log, false).exit_code, Some(3));
        let read = of("read_file ci.log", log, true);
        assert_eq!((read.exit_code, read.failed()), (None, Some(false)));
        let counts = "x\n2 failed, 3 passed in 1.0s";
        assert_eq!(of("read_file ci.log", counts, true).failed(), Some(false));
        assert_eq!(of("bash: pytest", counts, false).failed(), Some(true));
        let framed = "x\n[The command completed with exit code 2.]\n[Current working directory: /w]\n[Python interpreter: p]";
        assert_eq!(of("bash: cat x", framed, true).exit_code, Some(2));
        assert_eq!(
            of("bash: cat x", "Exit code 1\ncat: x: No such file", true).exit_code,
            Some(1)
        );
        assert_eq!(of("bash: ls", "a\nexit code: 4", false).exit_code, Some(4));
    }

    #[test]
    fn a_search_without_a_match_is_no_error() {
        let echoed = "cd /w && grep -n 'ORDER BY' a.py\n[Python Interpreter: /usr/bin/python]\nroot@x:/w # \n[Command finished with exit code 1]";
        let ended = of("bash: grep -n 'ORDER BY' a.py", echoed, true);
        assert_eq!(
            (ended.failed(), ended.result.as_deref()),
            (Some(false), Some("no match"))
        );
        for (target, result) in [
            ("bash: cat a | grep x", Some("no match")),
            ("bash: git grep x", Some("no match")),
            ("bash: test -f a", Some("no")),
            ("bash: make all && grep x a", None),
            ("bash: make all", None),
        ] {
            let ended = of(target, "[Command finished with exit code 1]", false);
            assert_eq!(ended.result.as_deref(), result, "{target}");
            assert_eq!(ended.failed(), Some(result.is_none()), "{target}");
        }
        let ended = of(
            "bash: grep x",
            "grep: a: No such file\n[Command finished with exit code 1]",
            true,
        );
        assert_eq!(ended.failed(), Some(true));
    }

    #[test]
    fn a_long_line_is_told_by_its_beginning() {
        let line = "We are unable to do that for you today. ".repeat(12);
        let result = of("book(f: 1)", &line, false).result.unwrap();
        assert!(
            result.starts_with("We are unable to do that") && result.ends_with('…'),
            "{result}"
        );
        assert_eq!(of("bash: cat a", &line, true).result, None);
    }
}
