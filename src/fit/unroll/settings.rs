//! Settings of unrolling beside those of a compression.

use super::super::mark::SummaryMark;
use crate::compress::compaction::Size;
use crate::names::named;

named! {
    /// The earlier turns that a record begins with, beside system turns, the request in progress and the summary.
    Overlap {
        /// The protected head and the protected tail.
        Tail = "tail",
        /// None, for trainers that cannot leave single turns out of the loss.
        None = "none",
    }
}

named! {
    /// The summaries that are taught by a record of their own.
    SummaryRecords {
        /// None.
        None = "none",
        /// Those of language models and programs; none that the embedded summarizer quoted together.
        Models = "models",
        /// All.
        All = "all",
    }
}

/// Settings of the replay of a trajectory.
#[derive(Debug, Clone, PartialEq)]
pub struct UnrollSettings {
    /// The part of the budget at which the context is compacted, over 0 and at most 1.
    pub trigger: f64,
    /// The turns beyond which it is compacted as well, to half as many; none for any number.
    pub max_turns: Option<usize>,
    /// The part of the context that a compaction should save, from 0 to below 1.
    pub min_savings: f64,
    /// True if the head is the smallest one after the first compaction.
    pub head_decay: bool,
    /// The earlier turns that a record begins with.
    pub overlap: Overlap,
    /// The summaries that are taught by a record of their own.
    pub summary_records: SummaryRecords,
    /// True if a summary may be written with an eye on what comes after it, as far as the budget reaches.
    pub hindsight: bool,
    /// The field that tells trained turns from context; `None` for a list of them beside the turns.
    pub mark: Option<SummaryMark>,
}

impl UnrollSettings {
    /// The size beyond which a context is compacted, for a budget in tokens; at least a token.
    pub fn trigger(&self, budget: usize) -> Size {
        Size {
            tokens: ((budget as f64 * self.trigger) as usize).clamp(1, budget.max(1)),
            turns: self.max_turns.unwrap_or(usize::MAX),
        }
    }
}
