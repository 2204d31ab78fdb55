//! Lines beside the rows that they came from, and the columns in which they differ.

use std::borrow::Cow;
use std::io;
use std::iter::Peekable;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::batches::RowBatches;
use super::encode::RowEncoder;
use super::{PlacedLine, RowFile};

/// Approximate bytes of lines without rows that are taken together.
const CHUNK_BYTES: usize = 1 << 20;

/// Consecutive lines, with the rows that they came from.
pub struct LineChunk {
    /// The rows; `None` if the source of the lines has none.
    pub rows: Option<RecordBatch>,
    /// The lines, each with the index of its row in `rows`; `None` is the line that the row is read as.
    pub lines: Vec<(usize, Option<Vec<u8>>)>,
}

/// The change of a value in a line.
pub enum Change<'l> {
    /// It is as it was read.
    None,
    /// It is this JSON; `None` if it is gone.
    To(Option<&'l str>),
}

/// Walks along lines and their rows.
pub struct LineWalk<'s, I: Iterator> {
    lines: Peekable<I>,
    sources: &'s [Option<RowFile>],
    /// The source whose rows are read.
    open: Option<OpenSource>,
}

struct OpenSource {
    index: usize,
    rows: RowBatches,
    /// The batch that was read last, and the number of rows before it.
    batch: RecordBatch,
    first: u64,
}

impl OpenSource {
    fn open(index: usize, file: &RowFile) -> io::Result<Self> {
        let rows = RowBatches::open(file, Arc::new(|_| ()))?;
        let batch = RecordBatch::new_empty(Arc::clone(rows.schema()));
        Ok(Self {
            index,
            rows,
            batch,
            first: 0,
        })
    }

    /// The row after the batch.
    fn end(&self) -> u64 {
        self.first + self.batch.num_rows() as u64
    }

    /// Reads on until the batch has a row.
    fn advance_to(&mut self, row: u64) -> io::Result<()> {
        while self.end() <= row {
            let Some(batch) = self.rows.next_batch()? else {
                return Err(not_the_rows());
            };
            self.first = self.end();
            self.batch = batch;
        }
        if row < self.first {
            return Err(not_the_rows());
        }
        Ok(())
    }
}

fn not_the_rows() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "the input has other rows than those that were read before: it has changed",
    )
}

impl<'s, I: Iterator<Item = io::Result<PlacedLine>>> LineWalk<'s, I> {
    /// A walk from the beginning.
    pub fn along(lines: I, sources: &'s [Option<RowFile>]) -> Self {
        Self {
            lines: lines.peekable(),
            sources,
            open: None,
        }
    }

    /// The next lines; `None` at the end.
    pub fn next_chunk(&mut self) -> io::Result<Option<LineChunk>> {
        let Some(first) = self.lines.next().transpose()? else {
            return Ok(None);
        };
        let Some(Some(file)) = self.sources.get(first.source) else {
            return self.lines_without_rows(first).map(Some);
        };
        let mut source = match self.open.take() {
            Some(open) if open.index == first.source => open,
            _ => OpenSource::open(first.source, file)?,
        };
        source.advance_to(first.row)?;
        let rows = source.first..source.end();
        let mut lines = vec![((first.row - rows.start) as usize, Some(first.line))];
        let is_next = |line: &PlacedLine| line.source == source.index && rows.contains(&line.row);
        while let Some(next) = self.lines.next_if(|next| next.as_ref().map_or(true, is_next)) {
            let next = next?;
            lines.push(((next.row - rows.start) as usize, Some(next.line)));
        }
        let rows = Some(source.batch.clone());
        self.open = Some(source);
        Ok(Some(LineChunk { rows, lines }))
    }

    fn lines_without_rows(&mut self, first: PlacedLine) -> io::Result<LineChunk> {
        let mut bytes = first.line.len();
        let mut lines = vec![(0, Some(first.line))];
        let sources = self.sources;
        let has_no_rows = |line: &PlacedLine| !matches!(sources.get(line.source), Some(Some(_)));
        while bytes < CHUNK_BYTES
            && let Some(next) = self.lines.next_if(|next| next.as_ref().map_or(true, has_no_rows))
        {
            let next = next?;
            bytes += next.line.len();
            lines.push((0, Some(next.line)));
        }
        Ok(LineChunk { rows: None, lines })
    }
}

impl LineChunk {
    /// Calls `each` for every line in order, with the changes of the columns of the rows, by index, and with the members that
    /// are no column.
    pub fn compare(
        &self,
        mut each: impl FnMut(usize, &[Change<'_>], &[LineMember<'_>]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut encoder = self.rows.as_ref().map(RowEncoder::of).transpose()?;
        let fields = self.rows.as_ref().map(|rows| rows.schema_ref().fields().clone());
        let fields = fields.unwrap_or_default();
        let mut was: Vec<u8> = Vec::new();
        let mut spans: Vec<Option<Range<usize>>> = Vec::new();
        for (number, (row, line)) in self.lines.iter().enumerate() {
            let Some(line) = line else {
                each(number, &[], &[])?;
                continue;
            };
            was.clear();
            spans.clear();
            if let Some(encoder) = &mut encoder {
                encoder.encode_with_spans(*row, &mut was, |span| spans.push(span));
            }
            if was == *line {
                each(number, &[], &[])?;
                continue;
            }
            let mut members = members_of(line)?;
            let changes = fields.iter().zip(&spans).map(|(field, span)| {
                let before = span.clone().and_then(|span| was.get(span));
                let at = members.iter().position(|(name, _)| *name == *field.name());
                let now = at.map(|at| members.remove(at).1.get());
                if now.map(str::as_bytes) == before {
                    Change::None
                } else {
                    Change::To(now)
                }
            });
            let changes: Vec<Change<'_>> = changes.collect();
            each(number, &changes, &members)?;
        }
        Ok(())
    }
}

/// A member of a line: its name and its JSON.
pub type LineMember<'l> = (Cow<'l, str>, &'l RawValue);

/// The members of a line, in order.
pub fn members_of(line: &[u8]) -> io::Result<Vec<LineMember<'_>>> {
    let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, error);
    let mut reader = serde_json::Deserializer::from_slice(line);
    reader.deserialize_map(Members).map_err(invalid)
}

struct Members;

impl<'d> Visitor<'d> for Members {
    type Value = Vec<LineMember<'d>>;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'d>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members: Vec<LineMember<'d>> = Vec::new();
        while let Some((name, value)) = map.next_entry::<Cow<'d, str>, &'d RawValue>()? {
            // Of members of one name, the last counts, as for most readers.
            members.retain(|(known, _)| *known != name);
            members.push((name, value));
        }
        Ok(members)
    }
}
