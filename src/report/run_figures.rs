//! The result of a run as plain numbers, from which the table at its end is made.

use std::path::PathBuf;
use std::time::Duration;

use crate::metrics::BothCounts;

/// Reasons with counts, in any order.
pub type Reasons = Vec<(String, u64)>;

/// The result of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunFigures {
    /// Records by status.
    pub records: RecordFigures,
    /// Tokens of all counted records as read.
    pub tokens_before: u64,
    /// Tokens of the same records as written.
    pub tokens_after: u64,
    /// True if the budget, and all tokens here, are rendered ones.
    pub is_rendered: bool,
    /// Values, in tokens, of the records that the template would have to count and refuses; they are in no other sum.
    pub uncounted_value_tokens: u64,
    /// The budget, in tokens.
    pub target_max_tokens: u64,
    /// Records that are still over it.
    pub over_limit: OverLimitFigures,
    /// Records whose result is not what was asked for.
    pub degraded: u64,
    /// Of these, those that were compressed.
    pub degraded_compressed: u64,
    /// Records whose summary had less room than the summary target.
    pub summary_starved: u64,
    /// Tool turns whose outputs were replaced by a line each.
    pub masked_turns: u64,
    /// Records with faults when they were read.
    pub records_with_faults: u64,
    /// Number of faults, and of those that were mended.
    pub faults: (u64, u64),
    /// Records that were brought into the shape that trainers take.
    pub records_with_mended_shapes: u64,
    /// Number of changes to them.
    pub mended_shapes: u64,
    /// Records that were written in another form.
    pub converted: u64,
    /// Records that the form could not hold entirely, and the number of losses.
    pub format_losses: (u64, u64),
    /// The same records in both counts, if there is a chat template.
    pub both_counts: Option<BothCounts>,
    /// Identifiers that later turns of compressed records rely on and that would dangle.
    pub anchors_needed: u64,
    /// Of these, held by the summaries.
    pub anchors_held: u64,
    /// Requests for summaries over the network.
    pub requests: RequestFigures,
    /// Requests that are still to be answered.
    pub missing: u64,
    /// Wall time.
    pub elapsed: Duration,
    /// Bytes of input, decompressed.
    pub bytes_in: u64,
    /// Files written, in the order in which they are shown.
    pub files: Vec<PathBuf>,
    /// The figures of a dry run; `None` for a real one.
    pub dry_run: Option<DryRunFigures>,
}

impl RunFigures {
    /// Returns true if the figures are estimates: those of a dry run that requests no summaries.
    pub fn is_estimate(&self) -> bool {
        self.dry_run.is_some_and(|dry_run| dry_run.is_estimate)
    }

    /// The word for the records as the run leaves them.
    pub fn after(&self) -> &'static str {
        if self.dry_run.is_some() {
            "planned"
        } else {
            "after"
        }
    }
}

/// Records by status, with the reasons.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecordFigures {
    /// Records within the budget, which were copied.
    pub under_target: u64,
    /// Records that were compressed.
    pub compressed: u64,
    /// The places of their summaries, with counts.
    pub placements: Reasons,
    /// Records over the budget, but kept as they were.
    pub kept: u64,
    /// The reasons why they were kept, with counts.
    pub kept_reasons: Reasons,
    /// Records in the rejects file.
    pub rejected: u64,
    /// The reasons why they were rejected, with counts.
    pub rejected_reasons: Reasons,
    /// Records kept as they were because something failed.
    pub failed: u64,
    /// The reasons of failures, with counts.
    pub failed_reasons: Reasons,
}

/// Records that are still over the budget.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OverLimitFigures {
    /// Number of records.
    pub records: u64,
    /// The reasons, with counts.
    pub reasons: Reasons,
}

/// Requests for summaries; in a dry run, those that a real one would make.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RequestFigures {
    /// Requests sent, failed ones included.
    pub sent: u64,
    /// Requests that failed, repeated or not.
    pub failed: u64,
    /// Records whose summary had been received before.
    pub cached: u64,
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written.
    pub completion_tokens: u64,
    /// Their cost, in US dollars; `None` if prices are not known.
    pub cost: Option<f64>,
}

/// The figures of a dry run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DryRunFigures {
    /// Summaries that a real run would write.
    pub summaries: u64,
    /// Tokens of the turns they would read.
    pub tokens_to_read: u64,
    /// True if the summaries are another summarizer's, for which the embedded one stood in.
    pub is_estimate: bool,
}
