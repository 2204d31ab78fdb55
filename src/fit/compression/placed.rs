//! A region with the possible places of its summary.

use crate::compress::{Placement, Region};

/// A region, and the possible places of its summary.
#[derive(Debug, Clone)]
pub struct Placed {
    /// The turns to be replaced.
    pub region: Region,
    /// The region differs by a group from the planned one.
    pub is_moved: bool,
    /// The places, best first.
    pub(super) placements: Vec<Placement>,
}
