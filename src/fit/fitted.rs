//! The result of fitting one record.

use std::ops::Range;

use crate::compress::Reason;
use crate::metrics::{Row, Status};
use crate::summarize::PendingRequest;

/// The result of fitting one record.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// Its row of the metrics; the pipeline fills in `source`, `line` and `duration_ms`.
    pub row: Row,
    /// The record's new text; `None` where it is unchanged.
    pub text: Option<String>,
    /// The summary in it, with its marker, where one was written.
    pub summary: Option<String>,
    /// Tokens that a summarizer read, or would read.
    pub summary_input_tokens: usize,
    /// The reason for ending the run; `None` where it continues.
    pub stop: Option<Stop>,
    /// The region planned first; `None` where none was.
    pub planned: Option<Range<usize>>,
    /// The request to be answered before the record can be finished.
    pub pending: Option<Box<PendingRequest>>,
}

/// The reason why a run must end at a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The summary of this record failed, and the settings end the run on a failure.
    AtRecord,
    /// No further summaries are possible, for any record.
    Run {
        /// The error message.
        message: String,
        /// Advice for the user.
        help: String,
    },
}

impl Fitted {
    pub(super) fn untouched(row: Row) -> Self {
        Self {
            row,
            text: None,
            summary: None,
            summary_input_tokens: 0,
            stop: None,
            planned: None,
            pending: None,
        }
    }

    /// Returns the result of a record that could not be processed.
    pub fn failed(reason: &Reason, target_max_tokens: usize) -> Self {
        let row = Row::untouched(0, 0, target_max_tokens).ended(Status::Failed, Some(reason));
        Self::untouched(Row {
            degraded: true,
            ..row
        })
    }
}
