//! The rows of a file, a small record batch at a time.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::reader::{ChunkReader, Length};

use super::conform::merged_field;
use super::fault::fault;
use super::{OnRead, RowFile, RowFormat};
use crate::stores::{self, RangeFile};

/// Approximate bytes of a batch: a few records, so that memory does not grow with row groups.
const BATCH_BYTES: usize = 1 << 20;

/// Maximum rows of a batch.
const MOST_ROWS: usize = 1024;

const READ_BUFFER: usize = 256 * 1024;

/// The rows of a file or a stream.
pub struct RowBatches {
    schema: SchemaRef,
    batches: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>,
    /// The batch that is handed out in parts, and its next row.
    whole: Option<(RecordBatch, usize)>,
}

impl RowBatches {
    /// Opens a file.
    pub fn open(file: &RowFile, on_read: OnRead) -> io::Result<Self> {
        let opened = CountedFile {
            content: ColumnSource::open(&file.path)?,
            on_read,
        };
        match file.kind {
            RowFormat::Parquet => Self::parquet(opened),
            RowFormat::ArrowFile => {
                let reader = BufReader::with_capacity(READ_BUFFER, opened);
                let reader = FileReader::try_new(reader, None).map_err(fault)?;
                Ok(Self::of(reader.schema(), reader))
            }
            RowFormat::ArrowStream => Self::stream(opened),
        }
    }

    /// Opens an Arrow stream.
    pub fn stream(reader: impl Read + Send + 'static) -> io::Result<Self> {
        let reader = BufReader::with_capacity(READ_BUFFER, reader);
        let reader = StreamReader::try_new(reader, None).map_err(fault)?;
        Ok(Self::of(reader.schema(), reader))
    }

    /// The rows of a reader.
    pub fn of_reader(reader: Box<dyn RecordBatchReader + Send>) -> Self {
        Self::of(reader.schema(), reader)
    }

    fn parquet(file: CountedFile) -> io::Result<Self> {
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(fault)?;
        let groups = builder.metadata().row_groups().iter();
        let bytes: i64 = groups.map(|group| group.total_byte_size().max(0)).sum();
        let rows = builder.metadata().file_metadata().num_rows();
        let rows = rows_of_a_batch(bytes.unsigned_abs() as usize, rows.unsigned_abs() as usize);
        let schema = Arc::clone(builder.schema());
        let reader = builder.with_batch_size(rows).build().map_err(fault)?;
        Ok(Self::of(schema, reader))
    }

    fn of(
        schema: SchemaRef,
        batches: impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send + 'static,
    ) -> Self {
        Self {
            schema,
            batches: Box::new(batches),
            whole: None,
        }
    }

    /// The columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The next rows, at least one; `None` at the end.
    pub fn next_batch(&mut self) -> io::Result<Option<RecordBatch>> {
        loop {
            if let Some((batch, start)) = self.whole.take() {
                let bytes = batch.get_array_memory_size();
                let rows = rows_of_a_batch(bytes, batch.num_rows()).min(batch.num_rows() - start);
                if start + rows < batch.num_rows() {
                    self.whole = Some((batch.clone(), start + rows));
                }
                return Ok(Some(batch.slice(start, rows)));
            }
            let Some(batch) = self.batches.next().transpose().map_err(fault)? else {
                return Ok(None);
            };
            self.whole = (batch.num_rows() > 0).then_some((batch, 0));
        }
    }
}

fn rows_of_a_batch(bytes: usize, rows: usize) -> usize {
    let bytes_of_a_row = bytes / rows.max(1);
    (BATCH_BYTES / bytes_of_a_row.max(1)).clamp(1, MOST_ROWS)
}

/// The columns of all files together; an error if they do not fit into one file.
pub fn merged_schema(files: &[RowFile]) -> io::Result<Option<Schema>> {
    let mut merged: Option<Schema> = None;
    for file in files {
        let opened = RowBatches::open(file, Arc::new(|_| ()));
        let opened = opened.map_err(|error| unreadable(file, &error))?;
        let schema = opened.schema();
        merged = Some(match merged {
            None => Schema::clone(schema),
            Some(before) => {
                let mut fields: Vec<_> = before.fields().to_vec();
                for field in schema.fields() {
                    match fields.iter_mut().find(|known| known.name() == field.name()) {
                        None => fields.push(Arc::new(field.as_ref().clone().with_nullable(true))),
                        Some(known) => {
                            let both =
                                merged_field(known, field).ok_or_else(|| differ(file, field.name()))?;
                            *known = Arc::new(both);
                        }
                    }
                }
                let is_missing = |name: &str| schema.field_with_name(name).is_err();
                for field in fields.iter_mut().filter(|field| is_missing(field.name())) {
                    *field = Arc::new(field.as_ref().clone().with_nullable(true));
                }
                Schema::new_with_metadata(fields, before.metadata().clone())
            }
        });
    }
    Ok(merged)
}

/// The error of a file that cannot be read, with its name.
pub fn unreadable(file: &RowFile, error: &io::Error) -> io::Error {
    io::Error::new(
        error.kind(),
        format!("{} cannot be read: {error}", file.path.display()),
    )
}

fn differ(file: &RowFile, column: &str) -> io::Error {
    let message = format!(
        "column {column:?} of {} has another type than in the files before it",
        file.path.display()
    );
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

/// Fails if the rows of the files do not fit into one file: a column has types that cannot be one.
pub fn common_schema(files: &[RowFile]) -> io::Result<()> {
    merged_schema(files).map(|_| ())
}

/// A file, or an object of a store.
enum ColumnSource {
    File(File),
    Object(RangeFile),
}

impl ColumnSource {
    fn open(path: &Path) -> io::Result<Self> {
        if !stores::is_url(path) {
            return File::open(path).map(Self::File);
        }
        let object = RangeFile::of(&*stores::object(path)?);
        let object = object.ok_or_else(|| io::Error::other("its server does not send ranges"))?;
        Ok(Self::Object(object))
    }
}

/// A file that reports the bytes read from it.
struct CountedFile {
    content: ColumnSource,
    on_read: OnRead,
}

impl Read for CountedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match &mut self.content {
            ColumnSource::File(file) => file.read(buffer)?,
            ColumnSource::Object(object) => object.read(buffer)?,
        };
        (self.on_read)(read as u64);
        Ok(read)
    }
}

impl Seek for CountedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &mut self.content {
            ColumnSource::File(file) => file.seek(to),
            ColumnSource::Object(object) => object.seek(to),
        }
    }
}

impl Length for CountedFile {
    fn len(&self) -> u64 {
        match &self.content {
            ColumnSource::File(file) => file.len(),
            ColumnSource::Object(object) => object.length(),
        }
    }
}

impl ChunkReader for CountedFile {
    type T = Box<dyn Read>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        Ok(match &self.content {
            ColumnSource::File(file) => Box::new(file.get_read(start)?),
            ColumnSource::Object(object) => Box::new(object.at(start)),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<bytes::Bytes> {
        (self.on_read)(length as u64);
        match &self.content {
            ColumnSource::File(file) => file.get_bytes(start, length),
            ColumnSource::Object(object) => {
                let mut bytes = vec![0; length];
                object.at(start).read_exact(&mut bytes)?;
                Ok(bytes.into())
            }
        }
    }
}
