//! Marks on turns: the summary is not to be learnt, and loaders want the field on other turns as well.

use super::Fitted;
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

/// A field that summaries gain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryMark {
    /// Its name.
    pub field: String,
    /// Its value on summaries, as JSON.
    pub value: String,
    /// The turns that have it.
    pub turns: MarkTurns,
}

impl SummaryMark {
    /// The value on a turn: on the assistant's the opposite of the summary's, on others the summary's; null where a value has no
    /// opposite.
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

    /// The record's text with its turns marked.
    fn marked(&self, record: &Record<'_>) -> String {
        trajectory::marked(record, &self.field, |_, turn| {
            let is_summary = is_summary(turn);
            (is_summary || self.turns != MarkTurns::Summary).then(|| self.on(turn, is_summary))
        })
    }

    /// Marks the turns of a record that was fitted; `original` is its text as it was read.
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
        // A fault of ours: the record stays as it was.
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

/// If a turn is a summary and nothing else, or a person's words behind one: neither is learnt.
fn is_summary(turn: &Turn<'_>) -> bool {
    turn.role == Role::Human
        && turn
            .last_text()
            .is_some_and(|text| marker::body_of(&text).is_some())
}
