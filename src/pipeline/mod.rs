//! Reading, the worker pool, ordering, writing, checkpoint and resume.
//!
//! ```text
//!  source ─► reader ─► window ─► worker (rayon) ─► writer ─► output ─► finish
//!  (files)   (batches)  (bytes)   (chunks)          (order)   (frames)  (final names)
//!                                                     └─► journal (milestones)
//! ```

mod batch;
mod counters;
mod error;
mod feed;
mod finish;
mod hashing;
mod journal;
mod output;
mod patience;
mod reader;
mod run;
mod sample;
mod source;
mod start;
mod targets;
mod window;
mod worker;
mod writer;

pub use counters::Counters;
pub use error::RunError;
use finish::Finish;
pub use output::Codec;
pub use run::{Job, RunReport, WORKER_THREADS, run};
pub use sample::Sample;
pub use source::{Source, sources};
pub use targets::Targets;
pub use worker::{OnInvalid, Worker};
