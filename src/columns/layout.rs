//! The columns of a file that is written: found by a first walk along all lines.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::changes::{Change, Walk, members_of};
use super::conform::extended;
use super::shape::Shape;
use super::{PlacedLine, RowFile, batches};

/// The columns of the sources and of the lines.
#[derive(Default)]
struct Columns {
    /// Values that lines have instead of those of a column, by its name.
    changed: BTreeMap<String, ColumnChanges>,
    /// Members of lines that are no column of a source, in the order in which they were seen.
    new: Vec<(String, Shape)>,
    lines: u64,
}

/// The values that lines have instead of those of a column.
#[derive(Default)]
struct ColumnChanges {
    shape: Shape,
    /// Number of lines without it, though the row has it.
    gone: u64,
}

/// Finds the columns for all lines, and for `example`.
pub fn layout<I>(lines: I, sources: &[Option<RowFile>], example: Option<&[u8]>) -> io::Result<SchemaRef>
where
    I: Iterator<Item = io::Result<PlacedLine>>,
{
    let files: Vec<RowFile> = sources.iter().flatten().cloned().collect();
    let known = batches::merged_schema(&files)?.unwrap_or_else(Schema::empty);
    let mut columns = Columns::default();
    if let Some(example) = example {
        for (name, value) in members_of(example)? {
            columns.add(&name, value.get())?;
        }
    }
    let mut walk = Walk::along(lines, sources);
    while let Some(chunk) = walk.next_chunk()? {
        let fields = chunk.rows.as_ref().map(|rows| rows.schema_ref().fields().clone());
        let fields = fields.unwrap_or_default();
        columns.lines += chunk.lines.len() as u64;
        chunk.compare(|_, changes, members| {
            for (field, change) in fields.iter().zip(changes) {
                if let Change::To(value) = change {
                    columns.change(field.name(), *value)?;
                }
            }
            for (name, value) in members {
                // In a source without this column, it is a value of it nevertheless.
                if known.field_with_name(name).is_ok() {
                    columns.change(name, Some(value.get()))?;
                } else {
                    columns.add(name, value.get())?;
                }
            }
            Ok(())
        })?;
    }
    columns.schema(&known)
}

impl Columns {
    fn change(&mut self, name: &str, value: Option<&str>) -> io::Result<()> {
        if !self.changed.contains_key(name) {
            self.changed.insert(name.to_owned(), ColumnChanges::default());
        }
        if let Some(changes) = self.changed.get_mut(name) {
            match value {
                Some(value) => changes.shape.add(value)?,
                None => changes.gone += 1,
            }
        }
        Ok(())
    }

    fn add(&mut self, name: &str, value: &str) -> io::Result<()> {
        let index = self.new.iter().position(|(known, _)| known == name);
        let index = index.unwrap_or_else(|| {
            self.new.push((name.to_owned(), Shape::Null));
            self.new.len() - 1
        });
        if let Some((_, shape)) = self.new.get_mut(index) {
            shape.add(value)?;
        }
        Ok(())
    }

    fn schema(self, known: &Schema) -> io::Result<SchemaRef> {
        let mut fields: Vec<Arc<Field>> = Vec::new();
        for field in known.fields() {
            let Some(changes) = self.changed.get(field.name()) else {
                fields.push(Arc::clone(field));
                continue;
            };
            // A conversion writes all records without their former turns.
            if changes.gone > 0 && changes.gone == self.lines {
                continue;
            }
            // A column of text takes other values as JSON.
            let data_type = if super::conform::is_text(field.data_type()) {
                field.data_type().clone()
            } else {
                extended(field.data_type(), &changes.shape).ok_or_else(|| does_not_fit(field))?
            };
            let field = field.as_ref().clone().with_data_type(data_type);
            fields.push(Arc::new(field.with_nullable(true)));
        }
        for (name, shape) in self.new {
            let data_type = shape.data_type().unwrap_or(DataType::Utf8);
            fields.push(Arc::new(Field::new(name, data_type, true)));
        }
        Ok(Arc::new(Schema::new_with_metadata(
            fields,
            known.metadata().clone(),
        )))
    }
}

fn does_not_fit(field: &Field) -> io::Error {
    let message = format!(
        "the new values of column {:?} do not fit into its type {}; JSON Lines take them: name an output that ends in .jsonl",
        field.name(),
        field.data_type()
    );
    io::Error::new(io::ErrorKind::InvalidData, message)
}
