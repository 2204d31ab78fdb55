//! Reading, the worker pool, ordering, writing, checkpoint and resume.
//!
//! ```text
//!  source ─► reader ─► window ─► worker (rayon) ─► writer ─► output ─► finish
//!  (files)   (batches)  (bytes)   (chunks)     │    (order)   (frames)  (final names)
//!                                              │      └─► journal (milestones)
//!                                              ├─► survey: a census, and no files
//!                                              └─► collect: the requests to send, and nothing else
//! ```

mod batch;
mod block_on;
mod collect;
mod counters;
mod disk;
mod error;
mod extent;
mod feed;
mod file_names;
mod finish;
mod foreign;
mod forms;
mod hashing;
mod job;
mod journal;
mod lint;
mod named_files;
mod open;
mod ordered;
mod output;
mod pairs;
mod reader;
mod record_metrics;
mod records;
mod reorder_buffer;
mod requests;
mod run;
mod sample;
mod scan;
mod side_files;
mod source;
mod spill;
mod start;
mod streams;
mod survey;
mod targets;
mod unroll_summary;
mod window;
mod worker;
mod writer;
mod written;

pub use batch::TooLong;
pub use collect::{Collected, Collection};
pub use counters::Counters;
pub use error::RunError;
use finish::Finish;
pub use job::{Job, RunReport};
pub use lint::lint;
pub use ordered::WORKER_THREADS;
pub use output::Codec;
pub use pairs::{LeftOut, Paired, Pairs};
pub use reader::MAX_RECORD_BYTES;
pub use records::{RawRecord, Records};
pub use requests::RequestFileSet;
pub use run::run;
pub use sample::Sample;
pub use scan::Scan;
pub use side_files::NamedFiles;
pub use source::{Source, sources};
pub use start::refuse_existing;
pub use survey::{Survey, SurveyReport};
pub use targets::{OutputFiles, cache_beside};
pub use worker::{OnInvalid, Worker};
