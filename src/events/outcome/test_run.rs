//! What a test runner wrote at its end: how many tests passed and failed.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::{edges, has, quote};
use crate::events::line::{cleaned, last_lines};

/// What stands before the time a run took.
static IN: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(" in "));

/// What a count is of.
static COUNTED: [LazyLock<Finder<'static>>; 3] = [
    LazyLock::new(|| Finder::new(" passed")),
    LazyLock::new(|| Finder::new(" failed")),
    LazyLock::new(|| Finder::new(" error")),
];

/// What counts of tests that failed hold.
static FAILED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(" failed"));

/// The same of other runners: `FAILED (failures=1)`, `Failures: 1`.
static FAILURES: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("ailures"));

/// Pass and fail counts of a test run, as the runner wrote them.
pub(crate) fn test_counts(body: &str) -> Option<String> {
    let (_, tail) = edges(body);
    let holds = |word: &LazyLock<Finder<'static>>| word.find(tail.as_bytes()).is_some();
    // Most outputs are none of a test run.
    let may_count = holds(&IN) && COUNTED.iter().any(holds);
    let line = last_lines(tail)
        .take(12)
        .map(without_label)
        .find(|line| may_count && is_count(line) || is_marked(line, tail))?;
    let mut counts = quote(line.trim_matches(['=', ' ']))?;
    if let Some(ran) = tail
        .lines()
        .rev()
        .find(|line| line.starts_with("Ran ") && has(line, " test"))
    {
        counts = format!("{}: {counts}", cleaned(ran));
    }
    // Of several runs, one that failed is not made good by the last one.
    if !tells_failures(&counts)
        && let Some(failing) = failing_counts(body)
    {
        counts = format!("{failing}; {counts}");
    }
    Some(counts)
}

/// A line without what a build tool writes before it.
fn without_label(line: &str) -> &str {
    let marked = line
        .strip_prefix("[ERROR] ")
        .or_else(|| line.strip_prefix("[INFO] "));
    marked.map_or(line, str::trim_start)
}

/// Whether a line is what pytest writes last: counts, and the time they took.
fn is_count(line: &str) -> bool {
    // `errors in setting` are no counts: the time comes after `in`.
    let mut times = IN
        .find_iter(line.as_bytes())
        .map(|at| line.as_bytes().get(at + 4));
    times.any(|first| first.is_some_and(u8::is_ascii_digit))
        && [" passed", " failed", " error"]
            .iter()
            .any(|word| has(line, word))
}

/// Whether a line is how another runner begins its counts.
fn is_marked(line: &str, tail: &str) -> bool {
    match line.as_bytes().first() {
        Some(b'F') => line.starts_with("FAILED (") || line.starts_with("Failed!  - Failed: "),
        Some(b't') => line.starts_with("test result: "),
        Some(b'T') => {
            line.starts_with("Tests:  ")
                || line.starts_with("Tests: ")
                    && [" passed", " failed", " Failures: "]
                        .iter()
                        .any(|word| has(line, word))
                || line.starts_with("Tests run: ")
        }
        Some(b'O') if line.starts_with("OK (") => has(line, " test"),
        Some(b'P') => line.starts_with("Passed!  - Failed: "),
        Some(b' ' | b'O') if line.len() < 9 && line.trim() == "OK" => has(tail, "Ran "),
        Some(b' ' | b'0'..=b'9') => is_of_others(line.trim_ascii_start()),
        _ => false,
    }
}

/// Whether a line is how runners tell their counts that put the number first, or blanks: mocha, rspec, ctest, vitest.
fn is_of_others(line: &str) -> bool {
    let digits = line.bytes().position(|byte| !byte.is_ascii_digit());
    let rest = digits.and_then(|digits| line.get(digits..)).unwrap_or_default();
    match rest.as_bytes() {
        _ if digits == Some(0) => {
            let counts = rest.strip_prefix("Tests  ");
            counts.is_some_and(|counts| [" passed", " failed"].iter().any(|word| has(counts, word)))
        }
        [b' ', b'p' | b'e', ..] | [b'%', ..] => {
            let told = [" passing (", " example, ", " examples, ", "% tests passed, "];
            told.iter().any(|told| rest.starts_with(told))
        }
        [b' ', b'f', ..] => rest.trim_end() == " failing",
        _ => false,
    }
}

/// The first counts in an output that tell of tests that failed.
fn failing_counts(body: &str) -> Option<String> {
    let words = [&FAILED, &FAILURES];
    let places = words.iter().filter_map(|word| {
        let mut places = word.find_iter(body.as_bytes()).map(|at| {
            let start = memchr::memrchr(b'\n', body.as_bytes().get(..at).unwrap_or_default());
            let end = memchr::memchr(b'\n', body.as_bytes().get(at..).unwrap_or_default());
            let range = start.map_or(0, |start| start + 1)..end.map_or(body.len(), |end| at + end);
            body.get(range).map(without_label).unwrap_or_default()
        });
        places.find(|line| (is_count(line) || is_marked(line, "")) && tells_failures(line))
    });
    places
        .into_iter()
        .next()
        .and_then(|line| quote(line.trim_matches(['=', ' '])))
}

/// Whether counts tell of tests that failed: `2 failed`, `Failures: 1` and `FAILED (errors=1)`, but not `0 failed` or
/// `1 xfailed`.
pub(crate) fn tells_failures(counts: &str) -> bool {
    let mut words = counts
        .split([' ', ',', ';', '=', ':', '.'])
        .filter(|word| !word.is_empty());
    let mut before = "";
    words.any(|word| {
        // `2 tests failed` are `2 failed`.
        if word == "tests" {
            return false;
        }
        let before = std::mem::replace(&mut before, word);
        if matches!(before, "Failures" | "Errors" | "Failed") {
            return word.parse::<u32>().is_ok_and(|number| number > 0);
        }
        let number = before.parse::<u32>();
        match word {
            "FAILED" | "failed" => number != Ok(0),
            "error" | "errors" | "failing" | "failure" | "failures" => number.is_ok_and(|number| number > 0),
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_of_many_runners_are_known() {
        for (output, counts, fails) in [
            (
                "x\n=== 2 failed, 3 passed in 1.0s ===",
                "2 failed, 3 passed in 1.0s",
                true,
            ),
            ("x\nTests: 3 failed, 2 passed", "Tests: 3 failed, 2 passed", true),
            (
                "[ERROR] Tests run: 5, Failures: 2, Errors: 0\n[INFO] BUILD FAILURE\nmore",
                "Tests run: 5, Failures: 2, Errors: 0",
                true,
            ),
            (
                "[INFO] Tests run: 5, Failures: 0, Errors: 0",
                "Tests run: 5, Failures: 0, Errors: 0",
                false,
            ),
            (
                "test result: ok. 3 passed; 0 failed; 0 ignored",
                "test result: ok. 3 passed; 0 failed; 0 ignored",
                false,
            ),
            (
                "2 failed, 3 passed in 0.4s\n...\n7 passed in 0.5s",
                "2 failed, 3 passed in 0.4s; 7 passed in 0.5s",
                true,
            ),
            (
                "Ran 2 tests in 0.1s\n\nFAILED (failures=1)\nRan 1 test in 0.1s\n\nOK",
                "FAILED (failures=1); Ran 1 test in 0.1s: OK",
                true,
            ),
            (
                "test result: FAILED. 1 passed; 2 failed; 0 ignored\ntest result: ok. 3 passed; 0 failed; 0 ignored",
                "test result: FAILED. 1 passed; 2 failed; 0 ignored; test result: ok. 3 passed; 0 failed; 0 ignored",
                true,
            ),
        ] {
            assert_eq!(test_counts(output).as_deref(), Some(counts));
            assert_eq!(tells_failures(counts), fails, "{counts}");
        }
        assert_eq!(test_counts("Tests: none"), None);
        for (output, fails) in [
            ("  5 passing (12ms)", false),
            ("  5 passing (12ms)\n  1 failing\n\n  1) a b", true),
            (
                "10 examples, 2 failures\n\nFailed examples:\n\nrspec ./a_spec.rb:3",
                true,
            ),
            ("1 example, 0 failures", false),
            ("100% tests passed, 0 tests failed out of 5", false),
            (
                "80% tests passed, 1 tests failed out of 5\n\nTotal Test time (real) = 0.1 sec",
                true,
            ),
            ("      Tests  3 failed | 5 passed (8)\n   Duration  1.2s", true),
            (" Test Files  2 passed (2)\n      Tests  8 passed (8)", false),
            ("OK (3 tests, 3 assertions)", false),
            ("Tests: 3, Assertions: 3, Failures: 1.", true),
            ("Failed!  - Failed:     1, Passed:     5, Skipped:     0", true),
            ("Passed!  - Failed:     0, Passed:     5, Skipped:     0", false),
        ] {
            let counts = test_counts(output).unwrap_or_default();
            assert!(counts.contains(|c: char| c.is_ascii_digit()), "{output}");
            assert_eq!(tells_failures(&counts), fails, "{counts}");
        }
        for output in [
            "3 failing tests were there",
            "12 examples of it",
            "OK",
            "  7 passing by",
            "   475\tUsed specifically for errors in setting to units",
        ] {
            assert_eq!(test_counts(output), None, "{output}");
        }
    }
}
