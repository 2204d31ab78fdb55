//! A scan: every record of the inputs is processed by a pool of threads, and taken in input order.

pub(super) mod collect;
pub(super) mod lint;
pub(super) mod survey;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::RunError;
use super::counters::Counters;
use super::pool::ordered::{Concurrency, in_order};
use super::read::batch::{Position, ReadBatch};
use super::read::feed::Feed;
use super::read::sample::Sample;
use super::read::source::Source;

/// The records to read, and the threads that process them.
#[derive(Debug, Clone)]
pub struct Scan {
    /// Inputs, in order.
    pub sources: Vec<Source>,
    /// Most records to take.
    pub limit: Option<u64>,
    /// The sample of the records to take.
    pub sample: Sample,
    /// Most bytes of a record.
    pub max_record_bytes: u64,
    /// Threads of the worker pool.
    pub jobs: usize,
}

/// Help where an input cannot be read to its end.
const UNREADABLE: &str = "check that it is whole and within reach, then run it again";

impl Scan {
    /// Has every batch processed, and hands the result to `take`. `stop` ends it early, at the next batch.
    pub(super) fn run<T, F>(
        &self,
        counters: &Arc<Counters>,
        stop: &Arc<AtomicBool>,
        process: impl Fn(ReadBatch) -> F + Send + 'static,
        take: impl FnMut(&ReadBatch, T) -> Result<(), RunError>,
    ) -> Result<(), RunError>
    where
        T: Send + 'static,
        F: Future<Output = (ReadBatch, T)> + Send + 'static,
    {
        let feed = Feed {
            sources: self.sources.clone(),
            from: (0, Position::default()),
            limit: self.limit,
            sample: self.sample,
            max_record_bytes: self.max_record_bytes,
            merged: false,
            counters: Arc::clone(counters),
            help: UNREADABLE,
        };
        let width = Concurrency {
            jobs: self.jobs,
            requests: 0,
        };
        in_order(feed, width, stop, None, process, take)?;
        if stop.load(Ordering::Relaxed) {
            return Err(RunError::Interrupted { resumable: false });
        }
        Ok(())
    }
}
