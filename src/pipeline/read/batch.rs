//! A batch: consecutive records of one source with the bytes around them, the unit of work and of memory.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Small records are packed until a batch holds this much; a larger record is a batch of its own.
pub const BATCH_BYTES: usize = 256 * 1024;

/// The records of an input that a run takes: those that begin in these bytes of the decompressed input.
pub type ByteRange = Range<u64>;

/// All records of an input.
pub const WHOLE: ByteRange = 0..u64::MAX;

/// Records read together.
#[derive(Debug, Default)]
pub struct ReadBatch {
    /// Index of the source.
    pub source: usize,
    /// The bytes of the items.
    pub bytes: Vec<u8>,
    /// The items in input order, without the records that `--sample` leaves out.
    pub items: Vec<Item>,
    /// True if the items are elements of a top-level JSON array.
    pub in_array: bool,
    /// White space before the `]` that follows the last item; `None` if the array continues.
    pub array_end: Option<Vec<u8>>,
    /// The position after this batch.
    pub next: Position,
    /// True if the source ends here.
    pub last_of_source: bool,
}

/// A record, or bytes between records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Item {
    /// Line in the source, from 1; in an array, number of the element.
    pub line: u64,
    /// Byte range with the white space or line end around it.
    pub outer: Range<usize>,
    /// The record itself; `None` for blank lines and a byte-order mark, which are copied.
    pub record: Option<Range<usize>>,
    /// The place and length of a record that is too long: it has no bytes in the batch, and its range is empty.
    pub too_long: Option<TooLong>,
}

/// A record that was skipped because of its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong {
    /// Decompressed bytes of the source before it.
    pub offset: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// The limit in bytes.
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

/// A position in one source, between two records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Decompressed bytes before it.
    pub offset: u64,
    /// Lines (in an array: elements) before it.
    pub line: u64,
    /// Records before it, those left out included.
    pub records: u64,
    /// True if it is inside a top-level array.
    pub in_array: bool,
    /// XXH3 of the bytes before it.
    pub hash: u64,
}

impl ReadBatch {
    /// The only batch of a source of which nothing is taken.
    pub fn nothing_of(source: usize) -> Self {
        Self {
            source,
            last_of_source: true,
            ..Self::default()
        }
    }

    /// The bytes of a range of the batch.
    pub fn slice(&self, range: &Range<usize>) -> &[u8] {
        self.bytes.get(range.clone()).unwrap_or_default()
    }
}
