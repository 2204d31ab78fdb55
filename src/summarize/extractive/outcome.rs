//! How a tool call ended, read off what came back.

use std::sync::LazyLock;

use memchr::memmem;

use super::line::{cleaned, cleaned_line, shortened};
use super::test_run::{tells_failures, test_counts};
use super::told::Told;
use crate::trajectory::leaves::{Leaf, leaves};

/// How a call ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::summarize) struct Outcome {
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
}

/// Longest line taken over from an output.
const MAX_LINE: usize = 160;

/// Longest field of a JSON answer that tells something in a line, in bytes.
const MAX_TELLING: usize = 80;

/// Bytes at an output's start and end in which exit codes and test counts are looked for.
const EDGE: usize = 1_200;

/// The outcome of a call from its answer. `is_reading` says that the output is the content of something, so that errors
/// that stand in it are none of the call's. Of a JSON answer the result tells the status, and what neither the call itself
/// (`target`) nor an earlier answer told already (`told`).
pub(in crate::summarize) fn outcome(
    answer: &str,
    is_reading: bool,
    target: &str,
    told: &mut Told,
) -> Outcome {
    let trimmed = answer.trim();
    if let Some(fields) = leaves(trimmed, 64) {
        return Outcome {
            result: told_fields(&fields, target, told),
            ..from_json(&fields, holds_error(trimmed))
        };
    }
    let exit_code = exit_code(trimmed);
    let body = body(trimmed);
    let lines = if body.is_empty() {
        0
    } else {
        memchr::memchr_iter(b'\n', body.as_bytes()).count() + 1
    };
    let result = test_counts(body);
    let mut error = None;
    if exit_code.is_some_and(|code| code != 0) || !is_reading {
        // Counts of a test run tell more than whatever line stands last.
        let is_failed = exit_code.is_some_and(|code| code != 0);
        error = error_line(body, is_failed && result.is_none());
        if is_failed {
            error = error.or_else(|| result.clone());
        }
    }
    let failed = match (exit_code, &error, &result) {
        (Some(code), _, _) if code != 0 => Some(true),
        (_, Some(_), _) => Some(true),
        (_, None, Some(counts)) if tells_failures(counts) => Some(true),
        (Some(_), None, _) => Some(false),
        _ => None,
    };
    let result = result.or_else(|| only_line(body));
    Outcome {
        failed,
        exit_code,
        error,
        result,
        lines,
    }
}

/// How a call ended that has a JSON answer.
fn from_json(fields: &[Leaf<'_>], holds_error: bool) -> Outcome {
    let field = |names: &[&str]| fields.iter().find(|leaf| leaf.depth <= 1 && leaf.is_under(names));
    let exit_code = field(&["exit_code", "returncode", "exitCode", "return_code"])
        .and_then(|leaf| leaf.value().parse::<i32>().ok());
    let error = field(&["error", "errors", "exception"])
        .filter(|leaf| leaf.is_string && !leaf.value().trim().is_empty())
        .and_then(|leaf| quote(&leaf.value()));
    let message = || {
        fields
            .iter()
            .find(|leaf| leaf.is_string && leaf.is_under(&["message"]))
    };
    let error = error.or_else(|| quote(&message().filter(|_| holds_error)?.value()));
    let is_true = |names: &[&str]| field(names).is_some_and(|leaf| leaf.value() == "true");
    let says_failed = holds_error
        || is_true(&["error", "is_error", "isError", "failed"])
        || field(&["success", "ok"]).is_some_and(|leaf| leaf.value() == "false")
        || field(&["status"])
            .is_some_and(|leaf| matches!(leaf.value().as_ref(), "error" | "failed" | "failure"));
    let failed = (error.is_some() || says_failed || exit_code.is_some_and(|code| code != 0))
        .then_some(true)
        .or_else(|| exit_code.map(|_| false));
    Outcome {
        failed,
        exit_code,
        error,
        result: None,
        lines: 0,
    }
}

/// Whether a JSON answer is first of all an error with fields of its own: `{"error": {"code": 404, …`.
fn holds_error(answer: &str) -> bool {
    let inner = answer.strip_prefix('{').map(str::trim_start);
    let value = inner.and_then(|inner| inner.strip_prefix("\"error\"")?.trim_start().strip_prefix(':'));
    value.is_some_and(|value| {
        let fields = value.trim_start().strip_prefix('{').map(str::trim_start);
        fields.is_some_and(|fields| !fields.starts_with('}'))
    })
}

/// The fields of a JSON answer as `key: value`, status first, then as written, as far as a line takes them.
fn told_fields(fields: &[Leaf<'_>], target: &str, told: &mut Told) -> Option<String> {
    let mut shown: Vec<&Leaf<'_>> = fields.iter().filter(|leaf| is_telling(leaf)).collect();
    shown.sort_by_key(|leaf| (!leaf.is_under(&["status", "message", "result"]), leaf.depth));
    let mut result = String::new();
    let mut field = String::new();
    for leaf in shown {
        field.clear();
        let key = leaf.key();
        if !key.is_empty() {
            field.push_str(&cleaned_line(&key));
            field.push_str(": ");
        }
        field.push_str(&cleaned_line(&leaf.value()));
        let value = memmem::find(field.as_bytes(), b": ").and_then(|at| field.get(at + 2..));
        let value = value.unwrap_or(&field);
        let is_status = field.starts_with("status: ");
        let is_new = told.is_new(target, &key, &field, leaf.depth <= 1);
        if !is_status && (!is_new || has(target, value)) {
            continue;
        }
        if !result.is_empty() && result.len() + field.len() > MAX_LINE {
            break;
        }
        if !result.is_empty() {
            result.push_str(", ");
        }
        result.push_str(&field);
    }
    quote(&result)
}

fn is_telling(leaf: &Leaf<'_>) -> bool {
    if leaf.written_len() > 6 * MAX_TELLING + 2
        || leaf.is_under(&["error", "exit_code", "returncode", "exitCode", "return_code"])
    {
        return false;
    }
    let value = leaf.value();
    !value.trim().is_empty() && value.len() <= MAX_TELLING && !value.contains('\n')
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
        "[Python Interpreter: ",
        "[Current working directory: ",
    ];
    let mut brackets = memchr::memchr_iter(b'[', tail.as_bytes());
    let first = brackets.find(|at| {
        tail.get(*at..)
            .is_some_and(|rest| starts.iter().any(|start| rest.starts_with(start)))
    });
    let end = first.map_or(output.len(), |at| output.len() - tail.len() + at);
    output.get(..end).unwrap_or(output).trim_end()
}

pub(super) fn edges(text: &str) -> (&str, &str) {
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

/// The exit code where the answer tells it, at its start or its end.
fn exit_code(answer: &str) -> Option<i32> {
    let (head, tail) = edges(answer);
    let after = |text: &str, words: &str| {
        let at = text.rfind(words)? + words.len();
        let rest = text.get(at..)?.trim_start_matches([':', ' ']);
        let length = rest
            .bytes()
            .position(|b| !(b.is_ascii_digit() || b == b'-'))
            .unwrap_or(rest.len());
        rest.get(..length)?.parse::<i32>().ok()
    };
    let tagged = if head.starts_with("<returncode>") {
        after(head.get(..32).unwrap_or(head), "<returncode>")
    } else {
        None
    };
    // Searching from the end is slow: most outputs have no such words at all.
    let has_code = CODE.find(tail.as_bytes()).is_some();
    let told = |words| if has_code { after(tail, words) } else { None };
    tagged
        .or_else(|| told("finished with exit code"))
        .or_else(|| told("completed with exit code"))
        .or_else(|| told("exited with code"))
        .or_else(|| {
            if head.starts_with("Exit code") {
                after(head.lines().next()?, "Exit code")
            } else {
                None
            }
        })
        .or_else(|| {
            tail.lines()
                .next_back()
                .filter(|line| line.to_ascii_lowercase().starts_with("exit code"))
                .and_then(|line| after(line, line.get(..9)?))
        })
}

/// What every error's name and label holds, whatever its case.
static RROR: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(b"rror"));

static TRACEBACK: LazyLock<memmem::Finder<'static>> =
    LazyLock::new(|| memmem::Finder::new(b"Traceback (most recent call last)"));

static NO_MODULE: LazyLock<memmem::Finder<'static>> =
    LazyLock::new(|| memmem::Finder::new(b": No module named "));

/// What stands before the number in every sentence that tells an exit code.
static CODE: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(b" code"));

static OUTPUT: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(b"<output>"));

/// Where the last traceback begins. Searching from the end is slow, and most outputs have none.
fn last_traceback(body: &str) -> Option<usize> {
    TRACEBACK.find_iter(body.as_bytes()).last()
}

pub(super) fn has(text: &str, word: &str) -> bool {
    memmem::find(text.as_bytes(), word.as_bytes()).is_some()
}

/// The line that names an error: a traceback's last one, or one that starts like an error. `is_failed` says that the exit
/// code tells so already; then the last line will do.
fn error_line(body: &str, is_failed: bool) -> Option<String> {
    if let Some(at) = last_traceback(body) {
        let trace = body.get(at..).unwrap_or_default();
        if let Some(line) = trace
            .lines()
            .skip(1)
            .find(|line| !line.starts_with([' ', '\t']) && !line.trim().is_empty())
        {
            return quote(line);
        }
    }
    let mut from = 0;
    let bytes = body.as_bytes();
    for _ in 0..40 {
        let Some(at) = bytes
            .get(from..)
            .and_then(|rest| RROR.find(rest))
            .map(|at| from + at)
        else {
            break;
        };
        let start = bytes
            .get(..at)
            .and_then(|before| memchr::memrchr(b'\n', before))
            .map_or(0, |newline| newline + 1);
        let end = bytes
            .get(at..)
            .and_then(|rest| memchr::memchr(b'\n', rest))
            .map_or(bytes.len(), |newline| at + newline);
        if let Some(line) = body.get(start..end).filter(|line| names_error(line)) {
            return quote(line);
        }
        from = end;
    }
    let (head, tail) = edges(body);
    let lacks_module = [head, tail]
        .iter()
        .any(|edge| NO_MODULE.find(edge.as_bytes()).is_some());
    let shell = |line: &&str| {
        line.starts_with("bash: ")
            || line.starts_with("sh: ")
            || line.starts_with("/bin/sh: ")
            || line.starts_with("fatal: ")
            || line.ends_with("command not found")
            || line.ends_with("No such file or directory")
            || lacks_module && line.contains(": No module named ")
    };
    if let Some(line) = head.lines().chain(tail.lines()).take(60).find(shell) {
        return quote(line);
    }
    if is_failed {
        tail.lines().rev().find(|line| line.len() > 3).and_then(quote)
    } else {
        None
    }
}

/// Whether a line starts as error messages do: `Error: …`, `ValueError: …`, `E   TypeError`, `ERROR …`, `x.c:3: error: …`.
fn names_error(line: &str) -> bool {
    let mut line = line.trim_start();
    // Colour codes of a terminal.
    while let Some((_, rest)) = line.strip_prefix("\u{1b}[").and_then(|rest| rest.split_once('m')) {
        line = rest.trim_start();
    }
    let line = line.strip_prefix("E ").map_or(line, str::trim_start);
    let first = line.split([' ', ':', '(']).next().unwrap_or_default();
    let is_name =
        first.ends_with("Error") || first.ends_with("ERROR") || matches!(first, "error" | "error[E" | "npm");
    is_name && (line.len() > first.len() + 2) && !line.contains(" as e") && !line.starts_with("except")
        || (line.contains(": error: ") && line.len() < 300)
        || (line.contains("syntax error") && line.len() < 200)
}

/// The only line of a short output.
fn only_line(body: &str) -> Option<String> {
    if body.len() > 400
        || body
            .lines()
            .filter(|line| !line.trim().is_empty())
            .take(3)
            .count()
            > 2
    {
        return None;
    }
    quote(body)
}

pub(super) fn quote(line: &str) -> Option<String> {
    let line = cleaned(line);
    shortened(&line, MAX_LINE)
        .map(std::borrow::Cow::into_owned)
        .filter(|line| !line.is_empty())
}
