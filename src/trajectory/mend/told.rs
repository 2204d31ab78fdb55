//! The human turn that reports outputs without a call: between two lines that say so.

use super::{STRAY_END, STRAY_OUTPUT, quoted};
use crate::trajectory::edit::turn_with;
use crate::trajectory::parse::parts::{raw_parts, text_part};
use crate::trajectory::{Record, Role, new_turn};

/// The content of a human turn that reports outputs.
#[derive(Default)]
pub(super) struct OrphanReport {
    /// The finished parts, as JSON.
    parts: Vec<String>,
    /// The text since the last part.
    text: String,
}

impl OrphanReport {
    /// Adds an output; an empty one is left out.
    pub fn text(&mut self, text: &str) {
        let text = text.trim();
        if !text.is_empty() {
            self.lines(&[STRAY_OUTPUT, text, STRAY_END]);
        }
    }

    /// Adds an output in parts: texts and images as they are, others as JSON.
    pub fn parts(&mut self, content: &str) {
        self.lines(&[STRAY_OUTPUT]);
        for part in raw_parts(content) {
            self.flush();
            self.parts.push(part);
        }
        self.lines(&[STRAY_END]);
    }

    fn lines(&mut self, lines: &[&str]) {
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(&lines.join("\n"));
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.parts.push(text_part(&quoted(&self.text)));
            self.text.clear();
        }
    }

    /// Returns the JSON of the turn.
    pub fn turn(mut self, record: &Record<'_>) -> String {
        if self.text.is_empty() && self.parts.is_empty() {
            self.lines(&[STRAY_OUTPUT, STRAY_END]);
        }
        if self.parts.is_empty() {
            return new_turn(record, &self.text);
        }
        self.flush();
        said_in_parts(record, &self.parts)
    }

    /// Returns the report as parts.
    pub fn into_parts(mut self) -> Vec<String> {
        if self.text.is_empty() && self.parts.is_empty() {
            self.lines(&[STRAY_OUTPUT, STRAY_END]);
        }
        self.flush();
        self.parts
    }
}

/// Returns a person's turn with these parts.
pub(super) fn said_in_parts(record: &Record<'_>, parts: &[String]) -> String {
    turn_with(record, Role::Human, &format!("[{}]", parts.join(", ")))
}
