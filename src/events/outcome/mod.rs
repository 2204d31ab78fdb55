//! How a tool call ended, read off what came back.

pub(crate) mod envelope;
pub(crate) mod error_line;
pub(crate) mod field_line;
pub(crate) mod fields;
mod printed;
pub(crate) mod success;
pub(crate) mod told;

use crate::events::line::{cleaned, lines_of, shortened};
use crate::events::target::Effect;
use crate::knowledge::errors::{Kind, says_done};
use crate::knowledge::results::{Kind as ResultKind, results, shows_documents};
use crate::knowledge::runners::{Diagnostics, TestCounts, diagnostics, test_run};
use crate::trajectory::leaves::leaves;
use envelope::{longest_text, unwrapped};
use error_line::{both_edges, error_of, marked_line, reading_error};
use fields::outcome_of;
use printed::{body, exit_code, says_no, without_echo};
use told::Told;

/// Whether a call did what was asked.
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

/// What a status was read off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Basis {
    /// A flag of the record: `is_error`.
    Flag,
    ExitCode,
    /// A field of a JSON answer.
    Field,
    /// What the answer says.
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
    /// What came of it in a few words: test counts, fields, hits, the only line.
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
    /// Whether it failed; `None` where nothing says so.
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

/// What came back for a call.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Answer<'a> {
    pub text: &'a str,
    /// What the record says of it beside its text: `is_error`, `isError`.
    pub is_error: Option<bool>,
    /// The exit code that the record says beside its text: `details.exitCode`.
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

/// Longest output that is told by its only lines, in bytes.
const MAX_SHORT: usize = 400;

/// Longest output of a line or two that is told by its beginning, in bytes.
const MAX_SENTENCE: usize = 800;

/// The outcome of a call from its answer. Errors that stand in what was read (`effect`) are none of the call's. Of a JSON answer the result tells the status, and what neither the call itself
/// (`target`) nor an earlier answer told already (`told`).
pub(crate) fn outcome<'a>(
    answer: impl Into<Answer<'a>>,
    effect: Effect,
    target: &str,
    told: &mut Told,
) -> Outcome {
    let answer = answer.into();
    let trimmed = answer.text.trim();
    let Some(fields) = leaves(trimmed, 64) else {
        let exit_code = answer
            .exit_code
            .or_else(|| exit_code(trimmed, effect == Effect::Read));
        return of_printed(trimmed, exit_code, answer.is_error, effect, target);
    };
    if let Some((printed, code)) = unwrapped(&fields) {
        return of_printed(
            printed.trim(),
            answer.exit_code.or(Some(code)),
            answer.is_error,
            effect,
            target,
        );
    }
    let mut ended = outcome_of(trimmed, &fields, effect, target, told);
    if let Some(printed) = longest_text(&fields) {
        let printed = printed.trim();
        ended.add(of_printed(
            printed,
            exit_code(printed, effect == Effect::Read),
            None,
            effect,
            target,
        ));
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

/// How it ended by what was printed, the exit code and the flag of the record.
fn of_printed(
    trimmed: &str,
    exit_code: Option<i32>,
    is_error: Option<bool>,
    effect: Effect,
    target: &str,
) -> Outcome {
    let body = without_echo(body(trimmed), target);
    let (head, tail) = both_edges(body);
    let lines = if body.is_empty() {
        0
    } else {
        memchr::memchr_iter(b'\n', body.as_bytes()).count() + 1
    };
    let told = ToldResults::of(head, tail);
    let tool = target.split(['(', ' ', ':']).next().unwrap_or_default();
    let is_reading = effect == Effect::Read || told.page.is_some() || shows_documents(tool);
    let no = says_no(target).filter(|(_, prints)| exit_code == Some(1) && (*prints || body.is_empty()));
    let is_failed = is_error == Some(true) || no.is_none() && exit_code.is_some_and(|code| code != 0);
    let edge = if tail.is_empty() {
        0..body.len()
    } else {
        body.len() - tail.len()..body.len()
    };
    let run = test_run(body, edge);
    let counts = run
        .as_ref()
        .and_then(|run| quote(&run.lines.join(", ").replace('=', " ").trim()));
    let tests = run
        .as_ref()
        .map(|run| run.counts)
        .filter(|counts| !is_reading && *counts != TestCounts::default());
    let diagnostics = if is_reading || tests.is_some() {
        None
    } else {
        diagnostics(body, [head, tail])
    };
    let fails = |counts: TestCounts| counts.fails();
    let tests_fail = tests.is_some_and(fails);
    let does_not_compile = diagnostics.as_ref().is_some_and(|found| found.errors > 0);
    let mut found = if is_failed || !is_reading {
        error_of(body, is_failed && counts.is_none())
    } else {
        reading_error(body, lines)
    };
    // A search may find any text, and what a page or a flag says outranks it.
    if is_error == Some(false) && !is_failed || !is_failed && told.hits.is_some() || is_passed(tests) {
        found = None;
    }
    let first = if tests_fail {
        let failing = run.as_ref().and_then(|run| quote(run.failing?));
        failing
            .or_else(|| Some(found.as_ref()?.line.clone()))
            .or_else(|| counts.clone())
    } else if does_not_compile {
        diagnostics
            .as_ref()
            .and_then(|found| quote(found.first.as_deref()?))
    } else {
        None
    };
    let is_refused = found.as_ref().is_some_and(|found| found.kind == Kind::Refusal);
    let is_part = found.as_ref().is_some_and(|found| found.is_part);
    let how = match () {
        () if tests_fail || does_not_compile => Status::Failed,
        () if is_refused => Status::Refused,
        () if is_part => Status::Partly,
        () => Status::Failed,
    };
    let says_done = effect == Effect::Modify && says_done(body);
    let by_text = tests_fail || does_not_compile || found.as_ref().is_some_and(|found| found.kind.fails());
    let (status, basis) = match (is_error, exit_code) {
        (Some(true), _) => (how, Basis::Flag),
        (_, Some(code)) if is_failed && code != 0 => (how, Basis::ExitCode),
        _ if by_text => (how, Basis::Text),
        (_, Some(_)) => (Status::Ok, Basis::ExitCode),
        (Some(false), _) => (Status::Ok, Basis::Flag),
        _ if tests.is_some() || says_done || told.done.is_some() || told.hits.is_some() => {
            (Status::Ok, Basis::Text)
        }
        _ => (Status::Unknown, Basis::None),
    };
    let failed = matches!(status, Status::Failed | Status::Refused | Status::Partly);
    let error = if failed {
        first.or_else(|| found.map(|found| found.line))
    } else {
        None
    };
    let marked = if counts.is_none() && !is_reading && !failed {
        marked_line(body)
    } else {
        None
    };
    let is_marked = marked.is_some();
    let no = no.map(|(says, _)| says.to_owned());
    let result = counts
        .or_else(|| diagnostics.as_ref().and_then(counted))
        .or(no)
        .or_else(|| told.line())
        .or(marked)
        .or_else(|| only_line(body, lines, is_reading));
    Outcome {
        status,
        basis,
        exit_code,
        error,
        result,
        tests,
        diagnostics,
        lines,
        first_hit: first_hit(target, body),
        says_done,
        is_marked,
    }
}

/// Whether tests ran, and none failed.
fn is_passed(tests: Option<TestCounts>) -> bool {
    tests.is_some_and(|counts| counts.passed.is_some_and(|passed| passed > 0) && !counts.fails())
}

/// What the lines near an output's ends say came of a call.
#[derive(Default)]
struct ToldResults<'t> {
    done: Option<&'t str>,
    hits: Option<&'t str>,
    page: Option<&'t str>,
    address: Option<&'t str>,
}

impl<'t> ToldResults<'t> {
    fn of(head: &'t str, tail: &'t str) -> Self {
        let mut told = Self::default();
        for (kind, said) in results(head).chain(results(tail)) {
            let place = match kind {
                ResultKind::Done => &mut told.done,
                ResultKind::Hits => &mut told.hits,
                ResultKind::Page => &mut told.page,
                ResultKind::Address => &mut told.address,
            };
            place.get_or_insert(said);
        }
        told
    }

    fn line(&self) -> Option<String> {
        match (self.done.or(self.hits).or(self.page), self.address) {
            (Some(told), Some(address)) => quote(&format!("{told}, {address}")),
            (told, address) => quote(told.or(address)?),
        }
    }
}

/// What a compiler counted: its own line, or the numbers.
fn counted(found: &Diagnostics) -> Option<String> {
    if let Some(summary) = &found.summary {
        return quote(summary);
    }
    let count = |number: u32, unit: &str| match number {
        0 => None,
        1 => Some(format!("1 {unit}")),
        // A number of three digits would be an identifier that stands nowhere in the region.
        2..100 => Some(format!("{number} {unit}s")),
        _ => Some(format!("99+ {unit}s")),
    };
    let counts = [count(found.errors, "error"), count(found.warnings, "warning")];
    let counts = counts.into_iter().flatten().collect::<Vec<String>>().join(", ");
    match (&found.first, found.errors) {
        (Some(first), 0) => quote(&format!("{counts}: {first}")),
        _ => Some(counts),
    }
}

/// The first hit of a search that prints a line for each.
fn first_hit(target: &str, body: &str) -> Option<String> {
    says_no(target).filter(|(_, prints)| !prints)?;
    quote(lines_of(body).find(|line| !line.trim().is_empty())?)
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

/// The only line of a short output, or two of them; of a longer one its beginning, unless it is what was read.
fn only_line(body: &str, lines: usize, is_reading: bool) -> Option<String> {
    if body.len() > MAX_SHORT {
        let is_sentence = body.len() <= MAX_SENTENCE && lines <= 2 && !is_reading;
        return if is_sentence { quote(body) } else { None };
    }
    let told = lines_of(body).filter(|line| !line.trim().is_empty());
    if told.take(3).count() > 2 {
        return None;
    }
    quote(body)
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
        assert_eq!((read.exit_code, read.failed()), (None, None));
        let counts = "x\n2 failed, 3 passed in 1.0s";
        assert_eq!(of("read_file ci.log", counts, true).failed(), None);
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
