//! What a test runner wrote at its end: how many tests passed and failed.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::line::{cleaned, last_lines};
use super::outcome::{edges, has, quote};

/// What stands before the time a run took.
static IN: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(" in "));

/// What a count is of.
static COUNTED: [LazyLock<Finder<'static>>; 3] = [
    LazyLock::new(|| Finder::new(" passed")),
    LazyLock::new(|| Finder::new(" failed")),
    LazyLock::new(|| Finder::new(" error")),
];

/// Pass and fail counts of a test run, as the runner wrote them.
pub(super) fn test_counts(body: &str) -> Option<String> {
    let (_, tail) = edges(body);
    let holds = |word: &LazyLock<Finder<'static>>| word.find(tail.as_bytes()).is_some();
    // Most outputs are none of a test run.
    let may_count = holds(&IN) && COUNTED.iter().any(holds);
    let mut lines = last_lines(tail).take(12).map(|line| {
        let marked = line
            .strip_prefix("[ERROR] ")
            .or_else(|| line.strip_prefix("[INFO] "));
        marked.map_or(line, str::trim_start)
    });
    let line = lines.find(|line| {
        let has_count = may_count
            && has(line, " in ")
            && [" passed", " failed", " error"]
                .iter()
                .any(|word| has(line, word))
            && line.bytes().any(|b| b.is_ascii_digit());
        has_count
            || line.starts_with("FAILED (")
            || line.starts_with("test result: ")
            || line.starts_with("Tests:  ")
            || line.starts_with("Tests: ") && [" passed", " failed"].iter().any(|word| has(line, word))
            || line.starts_with("Tests run: ")
            || (line.len() < 9 && line.trim() == "OK" && has(tail, "Ran "))
    })?;
    let mut counts = quote(line.trim_matches(['=', ' ']))?;
    if let Some(ran) = tail
        .lines()
        .rev()
        .find(|line| line.starts_with("Ran ") && has(line, " test"))
    {
        counts = format!("{}: {counts}", cleaned(ran));
    }
    Some(counts)
}

/// Whether counts tell of tests that failed: `2 failed`, `Failures: 1` and `FAILED (errors=1)`, but not `0 failed` or
/// `1 xfailed`.
pub(super) fn tells_failures(counts: &str) -> bool {
    let mut words = counts
        .split([' ', ',', ';', '=', ':'])
        .filter(|word| !word.is_empty());
    let mut before = "";
    words.any(|word| {
        let before = std::mem::replace(&mut before, word);
        if matches!(before, "Failures" | "Errors") {
            return word.parse::<u32>().is_ok_and(|number| number > 0);
        }
        let number = before.parse::<u32>();
        match word {
            "FAILED" | "failed" => number != Ok(0),
            "error" | "errors" => number.is_ok_and(|number| number > 0),
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
        ] {
            assert_eq!(test_counts(output).as_deref(), Some(counts));
            assert_eq!(tells_failures(counts), fails, "{counts}");
        }
        assert_eq!(test_counts("Tests: none"), None);
    }
}
