//! The columns of a row by which records of the input and of the output pair.

#[cfg(feature = "cli")]
use std::io::Read;

use serde::Deserialize;

use super::Status;
#[cfg(feature = "cli")]
use super::csv_safe::unquoted_text;

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

/// A row of a run's metrics about a record in its output.
#[cfg(feature = "cli")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenRow {
    /// The source of the record.
    pub source: String,
    /// Its line there, from 1.
    pub line: u64,
    /// Bytes of the metrics before the row.
    pub offset: u64,
}

/// Reads the rows about records in the output. `reader` begins with a row, at `offset` in the metrics; with `safe`, they
/// were written safe for spreadsheets.
#[cfg(feature = "cli")]
pub fn read_written_rows(
    reader: impl Read,
    offset: u64,
    safe: bool,
) -> impl Iterator<Item = Result<WrittenRow, csv::Error>> {
    let reader = csv::ReaderBuilder::new().has_headers(false).from_reader(reader);
    let row = move |record: csv::StringRecord| {
        // The first five columns are the same in all metrics: source, line, id, format, status.
        if record.get(4) == Some(Status::Rejected.name()) {
            return None;
        }
        let source = record.get(0).unwrap_or_default();
        Some(WrittenRow {
            source: if safe { unquoted_text(source) } else { source }.to_owned(),
            line: record
                .get(1)
                .and_then(|line| line.parse().ok())
                .unwrap_or_default(),
            offset: offset + record.position().map_or(0, csv::Position::byte),
        })
    };
    let records = reader.into_records();
    records.filter_map(move |record| record.map(&row).transpose())
}

/// Reads these columns of a metrics file.
#[cfg(feature = "cli")]
pub fn read_pair_rows(reader: impl Read) -> impl Iterator<Item = Result<PairRow, csv::Error>> {
    csv::ReaderBuilder::new().from_reader(reader).into_deserialize()
}
