//! A record: one JSON object of the input, as its text and the spans of its turns.

use std::ops::Range;

use crate::trajectory::Turn;

/// The format of a record's trajectory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// `conversations` of `from` / `value`.
    ShareGpt,
    /// `messages` of `role` / `content`.
    Messages,
}

impl Format {
    /// Returns the name that metrics and `--format` use.
    pub fn name(self) -> &'static str {
        match self {
            Self::ShareGpt => "sharegpt",
            Self::Messages => "messages",
        }
    }
}

/// One trajectory and the text that contains it: nothing is copied, and text is decoded only on request.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use trajfit::record::{Record, Role};
///
/// let line = r#"{"id": "a", "messages": [{"role": "user", "content": "Hi \u0041"}, {"role": "assistant", "content": "Hello"}]}"#;
/// let record = Record::parse(line)?;
/// assert_eq!(record.turns.len(), 2);
/// assert_eq!(record.turns[1].role, Role::Assistant);
/// assert_eq!(record.turns[1].text, r#"{"role": "assistant", "content": "Hello"}"#);
/// assert_eq!(record.view(0).unwrap().text, "Hi A");
/// assert_eq!(record.id, Some(r#""a""#));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Record<'a> {
    /// The object's text, as in the input.
    pub text: &'a str,
    /// The record's format.
    pub format: Format,
    /// The record's own id, as written (JSON), if it has one.
    pub id: Option<&'a str>,
    /// A top-level `system` string, as written: it costs tokens, but is no turn.
    pub system: Option<&'a str>,
    /// Top-level `tools`, as written: a list, or a string of JSON.
    pub tools: Option<&'a str>,
    /// The turns, in order.
    pub turns: Vec<Turn<'a>>,
    /// The object has the trajectory's key twice, and readers disagree on which one counts.
    pub ambiguous: bool,
}

impl Record<'_> {
    /// Returns the record that has other turns between the same texts before and after them: `text` is all of it. Nothing is
    /// read again.
    pub fn with_turns<'t>(&self, text: &'t str, turns: Vec<Turn<'t>>) -> Record<'t> {
        let before = self.turns_span().start;
        let moved = |part: &str| {
            let mut span = self.span_of(part);
            if span.start >= before {
                let behind = self.text.len() - span.start;
                span = text.len().saturating_sub(behind)..text.len().saturating_sub(behind) + span.len();
            }
            text.get(span).unwrap_or_default()
        };
        Record {
            text,
            format: self.format,
            id: self.id.map(moved),
            system: self.system.map(moved),
            tools: self.tools.map(moved),
            turns,
            ambiguous: self.ambiguous,
        }
    }

    /// Returns the byte range of a part of the record's text.
    pub fn span_of(&self, part: &str) -> Range<usize> {
        let start = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        start..start + part.len()
    }

    /// Returns the byte range of all turns in the record's text.
    pub fn turns_span(&self) -> Range<usize> {
        let spans = self.turns.first().zip(self.turns.last());
        spans.map_or(0..0, |(first, last)| {
            self.span_of(first.text).start..self.span_of(last.text).end
        })
    }

    /// Returns the byte range of a turn in the record's text.
    pub fn turn_span(&self, turn: usize) -> Option<Range<usize>> {
        self.turns.get(turn).map(|turn| self.span_of(turn.text))
    }
}
