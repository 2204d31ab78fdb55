//! Lines of an output that tell of errors, which a mask keeps.

use crate::knowledge::errors::{ErrorKind, lines};
use crate::knowledge::found::LiteralHits;

/// The lines of a text that tell of an error, each once.
pub(super) fn error_lines_of(text: &str) -> Vec<&str> {
    let found = LiteralHits::read(text);
    let told = lines(&found, "").filter(|said| said.kind != ErrorKind::NoMatch);
    let mut told: Vec<&str> = told.map(|said| said.line).collect();
    told.dedup_by_key(|line| line.as_ptr());
    told
}

/// Returns true if a line tells of an error.
pub(super) fn is_error_line(line: &str) -> bool {
    !error_lines_of(line).is_empty()
}

/// Number of lines of a text that report an error. In a mask they stand after a semicolon.
pub fn error_lines(text: &str) -> usize {
    let is_told = |line: &str| {
        is_error_line(line) || (line.starts_with('[') && line.split("; ").skip(1).any(is_error_line))
    };
    text.lines().filter(|line| is_told(line)).count()
}
