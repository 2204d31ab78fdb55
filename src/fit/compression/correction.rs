//! Corrections to the plan from a record that was written.

use crate::compress::Region;

/// Corrections to the plan from a written record; the default before any was written.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlanCorrection {
    /// Tokens that the record has beyond the plan; negative where it has fewer.
    pub(super) excess: isize,
    /// The region that was written.
    pub(super) region: Option<Region>,
}

impl PlanCorrection {
    /// Returns the expected tokens for a planned number.
    pub(super) fn beyond(self, planned: usize) -> usize {
        planned.saturating_add_signed(self.excess)
    }

    /// Returns true if no other region was measured.
    pub(super) fn is_of(self, region: Region) -> bool {
        self.region.is_none_or(|written| written == region)
    }
}
