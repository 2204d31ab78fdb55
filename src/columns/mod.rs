//! Parquet and Arrow files: their rows read as JSON lines, and JSON lines written as rows.
//!
//! A row becomes one line, an object of its columns. Rows written are made of the row that each line came from: a column that
//! the line still has as it was read keeps its value and its type, others are decoded from the line's JSON.

mod row_format;

#[cfg(feature = "parquet")]
mod batches;
#[cfg(feature = "parquet")]
mod changes;
#[cfg(feature = "parquet")]
mod conform;
#[cfg(feature = "parquet")]
mod convert;
#[cfg(feature = "parquet")]
mod decode;
#[cfg(feature = "parquet")]
mod encode;
#[cfg(feature = "parquet")]
mod fault;
#[cfg(feature = "parquet")]
mod join;
#[cfg(feature = "parquet")]
mod json_lines;
#[cfg(feature = "parquet")]
mod json_text;
#[cfg(feature = "parquet")]
mod layout;
#[cfg(feature = "parquet")]
mod memory;
#[cfg(feature = "parquet")]
mod message_parts;
#[cfg(feature = "parquet")]
mod row_writer;
#[cfg(feature = "parquet")]
mod shape;
#[cfg(not(feature = "parquet"))]
mod without;

#[cfg(feature = "parquet")]
pub use batches::{RowBatches, common_schema};
#[cfg(feature = "parquet")]
pub use convert::convert;
#[cfg(feature = "parquet")]
pub use decode::decode;
#[cfg(feature = "parquet")]
pub use join::join;
#[cfg(feature = "parquet")]
pub use json_lines::{open, open_stream};
#[cfg(feature = "parquet")]
pub use memory::{FittedRows, RowLines, TableRows};
pub use row_format::{NOT_BUILT, RowFormat};
#[cfg(feature = "parquet")]
pub use row_writer::RowWriter;
#[cfg(feature = "parquet")]
pub use shape::ColumnShape;
#[cfg(not(feature = "parquet"))]
pub use without::{common_schema, convert, join, open, open_stream};

use std::path::PathBuf;
use std::sync::Arc;

/// Called with the number of bytes of each read from the disk.
pub type OnRead = Arc<dyn Fn(u64) + Send + Sync>;

/// A file of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowFile {
    /// The file.
    pub path: PathBuf,
    /// Its format.
    pub kind: RowFormat,
}

/// A line that becomes a row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlacedLine {
    /// Index of the source that it came from.
    pub source: usize,
    /// The row that it came from, from 0; of no meaning if the source has none.
    pub row: u64,
    /// The line: a JSON object.
    pub line: Vec<u8>,
}
