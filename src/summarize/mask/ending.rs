//! How a call ended, in a few words: the rest of a line that stands for an output.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::errors::{is_error_line, refusal};
use super::head::Head;
use crate::events::line::{cleaned, shortened};
use crate::events::outcome::told::Told;
use crate::events::outcome::{Answer, Outcome, outcome};
use crate::events::target::Effect;
use crate::trajectory::leaves::{Leaf, leaves};

/// Longest error line, in characters.
const MAX_ERROR: usize = 240;

/// How a call ended.
pub(super) struct Ending {
    /// ` -> exit 1, 47 lines; …`
    pub first: String,
    /// Error lines beyond the first.
    pub more: Vec<String>,
}

/// The ending that `output` tells. `beside` is what the first line says beside.
pub(super) fn ending(output: &str, head: &Head, images: usize, beside: Option<&str>) -> Ending {
    let trimmed = output.trim();
    let fields = leaves(trimmed, usize::MAX);
    let fields = fields.as_deref();
    let printed = fields.and_then(longest_text);
    let printed = printed.as_deref();
    let mut told = Told::default();
    let effect = if head.reads { Effect::Read } else { Effect::Other };
    let mut read = |text: &str| outcome(text, effect, &head.target, &mut told);
    let inner = printed.map(&mut read).unwrap_or_default();
    let answer = Answer {
        text: trimmed,
        is_error: head.flags.is_error,
        exit_code: head.flags.exit_code,
    };
    let whole = outcome(answer, effect, &head.target, &mut told);
    let telling = telling(trimmed, fields, &[&whole, &inner]);
    let mut first = String::new();
    if let Some(status) = status(fields, &whole, &inner) {
        let _ = write!(first, " -> {status}");
    }
    let lines = if printed.is_some() {
        inner.lines
    } else {
        whole.lines
    };
    let (size, unit) = if head.runs && lines > 0 {
        (lines, "line")
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
        |result: &String| beside.is_none() && (!head.reads || fields.is_some() || result.contains(" in "));
    let result = inner.result.or(whole.result).filter(is_result);
    // Nor is what only has the label of an error before it.
    let is_labelled = |result: &str| {
        result
            .get(..7)
            .is_some_and(|label| label.eq_ignore_ascii_case("error: "))
    };
    let is_told = |result: &String| {
        telling.iter().any(|line| line.contains(result.as_str()))
            || !telling.is_empty() && is_labelled(result)
    };
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

/// What a JSON answer printed: its longest text of several lines.
fn longest_text<'a>(fields: &[Leaf<'a>]) -> Option<Cow<'a, str>> {
    let texts = fields.iter().filter(|leaf| leaf.is_string).map(Leaf::value);
    texts
        .filter(|text| text.contains('\n'))
        .max_by_key(|text| text.len())
}

/// The exit code as it was told, or that it failed; nothing where nobody says so: least of all that it went well.
fn status(fields: Option<&[Leaf<'_>]>, whole: &Outcome, inner: &Outcome) -> Option<String> {
    let says = |names: &[&str], value: &str| {
        let mut fields = fields.unwrap_or_default().iter();
        fields.any(|leaf| leaf.depth <= 1 && leaf.is_under(names) && leaf.value().eq_ignore_ascii_case(value))
    };
    if says(&["blocked", "denied"], "true") || says(&["status", "outcome"], "blocked") {
        return Some("blocked".to_owned());
    }
    if let Some(code) = whole.exit_code.or(inner.exit_code) {
        return Some(format!("exit {code}"));
    }
    let timed_out = says(&["timed_out", "timeout"], "true");
    let failed = whole.failed == Some(true)
        || inner.failed == Some(true)
        || says(&["success", "ok"], "false")
        || says(&["is_error", "isError", "failed"], "true");
    match (timed_out, failed) {
        (true, _) => Some("timed out".to_owned()),
        (_, true) => Some("failed".to_owned()),
        _ => None,
    }
}

/// The error lines of an output, all of them, and what else says that it did not go well.
fn telling(text: &str, fields: Option<&[Leaf<'_>]>, outcomes: &[&Outcome]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut take = |text: &str| {
        let errors = text.lines().filter(|line| is_error_line(line));
        lines.extend(errors.map(short_error));
    };
    match fields {
        Some(fields) => fields
            .iter()
            .filter(|leaf| leaf.is_string)
            .for_each(|leaf| take(&leaf.value())),
        None => take(text),
    }
    let refused = match fields {
        Some(fields) => fields
            .iter()
            .filter(|leaf| leaf.is_string && leaf.depth <= 2)
            .find_map(|leaf| refusal(&leaf.value())),
        None => refusal(text),
    };
    // What a failed call printed last is the next best thing where no line tells of an error.
    let is_needed = lines.is_empty() || fields.is_some();
    let errors = outcomes.iter().filter_map(|outcome| outcome.error.clone());
    let errors = errors.filter(|line| is_needed && !line.to_ascii_lowercase().starts_with("exit code"));
    let beside: Vec<String> = errors.chain(refused).collect();
    for line in beside {
        let line = short(&line);
        let start: String = line.trim_end_matches(" …").to_owned();
        if !lines.iter().any(|told| told.contains(&start)) {
            lines.insert(0, line);
        }
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
