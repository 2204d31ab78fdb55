//! Writes record batches to a file of rows.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use super::RowFormat;
use super::conform::conform;
use super::fault::fault;

/// Encoded bytes of a row group at which it ends: what the writer holds in memory.
const ROW_GROUP_BYTES: usize = 64 << 20;

/// Writes rows to a file.
pub struct RowWriter<'f> {
    schema: SchemaRef,
    file: FormatWriter<'f>,
}

enum FormatWriter<'f> {
    Parquet(Box<ArrowWriter<&'f File>>),
    ArrowFile(Box<FileWriter<BufWriter<&'f File>>>),
    ArrowStream(Box<StreamWriter<BufWriter<&'f File>>>),
}

impl<'f> RowWriter<'f> {
    /// Begins a file with these columns.
    pub fn create(file: &'f File, kind: RowFormat, schema: &SchemaRef) -> io::Result<Self> {
        let schema = match kind {
            RowFormat::Parquet => Arc::clone(schema),
            // Batches may each have a dictionary of their own, and such a file has one for all.
            RowFormat::ArrowFile | RowFormat::ArrowStream => without_dictionaries(schema),
        };
        let format = match kind {
            RowFormat::Parquet => {
                let writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties(&schema)?));
                FormatWriter::Parquet(Box::new(writer.map_err(fault)?))
            }
            RowFormat::ArrowFile => {
                let writer = FileWriter::try_new(BufWriter::new(file), &schema);
                FormatWriter::ArrowFile(Box::new(writer.map_err(fault)?))
            }
            RowFormat::ArrowStream => {
                let writer = StreamWriter::try_new(BufWriter::new(file), &schema);
                FormatWriter::ArrowStream(Box::new(writer.map_err(fault)?))
            }
        };
        Ok(Self { schema, file: format })
    }

    /// The columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Adds rows.
    pub fn write(&mut self, rows: &RecordBatch) -> io::Result<()> {
        match &mut self.file {
            FormatWriter::Parquet(writer) => {
                writer.write(rows).map_err(fault)?;
                if writer.in_progress_size() >= ROW_GROUP_BYTES {
                    writer.flush().map_err(fault)?;
                }
                Ok(())
            }
            FormatWriter::ArrowFile(writer) => writer.write(rows).map_err(fault),
            FormatWriter::ArrowStream(writer) => writer.write(rows).map_err(fault),
        }
    }

    /// Adds rows with other columns, those that this file has.
    pub fn write_conformed(&mut self, rows: &RecordBatch) -> io::Result<()> {
        let columns = self
            .schema
            .fields()
            .iter()
            .map(|field| match rows.column_by_name(field.name()) {
                Some(column) => conform(column, field.data_type()),
                None => Ok(arrow_array::new_null_array(field.data_type(), rows.num_rows())),
            });
        let columns = columns.collect::<io::Result<Vec<_>>>()?;
        let rows = RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(fault)?;
        self.write(&rows)
    }

    /// Ends the file.
    pub fn finish(self) -> io::Result<()> {
        match self.file {
            FormatWriter::Parquet(writer) => writer.close().map(|_| ()).map_err(fault),
            FormatWriter::ArrowFile(mut writer) => {
                writer.finish().map_err(fault)?;
                writer.get_mut().flush()
            }
            FormatWriter::ArrowStream(mut writer) => {
                writer.finish().map_err(fault)?;
                writer.get_mut().flush()
            }
        }
    }
}

fn properties(schema: &Schema) -> io::Result<WriterProperties> {
    let level = ZstdLevel::try_new(3).map_err(fault)?;
    // Sorted, so that the same input gives the same bytes.
    let mut metadata: Vec<KeyValue> = schema
        .metadata()
        .iter()
        .map(|(key, value)| KeyValue::new(key.clone(), value.clone()))
        .collect();
    metadata.sort_by(|one, other| one.key.cmp(&other.key));
    Ok(WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_key_value_metadata((!metadata.is_empty()).then_some(metadata))
        .build())
}

fn without_dictionaries(schema: &SchemaRef) -> SchemaRef {
    let is_dictionary = |field: &Arc<Field>| matches!(field.data_type(), DataType::Dictionary(_, _));
    if !schema.fields().iter().any(is_dictionary) {
        return Arc::clone(schema);
    }
    let fields = schema.fields().iter().map(|field| match field.data_type() {
        DataType::Dictionary(_, values) => {
            Arc::new(field.as_ref().clone().with_data_type(values.as_ref().clone()))
        }
        _ => Arc::clone(field),
    });
    let fields: Vec<Arc<Field>> = fields.collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}
