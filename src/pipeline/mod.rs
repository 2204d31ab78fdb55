//! Reading, the worker pool, ordering, writing, checkpoint and resume.
//!
//! ```text
//!  source ─► reader ─► window ─► worker (rayon) ─► writer ─► output ─► finish
//!  (files)   (batches)  (bytes)   (chunks)     │    (order)   (frames)  (final names)
//!                                              │      └─► journal (milestones)
//!                                              ├─► survey: a census, and no files
//!                                              └─► collect: what has to be asked, and nothing else
//! ```

mod batch;
mod collect;
mod counters;
mod error;
mod feed;
mod finish;
mod hashing;
mod journal;
mod ordered;
mod output;
mod pairs;
mod patience;
mod reader;
mod records;
mod requests;
mod run;
mod sample;
mod source;
mod start;
mod survey;
mod targets;
mod window;
mod worker;
mod writer;

pub use collect::{Collected, Collection};
pub use counters::Counters;
pub use error::RunError;
use finish::Finish;
pub use ordered::WORKER_THREADS;
pub use output::Codec;
pub use pairs::{Found, Matching, Pairs};
pub use records::{RawRecord, Records};
pub use requests::{RequestMark, RequestTarget, RequestTotals};
pub use run::{Job, RunReport, run};
pub use sample::Sample;
pub use source::{Source, sources};
pub use start::refuse_existing;
pub use survey::{Survey, SurveyReport};
pub use targets::{Targets, cache_beside};
pub use worker::{OnInvalid, Worker};
