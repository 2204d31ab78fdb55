//! What unrolling depends on beside the settings of a compression.

use super::super::SummaryMark;
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

/// How a trajectory is replayed.
#[derive(Debug, Clone, PartialEq)]
pub struct UnrollSettings {
    /// The part of the budget at which the context is compacted, over 0 and at most 1.
    pub trigger: f64,
    /// The part of the context that a compaction should save, from 0 to below 1.
    pub min_savings: f64,
    /// True if the head is the smallest one after the first compaction.
    pub head_decay: bool,
    /// The earlier turns that a record begins with.
    pub overlap: Overlap,
    /// The field that tells trained turns from context; `None` for a list of them beside the turns.
    pub mark: Option<SummaryMark>,
}

impl UnrollSettings {
    /// The tokens at which a context is compacted, for a budget in tokens; at least 1.
    pub fn trigger_tokens(&self, budget: usize) -> usize {
        ((budget as f64 * self.trigger) as usize).clamp(1, budget.max(1))
    }
}
