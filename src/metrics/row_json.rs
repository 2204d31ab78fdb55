//! A row as a JSON object with the columns, and the values, of the metrics.

use std::io;

use super::unroll_row::UnrollRow;
use super::{Columns, Row, SegmentRow};

/// A row in which every column has a value of its type, and none is null.
pub fn typed_row(columns: Columns) -> Row {
    Row {
        original_value_tokens: Some(0),
        compressed_value_tokens: Some(0),
        original_rendered_tokens: Some(0),
        compressed_rendered_tokens: Some(0),
        template_changed_turns: Some(0),
        segment: (columns == Columns::Segments).then(|| SegmentRow {
            tokens_before: Some(0),
            ..SegmentRow::default()
        }),
        ..Row::default()
    }
}

/// The object, as text; its keys are in the order of the columns.
pub fn row_json(row: &Row, columns: Columns) -> String {
    let json = match columns {
        Columns::Records => serde_json::to_string(row),
        Columns::Segments => serde_json::to_string(&UnrollRow::from(row.clone())),
    };
    // Text and numbers always serialize.
    json.unwrap_or_default()
}

/// The row of such an object; a column that it lacks has no value.
pub fn row_of_json(json: &str, columns: Columns) -> io::Result<Row> {
    Ok(match columns {
        Columns::Records => serde_json::from_str(json)?,
        Columns::Segments => serde_json::from_str::<UnrollRow>(json)?.into(),
    })
}
