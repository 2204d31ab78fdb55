//! Fits agent trajectories into a token budget.
//!
//! The line that a record moves along, and the module that owns each station:
//!
//! ```text
//! pipeline ──► trajectory ─► tokens ─► compress::plan ─► summarize ─► trajectory::edit ─► compress::verify ─► pipeline
//! (batches     (turns)       (counts)  (region)          (summary)    (new line)          (invariants)        (bytes,
//!  of records)                                                                                                 metrics)
//!              └────────────────────── fit: one record, from bytes to bytes and a row ──────────────────┘
//! ```

#![forbid(unsafe_code)]

pub mod batch;
pub mod cache;
pub mod cli;
pub mod compress;
pub mod config;
pub(crate) mod events;
pub mod files;
pub mod fit;
pub mod http;
pub(crate) mod knowledge;
pub mod metrics;
pub mod names;
pub mod pipeline;
pub mod report;
pub mod standard_streams;
pub mod summarize;
pub mod tokens;
pub mod trainers;
pub mod trajectory;
