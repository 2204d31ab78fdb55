//! What a human turn says of outputs that nobody asked for: between two lines that say what they are.

use super::{STRAY_END, STRAY_OUTPUT, quoted};
use crate::trajectory::parts::{raw_parts, text_part};
use crate::trajectory::{Record, new_turn};

/// What a human turn says of outputs.
#[derive(Default)]
pub(super) struct Told {
    /// Parts as JSON that come before the text, each text and its end.
    parts: Vec<String>,
    /// What was told since the last part.
    text: String,
}

impl Told {
    /// Tells an output; one that says nothing is not told beside others.
    pub fn text(&mut self, text: &str) {
        let text = text.trim();
        if !text.is_empty() {
            self.lines(&[STRAY_OUTPUT, text, STRAY_END]);
        }
    }

    /// Tells an output in parts: texts and images as they are, others as JSON.
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

    /// The JSON of the turn, given how one with a text is written.
    pub fn turn(mut self, written: impl Fn(&str) -> String) -> String {
        if self.text.is_empty() && self.parts.is_empty() {
            self.lines(&[STRAY_OUTPUT, STRAY_END]);
        }
        if self.parts.is_empty() {
            return written(&self.text);
        }
        self.flush();
        with_parts(&written(""), &self.parts)
    }

    /// What is told, as parts.
    pub fn into_parts(mut self) -> Vec<String> {
        if self.text.is_empty() && self.parts.is_empty() {
            self.lines(&[STRAY_OUTPUT, STRAY_END]);
        }
        self.flush();
        self.parts
    }
}

/// A person's turn that says these parts.
pub(super) fn said_in_parts(record: &Record<'_>, parts: &[String]) -> String {
    with_parts(&new_turn(record, ""), parts)
}

/// A turn that ends with an empty text, with parts in its place.
fn with_parts(turn: &str, parts: &[String]) -> String {
    let start = turn.strip_suffix("\"\"}").unwrap_or(turn);
    format!("{start}[{}]}}", parts.join(", "))
}
