//! How a tool call ended, read off what came back.

pub(crate) mod envelope;
pub(crate) mod error_line;
pub(crate) mod field_line;
pub(crate) mod fields;
pub(crate) mod marked;
pub(crate) mod success;
pub(crate) mod test_run;
pub(crate) mod told;

use std::sync::LazyLock;

use memchr::memmem;

use crate::events::command::without_redirection;
use crate::events::line::{cleaned, last_lines, lines_of, shortened};
use crate::events::target::Effect;
use crate::trajectory::leaves::leaves;
use envelope::unwrapped;
use error_line::{error_line, reading_error};
use fields::outcome_of;
use marked::marked_line;
use success::says_done;
use test_run::{tells_failures, test_counts};
use told::Told;

/// How a call ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Whether it failed; `None` where nothing says so.
    pub failed: Option<bool>,
    /// Exit code, where one is told.
    pub exit_code: Option<i32>,
    /// The line that names the error.
    pub error: Option<String>,
    /// What came of it in a few words: test counts, fields, the only line.
    pub result: Option<String>,
    /// Lines that came back.
    pub lines: usize,
    /// Whether the first of them says that a change was made.
    pub says_done: bool,
    /// Whether tests ran and were counted.
    pub tests: bool,
    /// Whether the result is a line that the output marks as failed.
    pub is_marked: bool,
}

impl Outcome {
    /// Whether it failed; `None` where nothing says so.
    pub fn failed(&self) -> Option<bool> {
        self.failed
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

impl<'a, T: AsRef<str> + ?Sized> From<&'a T> for Answer<'a> {
    fn from(text: &'a T) -> Self {
        Self {
            text: text.as_ref(),
            is_error: None,
            exit_code: None,
        }
    }
}

/// Longest line taken over from an output.
pub(crate) const MAX_LINE: usize = 160;

/// Bytes at an output's start and end in which exit codes and test counts are looked for.
const EDGE: usize = 1_200;

/// Longest output that is told by its only lines, in bytes.
const MAX_SHORT: usize = 400;

/// Longest output of a line or two that is told by its beginning, in bytes.
const MAX_SENTENCE: usize = 800;

/// Programs that exit with 1 where they find nothing.
const SEARCHES: [&str; 6] = ["grep", "egrep", "fgrep", "rg", "ag", "ack"];

/// Programs that exit with 1 to say no.
const TESTS: [&str; 5] = ["diff", "cmp", "test", "[", "[["];

/// The outcome of a call from its answer. Errors that stand in what was read (`effect`) are none of the call's. Of a JSON answer the result tells the status, and what neither the call itself
/// (`target`) nor an earlier answer told already (`told`).
pub(crate) fn outcome<'a>(
    answer: impl Into<Answer<'a>>,
    effect: Effect,
    target: &str,
    told: &mut Told,
) -> Outcome {
    let answer = answer.into();
    let mut outcome = outcome_of_text(answer.text, effect, target, told);
    outcome.exit_code = answer.exit_code.or(outcome.exit_code);
    if answer.is_error == Some(true) || answer.exit_code.is_some_and(|code| code != 0) {
        outcome.failed = Some(true);
    }
    outcome
}

fn outcome_of_text(answer: &str, effect: Effect, target: &str, told: &mut Told) -> Outcome {
    let trimmed = answer.trim();
    if let Some(fields) = leaves(trimmed, 64) {
        return match unwrapped(&fields) {
            Some((printed, code)) => printed_outcome(printed.trim(), Some(code), effect, target),
            None => outcome_of(trimmed, &fields, effect, target, told),
        };
    }
    let exit_code = exit_code(trimmed, effect == Effect::Read);
    printed_outcome(trimmed, exit_code, effect, target)
}

/// How it ended by what was printed and the exit code.
fn printed_outcome(trimmed: &str, exit_code: Option<i32>, effect: Effect, target: &str) -> Outcome {
    let is_reading = effect == Effect::Read;
    let body = without_echo(body(trimmed), target);
    if body.is_empty()
        && exit_code == Some(1)
        && let Some(result) = says_no(target)
    {
        return Outcome {
            failed: Some(false),
            exit_code,
            result: Some(result.to_owned()),
            ..Outcome::default()
        };
    }
    let lines = if body.is_empty() {
        0
    } else {
        memchr::memchr_iter(b'\n', body.as_bytes()).count() + 1
    };
    let result = test_counts(body);
    let tests = result.is_some();
    let is_failed = exit_code.is_some_and(|code| code != 0);
    let error = if is_failed || !is_reading {
        // Counts of a test run tell more than whatever line stands last.
        let error = error_line(body, is_failed && result.is_none());
        let tells = |counts: &String| is_failed || tells_failures(counts);
        error.or_else(|| result.clone().filter(tells))
    } else {
        reading_error(body, lines)
    };
    let failed = match (exit_code, &error, &result) {
        (Some(code), _, _) if code != 0 => Some(true),
        (_, Some(_), _) => Some(true),
        (_, None, Some(counts)) if !is_reading && tells_failures(counts) => Some(true),
        (Some(_), None, _) => Some(false),
        _ => None,
    };
    let may_mark = result.is_none() && !is_reading && failed != Some(true);
    let marked = if may_mark { marked_line(body) } else { None };
    let is_marked = marked.is_some();
    let result = result.or(marked).or_else(|| only_line(body, lines, is_reading));
    Outcome {
        failed,
        exit_code,
        error,
        result,
        lines,
        says_done: effect == Effect::Modify && says_done(body),
        tests: tests && !is_reading,
        is_marked,
    }
}

/// The command that a call's target tells.
fn command_of(target: &str) -> Option<&str> {
    let name_end = memchr::memchr2(b' ', b'(', target.as_bytes());
    let after_name = name_end.and_then(|end| {
        let (name, command) = target.split_at_checked(end)?;
        command.strip_prefix(' ').filter(|_| name.ends_with(':'))
    });
    let command = after_name.unwrap_or(target);
    Some(command.strip_suffix(" …").unwrap_or(command)).filter(|command| command.len() > 3)
}

/// An output without its first line where that is the command once more, as some terminals have it.
fn without_echo<'a>(body: &'a str, target: &str) -> &'a str {
    let first = lines_of(body).next().unwrap_or_default();
    if first.len() >= 1_000 {
        return body;
    }
    let line = without_redirection(first);
    let Some(command) = command_of(target).filter(|command| command.contains(' ')) else {
        return body;
    };
    let before = if target.ends_with('…') {
        line.find(command).and_then(|at| line.get(..at))
    } else {
        line.strip_suffix(command)
    };
    let is_echo = before
        .map(str::trim_end)
        .is_some_and(|before| before.is_empty() || before.ends_with(['&', ';', '$', '#']));
    if is_echo {
        body.get(first.len()..)
            .unwrap_or_default()
            .trim_start_matches(['\r', '\n'])
    } else {
        body
    }
}

/// What exit code 1 without any output means where the last program of a pipe is one that says no in this way.
fn says_no(target: &str) -> Option<&'static str> {
    let command = command_of(target)?;
    if command.contains("&&") || command.contains("; ") {
        return None;
    }
    let last = command.rsplit(" | ").next().unwrap_or(command).trim_start();
    let program = last.strip_prefix("git ").unwrap_or(last).split(' ').next()?;
    match program {
        _ if SEARCHES.contains(&program) => Some("no match"),
        _ if TESTS.contains(&program) => Some("no"),
        _ => None,
    }
}

/// The output without the envelope that tells its exit code.
fn body(answer: &str) -> &str {
    let answer = match answer
        .strip_prefix("EXECUTION RESULT of")
        .and_then(|rest| rest.split_once("]:"))
    {
        Some((_, rest)) => rest.trim_start(),
        None => answer,
    };
    let start = answer.as_bytes().get(..200.min(answer.len())).unwrap_or_default();
    let inner = match OUTPUT.find(start) {
        Some(at) => answer.get(at + 8..).unwrap_or_default(),
        _ => answer,
    };
    let inner = inner.trim_end().strip_suffix("</output>").unwrap_or(inner).trim();
    without_shell_state(inner)
}

/// The output without what a shell's wrapper says of itself after it: where it is, which interpreter it has.
fn without_shell_state(output: &str) -> &str {
    let (_, tail) = edges(output);
    let starts = [
        "[The command completed with",
        "[Command finished with",
        "[Python Interpreter: ",
        "[Current working directory: ",
    ];
    let mut brackets = memchr::memchr_iter(b'[', tail.as_bytes());
    let first = brackets.find(|at| {
        tail.get(*at..)
            .is_some_and(|rest| starts.iter().any(|start| rest.starts_with(start)))
    });
    let end = first.map_or(output.len(), |at| output.len() - tail.len() + at);
    let output = output.get(..end).unwrap_or(output).trim_end();
    // SWE-agent's state ends with its prompt.
    match output
        .strip_suffix("bash-$")
        .and_then(|_| output.rsplit_once("(Open file: "))
    {
        Some((printed, _)) => printed.trim_end(),
        None => output,
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

/// The exit code where the answer tells it, at its start or its end. What was read (`is_reading`) may talk of other exit
/// codes: there only what a tool writes around an output counts.
fn exit_code(answer: &str, is_reading: bool) -> Option<i32> {
    let (head, tail) = edges(answer);
    if let Some(code) = head.strip_prefix("<returncode>") {
        return code_in(code);
    }
    // Searching from the end is slow: most outputs have no such words at all.
    let told = if CODE.find(tail.as_bytes()).is_some() {
        let mut lines = last_lines(tail).filter(|line| !line.trim().is_empty()).take(6);
        let mut plain = 2;
        lines.find_map(|line| {
            let is_bracketed = line.starts_with('[');
            if !is_bracketed {
                if is_reading || plain == 0 {
                    return None;
                }
                plain -= 1;
            }
            let says = |at: usize| {
                let before = line.get(..at).unwrap_or_default();
                ["finished with exit", "completed with exit", "exited with"]
                    .iter()
                    .any(|words| before.ends_with(words))
            };
            let at = CODE.find_iter(line.as_bytes()).filter(|at| says(*at)).last()?;
            code_in(line.get(at + CODE.needle().len()..)?)
        })
    } else {
        None
    };
    let label = |line: &str| {
        let (label, rest) = line.split_at_checked("exit code".len())?;
        let code = code_in(rest).filter(|_| label.eq_ignore_ascii_case("exit code"))?;
        let ends = line.trim_end().ends_with(|c: char| c.is_ascii_digit()) && line.len() <= 20;
        (ends || !is_reading).then_some(code)
    };
    told.or_else(|| label(lines_of(head).next()?))
        .or_else(|| label(last_lines(tail).next()?))
}

/// The number that `text` begins with, after a colon and blanks.
fn code_in(text: &str) -> Option<i32> {
    let rest = text.trim_start_matches([':', ' ']);
    let length = rest
        .bytes()
        .position(|b| !(b.is_ascii_digit() || b == b'-'))
        .unwrap_or(rest.len());
    rest.get(..length)?.parse::<i32>().ok()
}

/// What stands before the number in every sentence that tells an exit code.
static CODE: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(b" code"));

static OUTPUT: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(b"<output>"));

pub(crate) fn has(text: &str, word: &str) -> bool {
    memmem::find(text.as_bytes(), word.as_bytes()).is_some()
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
        assert_eq!((read.exit_code, read.failed), (None, None));
        let counts = "x\n2 failed, 3 passed in 1.0s";
        assert_eq!(of("read_file ci.log", counts, true).failed, None);
        assert_eq!(of("bash: pytest", counts, false).failed, Some(true));
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
            (ended.failed, ended.result.as_deref()),
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
            assert_eq!(ended.failed, Some(result.is_none()), "{target}");
        }
        let ended = of(
            "bash: grep x",
            "grep: a: No such file\n[Command finished with exit code 1]",
            true,
        );
        assert_eq!(ended.failed, Some(true));
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
