//! JSON values as an array of a type.

use std::io;
use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray, new_null_array};
use arrow_json::ReaderBuilder;
use arrow_schema::{DataType, Field, Schema};

use super::conform::{conform, is_text};
use super::encode::UTC;
use super::fault::fault;

/// The values as an array; `None` is null. A column of text takes anything but strings as JSON.
pub fn decode(data_type: &DataType, values: &[Option<&str>]) -> io::Result<ArrayRef> {
    // Bytes are hexadecimal digits, unless they are the JSON of turns.
    let is_json = |value: &&str| value.starts_with(['[', '{']);
    let is_json = data_type.is_binary() && values.iter().flatten().any(is_json);
    if is_text(data_type) || is_json {
        let texts: Vec<Option<String>> = values
            .iter()
            .map(|value| text(*value))
            .collect::<io::Result<_>>()?;
        let texts: ArrayRef = Arc::new(StringArray::from(texts));
        return conform(&texts, data_type);
    }
    if let DataType::Timestamp(unit, Some(zone)) = data_type
        && **zone != *UTC
    {
        let in_utc = decode(&DataType::Timestamp(*unit, Some(UTC.into())), values)?;
        return conform(&in_utc, data_type);
    }
    if values
        .iter()
        .all(|value| value.is_none_or(|value| value == "null"))
    {
        return Ok(new_null_array(data_type, values.len()));
    }
    let schema = Arc::new(Schema::new(vec![Field::new(VALUE, data_type.clone(), true)]));
    let reader = ReaderBuilder::new(schema).with_batch_size(values.len());
    let mut decoder = reader.build_decoder().map_err(fault)?;
    for value in values {
        for part in ["{\"", VALUE, "\":", value.unwrap_or("null"), "}\n"] {
            decoder.decode(part.as_bytes()).map_err(fault)?;
        }
    }
    let decoded = decoder.flush().map_err(fault)?;
    let array = decoded.and_then(|batch| batch.columns().first().cloned());
    let array = array.filter(|array| array.len() == values.len());
    array.ok_or_else(|| io::Error::other("values of a column were lost when they were decoded"))
}

const VALUE: &str = "value";

fn text(value: Option<&str>) -> io::Result<Option<String>> {
    Ok(match value {
        None | Some("null") => None,
        Some(value) if value.starts_with('"') => Some(serde_json::from_str(value)?),
        Some(value) => Some(value.to_owned()),
    })
}
