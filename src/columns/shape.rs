//! The shape of JSON values: the types that a column for all of them needs.

use std::fmt;
use std::sync::Arc;

use arrow_schema::{DataType, Field};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// The types of some JSON values.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum ColumnShape {
    /// There are none but nulls.
    #[default]
    Null,
    /// Truth values.
    Bool,
    /// Numbers that fit into 64 bits with a sign.
    Integer,
    /// Other numbers.
    Float,
    /// Strings.
    Text,
    /// Lists of values of a shape.
    List(Box<ColumnShape>),
    /// Objects: their members, in the order in which they were seen.
    Object(Vec<(String, ColumnShape)>),
    /// Values of types that have no common one.
    Mixed,
}

impl ColumnShape {
    /// Adds a value, given as JSON text.
    pub fn add(&mut self, json: &str) -> serde_json::Result<()> {
        let mut reader = serde_json::Deserializer::from_str(json);
        AddTo(self).deserialize(&mut reader)
    }

    /// The type of a column of such values; `None` if only JSON text can hold them.
    pub fn data_type(&self) -> Option<DataType> {
        Some(match self {
            Self::Null | Self::Text => DataType::Utf8,
            Self::Bool => DataType::Boolean,
            Self::Integer => DataType::Int64,
            Self::Float => DataType::Float64,
            Self::List(items) => DataType::List(Arc::new(Field::new("item", items.data_type()?, true))),
            // Parquet has no group without members.
            Self::Object(members) if members.is_empty() => return None,
            Self::Object(members) => {
                let members = members.iter();
                let members = members.map(|(name, shape)| Some(Field::new(name, shape.data_type()?, true)));
                DataType::Struct(members.collect::<Option<_>>()?)
            }
            Self::Mixed => return None,
        })
    }

    fn add_scalar(&mut self, scalar: Self) {
        let before = std::mem::take(self);
        *self = match (before, scalar) {
            (Self::Null, scalar) => scalar,
            (before, Self::Null) => before,
            (Self::Integer, Self::Float) | (Self::Float, Self::Integer) => Self::Float,
            (before, scalar) if before == scalar => before,
            _ => Self::Mixed,
        };
    }
}

/// Adds the value that is read next to a shape.
struct AddTo<'s>(&'s mut ColumnShape);

impl<'d> DeserializeSeed<'d> for AddTo<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'d>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'d> Visitor<'d> for AddTo<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _value: bool) -> Result<(), E> {
        self.0.add_scalar(ColumnShape::Bool);
        Ok(())
    }

    fn visit_i64<E>(self, _value: i64) -> Result<(), E> {
        self.0.add_scalar(ColumnShape::Integer);
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        let fits = i64::try_from(value).is_ok();
        self.0.add_scalar(if fits {
            ColumnShape::Integer
        } else {
            ColumnShape::Float
        });
        Ok(())
    }

    fn visit_f64<E>(self, _value: f64) -> Result<(), E> {
        self.0.add_scalar(ColumnShape::Float);
        Ok(())
    }

    fn visit_str<E>(self, _value: &str) -> Result<(), E> {
        self.0.add_scalar(ColumnShape::Text);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'d>>(self, mut items: A) -> Result<(), A::Error> {
        if *self.0 == ColumnShape::Null {
            *self.0 = ColumnShape::List(Box::default());
        }
        let mut ignored = ColumnShape::Null;
        let shape = match self.0 {
            ColumnShape::List(shape) => &mut **shape,
            other => {
                *other = ColumnShape::Mixed;
                &mut ignored
            }
        };
        while items.next_element_seed(AddTo(shape))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'d>>(self, mut members: A) -> Result<(), A::Error> {
        if *self.0 == ColumnShape::Null {
            *self.0 = ColumnShape::Object(Vec::new());
        }
        let mut ignored = Vec::new();
        let known = match self.0 {
            ColumnShape::Object(known) => known,
            other => {
                *other = ColumnShape::Mixed;
                &mut ignored
            }
        };
        while let Some(name) = members.next_key::<String>()? {
            let index = known.iter().position(|(known, _)| *known == name);
            let index = index.unwrap_or_else(|| {
                known.push((name, ColumnShape::Null));
                known.len() - 1
            });
            if let Some((_, shape)) = known.get_mut(index) {
                members.next_value_seed(AddTo(shape))?;
            }
        }
        Ok(())
    }
}
