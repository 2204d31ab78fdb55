//! The rows of a file as JSON lines, one a row.

use std::io::{self, BufRead, Read};

use super::batches::RowBatches;
use super::encode::RowEncoder;
use super::{OnRead, RowFile};

/// Opens a file as JSON lines.
pub fn open(file: &RowFile, on_read: OnRead) -> io::Result<Box<dyn BufRead + Send>> {
    Ok(Box::new(JsonLines::of(RowBatches::open(file, on_read)?)))
}

/// Opens an Arrow stream as JSON lines.
pub fn open_stream(reader: Box<dyn Read + Send>) -> io::Result<Box<dyn BufRead + Send>> {
    Ok(Box::new(JsonLines::of(RowBatches::stream(reader)?)))
}

struct JsonLines {
    batches: RowBatches,
    /// The lines of a batch.
    lines: Vec<u8>,
    /// Bytes of them that are consumed.
    consumed: usize,
}

impl JsonLines {
    fn of(batches: RowBatches) -> Self {
        Self {
            batches,
            lines: Vec::new(),
            consumed: 0,
        }
    }
}

impl BufRead for JsonLines {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.consumed >= self.lines.len() {
            self.lines.clear();
            self.consumed = 0;
            if let Some(batch) = self.batches.next_batch()? {
                let mut encoder = RowEncoder::of(&batch)?;
                for row in 0..batch.num_rows() {
                    encoder.encode(row, &mut self.lines);
                    self.lines.push(b'\n');
                }
            }
        }
        Ok(self.lines.get(self.consumed..).unwrap_or_default())
    }

    fn consume(&mut self, amount: usize) {
        self.consumed += amount;
    }
}

impl Read for JsonLines {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}
