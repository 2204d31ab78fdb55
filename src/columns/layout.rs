//! The columns of a file that is written: found by a first walk along all lines.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::changes::{Change, LineChunk, members_of};
use super::conform::extended;
use super::json_text::text_type;
use super::message_parts::in_parts;
use super::shape::ColumnShape;

/// The columns of the sources and of the lines.
pub struct Layout {
    /// The columns of the sources.
    known: Schema,
    /// Values that lines have instead of those of a column, by its name.
    changed: BTreeMap<String, ColumnChanges>,
    /// Members of lines that are no column of a source, in the order in which they were seen.
    new: Vec<(String, ColumnShape)>,
    lines: u64,
}

/// The values that lines have instead of those of a column.
#[derive(Default)]
struct ColumnChanges {
    shape: ColumnShape,
    /// Number of lines without it, though the row has it.
    gone: u64,
}

impl Layout {
    /// The columns of sources, before any line.
    pub fn of(known: Schema) -> Self {
        Self {
            known,
            changed: BTreeMap::new(),
            new: Vec::new(),
            lines: 0,
        }
    }

    /// Adds the columns of a line that is not written.
    pub fn add_example(&mut self, line: &[u8]) -> io::Result<()> {
        for (name, value) in members_of(line)? {
            self.add_member(&name, value.get())?;
        }
        Ok(())
    }

    /// Adds lines.
    pub fn add(&mut self, chunk: &LineChunk) -> io::Result<()> {
        let fields = chunk.rows.as_ref().map(|rows| rows.schema_ref().fields().clone());
        let fields = fields.unwrap_or_default();
        self.lines += chunk.lines.len() as u64;
        chunk.compare(|_, changes, members| {
            for (field, change) in fields.iter().zip(changes) {
                if let Change::To(value) = change {
                    self.change(field.name(), *value)?;
                }
            }
            for (name, value) in members {
                self.add_member(name, value.get())?;
            }
            Ok(())
        })
    }

    fn add_member(&mut self, name: &str, value: &str) -> io::Result<()> {
        // In a source without this column, it is a value of it nevertheless.
        if self.known.field_with_name(name).is_ok() {
            return self.change(name, Some(value));
        }
        let index = self.new.iter().position(|(known, _)| known == name);
        let index = index.unwrap_or_else(|| {
            self.new.push((name.to_owned(), ColumnShape::Null));
            self.new.len() - 1
        });
        if let Some((_, shape)) = self.new.get_mut(index) {
            shape.add(value)?;
        }
        Ok(())
    }

    fn change(&mut self, name: &str, value: Option<&str>) -> io::Result<()> {
        if !self.changed.contains_key(name) {
            self.changed.insert(name.to_owned(), ColumnChanges::default());
        }
        let field = self.known.field_with_name(name);
        if let (Some(changes), Ok(field)) = (self.changed.get_mut(name), field) {
            match value {
                Some(value) => changes.shape.add(&in_parts(field.data_type(), value))?,
                None => changes.gone += 1,
            }
        }
        Ok(())
    }

    /// The columns that hold all of them.
    pub fn schema(self) -> io::Result<SchemaRef> {
        let known = self.known;
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
            let data_type = match text_type(field) {
                Some(text) => text.clone(),
                None => extended(field.data_type(), &changes.shape).ok_or_else(|| does_not_fit(field))?,
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
