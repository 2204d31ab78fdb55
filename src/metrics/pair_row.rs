//! The columns of a row by which records of the input and of the output pair.

#[cfg(feature = "cli")]
use std::io::Read;

use serde::Deserialize;

use super::Status;

/// The columns of a row of a run's metrics that identify its record and its result.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[allow(missing_docs)] // The names are those of the columns.
pub struct PairRow {
    pub source: String,
    pub line: u64,
    pub id: String,
    pub status: Status,
    pub original_turns: u64,
    pub compressed_turns: u64,
    pub region_end: i64,
    pub masked_turns: u64,
    pub mended_faults: u64,
}

impl PairRow {
    /// Returns true if the output holds the record.
    pub fn is_written(&self) -> bool {
        self.status != Status::Rejected
    }

    /// Returns true if it is written as it was read.
    pub fn is_copied(&self) -> bool {
        self.status != Status::Compressed && self.mended_faults == 0
    }
}

/// Reads these columns of a metrics file.
#[cfg(feature = "cli")]
pub fn read_pair_rows(reader: impl Read) -> impl Iterator<Item = Result<PairRow, csv::Error>> {
    csv::ReaderBuilder::new().from_reader(reader).into_deserialize()
}
