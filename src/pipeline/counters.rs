//! The progress of a run: plain counters that reader and writer add to.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::metrics::{Row, Status};

/// Live figures of a run.
#[derive(Debug, Default)]
pub struct Counters {
    /// Bytes of all inputs on disk; `None` for a stream.
    pub bytes_total: Option<u64>,
    /// Bytes read so far, as they are on disk.
    pub bytes_read: AtomicU64,
    /// Bytes on disk of the inputs that a resumed run skips.
    pub bytes_skipped: AtomicU64,
    /// Bytes of the records handed to workers, decompressed.
    pub bytes_begun: AtomicU64,
    /// Of these, bytes of records that workers have finished, even if an earlier record is not finished yet.
    pub bytes_settled: AtomicU64,
    /// Records for which a language model or a program has answered, in this run or before.
    pub answered: AtomicU64,
    /// Bytes of the batches written, decompressed.
    pub bytes_done: AtomicU64,
    /// Records written or rejected.
    pub records: AtomicU64,
    /// Of these, compressed.
    pub compressed: AtomicU64,
    /// Of these, still over the budget.
    pub over_limit: AtomicU64,
    /// Of these, rejected.
    pub rejected: AtomicU64,
}

impl Counters {
    /// Adds to one of the counters.
    pub fn add(counter: &AtomicU64, amount: u64) {
        counter.fetch_add(amount, Ordering::Relaxed);
    }

    /// Adds a batch that is written, of `bytes` decompressed bytes and `records` records.
    pub fn add_written(&self, bytes: u64, records: u64, rows: &[Row]) {
        let of = |status| rows.iter().filter(|row| row.status == status).count() as u64;
        let over = rows.iter().filter(|row| row.still_over_limit).count() as u64;
        Self::add(&self.bytes_done, bytes);
        Self::add(&self.records, records);
        Self::add(&self.compressed, of(Status::Compressed));
        Self::add(&self.rejected, of(Status::Rejected));
        Self::add(&self.over_limit, over);
    }

    /// The progress of the run, in bytes of the inputs on disk: reading may be far ahead of answers.
    pub fn position(&self) -> u64 {
        let (read, skipped) = (Self::get(&self.bytes_read), Self::get(&self.bytes_skipped));
        let (begun, settled) = (Self::get(&self.bytes_begun), Self::get(&self.bytes_settled));
        if begun == 0 {
            return read;
        }
        let share = settled.min(begun) as f64 / begun as f64;
        skipped + (read.saturating_sub(skipped) as f64 * share) as u64
    }

    /// Reads one of the counters.
    pub fn get(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }
}

/// A reader that counts the bytes read.
pub struct CountingReader<R> {
    inner: R,
    counters: Arc<Counters>,
}

impl<R> CountingReader<R> {
    /// Counts the bytes read from `inner`.
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
