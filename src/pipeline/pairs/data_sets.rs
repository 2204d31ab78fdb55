//! Two data sets to be compared, and the steps through them.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::pipeline::{RawRecord, RunError, Source};

/// Two data sets to be compared.
#[derive(Debug, Clone)]
pub struct Pairs {
    /// The originals.
    pub original: Vec<Source>,
    /// The records made of them.
    pub compressed: Vec<Source>,
    /// The path given for the compressed records: metrics of the run that wrote them are looked for beside it.
    pub compressed_path: PathBuf,
    /// Maximum bytes of a record.
    pub max_record_bytes: u64,
}

/// The reason that an original has no compressed record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftOut {
    /// The run rejected it.
    Rejected,
    /// The run did not read it: `--limit`, `--sample`.
    NotTaken,
    /// The data sets have different numbers of records with its id, or of records without one if it has none.
    Counts {
        /// True if ids tell the records apart; otherwise all records are counted.
        by_id: bool,
        /// The number of originals.
        originals: u64,
        /// The number of compressed records.
        compressed: u64,
    },
    /// Its compressed record is in a file that is not among those compared.
    Elsewhere,
}

/// A pair, or a record that has no counterpart.
#[derive(Debug)]
pub enum Paired<'r> {
    /// An original and its compressed record.
    Pair(&'r RawRecord, &'r RawRecord),
    /// A compressed record that cannot be read, or whose original is missing or not known.
    NoOriginal(&'r RawRecord),
    /// An original without a compressed record.
    Left(&'r RawRecord, LeftOut),
}

/// The function that receives pairs and single records.
pub type OnPair<'t> = dyn FnMut(Paired<'_>) -> Result<ControlFlow<()>, RunError> + 't;

/// Returns an error if the user asked to stop.
pub fn interrupted(stop: &AtomicBool) -> Result<(), RunError> {
    if stop.load(Ordering::Relaxed) {
        return Err(RunError::Interrupted { resumable: false });
    }
    Ok(())
}
