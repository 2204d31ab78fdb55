//! Lines written as rows, in two walks: one for the columns, one for the rows.

use std::fs::File;
use std::io;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt64Array, new_null_array};
use arrow_schema::{Field, Schema, SchemaRef};
use arrow_select::interleave::interleave;
use arrow_select::take::take;

use super::batches::merged_schema;
use super::changes::{Change, LineChunk, LineWalk};
use super::conform::conform;
use super::decode::decode;
use super::fault::fault;
use super::layout::Layout;
use super::message_parts::in_parts;
use super::row_writer::RowWriter;
use super::{PlacedLine, RowFile, RowFormat};

/// Writes lines to `output` as rows. `lines` begins them anew for each walk; they are in the order of their sources, and of
/// the rows in each. A source that is `None` has no rows: columns come from its lines alone, and from `example`, a line that
/// is not written.
pub fn convert<I>(
    lines: impl Fn() -> io::Result<I>,
    sources: &[Option<RowFile>],
    example: Option<&[u8]>,
    output: &File,
    kind: RowFormat,
) -> io::Result<()>
where
    I: Iterator<Item = io::Result<PlacedLine>>,
{
    let files: Vec<RowFile> = sources.iter().flatten().cloned().collect();
    let mut layout = Layout::of(merged_schema(&files)?.unwrap_or_else(Schema::empty));
    if let Some(example) = example {
        layout.add_example(example)?;
    }
    let mut walk = LineWalk::along(lines()?, sources);
    while let Some(chunk) = walk.next_chunk()? {
        layout.add(&chunk)?;
    }
    let schema = layout.schema()?;
    let mut writer = RowWriter::create(output, kind, &schema)?;
    let mut walk = LineWalk::along(lines()?, sources);
    while let Some(chunk) = walk.next_chunk()? {
        writer.write(&rows(&chunk, writer.schema())?)?;
    }
    writer.finish()
}

/// The rows of a chunk.
pub fn rows(chunk: &LineChunk, schema: &SchemaRef) -> io::Result<RecordBatch> {
    let mut columns: Vec<NewColumn> = Vec::with_capacity(schema.fields().len());
    for field in schema.fields() {
        let old = chunk
            .rows
            .as_ref()
            .and_then(|rows| rows.schema_ref().column_with_name(field.name()));
        columns.push(NewColumn {
            old: old.map(|(index, _)| index),
            new: Vec::new(),
        });
    }
    chunk.compare(|number, changes, members| {
        for (column, field) in columns.iter_mut().zip(schema.fields()) {
            let change = column.old.and_then(|old| changes.get(old));
            let value = match change {
                Some(Change::To(value)) => *value,
                Some(Change::None) => continue,
                None => {
                    let member = members.iter().find(|(name, _)| *name == *field.name());
                    let Some((_, value)) = member else { continue };
                    Some(value.get())
                }
            };
            column.new.push((number, value.map(str::to_owned)));
        }
        Ok(())
    })?;
    let columns = columns.iter().zip(schema.fields());
    let columns = columns.map(|(column, field)| column.array(chunk, field));
    let columns = columns.collect::<io::Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(chunk.lines.len()));
    RecordBatch::try_new_with_options(schema.clone(), columns, &options).map_err(fault)
}

/// A column of a chunk.
struct NewColumn {
    /// Index of the column of the rows; `None` if they have none of this name.
    old: Option<usize>,
    /// New values as JSON, each with the number of its line.
    new: Vec<(usize, Option<String>)>,
}

impl NewColumn {
    fn array(&self, chunk: &LineChunk, field: &Field) -> io::Result<ArrayRef> {
        let rows = chunk.rows.as_ref();
        let old = self.old.zip(rows).map(|(index, rows)| rows.column(index));
        let old = match old {
            Some(old) => old.clone(),
            None => new_null_array(field.data_type(), rows.map_or(1, RecordBatch::num_rows)),
        };
        let rows_of_lines = chunk.lines.iter().map(|(row, _)| *row);
        if self.new.is_empty() {
            let indexes = UInt64Array::from_iter_values(rows_of_lines.map(|row| row as u64));
            let taken = take(&old, &indexes, None).map_err(fault)?;
            return conform(&taken, field.data_type());
        }
        let values = self.new.iter().map(|(_, value)| value.as_deref());
        let values: Vec<_> = values
            .map(|value| Some(in_parts(field.data_type(), value?)))
            .collect();
        let values: Vec<Option<&str>> = values.iter().map(Option::as_deref).collect();
        let new = decode(field.data_type(), &values)
            .map_err(|error| io::Error::new(error.kind(), format!("column {:?}: {error}", field.name())))?;
        let old = conform(&old, field.data_type())?;
        let mut next = self.new.iter().map(|(number, _)| *number).enumerate().peekable();
        let places = rows_of_lines.enumerate().map(|(number, row)| {
            match next.next_if(|(_, changed)| *changed == number) {
                Some((index, _)) => (1, index),
                None => (0, row),
            }
        });
        let places: Vec<(usize, usize)> = places.collect();
        interleave(&[old.as_ref(), new.as_ref()], &places).map_err(fault)
    }
}
