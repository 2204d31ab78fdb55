//! Reading one record: its bytes are held as long as there are not too many of them.

use std::io::{self, BufRead};

use super::batch::BATCH_BYTES;
use super::batch::TooLong;

/// A record as it is read: where it starts, and how long it is without the white space around it.
#[derive(Default)]
pub struct Extent {
    /// Bytes of the batch before it.
    start: usize,
    /// Bytes of the source before it.
    offset: u64,
    /// Bytes read.
    read: u64,
    /// White space before the first other byte.
    lead: u64,
    /// Bytes read up to the last that is no white space.
    end: u64,
    /// Bytes that a record may have.
    most: u64,
    /// Whether there are more: the record is no longer held.
    is_over: bool,
}

impl Extent {
    /// A record that starts at `start` of the batch, which is at `offset` of the source, and may have so many bytes.
    pub fn at(start: usize, offset: u64, most: u64) -> Self {
        Self {
            start,
            offset,
            most,
            ..Self::default()
        }
    }

    /// Takes the next bytes of the record, and holds them as long as there are not too many.
    fn take(&mut self, chunk: &[u8], bytes: &mut Vec<u8>) {
        if let Some(last) = chunk.iter().rposition(|byte| !byte.is_ascii_whitespace()) {
            if self.end == 0 {
                let first = chunk.iter().position(|byte| !byte.is_ascii_whitespace());
                self.lead = self.read + first.unwrap_or_default() as u64;
            }
            self.end = self.read + last as u64 + 1;
        }
        self.read += chunk.len() as u64;
        // The white space around a record may be as long as a record.
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

    /// Where the record is, if it is too long.
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

/// Reads a line with its end. Returns how many bytes there were; 0 at the end of the input.
pub fn read_line<R: BufRead>(reader: &mut R, bytes: &mut Vec<u8>, extent: &mut Extent) -> io::Result<u64> {
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
    extent: &mut Extent,
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
