//! What fitting a record depends on: the part of the configuration that the algorithm sees.

use crate::compress::{Protection, SummaryPlacement};
use crate::trajectory::Format;

/// What becomes of a record that is over the target after all; the key `compression.over_limit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverLimit {
    /// Written, and marked in the metrics.
    Keep,
    /// Moved to the rejects file.
    Reject,
    /// Written, and the run ends with exit code 1.
    Fail,
}

/// What becomes of a record whose summary failed; the key `summarization.on_failure`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// The embedded summarizer writes it, and the row is marked degraded.
    Fallback,
    /// The original is kept, and marked.
    Keep,
    /// The run stops.
    Fail,
}

/// Everything that decides what a record becomes, besides tokenizer and summarizer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FitSettings {
    /// Tokens that a trajectory may cost.
    pub target_max_tokens: usize,
    /// Tokens that a summary should cost.
    pub summary_target_tokens: usize,
    /// Tokens that a summary may cost where there is room under the target.
    pub summary_max_tokens: usize,
    /// Summaries of one trajectory, at most.
    pub max_passes: usize,
    /// Where the summary goes.
    pub summary_placement: SummaryPlacement,
    /// Whether summaries must keep the identifiers that later turns rely on.
    pub grounding: bool,
    /// What is never summarized.
    pub protection: Protection,
    /// Appended to the system turn of a compressed trajectory.
    pub notice: Option<String>,
    /// What an image costs.
    pub image_tokens: usize,
    /// The format that all records are in; `None` lets each record decide.
    pub format: Option<Format>,
    /// What becomes of records still over the target.
    pub over_limit: OverLimit,
    /// What becomes of records whose summary failed.
    pub on_failure: OnFailure,
    /// Plan and count, but summarize nothing.
    pub dry_run: bool,
    /// Put a `compression_metrics` object into compressed records.
    pub per_trajectory: bool,
}
