//! Types that hold the values of two others, and arrays brought to such a type.

use std::io;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, LargeListArray, ListArray, MapArray, StructArray, new_null_array};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, FieldRef, Fields};

use super::fault::fault;
use super::shape::ColumnShape;

/// The column for the values of both; `None` if their types differ too much.
pub fn merged_field(one: &Field, other: &Field) -> Option<Field> {
    if one == other {
        return Some(one.clone());
    }
    let both = merged_type(one.data_type(), other.data_type())?;
    let is_nullable = one.is_nullable() || other.is_nullable();
    Some(one.clone().with_data_type(both).with_nullable(is_nullable))
}

fn merged_type(one: &DataType, other: &DataType) -> Option<DataType> {
    use DataType as T;
    Some(match (one, other) {
        (one, other) if one == other => one.clone(),
        (T::Null, known) | (known, T::Null) => known.clone(),
        (T::Dictionary(_, values), other) | (other, T::Dictionary(_, values)) => merged_type(values, other)?,
        (T::Struct(fields), T::Struct(others)) => {
            let mut merged: Vec<FieldRef> = Vec::new();
            for field in fields {
                merged.push(match others.find(field.name()) {
                    Some((_, other)) => Arc::new(merged_field(field, other)?),
                    None => nullable(field),
                });
            }
            let is_new = |other: &&FieldRef| fields.find(other.name()).is_none();
            merged.extend(others.iter().filter(is_new).map(nullable));
            T::Struct(merged.into())
        }
        (T::List(items), T::List(others) | T::LargeList(others)) => {
            T::List(Arc::new(merged_field(items, others)?))
        }
        (T::LargeList(items), T::List(others) | T::LargeList(others)) => {
            T::LargeList(Arc::new(merged_field(items, others)?))
        }
        (T::Map(entries, sorted), T::Map(others, _)) => {
            T::Map(Arc::new(merged_field(entries, others)?), *sorted)
        }
        (one, other) if is_text(one) && is_text(other) => T::LargeUtf8,
        (one, other) if one.is_integer() && other.is_integer() => T::Int64,
        (one, other) if one.is_numeric() && other.is_numeric() => T::Float64,
        _ => return None,
    })
}

fn nullable(field: &FieldRef) -> FieldRef {
    if field.is_nullable() {
        Arc::clone(field)
    } else {
        Arc::new(field.as_ref().clone().with_nullable(true))
    }
}

/// Returns true for the types of text.
pub fn is_text(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
    )
}

/// The type that holds what `data_type` holds and values of a shape, with members added where needed; `None` if there is
/// none.
pub fn extended(data_type: &DataType, shape: &ColumnShape) -> Option<DataType> {
    use DataType as T;
    Some(match (data_type, shape) {
        (T::Dictionary(_, values), shape) => extended(values, shape)?,
        (T::Null, shape) => shape.data_type()?,
        (T::Struct(fields), ColumnShape::Null) => T::Struct(fields.iter().map(nullable).collect()),
        (_, ColumnShape::Null) => data_type.clone(),
        (T::Struct(fields), ColumnShape::Object(members)) => T::Struct(extended_members(fields, members)?),
        (T::Map(entries, sorted), ColumnShape::Object(members)) => {
            let T::Struct(pair) = entries.data_type() else {
                return None;
            };
            let [key, value] = pair.iter().as_slice() else {
                return None;
            };
            let mut values = value.data_type().clone();
            for (_, shape) in members {
                values = extended(&values, shape)?;
            }
            let value = Arc::new(value.as_ref().clone().with_data_type(values).with_nullable(true));
            let pair = T::Struct(Fields::from(vec![Arc::clone(key), value]));
            T::Map(Arc::new(entries.as_ref().clone().with_data_type(pair)), *sorted)
        }
        (T::List(items), ColumnShape::List(shape)) => T::List(extended_item(items, shape)?),
        (T::LargeList(items), ColumnShape::List(shape)) => T::LargeList(extended_item(items, shape)?),
        (T::Boolean, ColumnShape::Bool) => T::Boolean,
        (number, ColumnShape::Float) if number.is_integer() => T::Float64,
        (number, ColumnShape::Integer | ColumnShape::Float) if number.is_numeric() => number.clone(),
        (text, ColumnShape::Text) if is_text(text) || text.is_temporal() || text.is_binary() => text.clone(),
        _ => return None,
    })
}

fn extended_item(item: &FieldRef, shape: &ColumnShape) -> Option<FieldRef> {
    let data_type = extended(item.data_type(), shape)?;
    Some(Arc::new(
        item.as_ref()
            .clone()
            .with_data_type(data_type)
            .with_nullable(true),
    ))
}

fn extended_members(fields: &Fields, members: &[(String, ColumnShape)]) -> Option<Fields> {
    let mut all: Vec<Field> = Vec::new();
    for field in fields {
        let shape = members.iter().find(|(name, _)| name == field.name());
        let shape = shape.map_or(&ColumnShape::Null, |(_, shape)| shape);
        let data_type = extended(field.data_type(), shape)?;
        all.push(
            field
                .as_ref()
                .clone()
                .with_data_type(data_type)
                .with_nullable(true),
        );
    }
    for (name, shape) in members.iter().filter(|(name, _)| fields.find(name).is_none()) {
        all.push(Field::new(name, shape.data_type()?, true));
    }
    Some(all.into())
}

/// Brings an array to a type that can hold its values.
pub fn conform(array: &ArrayRef, to: &DataType) -> io::Result<ArrayRef> {
    use DataType as T;
    if array.data_type() == to {
        return Ok(Arc::clone(array));
    }
    Ok(match (array.data_type(), to) {
        (T::Null, _) => new_null_array(to, array.len()),
        (T::Struct(_), T::Struct(fields)) => Arc::new(conform_struct(array.as_struct(), fields)?),
        (T::List(_), T::List(item)) => {
            let list = array.as_list::<i32>();
            let values = conform(list.values(), item.data_type())?;
            let nulls = list.nulls().cloned();
            Arc::new(
                ListArray::try_new(Arc::clone(item), list.offsets().clone(), values, nulls).map_err(fault)?,
            )
        }
        (T::LargeList(_), T::LargeList(item)) => {
            let list = array.as_list::<i64>();
            let values = conform(list.values(), item.data_type())?;
            let nulls = list.nulls().cloned();
            Arc::new(
                LargeListArray::try_new(Arc::clone(item), list.offsets().clone(), values, nulls)
                    .map_err(fault)?,
            )
        }
        (T::Map(_, _), T::Map(entries, sorted)) => {
            let map = array.as_map();
            let T::Struct(pair) = entries.data_type() else {
                return cast(array, to).map_err(fault);
            };
            let conformed = conform_struct(map.entries(), pair)?;
            let nulls = map.nulls().cloned();
            Arc::new(
                MapArray::try_new(
                    Arc::clone(entries),
                    map.offsets().clone(),
                    conformed,
                    nulls,
                    *sorted,
                )
                .map_err(fault)?,
            )
        }
        _ => cast(array, to).map_err(fault)?,
    })
}

fn conform_struct(array: &StructArray, fields: &Fields) -> io::Result<StructArray> {
    let columns = fields
        .iter()
        .map(|field| match array.column_by_name(field.name()) {
            Some(column) => conform(column, field.data_type()),
            None => Ok(new_null_array(field.data_type(), array.len())),
        });
    let columns = columns.collect::<io::Result<Vec<_>>>()?;
    let nulls = array.nulls().cloned();
    StructArray::try_new_with_length(fields.clone(), columns, nulls, array.len()).map_err(fault)
}
