//! Reading one record: its bytes are kept unless there are too many of them.

use std::io::{self, BufRead};

use super::batch::BATCH_BYTES;
use super::batch::TooLong;

/// The start of a record that is being read, and its length without the white space around it.
#[derive(Default)]
pub struct RecordSpan {
    /// Bytes of the batch before it.
    start: usize,
    /// Bytes of the source before it.
    offset: u64,
    /// Bytes read.
    read: u64,
    /// Bytes of white space before the first other byte.
    lead: u64,
    /// Bytes read, up to and including the last that is not white space.
    end: u64,
    /// Maximum bytes of a record.
    most: u64,
    /// True once the record is too long: its bytes are no longer kept.
    is_over: bool,
}

impl RecordSpan {
    /// A record of at most `most` bytes that starts at `start` in the batch and at `offset` in the source.
    pub fn at(start: usize, offset: u64, most: u64) -> Self {
        Self {
            start,
            offset,
            most,
            ..Self::default()
        }
    }

    /// Counts the next bytes of the record, and keeps them unless the record is too long.
    fn take(&mut self, chunk: &[u8], bytes: &mut Vec<u8>) {
        if let Some(last) = chunk.iter().rposition(|byte| !byte.is_ascii_whitespace()) {
            if self.end == 0 {
                let first = chunk.iter().position(|byte| !byte.is_ascii_whitespace());
                self.lead = self.read + first.unwrap_or_default() as u64;
            }
            self.end = self.read + last as u64 + 1;
        }
        self.read += chunk.len() as u64;
        // White space around a record has its limit, or that of a batch.
        let held = self.end.saturating_sub(self.lead);
        if held > self.most || self.read - held > self.most.max(BATCH_BYTES as u64) {
            self.is_over = true;
            bytes.truncate(self.start);
            bytes.shrink_to(BATCH_BYTES);
        }
        if !self.is_over {
            bytes.extend_from_slice(chunk);
        }
    }

    /// The place and length of the record, if it is too long.
    pub fn too_long(&self) -> Option<TooLong> {
        self.is_over.then_some(TooLong {
            offset: self.offset + self.lead,
            bytes: if self.end == 0 {
                self.read
            } else {
                self.end - self.lead
            },
            most: self.most,
        })
    }
}

/// Reads a line with its line end. Returns the number of bytes read; 0 at the end of the input.
pub fn read_line<R: BufRead>(
    reader: &mut R,
    bytes: &mut Vec<u8>,
    extent: &mut RecordSpan,
) -> io::Result<u64> {
    loop {
        let buffer = reader.fill_buf()?;
        let end = memchr::memchr(b'\n', buffer);
        let length = end.map_or(buffer.len(), |end| end + 1);
        extent.take(buffer.get(..length).unwrap_or_default(), bytes);
        reader.consume(length);
        if length == 0 || end.is_some() {
            return Ok(extent.read);
        }
    }
}

/// Reads one array element with the white space around it, and consumes the `,` or `]` after it. Returns
/// that delimiter, `None` at the end of the input, and whether the element's brackets and quotes are closed.
pub fn read_element<R: BufRead>(
    reader: &mut R,
    bytes: &mut Vec<u8>,
    extent: &mut RecordSpan,
) -> io::Result<(Option<u8>, bool)> {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    loop {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok((None, depth == 0 && !in_string));
        }
        let mut end = None;
        for (at, &byte) in buffer.iter().enumerate() {
            if in_string {
                in_string = escaped || byte != b'"';
                escaped = !escaped && byte == b'\\';
                continue;
            }
            match byte {
                b'"' => in_string = true,
                b'[' | b'{' => depth += 1,
                b',' | b']' if depth == 0 => {
                    end = Some((at, byte));
                    break;
                }
                b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        let length = end.map_or(buffer.len(), |(at, _)| at);
        extent.take(buffer.get(..length).unwrap_or_default(), bytes);
        reader.consume(length + usize::from(end.is_some()));
        if let Some((_, delimiter)) = end {
            return Ok((Some(delimiter), true));
        }
    }
}
