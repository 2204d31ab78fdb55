//! The reason for a trajectory's outcome: a stable code, and a detail for people.

use std::fmt;

/// A reason, as recorded in the metrics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// A stable code in `snake_case`; totals are grouped by it.
    pub code: &'static str,
    /// Details of this record; may be empty.
    pub detail: String,
}

impl Reason {
    /// Head, tail and groups leave no region to choose.
    pub const NOTHING_COMPRESSIBLE: &'static str = "nothing_compressible";
    /// The region costs no more than its summary would.
    pub const NO_NET_SAVING: &'static str = "no_net_saving";
    /// Head and tail alone are over the budget.
    pub const PROTECTED_TURNS_EXCEED_BUDGET: &'static str = "protected_turns_exceed_budget";
    /// Compressed, but still over the budget, and no compressible group is left.
    pub const REGION_EXHAUSTED: &'static str = "region_exhausted";
    /// Compressed, but still over the budget: the rest lies beyond a turn that cannot be summarized.
    pub const REGION_DIVIDED: &'static str = "region_divided";
    /// Compressed, but still over the budget: a larger region made the rendered record longer.
    pub const LARGER_REGION_COSTS_MORE: &'static str = "larger_region_costs_more";
    /// Compressed, but still over the budget after the last pass, with compressible groups left.
    pub const PASSES_EXHAUSTED: &'static str = "passes_exhausted";
    /// A record of an unrolled trajectory is over the budget: a group and the turns that must precede it cost more.
    pub const GROUP_EXCEEDS_BUDGET: &'static str = "group_exceeds_budget";
    /// The region has more turns than the summarizer reads.
    pub const REGION_READ_IN_PART: &'static str = "region_read_in_part";
    /// No tool output between head and tail is worth masking.
    pub const NOTHING_TO_MASK: &'static str = "nothing_to_mask";
    /// All maskable outputs are masked, and that was not enough.
    pub const MASKS_EXHAUSTED: &'static str = "masks_exhausted";

    /// No place for the summary keeps the order of roles, with this region or one that differs by a group.
    pub const NO_PLACE_FOR_SUMMARY: &'static str = "no_place_for_summary";

    /// The chat template refuses the trajectory.
    pub const TEMPLATE_REFUSES: &'static str = "template_refuses";
    /// The chat template refuses the trajectory with its summary.
    pub const TEMPLATE_REFUSES_SUMMARY: &'static str = "template_refuses_summary";
    /// With the summary in place, the chat template renders kept turns differently.
    pub const TEMPLATE_CHANGES_KEPT_TURNS: &'static str = "template_changes_kept_turns";

    /// The record cannot be converted to the requested form.
    pub const NOT_CONVERTIBLE: &'static str = "not_convertible";

    /// Returns a reason without a detail.
    pub fn plain(code: &'static str) -> Self {
        Self {
            code,
            detail: String::new(),
        }
    }

    /// Returns the same reason, with another one appended to its detail.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        if !self.detail.is_empty() {
            self.detail.push_str("; ");
        }
        self.detail.push_str(other.code);
        self
    }

    /// Returns a reason with a detail.
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
