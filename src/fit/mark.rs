//! Marks on turns: a field excludes summaries from training, and some loaders need it on other turns as well.

use super::fitted::Fitted;
use crate::compress::Reason;
use crate::metrics::Status;
use crate::names::named;
use crate::summarize::marker;
use crate::trajectory::{self, Record, Role, Turn};

named! {
    /// The turns that a mark is written on.
    MarkTurns {
        /// Summaries that are turns of their own.
        Summary = "summary",
        /// All turns of compressed records.
        Compressed = "compressed",
        /// All turns of all records.
        All = "all",
    }
}

/// A field that is added to summaries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryMark {
    /// The field's name.
    pub field: String,
    /// The field's value on summaries, as JSON.
    pub value: String,
    /// The turns that get the field.
    pub turns: MarkTurns,
}

impl SummaryMark {
    /// Returns the value for a turn: the opposite of the summary's value on assistant turns, the summary's on others;
    /// null for a value without an opposite.
    pub(super) fn on(&self, turn: &Turn<'_>, is_summary: bool) -> &str {
        if is_summary {
            return &self.value;
        }
        let opposite = match self.value.as_str() {
            "false" => "true",
            "true" => "false",
            "0" => "1",
            "0.0" => "1.0",
            "1" => "0",
            "1.0" => "0.0",
            _ => return "null",
        };
        if turn.role == Role::Assistant {
            opposite
        } else {
            &self.value
        }
    }

    /// Returns the record's text with its turns marked.
    fn marked(&self, record: &Record<'_>) -> String {
        trajectory::marked(record, &self.field, |_, turn| {
            let is_summary = is_summary(turn);
            (is_summary || self.turns != MarkTurns::Summary).then(|| self.on(turn, is_summary))
        })
    }

    /// Marks the turns of a fitted record; `original` is the record as it was read.
    pub fn mark(&self, fitted: Fitted, original: &Record<'_>) -> Fitted {
        let is_written = !matches!(fitted.row.status, Status::Rejected | Status::Failed);
        let is_wanted = fitted.row.was_compressed || self.turns == MarkTurns::All;
        if !is_written || !is_wanted {
            return fitted;
        }
        let text = fitted.text.as_deref().unwrap_or(original.text);
        let Some(written) = read(text, original) else {
            return fitted;
        };
        let marked = self.marked(&written);
        if marked == text {
            return fitted;
        }
        if read(&marked, original)
            .is_some_and(|marked| trajectory::is_only_marked(&written, &marked, &self.field))
        {
            return Fitted {
                text: Some(marked),
                ..fitted
            };
        }
        // This is a bug of ours: the record stays as it was.
        let reason = Reason::with("verify_failed", "a mark changed more than it should");
        Fitted {
            row: fitted.row.ended(Status::Failed, Some(&reason)),
            text: None,
            ..fitted
        }
    }
}

fn read<'t>(text: &'t str, original: &Record<'_>) -> Option<Record<'t>> {
    trajectory::parse(text.as_bytes(), Some(original.format)).ok()
}

/// Returns true if a turn is a summary, or a summary followed by a person's words: neither is trained on.
fn is_summary(turn: &Turn<'_>) -> bool {
    turn.role == Role::Human
        && turn
            .last_text()
            .is_some_and(|text| marker::body_of(&text).is_some())
}
