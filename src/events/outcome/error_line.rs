//! The line of an output that names an error, or says that something was refused.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::text::{MAX_SHORT, edges, quote};
use crate::events::line::{last_lines, lines_of};
use crate::knowledge::errors::{ErrorKind, ErrorLine, is_tool_error, lines};
use crate::knowledge::found::LiteralHits as Literals;
use crate::knowledge::reading::kind_of;

static TRACEBACK: LazyLock<Finder<'static>> =
    LazyLock::new(|| Finder::new("Traceback (most recent call last)"));

/// Lines that are told of a search for texts at most.
const MAX_FOUND: usize = 40;

/// A line that tells of an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedError {
    pub line: String,
    pub kind: ErrorKind,
    /// The output reports partial success as well.
    pub is_part: bool,
}

impl NamedError {
    pub fn new(line: String, kind: ErrorKind) -> Self {
        Self {
            line,
            kind,
            is_part: false,
        }
    }
}

/// The error of a call that ran or changed something: a traceback's last line, or a line that an error text is in.
/// `is_failed` says that the exit code tells so already; then a marked line or the last one will do.
/// `near` are the lines near its ends that say something.
pub(crate) fn error_of(body: &str, near: &[Vec<ErrorLine<'_>>; 2], is_failed: bool) -> Option<NamedError> {
    if body.is_empty() {
        return None;
    }
    if let Some(line) = of_traceback(body) {
        return Some(NamedError::new(line, ErrorKind::Error));
    }
    let [head, tail] = near;
    let mut all = head.iter().chain(tail).copied();
    let fails = |said: &ErrorLine<'_>| said.kind.fails();
    let fails_anywhere = |said: &ErrorLine<'_>| fails(said) && said.is_anywhere;
    let known = all.clone().find(|said| said.kind == ErrorKind::Refusal);
    let known = known
        .or_else(|| head.iter().copied().find(fails_anywhere))
        .or_else(|| tail.iter().copied().find(fails_anywhere))
        .or_else(|| all.clone().find(fails));
    if let Some(ErrorLine { kind, line, .. }) = known {
        let is_part = all.any(|said| said.line.starts_with("Hunk #")) && is_patched_in_part(body);
        return Some(NamedError {
            line: quote(&whole(line, body))?,
            kind,
            is_part,
        });
    }
    if let Some(found) = labelled(body) {
        return Some(NamedError {
            kind: ErrorKind::Error,
            ..found
        });
    }
    if !is_failed {
        return None;
    }
    let told = all.find(|said| said.kind != ErrorKind::NoMatch);
    let told = told.map(|said| said.line);
    let last = || last_lines(edges(body).1).find(|line| line.len() > 3 && says_anything(line));
    Some(NamedError::new(quote(told.or_else(last)?)?, ErrorKind::Error))
}

/// Lines of what the caller of a tool says at most: a log may begin so.
const MAX_ERROR_LINES: usize = 8;

/// The error of a call that read something: errors in what was read are none of its own, unless one is all that came back.
pub(crate) fn reading_error(body: &str, lines: usize) -> Option<NamedError> {
    if lines_of(body).next().is_some_and(is_label) {
        return labelled(body).filter(|found| found.kind.fails());
    }
    let first = lines_of(body).next().unwrap_or_default();
    if lines <= MAX_ERROR_LINES && is_tool_error(first) {
        return Some(NamedError::new(quote(first)?, ErrorKind::Error));
    }
    if lines != 1 || body.len() > MAX_SHORT {
        return None;
    }
    let kind = kind_of(body).filter(|kind| kind.fails())?;
    // A line of a file that was found names errors, too.
    let is_own = kind != ErrorKind::Error
        || ["Error: ", "ERROR: ", "error: ", "Error from server"]
            .iter()
            .any(|start| body.starts_with(start));
    is_own.then(|| Some(NamedError::new(quote(body)?, kind)))?
}

/// The first line near an output's start or end that a script itself marked as one of something that failed. That may be an
/// error or just what it was to show.
pub(crate) fn marked_line(near: &[Vec<ErrorLine<'_>>; 2]) -> Option<String> {
    let mut near = near.iter().flatten();
    quote(near.find(|said| said.kind == ErrorKind::Mark)?.line)
}

/// The first lines near an output's start and end that say something.
pub(crate) fn near_lines<'t>(near: &[Literals<'t>; 2], call: &str) -> [Vec<ErrorLine<'t>>; 2] {
    near.each_ref()
        .map(|found| lines(found, call).take(MAX_FOUND).collect())
}

/// Returns true if a line says that something was refused, or that what it was about is not there.
pub(crate) fn refuses(line: &str) -> bool {
    matches!(kind_of(line), Some(ErrorKind::Refusal | ErrorKind::NotFound))
}

/// Returns true if `patch` says that some hunks or files went in, and others did not.
fn is_patched_in_part(body: &str) -> bool {
    let files = body.matches("patching file ").count();
    let failed = body.matches(" FAILED -- saving").count();
    let some_failed = |line: &str| {
        let (failed, rest) = line.split_once(" out of ")?;
        let (all, _) = rest.split_once(" hunk")?;
        Some(failed.parse::<u32>().ok()? < all.parse().ok()?)
    };
    files > failed.max(1) || files > 0 && lines_of(body).any(|line| some_failed(line) == Some(true))
}

/// A line, with what follows the end of a quotation that goes on in the next lines.
fn whole<'t>(line: &'t str, body: &str) -> Cow<'t, str> {
    if line.matches('`').count().is_multiple_of(2) {
        return Cow::Borrowed(line);
    }
    let rest = body.split_once(line).and_then(|(_, after)| {
        let (_, rest) = after.split_once('`')?;
        lines_of(rest).next()
    });
    match rest {
        Some(rest) => Cow::Owned(format!("{line} …`{rest}")),
        None => Cow::Borrowed(line),
    }
}

fn names_error(line: &str) -> bool {
    kind_of(line).is_some_and(ErrorKind::fails)
}

/// The start and the end of an output; a short one is all start, so that nothing is looked at twice.
pub(crate) fn both_edges(body: &str) -> (&str, &str) {
    let (head, tail) = edges(body);
    if body.len() <= head.len() + tail.len() {
        (body, "")
    } else {
        (head, tail)
    }
}

/// The last line of the last traceback, or that it was cut off before.
pub(super) fn of_traceback(body: &str) -> Option<String> {
    // Searching from the end is slow, and most outputs have none.
    let at = TRACEBACK.find_iter(body.as_bytes()).last()?;
    if let Some(line) = of_notebook(body, at) {
        return Some(line);
    }
    let traceback = body.get(at..)?;
    let mut lines = lines_of(traceback).skip(1);
    let is_whole = lines
        .next()
        .is_some_and(|line| line.trim_start().starts_with("File \""));
    let last_step = memchr::memmem::rfind(traceback.as_bytes(), STEP.as_bytes()).map_or(0, |at| at + 1);
    let mut ends = lines_of(traceback.get(last_step..)?)
        .skip(1)
        .filter(|line| !line.starts_with([' ', '\t']) && !line.trim().is_empty());
    let end = match ends.next() {
        Some(line) if names_exception(line) => Some(line),
        // What a script wrote meanwhile stands before the error, too.
        Some(_) => ends.find(|line| names_exception(line) && names_error(line)),
        None => None,
    };
    match end {
        Some(line) => quote(line),
        None if is_whole => Some("Traceback, cut".to_owned()),
        None => None,
    }
}

/// The start of a step in a traceback.
const STEP: &str = "\n  File \"";

/// If a line begins as the last one of a traceback does: `ValueError: 3`, `KeyboardInterrupt`, `requests.exceptions.Timeout: x`.
fn names_exception(line: &str) -> bool {
    let name = line
        .split_once(": ")
        .map_or(line.trim_end_matches(':'), |(name, _)| name);
    name.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && name.ends_with(|last: char| last.is_alphanumeric() || matches!(last, '_' | ']'))
        && !name.contains(char::is_whitespace)
}

pub(super) fn says_anything(line: &str) -> bool {
    line.contains(char::is_alphanumeric)
}

/// The error of a notebook's traceback, which names it before the words at `at`, and again at its end.
fn of_notebook(body: &str, at: usize) -> Option<String> {
    let before = body.get(..at)?;
    let start = memchr::memrchr(b'\n', before.as_bytes()).map_or(0, |newline| newline + 1);
    let name = before.get(start..)?.trim();
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    if name.is_empty() || !name.bytes().all(is_name) {
        return None;
    }
    let is_told = |line: &&str| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(':'));
    let last = last_lines(body.get(at..)?).find(is_told);
    quote(last.unwrap_or(name))
}

/// Returns true if a line is nothing but `ERROR:`.
fn is_label(line: &str) -> bool {
    matches!(line.trim(), "ERROR:" | "Error:" | "error:" | "### Error")
}

/// A line near an output's start that is nothing but `ERROR:`, with the one after it, or that one alone where it says so itself.
fn labelled(body: &str) -> Option<NamedError> {
    let mut lines = lines_of(edges(body).0).skip_while(|line| !is_label(line));
    let label = lines.next()?.trim();
    let next = edges(lines.find(|line| !line.trim().is_empty())?).0;
    match kind_of(next).filter(|kind| kind.fails()) {
        Some(kind) => Some(NamedError::new(quote(&whole(next, body))?, kind)),
        None => Some(NamedError::new(
            quote(&format!("{label} {next}"))?,
            ErrorKind::Mention,
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_line(body: &str, is_failed: bool) -> Option<String> {
        let (head, tail) = both_edges(body);
        let near = near_lines(&[head, tail].map(Literals::read), "");
        error_of(body, &near, is_failed).map(|found| found.line)
    }

    fn reading_error(body: &str, lines: usize) -> Option<String> {
        super::reading_error(body, lines).map(|found| found.line)
    }

    #[test]
    fn refusals_are_errors() {
        for line in [
            "Permission denied: /etc/app.conf",
            "No replacement was performed, old_str `x` did not appear verbatim in /a/b.py.",
            "rm: cannot remove '/var/lock/app.lock': Operation not permitted",
            "Invalid `path` parameter: /a/c.py. File already exists.",
            "make: *** [all] Error 2",
            "make[1]: *** [all] Error 2",
            "E: Unable to locate package x",
            "Hunk #1 FAILED at 3.",
            "FAIL\tpkg/b\t0.1s",
            "--- FAIL: TestB (0.00s)",
            "Tests: 3 failed, 2 passed",
            " ! [rejected] main -> main (non-fast-forward)",
            "ValueError: bad",
            "error[E0308]: mismatched types",
            "E   AssertionError",
            "ImportError while loading conftest '/w/conftest.py'.",
            "FAILED: unhashable type",
            "collecting ... ERROR: file or directory not found: a.py",
            "Command blocked by policy",
            "<tool_use_error>File has not been read yet</tool_use_error>",
            "String to replace not found in file.",
            "The user denied this operation.",
            "File src/b.py not found",
        ] {
            assert_eq!(
                error_line(line, false).as_deref(),
                quote(line).as_deref(),
                "{line}"
            );
        }
        for line in [
            "ValueError if the value is negative.",
            "django.core.exceptions.ValidationError if the data can't be converted.",
            "we cannot: no",
            "Tests: 0 failed, 2 passed",
            "Tests: 0 failed",
            "Hunk #1 succeeded at 3.",
            "raise ValueError(x)",
            "npm run build",
            "File src/b.py was found",
            "FAILED tests were none",
            "✗ no match: expected",
        ] {
            assert_eq!(error_line(line, false), None, "{line}");
        }
    }

    #[test]
    fn a_label_alone_takes_the_next_line() {
        let answer = "ERROR:\nInvalid `path` parameter: /a/c.py. File already exists.";
        let expected = "Invalid `path` parameter: /a/c.py. File already exists.";
        assert_eq!(error_line(answer, false).as_deref(), Some(expected));
        assert_eq!(reading_error(answer, 2).as_deref(), Some(expected));
        assert_eq!(
            error_line("x\nError:\n\n  no\ny", false).as_deref(),
            Some("Error: no")
        );
        assert_eq!(error_line("ERROR:", false), None);
        assert_eq!(reading_error("ERROR:\none\ntwo", 3), None);
        assert_eq!(reading_error("ERROR: one\nValueError: two", 2), None);
        assert_eq!(
            reading_error("Error: File not found", 1).as_deref(),
            Some("Error: File not found")
        );
    }

    #[test]
    fn a_notebook_tells_its_error_at_the_end() {
        let mut output = "-----\nRuntimeError      Traceback (most recent call last)\nCell In[1], line 1\n----> 1 x()\n\nFile a.py:3, in x()\n".to_owned();
        assert_eq!(error_line(&output, false).as_deref(), Some("RuntimeError"));
        output.push_str("\nRuntimeError: no such thing\n");
        assert_eq!(
            error_line(&output, false).as_deref(),
            Some("RuntimeError: no such thing")
        );
    }

    #[test]
    fn a_ruling_is_no_error() {
        let drawn = "Traceback (most recent call last):\n  File \"a.py\", line 3, in x\n    y()\n======\nTest: one\n    raise y\nRuntimeError: Settings already configured.\n";
        let expected = Some("RuntimeError: Settings already configured.");
        assert_eq!(error_line(drawn, true).as_deref(), expected);
        let last = "no space left\n-----";
        assert_eq!(error_line(last, true).as_deref(), Some("no space left"));
    }

    #[test]
    fn a_count_of_none_is_no_error() {
        assert_eq!(error_line("PASS: 5\nFAIL: 0", false), None);
        assert_eq!(error_line("PASS: 5\nFAIL: 2", false).as_deref(), Some("FAIL: 2"));
    }

    #[test]
    fn words_that_a_script_prints_meanwhile_are_no_error() {
        let between = "Traceback (most recent call last):\n  File \"a.py\", line 9, in <module>\nMade the folder: /tmp/x\n    make()\n  File \"a.py\", line 2, in make\n    open(path)\nFileNotFoundError: [Errno 2] No such file: 'x'\n";
        let expected = "FileNotFoundError: [Errno 2] No such file: 'x'";
        assert_eq!(error_line(between, true).as_deref(), Some(expected));
        let cut = "The server failed: Traceback (most recent call last):\n  File \"a.py\", line 9, in <mod\n\nRemoving /tmp/x\nAll done.\n";
        assert_eq!(error_line(cut, false).as_deref(), Some("Traceback, cut"));
        let wrapped = "Traceback (most recent call last):\n  File \"a.py\", line 9, in <module>\n    stop()\napp.Halted: enough\nmake: *** [run] Error 1\n";
        assert_eq!(error_line(wrapped, true).as_deref(), Some("app.Halted: enough"));
        let own = "Traceback (most recent call last):\n  File \"a.py\", line 9, in <module>\n    stop()\napp.Halted: enough\n";
        assert_eq!(error_line(own, true).as_deref(), Some("app.Halted: enough"));
    }

    #[test]
    fn a_traceback_without_its_end_was_cut() {
        let cut = "Traceback (most recent call last):\n  File \"app.py\", line 1, in <module>\n    import y";
        assert_eq!(error_line(cut, false).as_deref(), Some("Traceback, cut"));
        let whole = format!("{cut}\nKeyError: 'y'");
        assert_eq!(error_line(&whole, false).as_deref(), Some("KeyError: 'y'"));
        assert_eq!(
            error_line("a.log:3:Traceback (most recent call last):", false),
            None
        );
    }
}
