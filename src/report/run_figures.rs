//! What a run came to, as plain numbers: what the table that ends a run is made from.

use std::path::PathBuf;
use std::time::Duration;

use crate::metrics::BothCounts;

/// Reasons with counts, in any order.
pub type Reasons = Vec<(String, u64)>;

/// What a run came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunFigures {
    /// Records by status.
    pub records: RecordFigures,
    /// Tokens of all counted records as they came.
    pub tokens_before: u64,
    /// Tokens of the same records as written.
    pub tokens_after: u64,
    /// Whether the budget, and all tokens here, are rendered ones.
    pub is_rendered: bool,
    /// Values, in tokens, of the records that the template would have to count and refuses; they are in no other sum.
    pub uncounted_value_tokens: u64,
    /// The budget, in tokens.
    pub target_max_tokens: u64,
    /// Records that are over it in spite of all.
    pub over_limit: OverLimitFigures,
    /// Records that did not become what was asked.
    pub degraded: u64,
    /// Of these, those that were compressed all the same.
    pub degraded_compressed: u64,
    /// Records whose summary had less room than the summary target.
    pub summary_starved: u64,
    /// Tool turns whose outputs were replaced by a line each.
    pub masked_turns: u64,
    /// Records in which something was broken as they came.
    pub records_with_faults: u64,
    /// What was broken, and what of it was mended.
    pub faults: (u64, u64),
    /// Records that were brought into the shape that trainers take.
    pub records_with_mended_shapes: u64,
    /// What was done to them.
    pub mended_shapes: u64,
    /// Records that were written in another form.
    pub converted: u64,
    /// Records of which that form could not hold all, and how much it could not.
    pub format_losses: (u64, u64),
    /// The same records in both counts, where there is a chat template.
    pub both_counts: Option<BothCounts>,
    /// Identifiers that later turns of compressed records rely on and that would dangle.
    pub anchors_needed: u64,
    /// Of these, held by the summaries.
    pub anchors_held: u64,
    /// What summaries took over the network.
    pub requests: RequestFigures,
    /// Requests that are still to be answered.
    pub missing: u64,
    /// Wall time.
    pub elapsed: Duration,
    /// Bytes of input, decompressed.
    pub bytes_in: u64,
    /// Files written, in the order in which they are shown.
    pub files: Vec<PathBuf>,
    /// What a dry run would have done; `None` for a real one.
    pub dry_run: Option<DryRunFigures>,
}

impl RunFigures {
    /// Whether the figures are estimates: those of a dry run that has asked nobody for summaries.
    pub fn is_estimate(&self) -> bool {
        self.dry_run.is_some_and(|dry_run| dry_run.is_estimate)
    }

    /// The name of the time at which the records are written.
    pub fn after(&self) -> &'static str {
        if self.dry_run.is_some() {
            "planned"
        } else {
            "after"
        }
    }
}

/// Records by what became of them, with the reasons.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecordFigures {
    /// Within the budget, copied.
    pub under_target: u64,
    /// Compressed.
    pub compressed: u64,
    /// Where the summaries of these stand, with counts.
    pub placements: Reasons,
    /// Over the budget, but kept as they were.
    pub kept: u64,
    /// Why they were kept, with counts.
    pub kept_reasons: Reasons,
    /// In the rejects file.
    pub rejected: u64,
    /// Why they were rejected, with counts.
    pub rejected_reasons: Reasons,
    /// Kept as they were because something failed.
    pub failed: u64,
    /// What failed, with counts.
    pub failed_reasons: Reasons,
}

/// Records that are still over the budget.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OverLimitFigures {
    /// How many.
    pub records: u64,
    /// Why, with counts.
    pub reasons: Reasons,
}

/// Requests for summaries; in a dry run, those that a real one would make.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RequestFigures {
    /// Sent, failed ones included.
    pub sent: u64,
    /// Failed, repeated or not.
    pub failed: u64,
    /// Records whose summary had been received before.
    pub cached: u64,
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written.
    pub completion_tokens: u64,
    /// What they cost, in US dollars; `None` where prices are not known.
    pub cost: Option<f64>,
}

/// What a dry run found out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DryRunFigures {
    /// Summaries that a real run would write.
    pub summaries: u64,
    /// Tokens of the turns they would read.
    pub tokens_to_read: u64,
    /// Whether the summaries are of others, so that the embedded summarizer stood in for them.
    pub is_estimate: bool,
}
