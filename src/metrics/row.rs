//! A row of the metrics: what happened to one record.

use serde::{Deserialize, Serialize, Serializer};

use super::SegmentRow;
use crate::compress::Reason;

/// The status of a record at the end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// It fits as it is.
    #[default]
    UnderTarget,
    /// A region was replaced by a summary.
    Compressed,
    /// Over the budget, and left as it was.
    Kept,
    /// Not in the output but in the rejects file.
    Rejected,
    /// This program failed on it; left as it was.
    Failed,
}

impl Status {
    /// All statuses, in the order of reports.
    pub const ALL: [Self; 5] = [
        Self::UnderTarget,
        Self::Compressed,
        Self::Kept,
        Self::Rejected,
        Self::Failed,
    ];

    /// The name that metrics use.
    pub fn name(self) -> &'static str {
        match self {
            Self::UnderTarget => "under_target",
            Self::Compressed => "compressed",
            Self::Kept => "kept",
            Self::Rejected => "rejected",
            Self::Failed => "failed",
        }
    }
}

/// The columns of the metrics, in order. `docs/metrics.md` describes each with its unit; a value that does not exist is -1 in the
/// index of a region, and otherwise `None`, 0 or empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, clippy::struct_excessive_bools)] // The fields are columns, which `docs/metrics.md` describes.
pub struct Row {
    pub source: String,
    pub line: u64,
    pub id: String,
    pub format: String,
    pub status: Status,
    pub reason: String,
    pub original_tokens: u64,
    pub compressed_tokens: u64,
    pub tokens_saved: i64,
    #[serde(serialize_with = "four_decimals")]
    pub compression_ratio: f64,
    pub original_turns: u64,
    pub compressed_turns: u64,
    pub turns_removed: i64,
    pub region_start: i64,
    pub region_end: i64,
    pub region_turns: u64,
    pub was_compressed: bool,
    pub still_over_limit: bool,
    pub skipped_under_target: bool,
    pub target_max_tokens: u64,
    pub summary_tokens: u64,
    pub summarizer: String,
    pub passes: u64,
    pub degraded: bool,
    pub summarization_api_calls: u64,
    pub summarization_errors: u64,
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    pub cached_summary: bool,
    pub masked_turns: u64,
    pub anchors_needed: u64,
    pub anchors_held: u64,
    pub redactions: u64,
    #[serde(serialize_with = "three_decimals")]
    pub duration_ms: f64,
    pub original_value_tokens: Option<u64>,
    pub compressed_value_tokens: Option<u64>,
    pub original_rendered_tokens: Option<u64>,
    pub compressed_rendered_tokens: Option<u64>,
    pub template_changed_turns: Option<u64>,
    pub anchors_invented: u64,
    pub orphan_responses: u64,
    pub unanswered_calls: u64,
    pub repeated_ids: u64,
    pub packed_responses: u64,
    pub same_role_neighbours: u64,
    pub mended_faults: u64,
    pub fallback_prompt_tokens: u64,
    pub fallback_completion_tokens: u64,
    pub count: String,
    pub summary_starved: bool,
    pub anchors_written: u64,
    pub placement: String,
    pub region_moved: bool,
    pub converted: bool,
    pub format_losses: u64,
    pub format_loss_kinds: String,
    pub mended_shapes: u64,
    pub mended_kinds: String,
    pub unknown_roles: u64,
    pub reason_detail: String,
    /// The figures of a record that a trajectory was unrolled into. No column: those of `unroll` are in `UnrollRow`.
    #[serde(skip)]
    pub segment: Option<SegmentRow>,
}

impl Row {
    /// A row for a record that stays as it is: nothing saved, nothing removed.
    pub fn untouched(tokens: usize, turns: usize, target_max_tokens: usize) -> Self {
        Self {
            original_tokens: tokens as u64,
            compressed_tokens: tokens as u64,
            compression_ratio: 1.0,
            original_turns: turns as u64,
            compressed_turns: turns as u64,
            region_start: -1,
            region_end: -1,
            target_max_tokens: target_max_tokens as u64,
            still_over_limit: tokens > target_max_tokens,
            ..Self::default()
        }
    }

    /// Sets the status of the record, and the reason.
    #[must_use]
    pub fn ended(mut self, status: Status, reason: Option<&Reason>) -> Self {
        self.status = status;
        let reason = reason.cloned();
        (self.reason, self.reason_detail) =
            reason.map_or_else(Default::default, |reason| (reason.code.to_owned(), reason.detail));
        self
    }

    /// The reason for people: `code`, or `code: detail`; empty if there is none.
    pub fn reason_text(&self) -> String {
        match self.reason_detail.as_str() {
            "" => self.reason.clone(),
            detail => format!("{}: {detail}", self.reason),
        }
    }

    /// Returns true if the budget is on rendered tokens and the template refuses the record: only its values are known.
    pub fn is_uncounted(&self) -> bool {
        self.status == Status::Kept && self.reason == Reason::TEMPLATE_REFUSES
    }

    /// Number of faults of the record as read.
    pub fn faults(&self) -> u64 {
        self.orphan_responses
            + self.unanswered_calls
            + self.repeated_ids
            + self.packed_responses
            + self.same_role_neighbours
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn four_decimals<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((value * 1e4).round() / 1e4)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn three_decimals<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((value * 1e3).round() / 1e3)
}
