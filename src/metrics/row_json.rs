//! A row as a JSON object with the columns, and the values, of the metrics.

use super::unroll_row::UnrollRow;
use super::{Columns, Row};

/// The object, as text; its keys are in the order of the columns.
pub fn row_json(row: &Row, columns: Columns) -> String {
    let json = match columns {
        Columns::Records => serde_json::to_string(row),
        Columns::Segments => serde_json::to_string(&UnrollRow::from(row.clone())),
    };
    // Text and numbers always serialize.
    json.unwrap_or_default()
}
