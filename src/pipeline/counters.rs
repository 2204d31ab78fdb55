//! How far a run is, for whoever shows it: plain counters that reader and writer add to.

use std::sync::atomic::{AtomicU64, Ordering};

/// Live figures of a run.
#[derive(Debug, Default)]
pub struct Counters {
    /// Decompressed bytes of records written.
    pub bytes: AtomicU64,
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
