//! Named fields of a JSON object, as spans of its text.

use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::json;

/// The fields asked for, each as JSON text; absent and null ones are `None`.
pub struct Fields<'a, const N: usize> {
    /// In the order of the names asked for; of a field given twice, the last.
    pub values: [Option<&'a str>; N],
    /// Which of the names stand in the object more than once.
    pub repeated: [bool; N],
    /// Whether the value of a field *not* asked for nests too deep.
    pub too_deep: bool,
}

/// Reads the object that `text` is; an error where it is none, or is no JSON.
pub fn fields<'a, const N: usize>(
    text: &'a str,
    names: &[&str; N],
) -> Result<Fields<'a, N>, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let fields = deserializer.deserialize_map(FieldsVisitor { names })?;
    deserializer.end()?;
    Ok(fields)
}

struct FieldsVisitor<'n, const N: usize> {
    names: &'n [&'n str; N],
}

impl<'de, const N: usize> Visitor<'de> for FieldsVisitor<'_, N> {
    type Value = Fields<'de, N>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut values = [None; N];
        let mut seen = [false; N];
        let mut repeated = [false; N];
        let mut too_deep = false;
        while let Some(index) = map.next_key_seed(NameSeed(self.names))? {
            let value = map.next_value::<&'de RawValue>()?.get();
            let slots =
                index.and_then(|at| Some((values.get_mut(at)?, seen.get_mut(at)?, repeated.get_mut(at)?)));
            match slots {
                Some((slot, seen, repeated)) => {
                    *repeated = *seen;
                    *seen = true;
                    *slot = Some(value).filter(|value| *value != "null");
                }
                None => too_deep |= value.starts_with(['[', '{']) && json::too_deep(value),
            }
        }
        Ok(Fields {
            values,
            repeated,
            too_deep,
        })
    }
}

/// Reads a key as its index among the names asked for.
struct NameSeed<'n, const N: usize>(&'n [&'n str; N]);

impl<'de, const N: usize> serde::de::DeserializeSeed<'de> for NameSeed<'_, N> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        // Bytes, not text: a key with a lone surrogate has no text, and must not end the reading.
        deserializer.deserialize_bytes(self)
    }
}

impl<const N: usize> Visitor<'_> for NameSeed<'_, N> {
    type Value = Option<usize>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_bytes<E>(self, key: &[u8]) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|name| name.as_bytes() == key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_spans_and_repetition_is_seen() {
        let text = r#"{"a": 1, "x\ud800": [[]], "b": "two", "a": {"c": null}, "n": null}"#;
        let fields = fields(text, &["a", "b", "n", "m"]).unwrap();
        assert_eq!(
            fields.values,
            [Some("{\"c\": null}"), Some("\"two\""), None, None]
        );
        assert_eq!(fields.repeated, [true, false, false, false]);
        assert!(!fields.too_deep);
    }

    #[test]
    fn what_is_no_object_is_an_error() {
        for text in ["[]", "null", "\"a\"", "1", "{", "{\"a\":1}x", ""] {
            assert!(fields(text, &["a"]).is_err(), "{text}");
        }
    }
}
