//! How far a run is, for whoever shows it: plain counters that reader and writer add to.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Live figures of a run.
#[derive(Debug, Default)]
pub struct Counters {
    /// Bytes of all inputs as they lie on disk; `None` for a stream.
    pub bytes_total: Option<u64>,
    /// Bytes read so far, in the same measure.
    pub bytes_read: AtomicU64,
    /// Bytes of the batches written, decompressed.
    pub bytes_done: AtomicU64,
    /// Records written or rejected.
    pub records: AtomicU64,
    /// Of these, compressed.
    pub compressed: AtomicU64,
    /// Of these, still over the target.
    pub over_limit: AtomicU64,
    /// Of these, rejected.
    pub rejected: AtomicU64,
}

impl Counters {
    /// Adds to one of the counters.
    pub fn add(counter: &AtomicU64, amount: u64) {
        counter.fetch_add(amount, Ordering::Relaxed);
    }

    /// Reads one of the counters.
    pub fn get(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }
}

/// A reader whose bytes count as read.
pub struct CountingReader<R> {
    inner: R,
    counters: Arc<Counters>,
}

impl<R> CountingReader<R> {
    /// Counts what is read from `inner`.
    pub fn new(inner: R, counters: &Arc<Counters>) -> Self {
        Self {
            inner,
            counters: Arc::clone(counters),
        }
    }
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(target)?;
        Counters::add(&self.counters.bytes_read, length as u64);
        Ok(length)
    }
}
