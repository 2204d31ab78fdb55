//! The algorithm, as pure functions over turns and counts: no I/O, no clocks, no JSON text.

pub mod anchors;
