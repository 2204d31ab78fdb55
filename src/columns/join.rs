//! Files of rows joined into one.

use std::fs::File;
use std::io;
use std::sync::Arc;

use arrow_schema::Schema;

use super::batches::{RowBatches, merged_schema, unreadable};
use super::row_writer::RowWriter;
use super::{RowFile, RowFormat};

/// Writes the rows of all files to `output`, in order.
pub fn join(files: &[RowFile], output: &File, kind: RowFormat) -> io::Result<()> {
    let schema = Arc::new(merged_schema(files)?.unwrap_or_else(Schema::empty));
    let mut writer = RowWriter::create(output, kind, &schema)?;
    for file in files {
        let unreadable = |error: io::Error| unreadable(file, &error);
        let mut rows = RowBatches::open(file, Arc::new(|_| ())).map_err(unreadable)?;
        while let Some(batch) = rows.next_batch().map_err(unreadable)? {
            writer.write_conformed(&batch)?;
        }
    }
    writer.finish()
}
