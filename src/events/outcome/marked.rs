//! Lines that a script of somebody's own marked as something that failed: `✗ No match`, `[FAIL] reads`, `reads: FAIL`.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::error_line::both_edges;
use super::quote;
use crate::events::line::lines_of;

/// What every mark in capitals holds.
static FAIL: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("FAIL"));

/// TAP's mark.
static NOT_OK: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("not ok "));

/// The first line near an output's start or end that a script itself marked as one of something that failed. That may be an
/// error or just what it was to show.
pub(crate) fn marked_line(body: &str) -> Option<String> {
    let (head, tail) = both_edges(body);
    // Most outputs have nothing that begins as a cross does.
    let may_mark = |text: &str| {
        let text = text.as_bytes();
        memchr::memchr(CROSS, text).is_some() || FAIL.find(text).is_some() || NOT_OK.find(text).is_some()
    };
    if !may_mark(head) && !may_mark(tail) {
        return None;
    }
    let mut lines = lines_of(head).chain(lines_of(tail)).take(60);
    lines.find(|line| marks_failure(line)).and_then(quote)
}

/// Whether a line begins with a cross or TAP's `not ok`, or begins or ends with `FAIL`.
pub(crate) fn marks_failure(line: &str) -> bool {
    let bare = line.trim_ascii();
    let starts = ["FAIL ", "FAILED ", "[FAIL]", "[FAILED]", "not ok "];
    is_crossed(bare)
        || [" FAIL", " FAILED"].iter().any(|end| bare.ends_with(end))
        || starts.iter().any(|start| bare.starts_with(start)) && !counts_none(bare)
}

/// Whether the second word of a line is a zero: `FAIL: 0`, `FAILED 0/12`.
pub(crate) fn counts_none(line: &str) -> bool {
    let count = line.split_ascii_whitespace().nth(1).unwrap_or_default();
    count.split(['/', ',', ';']).next() == Some("0")
}

/// What every cross begins with.
const CROSS: u8 = 0xe2;

/// Whether a line begins with a cross.
fn is_crossed(line: &str) -> bool {
    let line = line.trim_ascii_start();
    line.as_bytes().first() == Some(&CROSS) && line.starts_with(['✗', '✘', '❌'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_is_marked_before_it_or_behind_it() {
        for line in [
            "  ✗ no match: expected",
            "FAIL test_reads",
            "FAILED tests/test_io.py::test_reads - assert 1 == 2",
            "[FAIL] reads",
            "test_reads ... FAIL",
            "FAIL 2",
            "not ok 3 - reads",
        ] {
            let output = ["PASS one", line, "PASS two"].join("\n");
            assert_eq!(marked_line(&output), quote(line), "{line}");
        }
        for line in [
            "FAIL 0",
            "FAILED 0/12",
            "PASS FAIL_FAST",
            "FAILSAFE on",
            "no FAIL here",
        ] {
            assert_eq!(marked_line(line), None, "{line}");
        }
    }
}
