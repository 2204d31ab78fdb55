//! The outcome of a call in a few words: the second part of a mask.

use std::fmt::Write as _;

use super::errors::{error_lines_of, is_error_line};
use crate::events::attempt::Attempt;
use crate::events::line::{cleaned, shortened};
use crate::events::outcome::status::{CallStatus, Outcome};
use crate::events::target::Effect;
use crate::trajectory::json::leaves::{Leaf, leaves};

/// Longest error line, in characters.
const MAX_ERROR: usize = 240;

/// Characters at the start of two lines by which they are the same.
const MAX_SAME: usize = 100;

/// The outcome of a call as a mask reports it.
pub(super) struct Ending {
    /// ` -> exit 1, 47 lines; …`
    pub first: String,
    /// Error lines beyond the first.
    pub more: Vec<String>,
}

/// The ending of a call by its output. `beside` stands in the first line as well.
pub(super) fn ending(output: &str, attempt: &Attempt, images: usize, beside: Option<&str>) -> Ending {
    let trimmed = output.trim();
    let (target, outcome) = (&attempt.target, &attempt.outcome);
    let reads = target.effect == Effect::Read;
    let fields = leaves(trimmed, usize::MAX);
    let telling = telling(trimmed, fields.as_deref(), outcome);
    let mut first = String::new();
    if let Some(status) = status(outcome) {
        let _ = write!(first, " -> {status}");
    }
    let (size, unit) = if target.is_run && outcome.lines > 0 {
        (outcome.lines, "line")
    } else {
        (output.chars().count(), "char")
    };
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let _ = write!(first, ", {} {unit}{}", thousands(size), plural(size));
    if images > 0 {
        let _ = write!(first, ", {images} image{}", plural(images));
    }
    if let Some(beside) = beside {
        first.push_str(beside);
    }
    // A line or two of a text that was read is no result, and what stands again below need not be told twice.
    let is_result =
        |result: &String| beside.is_none() && (!reads || fields.is_some() || result.contains(" in "));
    let is_listed = outcome.diagnostics.is_some() && !telling.is_empty();
    let is_told = |result: &String| {
        let start = |line: &str| line.chars().take(MAX_SAME).collect::<String>();
        let same = |line: &String| line.contains(&start(result)) || result.contains(&start(line));
        is_listed || telling.iter().any(same)
    };
    let result = outcome.result.as_ref().filter(|result| is_result(result));
    if let Some(result) = result.filter(|result| !is_told(result)) {
        let _ = write!(first, "; {result}");
    }
    let mut telling = telling.into_iter();
    if let Some(line) = telling.next() {
        let _ = write!(first, "; {line}");
    }
    Ending {
        first,
        more: telling.collect(),
    }
}

/// The exit code as it was told, or that it failed; nothing where nobody says so: least of all that it went well.
fn status(outcome: &Outcome) -> Option<String> {
    match (outcome.exit_code, outcome.status) {
        (Some(code), _) => Some(format!("exit {code}")),
        (_, CallStatus::Refused) => Some("refused".to_owned()),
        (_, CallStatus::Partly) => Some("done in part".to_owned()),
        (_, CallStatus::Failed) => Some("failed".to_owned()),
        _ => None,
    }
}

/// The error lines of an output, all of them, and what else says that it did not go well.
fn telling(text: &str, fields: Option<&[Leaf<'_>]>, outcome: &Outcome) -> Vec<String> {
    let errors = |text: &str| {
        error_lines_of(text)
            .into_iter()
            .map(short_error)
            .collect::<Vec<String>>()
    };
    let mut lines: Vec<String> = match fields {
        Some(fields) => {
            let texts = fields.iter().filter(|leaf| leaf.is_string).map(Leaf::value);
            texts.flat_map(|text| errors(&text)).collect()
        }
        None => errors(text),
    };
    // What a failed call printed last is the next best thing where no line tells of an error.
    let error = outcome.error.as_deref().map(short);
    let is_told = |error: &String| {
        let start = error.trim_end_matches(" …");
        lines.iter().any(|told| told.contains(start))
    };
    if let Some(error) = error.filter(|error| !is_told(error)) {
        lines.insert(0, error);
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// An error line, shortened unless only its end says that it is one.
fn short_error(line: &str) -> String {
    let short = short(line);
    if is_error_line(&short) {
        short
    } else {
        cleaned(line)
    }
}

fn short(line: &str) -> String {
    let line = cleaned(line);
    match shortened(&line, MAX_ERROR) {
        Some(short) => short.into_owned(),
        None => line.chars().take(MAX_ERROR).collect(),
    }
}

/// A number with a comma between thousands.
fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
