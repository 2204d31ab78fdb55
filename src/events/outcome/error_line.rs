//! The line of an output that names an error, or says that something was refused.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::marked::{counts_none, marked_line};
use super::{edges, quote};
use crate::events::line::{last_lines, lines_of};
use crate::events::words::starts_with_any;

/// What every error's name and label holds, whatever its first letters.
static RROR: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("rror"));

/// The same in capitals.
static ERROR: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("ERROR"));

static TRACEBACK: LazyLock<Finder<'static>> =
    LazyLock::new(|| Finder::new("Traceback (most recent call last)"));

static NO_MODULE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(": No module named "));

static NOT_VERBATIM: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("did not appear verbatim"));

/// What a line starts with that says that something was refused or did not work.
const REFUSALS: [&str; 31] = [
    "! [rejected]",
    "--- FAIL: ",
    "<exception>",
    "<tool_use_error>",
    "Access denied",
    "Cannot connect to ",
    "Command blocked",
    "E: Could not ",
    "E: Unable to ",
    "ENOENT: ",
    "FAIL\t",
    "FAIL: ",
    "FAILED: ",
    "File does not exist",
    "File has been modified since ",
    "File has not been read yet",
    "File not found",
    "Invalid `",
    "No changes to make",
    "No replacement was performed",
    "Operation not permitted",
    "Parameter `",
    "Permission denied",
    "String to replace not found",
    "The user denied",
    "The user doesn't want",
    "[ERROR] ",
    "curl: (",
    "npm ERR! ",
    "oldString not found",
    "old_string not found",
];

/// The error of a call that ran or changed something: a traceback's last line, or a line that starts like an error.
/// `is_failed` says that the exit code tells so already; then the last line will do.
pub(crate) fn error_line(body: &str, is_failed: bool) -> Option<String> {
    if body.is_empty() {
        return None;
    }
    if let Some(line) = of_traceback(body) {
        return Some(line);
    }
    let (head, tail) = both_edges(body);
    // Capitals are looked for where messages stand: in logs they stand anywhere.
    let first = if head.starts_with("ERROR") {
        named_in(head, &ERROR)
    } else {
        None
    };
    let named = first
        .or_else(|| named_in(body, &RROR))
        .or_else(|| named_in(head, &ERROR))
        .or_else(|| named_in(tail, &ERROR));
    if named.is_some() {
        return named;
    }
    let lacks_module = [head, tail]
        .iter()
        .any(|edge| NO_MODULE.find(edge.as_bytes()).is_some());
    let shell = |line: &&str| {
        refuses(line)
            || match line.as_bytes().first() {
                Some(b'b') => line.starts_with("bash: "),
                Some(b's') => line.starts_with("sh: "),
                Some(b'/') => line.starts_with("/bin/sh: "),
                Some(b'f') => line.starts_with("fatal: "),
                _ => false,
            }
            || line.ends_with("command not found")
            || line.ends_with("No such file or directory")
            || lacks_module && line.contains(": No module named ")
    };
    if let Some(line) = lines_of(head).chain(lines_of(tail)).take(60).find(shell) {
        return quote(line);
    }
    if NOT_VERBATIM.find(head.as_bytes()).is_some() && head.starts_with("No ") {
        return quote(head);
    }
    if is_failed {
        let last = || last_lines(edges(body).1).find(|line| line.len() > 3 && says_anything(line));
        marked_line(body).or_else(|| quote(last()?))
    } else {
        None
    }
}

/// The error of a call that read something: errors in what was read are none of its own, unless one is all that came back.
pub(crate) fn reading_error(body: &str, lines: usize) -> Option<String> {
    let refused = labelled(body, 0, body.find('\n').unwrap_or(body.len()));
    if let Some(line) = refused {
        let (_, said) = line.split_once(' ')?;
        return refuses(said).then_some(line);
    }
    let starts = ["Error: ", "ERROR: ", "error: "];
    let is_error = lines == 1
        && body.len() <= 400
        && (starts.iter().any(|start| body.starts_with(start))
            || refuses(body)
            || body.ends_with("No such file or directory"));
    if is_error { quote(body) } else { None }
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
fn of_traceback(body: &str) -> Option<String> {
    // Searching from the end is slow, and most outputs have none.
    let at = TRACEBACK.find_iter(body.as_bytes()).last()?;
    if let Some(line) = of_notebook(body, at) {
        return Some(line);
    }
    let mut lines = lines_of(body.get(at..)?).skip(1).peekable();
    let is_whole = lines
        .peek()
        .is_some_and(|line| line.trim_start().starts_with("File \""));
    let mut ends = lines.filter(|line| !line.starts_with([' ', '\t']) && !line.trim().is_empty());
    let end = match ends.next() {
        // What a script drew meanwhile is no error; what else it wrote then stands before the error, too.
        Some(ruling) if !says_anything(ruling) => {
            let named = ends.clone().find(|line| names_error(line));
            named.or_else(|| ends.find(|line| says_anything(line)))
        }
        end => end,
    };
    match end {
        Some(line) => quote(line),
        None if is_whole => Some("Traceback, cut".to_owned()),
        None => None,
    }
}

fn says_anything(line: &str) -> bool {
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

/// The first line that names an error, of those that hold what `finder` looks for.
fn named_in(body: &str, finder: &Finder<'_>) -> Option<String> {
    let bytes = body.as_bytes();
    let mut from = 0;
    for _ in 0..40 {
        let at = from + finder.find(bytes.get(from..)?)?;
        let start = memchr::memrchr(b'\n', bytes.get(..at)?).map_or(0, |newline| newline + 1);
        let end = memchr::memchr(b'\n', bytes.get(at..)?).map_or(bytes.len(), |newline| at + newline);
        if let Some(line) = labelled(body, start, end) {
            return Some(line);
        }
        if let Some(line) = body.get(start..end).filter(|line| names_error(line)) {
            return quote(line);
        }
        from = end;
    }
    None
}

/// A line that is nothing but `ERROR:`, with the one after it.
fn labelled(body: &str, start: usize, end: usize) -> Option<String> {
    let label = body.get(start..end)?.trim();
    if !matches!(label, "ERROR:" | "Error:" | "error:") {
        return None;
    }
    let next = body.get(end..)?.lines().find(|line| !line.trim().is_empty())?;
    quote(&format!("{label} {}", edges(next).0))
}

/// Whether a line starts as error messages do: `Error: …`, `ValueError: …`, `E   TypeError`, `ERROR …`, `x.c:3: error: …`.
fn names_error(line: &str) -> bool {
    let mut line = line.trim_start();
    // Colour codes of a terminal.
    while let Some((_, rest)) = line.strip_prefix("\u{1b}[").and_then(|rest| rest.split_once('m')) {
        line = rest.trim_start();
    }
    let marked = line.strip_prefix("E ").map(str::trim_start);
    let line = marked.unwrap_or(line);
    let first = line.split([' ', ':', '(']).next().unwrap_or_default();
    let follows = line.get(first.len()..).unwrap_or_default();
    let is_name = match first {
        "Error" | "error" => follows.len() > 2,
        "npm" => follows.starts_with(" ERR!") || follows.starts_with(" error"),
        _ if first.starts_with("error[E") || first.ends_with("ERROR") => follows.len() > 2,
        // Prose has the name of an error, too.
        _ if first.ends_with("Error") => {
            [":", " [", " while "]
                .iter()
                .any(|next| follows.starts_with(next))
                && follows.len() > 2
                || marked.is_some() && follows.trim().is_empty()
        }
        _ => false,
    };
    is_name && !line.contains(" as e") && !line.starts_with("except")
        || (line.contains(": error: ") && line.len() < 300)
        || (line.contains("syntax error") && line.len() < 200)
        || line.starts_with("collecting ... ERROR: ")
}

/// Whether a line starts as one that says that something was refused or did not work: `Permission denied`,
/// `rm: cannot remove …`, `make: *** [all] Error 2`, `Hunk #1 FAILED`, `FAIL\tpkg`.
pub(crate) fn refuses(line: &str) -> bool {
    let line = line.trim_ascii_start();
    match line.as_bytes().first() {
        Some(
            b'N' | b'P' | b'A' | b'O' | b'I' | b'C' | b'c' | b'E' | b'-' | b'F' | b'S' | b'T' | b'[' | b'!'
            | b'n' | b'o' | b'<',
        ) if starts_with_any(line, &REFUSALS) => return !counts_none(line),
        Some(b'F') if line.starts_with("File ") => return line.len() < 300 && line.ends_with(" not found"),
        Some(b'H') if line.starts_with("Hunk #") => return line.contains(" FAILED"),
        Some(b'T') if line.starts_with("Tests: ") => {
            return line.contains(" failed") && !line.contains(" 0 failed");
        }
        _ => {}
    }
    let Some(colon) = memchr::memchr(
        b':',
        line.as_bytes().get(..60.min(line.len())).unwrap_or_default(),
    ) else {
        return false;
    };
    let (program, says) = line.split_at_checked(colon).unwrap_or_default();
    (says.starts_with(": cannot ") && !program.contains(' '))
        || (says.starts_with(": *** ") && program.contains("make"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let expected = "ERROR: Invalid `path` parameter: /a/c.py. File already exists.";
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
