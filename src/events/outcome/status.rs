//! The status of a tool call, and the answer it is read from.

use crate::knowledge::errors::says_done;
use crate::knowledge::results::{is_bookkeeping, is_run_id};
use crate::knowledge::runners::Diagnostics;
use crate::knowledge::test_counts::TestCounts;

/// The end that a call came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum CallStatus {
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

/// The outcome of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub status: CallStatus,
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
    /// One of them, where each is a hit of a search: the first that later calls name, or the first one.
    pub hit: Option<String>,
    /// The last of them that says anything, where none of them tells the result.
    pub last_line: Option<String>,
    /// The first of them reports that a change was made.
    pub says_done: bool,
    /// The result is a line that the output marks as failed.
    pub is_marked: bool,
    /// The answer is a page, and the result its title.
    pub is_page: bool,
}

/// Fields that count the records beside them.
const COUNTS: [&str; 5] = ["count", "total", "total_count", "length", "size"];

impl Outcome {
    /// Returns true if it failed; `None` where nothing says so.
    pub fn failed(&self) -> Option<bool> {
        match self.status {
            CallStatus::Ok => Some(false),
            CallStatus::Unknown => None,
            CallStatus::Failed | CallStatus::Refused | CallStatus::Partly => Some(true),
        }
    }

    /// Returns true if it counts tests that passed or failed.
    pub fn ran_tests(&self) -> bool {
        self.tests.is_some_and(|tests| !tests.ran_none())
    }

    /// Returns true if the result tells nothing but how many records came back.
    pub fn is_only_counted(&self) -> bool {
        let counted = self
            .result
            .as_deref()
            .filter(|result| result.ends_with(" records"));
        // `count: 6; states: 6 records`
        let count = counted
            .and_then(|result| result.rsplit(' ').nth(1))
            .unwrap_or_default();
        let says_nothing = |part: &str| {
            let key = part.split(": ").next().and_then(|key| key.split(' ').next_back());
            part.ends_with(" records")
                || part
                    .split_once(": ")
                    .is_some_and(|(key, value)| COUNTS.contains(&key) && value == count)
                || part.strip_prefix("status: ").is_some_and(says_done)
                || key.is_some_and(|key| is_bookkeeping(key) || is_run_id(key))
        };
        counted.is_some_and(|counted| counted.split([';', ',']).map(str::trim).all(says_nothing))
    }

    /// Takes over what a text among the fields of an answer tells beyond them.
    pub(super) fn add(&mut self, printed: Self) {
        if self.status == CallStatus::Unknown || self.failed() != Some(true) && printed.failed() == Some(true)
        {
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

impl Answer<'_> {
    /// The same answer with another text.
    pub(super) fn with_text<'t>(&self, text: &'t str) -> Answer<'t> {
        Answer { text, ..*self }
    }
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
