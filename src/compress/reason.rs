//! Why a trajectory ended as it did: a stable code, and a detail for people.

use std::fmt;

/// A reason of the metrics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// Stable, `snake_case`; what totals are grouped by.
    pub code: &'static str,
    /// What makes this case particular; may be empty.
    pub detail: String,
}

impl Reason {
    /// No head, tail or group lets a region be chosen.
    pub const NOTHING_COMPRESSIBLE: &'static str = "nothing_compressible";
    /// The region costs no more than the summary that would replace it.
    pub const NO_NET_SAVING: &'static str = "no_net_saving";
    /// Head and tail alone are over the target.
    pub const PROTECTED_TURNS_EXCEED_BUDGET: &'static str = "protected_turns_exceed_budget";
    /// Compressed, but still over the target, and no compressible group is left.
    pub const REGION_EXHAUSTED: &'static str = "region_exhausted";
    /// Compressed, but still over the target: what is left lies beyond a turn that cannot be summarized.
    pub const REGION_DIVIDED: &'static str = "region_divided";
    /// Compressed, but still over the target: taking more turns made the record as rendered longer.
    pub const LARGER_REGION_COSTS_MORE: &'static str = "larger_region_costs_more";
    /// Compressed, but still over the target when the passes ended, with compressible groups left.
    pub const PASSES_EXHAUSTED: &'static str = "passes_exhausted";
    /// A record of an unrolled trajectory is over the budget: a group and what must stand before it cost more.
    pub const GROUP_EXCEEDS_BUDGET: &'static str = "group_exceeds_budget";
    /// The region has more turns than the summarizer is given to read.
    pub const REGION_READ_IN_PART: &'static str = "region_read_in_part";
    /// No output of a tool between head and tail is worth masking.
    pub const NOTHING_TO_MASK: &'static str = "nothing_to_mask";
    /// All that could be masked is, and that was not enough.
    pub const MASKS_EXHAUSTED: &'static str = "masks_exhausted";

    /// No place for the summary keeps the order of roles, with this region or one that differs by a group.
    pub const NO_PLACE_FOR_SUMMARY: &'static str = "no_place_for_summary";

    /// The chat template refuses the trajectory.
    pub const TEMPLATE_REFUSES: &'static str = "template_refuses";
    /// The chat template refuses the trajectory with its summary.
    pub const TEMPLATE_REFUSES_SUMMARY: &'static str = "template_refuses_summary";
    /// With the summary in its place the chat template renders kept turns otherwise than before.
    pub const TEMPLATE_CHANGES_KEPT_TURNS: &'static str = "template_changes_kept_turns";

    /// The record cannot be written in the form that is asked for.
    pub const NOT_CONVERTIBLE: &'static str = "not_convertible";

    /// A reason that says all by its code.
    pub fn plain(code: &'static str) -> Self {
        Self {
            code,
            detail: String::new(),
        }
    }

    /// The same reason, with another one told in its detail.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        if !self.detail.is_empty() {
            self.detail.push_str("; ");
        }
        self.detail.push_str(other.code);
        self
    }

    /// A reason with a detail.
    pub fn with(code: &'static str, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.detail.as_str() {
            "" => formatter.write_str(self.code),
            detail => write!(formatter, "{}: {detail}", self.code),
        }
    }
}
