//! The algorithm, as pure functions over turns and counts: no I/O, no clocks, no JSON text.

pub mod alignment;
pub mod anchors;
pub mod compaction;
mod cut_points;
mod outline;
pub mod piece_index;
mod placement;
mod plan;
mod protect;
mod reason;
pub mod reuse;
mod role_order;
#[cfg(test)]
mod tests;
mod verify;
mod verify_masks;

pub use cut_points::{CutPoints, Region};
pub use outline::{Outline, TurnContent, TurnFacts};
pub use placement::{Placement, SummaryPlacement, Way, moved};
pub use plan::{Plan, extend, freed, plan};
pub use protect::{Protection, compressible_region};
pub use reason::Reason;
pub use role_order::RoleOrder;
pub use verify::{Compressed, Violation, verify};
pub use verify_masks::{MaskedTurns, verify_masks};
