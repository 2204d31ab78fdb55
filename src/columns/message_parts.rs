//! Text where a column has the parts of a message: in JSON Lines a record may hold both, in a column one.

use std::borrow::Cow;

use arrow_schema::{DataType, Fields};
use serde_json::{Value, json};

/// A value as a column of this type takes it: a text in place of a list of parts becomes one text part.
pub fn in_parts<'v>(data_type: &DataType, value: &'v str) -> Cow<'v, str> {
    if !has_parts(data_type) {
        return Cow::Borrowed(value);
    }
    match serde_json::from_str(value) {
        Ok(mut value) => {
            put_in_parts(data_type, &mut value);
            Cow::Owned(value.to_string())
        }
        // Whoever decodes it says why.
        Err(_) => Cow::Borrowed(value),
    }
}

fn has_parts(data_type: &DataType) -> bool {
    match data_type {
        DataType::Struct(fields) => fields.iter().any(|field| has_parts(field.data_type())),
        DataType::List(item) | DataType::LargeList(item) => {
            is_part(item.data_type()) || has_parts(item.data_type())
        }
        _ => false,
    }
}

/// Returns true for the type of a part: it has a type and a text.
fn is_part(data_type: &DataType) -> bool {
    let has_members = |fields: &Fields| fields.find("type").is_some() && fields.find("text").is_some();
    matches!(data_type, DataType::Struct(fields) if has_members(fields))
}

fn put_in_parts(data_type: &DataType, value: &mut Value) {
    match (data_type, &mut *value) {
        (DataType::Struct(fields), Value::Object(members)) => {
            for field in fields {
                if let Some(member) = members.get_mut(field.name()) {
                    put_in_parts(field.data_type(), member);
                }
            }
        }
        (DataType::List(item) | DataType::LargeList(item), Value::Array(items)) => {
            for value in items {
                put_in_parts(item.data_type(), value);
            }
        }
        (DataType::List(item) | DataType::LargeList(item), Value::String(text))
            if is_part(item.data_type()) =>
        {
            *value = json!([{"type": "text", "text": std::mem::take(text)}]);
        }
        _ => {}
    }
}
