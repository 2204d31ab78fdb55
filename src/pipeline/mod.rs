//! Reading, the worker pool, ordering, writing, checkpoint and resume.
//!
//! ```text
//!  source ─► reader ─► window ─► worker (rayon) ─► writer ─► output ─► finish
//!  (files)   (batches)  (bytes)   (chunks)     │    (order)   (frames)  (final names)
//!                                              │      └─► journal (milestones)
//!                                              ├─► survey: a census, and no files
//!                                              └─► collect: the requests to send, and nothing else
//! ```

mod counters;
mod error;
mod merge;
mod pairs;
mod paths;
mod pool;
mod read;
mod run;
mod scan;
mod write;

pub use counters::Counters;
pub use error::RunError;
pub use merge::{Merge, MergedRuns};
pub use pairs::{LeftOut, Paired, Pairs};
pub use paths::side_files::NamedFiles;
pub use paths::targets::{OutputFiles, cache_beside};
pub use pool::block_on::block_on_until_stopped;
pub use pool::ordered::WORKER_THREADS;
pub use pool::stream::{Capacity, Next, Process, RecordStream};
pub use pool::worker::{Chunk, OnInvalid, Worker};
pub use read::batch::{ReadBatch, TooLong};
pub use read::inputs::sources;
pub use read::reader::MAX_RECORD_BYTES;
pub use read::records::{RawRecord, Records};
pub use read::sample::Sample;
pub use read::shard::{SHARD_SETTING, Shard};
pub use read::source::Source;
use run::finish::Finish;
pub use run::job::{Job, RunReport};
pub use run::run;
pub use run::start::refuse_existing;
pub use run::totals_file::{RowsReport, rows_report};
pub use scan::Scan;
pub use scan::collect::{Collected, Collection};
pub use scan::lint::lint;
pub use scan::survey::{Survey, SurveyReport, read_record};
pub use write::output::Codec;
pub use write::requests::RequestFileSet;
