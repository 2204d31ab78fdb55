//! Columns whose text is the JSON of turns: as text of any type, as entries of a dictionary, or as bytes.

use std::io;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_cast::cast;
use arrow_schema::{DataType, Field};

use super::conform::is_text;
use super::fault::fault;

/// The names of such columns.
const TURNS: [&str; 2] = ["conversations", "messages"];

/// The type with which a column takes any value as text, others than strings as JSON; `None` if it does not.
pub fn text_type(field: &Field) -> Option<&DataType> {
    match field.data_type() {
        text if is_text(text) => Some(text),
        DataType::Dictionary(_, text) if is_text(text) => Some(text),
        bytes if bytes.is_binary() && is_of_turns(field) => Some(bytes),
        _ => None,
    }
}

fn is_of_turns(field: &Field) -> bool {
    TURNS.contains(&field.name().as_str())
}

/// The texts of a column of turns.
pub struct JsonTexts(ArrayRef);

impl JsonTexts {
    /// The texts of a column, if it is such a one. Bytes that are no text are none.
    pub fn of(field: &Field, array: &ArrayRef) -> io::Result<Option<Self>> {
        if !is_of_turns(field) {
            return Ok(None);
        }
        let texts = match text_type(field) {
            None => return Ok(None),
            Some(_) if is_text(array.data_type()) => Arc::clone(array),
            Some(_) => cast(array, &DataType::LargeUtf8).map_err(fault)?,
        };
        let is_whole = texts.logical_null_count() == array.logical_null_count();
        Ok(is_whole.then_some(Self(texts)))
    }

    /// The text of a row; `None` if it is null.
    pub fn get(&self, row: usize) -> Option<&str> {
        let texts = &self.0;
        if texts.is_null(row) {
            return None;
        }
        Some(match texts.data_type() {
            DataType::Utf8 => texts.as_string::<i32>().value(row),
            DataType::LargeUtf8 => texts.as_string::<i64>().value(row),
            _ => texts.as_string_view().value(row),
        })
    }
}
