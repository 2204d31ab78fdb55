//! Fits agent trajectories into a token budget.
//!
//! The line that a record moves along, and the module that owns each station:
//!
//! ```text
//! pipeline::input ─► trajectory ─► tokens ─► compress::plan ─► summarize ─► compress::splice ─► compress::verify ─► pipeline::writer
//!  (lines)            (turns)      (counts)   (region)          (summary)    (new line)          (invariants)        (bytes, metrics)
//! ```

pub mod cli;
pub mod compress;
pub mod config;
pub mod fit;
pub mod metrics;
pub mod names;
pub mod pipeline;
pub mod report;
pub mod summarize;
pub mod tokens;
pub mod trajectory;
