//! Pieces of an output: both ends of a long one, and a line of it as quoted.

use std::borrow::Cow;

use crate::events::line::{cleaned, shortened};

/// Longest output that is told by its only lines, in bytes.
pub(super) const MAX_SHORT: usize = 400;

/// Longest line taken over from an output.
pub(crate) const MAX_LINE: usize = 160;

/// Bytes at an output's start and end in which exit codes, counts and most error texts are looked for.
const EDGE: usize = 1_200;

/// The start and the end of a text.
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

/// A line of an output, cleaned and cut to [`MAX_LINE`]; none where nothing is left.
pub(crate) fn quote(line: &str) -> Option<String> {
    let line = cleaned(line);
    shortened(&line, MAX_LINE)
        .map(Cow::into_owned)
        .filter(|line| !line.is_empty())
}

/// The name of the tool of a call, by the line that tells it.
pub(crate) fn tool_of(target: &str) -> &str {
    target.split(['(', ' ', ':']).next().unwrap_or_default()
}

/// If two lines are rows of one table: the same words but for those with digits in them, of which there are some.
pub(super) fn is_same_row(one: &str, other: &str) -> bool {
    let is_value = |word: &str| word.bytes().any(|byte| byte.is_ascii_digit());
    let mut pairs = one.split_whitespace().zip(other.split_whitespace());
    let count = |line: &str| line.split_whitespace().count();
    count(one) == count(other)
        && pairs.clone().any(|(word, _)| is_value(word))
        && pairs.all(|(word, other)| word == other || is_value(word) && is_value(other))
}
