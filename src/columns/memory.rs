//! Rows that another program hands over in memory, read as lines, and their fitted lines as rows again.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, Schema, SchemaRef};

use super::batches::RowBatches;
use super::changes::LineChunk;
use super::convert::rows;
use super::encode::RowEncoder;
use super::layout::Layout;

/// The number of lines that become a batch, if they come from no table.
const LINES: usize = 1024;

/// The rows of a reader as JSON lines, without line ends. The rows are kept, for [`FittedRows`].
pub struct RowLines {
    batches: RowBatches,
    /// The batches, each with the number of its first row.
    kept: VecDeque<(u64, RecordBatch)>,
    /// The number of rows that were read.
    rows: u64,
    /// The lines of the batch that was read last, the ends of each, and the number of those that were taken.
    lines: Vec<u8>,
    ends: Vec<usize>,
    taken: usize,
    error: Option<io::Error>,
}

impl RowLines {
    /// The rows of a reader.
    pub fn new(reader: Box<dyn RecordBatchReader + Send>) -> Self {
        Self {
            batches: RowBatches::of_reader(reader),
            kept: VecDeque::new(),
            rows: 0,
            lines: Vec::new(),
            ends: Vec::new(),
            taken: 0,
            error: None,
        }
    }

    /// The error that ended the rows, once.
    pub fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }

    /// The rows that were read and not forgotten, and their columns.
    pub fn rows(&self) -> TableRows {
        TableRows {
            schema: self.batches.schema().clone(),
            batches: self.kept.clone(),
        }
    }

    /// Forgets the batches before the one that holds a row: their lines will not become rows again.
    pub fn forget_before(&mut self, row: u64) {
        while self.kept.get(1).is_some_and(|(first, _)| *first <= row) {
            self.kept.pop_front();
        }
    }

    fn read(&mut self) -> io::Result<bool> {
        let Some(batch) = self.batches.next_batch()? else {
            return Ok(false);
        };
        self.lines.clear();
        self.ends.clear();
        self.taken = 0;
        let mut encoder = RowEncoder::of(&batch)?;
        for row in 0..batch.num_rows() {
            encoder.encode(row, &mut self.lines);
            self.ends.push(self.lines.len());
        }
        drop(encoder);
        let rows = batch.num_rows() as u64;
        self.kept.push_back((self.rows, batch));
        self.rows += rows;
        Ok(true)
    }
}

impl Iterator for RowLines {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        while self.taken >= self.ends.len() {
            match self.read() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    self.error = Some(error);
                    return None;
                }
            }
        }
        let end = self.ends.get(self.taken).copied()?;
        let start = self.taken.checked_sub(1).and_then(|before| self.ends.get(before));
        self.taken += 1;
        let line = self.lines.get(start.copied().unwrap_or(0)..end)?;
        Some(line.to_vec())
    }
}

/// Rows of a table, and its columns.
pub struct TableRows {
    schema: SchemaRef,
    /// Each with the number of its first row.
    batches: VecDeque<(u64, RecordBatch)>,
}

/// Fitted lines as rows, made a batch at a time. A copy has the same rows, and begins anew.
pub struct FittedRows {
    schema: SchemaRef,
    chunks: Arc<[LineChunk]>,
    next: usize,
}

impl Clone for FittedRows {
    fn clone(&self) -> Self {
        Self {
            schema: self.schema.clone(),
            chunks: Arc::clone(&self.chunks),
            next: 0,
        }
    }
}

impl FittedRows {
    /// The rows of lines, each with the number of the row that it came from, from 0, in their order; a line that is `None` is
    /// the one that its row was read as. Without a table, the rows are those of the lines alone.
    ///
    /// # Errors
    ///
    /// A line has values that do not fit into its column.
    pub fn new(table: Option<TableRows>, lines: Vec<(u64, Option<Vec<u8>>)>) -> io::Result<Self> {
        let has_rows = table.is_some();
        let TableRows { schema, mut batches } = table.unwrap_or_else(|| TableRows {
            schema: Schema::empty().into(),
            batches: VecDeque::new(),
        });
        let (mut first, mut end) = (0, 0);
        let mut chunks: Vec<LineChunk> = Vec::new();
        for (row, line) in lines {
            while has_rows && row >= end {
                let next = batches.pop_front();
                let (start, batch) = next.ok_or_else(|| io::Error::other("a row is missing"))?;
                first = start;
                end = start + batch.num_rows() as u64;
                chunks.push(LineChunk {
                    rows: Some(batch),
                    lines: Vec::new(),
                });
            }
            // Lines without rows make batches of their own.
            let is_full = |chunk: &LineChunk| !has_rows && chunk.lines.len() == LINES;
            if chunks.last().is_none_or(is_full) {
                chunks.push(LineChunk {
                    rows: None,
                    lines: Vec::new(),
                });
            }
            let index = if has_rows { row.saturating_sub(first) } else { 0 };
            if let Some(chunk) = chunks.last_mut() {
                chunk.lines.push((index as usize, line));
            }
        }
        chunks.retain(|chunk| !chunk.lines.is_empty());
        let mut layout = Layout::of(Schema::clone(&schema));
        for chunk in &chunks {
            layout.add(chunk)?;
        }
        Ok(Self {
            schema: layout.schema()?,
            chunks: chunks.into(),
            next: 0,
        })
    }
}

impl Iterator for FittedRows {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let chunk = self.chunks.get(self.next)?;
        self.next += 1;
        Some(rows(chunk, &self.schema).map_err(|error| ArrowError::IoError(error.to_string(), error)))
    }
}

impl RecordBatchReader for FittedRows {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
