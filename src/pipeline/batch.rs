//! A batch: consecutive records of one source with the bytes around them, the unit of work and of memory.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Small records are packed until a batch holds this much; a larger record is a batch of its own.
pub const BATCH_BYTES: usize = 256 * 1024;

/// Records read together.
#[derive(Debug, Default)]
pub struct Batch {
    /// Index of the source.
    pub source: usize,
    /// What the items lie in.
    pub bytes: Vec<u8>,
    /// In input order. What was left out (by `--sample`) is not among them.
    pub items: Vec<Item>,
    /// Whether the items are elements of a top-level JSON array.
    pub in_array: bool,
    /// White space before the `]` that follows the last item; `None` where the array goes on.
    pub array_end: Option<Vec<u8>>,
    /// Where reading goes on after this batch.
    pub next: Position,
    /// Whether the source ends here.
    pub last_of_source: bool,
}

/// One record, or bytes that are none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Line in the source, from 1; in an array, number of the element.
    pub line: u64,
    /// With the white space or line end around it.
    pub outer: Range<usize>,
    /// The record itself; `None` for blank lines and a byte-order mark, which are copied.
    pub record: Option<Range<usize>>,
    /// Where the record was, if it is longer than records may be: nothing of it is in the batch, and its range is empty.
    pub too_long: Option<TooLong>,
}

/// A record that was passed over for its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong {
    /// Decompressed bytes of the source before it.
    pub offset: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Bytes that it might have had.
    pub most: u64,
}

impl TooLong {
    /// The reason code of metrics and rejects.
    pub const CODE: &'static str = "record_too_long";
}

impl fmt::Display for TooLong {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, bytes, most } = self;
        write!(
            formatter,
            "{bytes} bytes at offset {offset}, more than the {most} of --max-record-bytes"
        )
    }
}

/// A place in one source between two records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Decompressed bytes before it.
    pub offset: u64,
    /// Lines (in an array: elements) before it.
    pub line: u64,
    /// Records before it, those left out included.
    pub records: u64,
    /// Whether it is inside a top-level array.
    pub in_array: bool,
    /// XXH3 of the bytes before it.
    pub hash: u64,
}

impl Batch {
    /// The bytes of a range of the batch.
    pub fn slice(&self, range: &Range<usize>) -> &[u8] {
        self.bytes.get(range.clone()).unwrap_or_default()
    }
}
