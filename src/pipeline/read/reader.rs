//! Splits the bytes of a source into batches of records: lines, or the elements of a top-level array.

use std::io::{self, BufRead, Chain, Cursor, Read};

use super::batch::{BATCH_BYTES, ByteRange, Item, Position, ReadBatch, TooLong, WHOLE};
use super::extent::{RecordSpan, read_element, read_line};
use super::foreign::{self, BYTE_ORDER_MARK, Foreign};
use super::hashing::HashingReader;
use super::sample::Sample;

/// Maximum bytes of a record, unless another number is set.
pub const MAX_RECORD_BYTES: u64 = 256_000_000;

/// Reads one source batch by batch.
pub struct BatchReader<R> {
    reader: HashingReader<Chain<Cursor<Vec<u8>>, R>>,
    opening: SourceHead,
    source: usize,
    position: Position,
    sample: Sample,
    /// The stretch of the source whose records are taken.
    part: ByteRange,
    /// Records that may still be read, over all sources.
    limit: Option<u64>,
    /// Maximum bytes of a record.
    max_record_bytes: u64,
    done: bool,
}

impl<R: BufRead> BatchReader<R> {
    /// A reader of the source's records from `position` on; `Ok(None)` if the bytes before it have changed.
    pub fn open(
        mut reader: R,
        source: usize,
        position: Position,
        sample: Sample,
        limit: Option<u64>,
    ) -> io::Result<Option<Self>> {
        let head = foreign::head(&mut reader)?;
        let opening = SourceHead::of(&head);
        let mut reader = HashingReader::new(Cursor::new(head).chain(reader));
        reader.skip_to(position.offset)?;
        if position.offset > 0 && (reader.offset(), reader.hash()) != (position.offset, position.hash) {
            return Ok(None);
        }
        Ok(Some(Self {
            reader,
            opening,
            source,
            position,
            sample,
            part: WHOLE,
            limit,
            max_record_bytes: MAX_RECORD_BYTES,
            done: false,
        }))
    }

    /// The kind of the source, if it holds no records.
    pub fn foreign(&self) -> Option<&'static Foreign> {
        self.opening.foreign
    }

    /// Returns true if the source is a top-level array.
    pub fn is_array(&self) -> bool {
        self.opening.array.is_some()
    }

    /// Drops the bytes of records that are longer than `most`.
    pub fn limit_records(&mut self, most: u64) {
        self.max_record_bytes = most;
    }

    /// Takes only the records that begin in `part`. Those before it are read, so that lines have their numbers.
    pub fn take_part(&mut self, part: ByteRange) {
        self.part = part;
    }

    /// Leaves out a byte-order mark: the source does not begin the file that it is written to.
    pub fn leave_out_mark(&mut self) {
        self.opening.keep_mark = false;
    }

    /// Records that may still be read after this source.
    pub fn limit_left(&self) -> Option<u64> {
        self.limit
    }

    /// The next batch; `None` at the end.
    pub fn next_batch(&mut self) -> io::Result<Option<ReadBatch>> {
        if self.done {
            return Ok(None);
        }
        let mut batch = ReadBatch {
            source: self.source,
            // If the last record does not fit, it grows once.
            bytes: Vec::with_capacity(BATCH_BYTES + BATCH_BYTES / 4),
            in_array: self.position.in_array,
            ..ReadBatch::default()
        };
        if self.position.offset == 0 {
            self.read_start(&mut batch)?;
        }
        if batch.in_array {
            self.read_elements(&mut batch)?;
        } else if !self.position.in_array {
            self.read_lines(&mut batch)?;
        }
        // An array that was opened is closed by the next batch, whatever the limit.
        let just_opened = self.position.in_array && !batch.in_array;
        let at_end = !just_opened
            && (self.limit == Some(0) || self.is_past_part() || self.reader.fill_buf()?.is_empty());
        self.done = at_end;
        batch.last_of_source = at_end;
        if at_end && self.position.in_array && batch.in_array {
            // Cut off by --limit, or by the end of a broken file: the array that is written is closed nevertheless.
            batch.array_end.get_or_insert_default();
        }
        self.position.offset = self.reader.offset();
        self.position.hash = self.reader.hash();
        batch.next = self.position;
        Ok(Some(batch))
    }

    /// Reads a byte-order mark, and the white space and the `[` that open an array.
    fn read_start(&mut self, batch: &mut ReadBatch) -> io::Result<()> {
        if self.opening.keep_mark && self.part.contains(&0) {
            self.take_verbatim(batch, self.opening.mark)?;
        } else {
            self.reader.consume(self.opening.mark);
        }
        if let Some(space) = self.opening.array {
            self.take_verbatim(batch, space)?;
            self.reader.consume(1);
            self.position.in_array = true;
        }
        Ok(())
    }

    fn take_verbatim(&mut self, batch: &mut ReadBatch, length: usize) -> io::Result<()> {
        if length == 0 {
            return Ok(());
        }
        let start = batch.bytes.len();
        let bytes = self.reader.fill_buf()?;
        batch
            .bytes
            .extend_from_slice(bytes.get(..length).unwrap_or_default());
        self.reader.consume(length);
        batch.items.push(Item {
            line: 1,
            outer: start..batch.bytes.len(),
            record: None,
            too_long: None,
        });
        Ok(())
    }

    fn read_lines(&mut self, batch: &mut ReadBatch) -> io::Result<()> {
        while batch.bytes.len() < BATCH_BYTES && self.limit != Some(0) && !self.is_past_part() {
            if self.take_blank_lines(batch)? {
                continue;
            }
            let start = batch.bytes.len();
            let is_ours = self.reader.offset() >= self.part.start;
            let mut extent = self.extent(start);
            if read_line(&mut self.reader, &mut batch.bytes, &mut extent)? == 0 {
                break;
            }
            if let Some(too_long) = extent.too_long() {
                self.position.line += 1;
                self.pass_over(batch, too_long, is_ours);
                break;
            }
            let line = batch.bytes.get(start..).unwrap_or_default();
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            let end = start + text.len();
            let blank = text.trim_ascii().is_empty();
            self.position.line += 1;
            self.push(batch, start, (!blank).then_some(start..end), is_ours);
        }
        Ok(())
    }

    /// Takes all blank lines that come next and are buffered, at once: there may be millions. Returns true if there
    /// were any.
    fn take_blank_lines(&mut self, batch: &mut ReadBatch) -> io::Result<bool> {
        let offset = self.reader.offset();
        let is_ours = offset >= self.part.start;
        let boundary = if is_ours { self.part.end } else { self.part.start };
        let room = (BATCH_BYTES - batch.bytes.len())
            .min(self.max_record_bytes as usize)
            .min(usize::try_from(boundary - offset).unwrap_or(usize::MAX));
        let ahead = self.reader.fill_buf()?;
        let ahead = ahead.get(..room.min(ahead.len())).unwrap_or_default();
        let is_other = |byte: &u8| !byte.is_ascii_whitespace();
        let blank = ahead.iter().position(is_other).unwrap_or(ahead.len());
        let blank = ahead.get(..blank).unwrap_or_default();
        let Some(last) = memchr::memrchr(b'\n', blank) else {
            return Ok(false);
        };
        let start = batch.bytes.len();
        let lines = blank.get(..=last).unwrap_or_default();
        let count = memchr::memchr_iter(b'\n', lines).count();
        batch.bytes.extend_from_slice(lines);
        self.reader.consume(last + 1);
        self.position.line += count as u64;
        self.push(batch, start, None, is_ours);
        Ok(true)
    }

    /// Returns true if the next line begins after the part that is taken.
    fn is_past_part(&self) -> bool {
        self.reader.offset() >= self.part.end
    }

    fn extent(&self, start: usize) -> RecordSpan {
        RecordSpan::at(start, self.reader.offset(), self.max_record_bytes)
    }

    /// Adds a record that is too long to the batch, without its bytes. It ends the batch, which would not be full after
    /// any number of such records.
    fn pass_over(&mut self, batch: &mut ReadBatch, too_long: TooLong, is_ours: bool) {
        let end = batch.bytes.len();
        let before = batch.items.len();
        self.push(batch, end, Some(end..end), is_ours);
        if let Some(item) = batch.items.get_mut(before) {
            item.too_long = Some(too_long);
        }
    }

    /// Adds the bytes read since `start` to the batch, unless they are before the part that is taken, or a record that the
    /// sample leaves out.
    fn push(
        &mut self,
        batch: &mut ReadBatch,
        start: usize,
        record: Option<std::ops::Range<usize>>,
        is_ours: bool,
    ) {
        if !is_ours {
            self.position.records += u64::from(record.is_some());
            batch.bytes.truncate(start);
            return;
        }
        if record.is_some() {
            self.position.records += 1;
            if !self.sample.takes(self.source, self.position.records) {
                return;
            }
            if let Some(limit) = &mut self.limit {
                *limit -= 1;
            }
        }
        batch.items.push(Item {
            line: self.position.line,
            outer: start..batch.bytes.len(),
            record,
            too_long: None,
        });
    }

    fn read_elements(&mut self, batch: &mut ReadBatch) -> io::Result<()> {
        while batch.bytes.len() < BATCH_BYTES && self.limit != Some(0) {
            let start = batch.bytes.len();
            let mut extent = self.extent(start);
            let (delimiter, whole) = read_element(&mut self.reader, &mut batch.bytes, &mut extent)?;
            if let Some(too_long) = extent.too_long() {
                self.position.line += 1;
                self.pass_over(batch, too_long, true);
                if delimiter != Some(b',') {
                    batch.array_end = Some(Vec::new());
                    self.position.in_array = false;
                }
                break;
            }
            let element = batch.bytes.get(start..).unwrap_or_default();
            let text = element.trim_ascii();
            let lead = element.len() - element.trim_ascii_start().len();
            let record = start + lead..start + lead + text.len();
            if delimiter != Some(b',') {
                batch.array_end = Some(Vec::new());
                self.position.in_array = false;
            }
            // Blank text between `[` and `]` is an empty array. Blank text after a `,`, or before the input ends, is a
            // missing element: a record that cannot be read.
            if text.is_empty() && delimiter == Some(b']') && self.position.line == 0 {
                let space = batch.bytes.split_off(start);
                batch.array_end = Some(space);
                break;
            }
            let nothing = text.is_empty();
            self.position.line += 1;
            self.push(batch, start, Some(record), true);
            if delimiter.is_none() && whole && !nothing {
                // A whole element, but neither `,` nor `]` after it: the part cut off is a record that cannot be read.
                let end = batch.bytes.len();
                self.position.line += 1;
                self.push(batch, end, Some(end..end), true);
            }
            if delimiter != Some(b',') {
                break;
            }
        }
        Ok(())
    }
}

/// The beginning of a source.
struct SourceHead {
    /// Length of its byte-order mark.
    mark: usize,
    keep_mark: bool,
    /// Length of the white space before the `[` of an array.
    array: Option<usize>,
    /// The kind of a source that holds no records.
    foreign: Option<&'static Foreign>,
}

impl SourceHead {
    /// An array of records opens with `[`, and its first element with `{`; anything else is lines.
    fn of(beginning: &[u8]) -> Self {
        let text = beginning.strip_prefix(BYTE_ORDER_MARK).unwrap_or(beginning);
        let trimmed = text.trim_ascii_start();
        let inside = trimmed.strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
        let is_array = inside.is_some_and(|inside| matches!(inside.first(), Some(b'{' | b']')));
        Self {
            mark: beginning.len() - text.len(),
            keep_mark: true,
            array: is_array.then_some(text.len() - trimmed.len()),
            foreign: Foreign::recognized(beginning),
        }
    }
}
