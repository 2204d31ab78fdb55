//! Lines that tell of an error, and lines that tell that something was not allowed to happen.

use crate::events::line::cleaned;
use crate::events::outcome::error_line::refuses;
use crate::events::outcome::marked::marks_failure;

/// What an error line's first word ends with.
const ERROR_WORDS: [&str; 9] = [
    "Error",
    "ERROR",
    "error",
    "Exception",
    "FAILED",
    "FAIL",
    "FATAL",
    "fatal",
    "panic",
];

/// What stands in a line that says that something was not done.
const REFUSALS: [&str; 15] = [
    "blocked",
    "permission denied",
    "access denied",
    "not permitted",
    "not allowed",
    "not authorized",
    "unauthorized",
    "forbidden",
    "requires approval",
    "rejected",
    "timed out",
    "timeout",
    "cancelled",
    "aborted",
    "interrupted",
];

/// Longest first word of an error line.
const MAX_WORD: usize = 80;

/// Longest place of an error, `src/x.py:3:5`, in bytes.
const MAX_PLACE: usize = 160;

/// Levels of a log's lines that tell of an error, and how many bytes are looked at for them.
const LEVELS: [&str; 3] = ["ERROR", "FATAL", "CRITICAL"];
const MAX_LEVEL: usize = 80;

/// Longest line in which an error is looked for anywhere but at its start, and in which a refusal is looked for.
const MAX_LINE: usize = 400;

/// Whether a line tells of an error: `ValueError: …`, `error[E0308]: …`, `FAILED tests/…`, `x.c:3: error: …`,
/// `bash: foo: command not found`, `thread 'main' panicked at …`.
pub fn is_error_line(line: &str) -> bool {
    let mut line = line.trim_start();
    while let Some((_, rest)) = line.strip_prefix("\u{1b}[").and_then(|rest| rest.split_once('m')) {
        line = rest.trim_start();
    }
    let marks = ["E ", "| ", "Uncaught ", "Caused by: "];
    let unmarked = marks.iter().find_map(|mark| line.strip_prefix(mark));
    let line = unmarked.map_or(line, str::trim_start).trim_end();
    if names_error(line) || located(line).is_some_and(names_error) || is_logged_error(line) {
        return true;
    }
    let has = |words: &str| memchr::memmem::find(line.as_bytes(), words.as_bytes()).is_some();
    line.len() <= MAX_LINE
        && (refuses(line)
            || marks_failure(line)
            || line == "Killed"
            || has(": error")
            || has(" panicked at")
            || has("Segmentation fault")
            || has("command not found: ")
            || line.ends_with("command not found")
            || line.ends_with("No such file or directory"))
}

/// Whether a line's first word is an error's name or label, and something follows; or it is nothing but such a name.
fn names_error(line: &str) -> bool {
    let end = line
        .bytes()
        .take(MAX_WORD)
        .position(|byte| matches!(byte, b' ' | b'\t' | b':' | b'(' | b'['))
        .unwrap_or_else(|| line.len().min(MAX_WORD));
    let word = line.get(..end).unwrap_or_default();
    let follows = line.get(end..).unwrap_or_default();
    let is_named = ERROR_WORDS.iter().any(|error| word.ends_with(error));
    if follows.is_empty() {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
        let is_name = word.len() > "Exception".len() && word.bytes().all(is_part);
        return is_name && (word.ends_with("Error") || word.ends_with("Exception"));
    }
    is_named && follows.len() > 2 && !follows.starts_with(" as ") && !is_prose(word, follows)
}

/// What a line says after the place that it begins with (`x.py:3: …`); a search that shows a line of a file has no space there.
fn located(line: &str) -> Option<&str> {
    let start = line.as_bytes().get(..line.len().min(MAX_PLACE))?;
    let (place, said) = line.split_at_checked(memchr::memmem::find(start, b": ")?)?;
    let number = place.rsplit(':').next()?;
    let is_place = place.len() > number.len()
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && !place.contains(' ');
    let said = said.get(2..)?;
    (is_place && !said.starts_with(' ')).then_some(said)
}

/// Whether a line of a log, which begins with a date or a time, is of the level of errors.
fn is_logged_error(line: &str) -> bool {
    let line = line.strip_prefix('[').unwrap_or(line).as_bytes();
    let is_digit = |at: usize| line.get(at).is_some_and(u8::is_ascii_digit);
    let is_time = is_digit(0)
        && is_digit(1)
        && (line.get(2) == Some(&b':') && is_digit(3) || is_digit(3) && line.get(4) == Some(&b'-'));
    let start = line.get(..line.len().min(MAX_LEVEL)).unwrap_or_default();
    is_time
        && LEVELS.iter().any(|level| {
            memchr::memmem::find(start, level.as_bytes()).is_some_and(|at| {
                let is_letter = |at: usize| {
                    line.get(at)
                        .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
                };
                !is_letter(at - 1) && !is_letter(at + level.len())
            })
        })
}

/// Whether an error's name only stands in a sentence: `ValueError if the value is negative.`
fn is_prose(word: &str, follows: &str) -> bool {
    let is_name = word.ends_with("Error") || word.ends_with("Exception");
    let is_message = [":", " [", " while "]
        .iter()
        .any(|next| follows.starts_with(next));
    is_name && !matches!(word, "Error" | "Exception") && !is_message
}

/// How many lines of a text tell of an error. In a line that stands for an output these are told after a semicolon.
pub fn error_lines(text: &str) -> usize {
    let is_told = |line: &str| {
        is_error_line(line) || (line.starts_with('[') && line.split("; ").skip(1).any(is_error_line))
    };
    text.lines().filter(|line| is_told(line)).count()
}

/// The first line at an output's ends that says that something was blocked, denied, or given up.
pub(super) fn refusal(text: &str) -> Option<String> {
    let told = |line: &&str| !line.trim().is_empty();
    let head = text.lines().filter(told).take(2);
    let tail = text.lines().rev().filter(told).take(2);
    let mut ends = head.chain(tail).filter(|line| line.len() <= MAX_LINE);
    let refuses = |line: &&str| {
        let line = line.to_ascii_lowercase();
        REFUSALS.iter().any(|words| line.contains(words))
    };
    ends.find(refuses).map(cleaned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_lines_are_told_from_talk_about_errors() {
        for line in [
            "ValueError: bad",
            "E   AssertionError: assert 1 == 2",
            "error[E0308]: mismatched types",
            "src/x.c:3:1: error: expected ';'",
            "src/a.ts(3,4): error TS2304: Cannot find name",
            "FAILED tests/test_x.py::test_y - assert",
            "\u{1b}[31mERROR: no\u{1b}[0m",
            "bash: foo: command not found",
            "thread 'main' panicked at src/main.rs:3:5:",
            "java.lang.NullPointerException: null",
            "npm ERR! code: error 1 : error",
            "FAIL\tpkg/b\t0.1s",
            "--- FAIL: TestB (0.00s)",
            "make: *** [all] Error 2",
            "E: Unable to locate package x",
            "Hunk #1 FAILED at 3.",
            "Tests: 3 failed, 2 passed",
            "[ERROR] Tests run: 5, Failures: 2, Errors: 0",
            "Permission denied: /etc/app.conf",
            "No replacement was performed, old_str `x` did not appear verbatim in /a/b.py.",
            "src/x.py:1: SyntaxError: invalid syntax",
            "C:\\x\\y.py:1:5: SyntaxError: invalid syntax",
            "2024-01-01 12:00:00,123 ERROR module: failed to connect",
            "[12:00:01] [FATAL] no disk",
            "Uncaught ReferenceError: x is not defined",
            "Caused by: java.io.IOException: bad",
            "  | ValueError: in a group",
            "x.sh: line 3: 77 Segmentation fault (core dumped) ./a",
            "zsh: command not found: foo",
            "not ok 3 - adds",
            "[FAIL] adds",
            "adds ... FAILED",
            "Killed",
            "AssertionError",
            "E   django.core.exceptions.ValidationError",
        ] {
            assert!(is_error_line(line), "{line}");
        }
        for line in [
            "an error occurred",
            "except ValueError as e:",
            "raise ValueError(x)",
            "",
            "error",
            "Error",
            "0 errors",
            "-> AssertionError",
            "Killed it",
            "ValueError if the value is negative.",
            "Tests: 0 failed, 2 passed",
            "src/x.py:12:    ValueError: If it is negative.",
            "src/x.py:12: def f(error): ...",
            "2024-01-01 12:00:00 INFO no MAX_ERRORS",
            "12 ERROR x",
            "2024-",
            ":3: ",
        ] {
            assert!(!is_error_line(line), "{line}");
        }
    }

    #[test]
    fn refusals_stand_at_the_ends() {
        assert_eq!(
            refusal("\nCommand BLOCKED by policy\nx\ny\nz"),
            Some("Command BLOCKED by policy".to_owned())
        );
        assert_eq!(refusal("a\nb\nnot allowed\nc\nd"), None);
        assert_eq!(refusal(""), None);
    }
}
