//! Named fields of a JSON object, as spans of its text.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
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
    /// The last value in the object.
    last: Option<&'a str>,
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

/// Reads the elements of the list that `text` is, each with its own text, in one pass; `None` where any of them is no
/// object with fields.
pub fn objects<'a, const N: usize>(
    text: &'a str,
    names: &[&str; N],
) -> Option<Vec<(&'a str, Fields<'a, N>)>> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let objects = deserializer
        .deserialize_seq(ObjectsVisitor { text, names })
        .ok()?;
    deserializer.end().ok()?;
    Some(objects)
}

struct ObjectsVisitor<'a, 'n, const N: usize> {
    text: &'a str,
    names: &'n [&'n str; N],
}

impl<'de, const N: usize> Visitor<'de> for ObjectsVisitor<'de, '_, N> {
    type Value = Vec<(&'de str, Fields<'de, N>)>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut objects = Vec::new();
        let mut end = 0;
        while let Some(fields) = seq.next_element_seed(FieldsVisitor { names: self.names })? {
            // Between two objects stand white space and a comma, and after an object's last value white space and its
            // brace: the object's own text is found without reading it again.
            let object = span(self.text, end, fields.last);
            let (start, object_end) = object.ok_or_else(|| A::Error::custom("an object without fields"))?;
            end = object_end;
            objects.push((self.text.get(start..end).unwrap_or_default(), fields));
        }
        Ok(objects)
    }
}

/// Where the next object after `from` starts and ends, given the last value in it.
fn span(text: &str, from: usize, last: Option<&str>) -> Option<(usize, usize)> {
    let last = last?;
    let start = from + text.get(from..)?.find('{')?;
    let last_end = (last.as_ptr() as usize).checked_sub(text.as_ptr() as usize)? + last.len();
    Some((start, last_end + text.get(last_end..)?.find('}')? + 1))
}

#[derive(Clone, Copy)]
struct FieldsVisitor<'n, const N: usize> {
    names: &'n [&'n str; N],
}

impl<'de, const N: usize> DeserializeSeed<'de> for FieldsVisitor<'_, N> {
    type Value = Fields<'de, N>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
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
        let mut last = None;
        while let Some(index) = map.next_key_seed(NameSeed(self.names))? {
            let value = map.next_value::<&'de RawValue>()?.get();
            last = Some(value);
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
            last,
        })
    }
}

/// Reads a key as its index among the names asked for.
struct NameSeed<'n, const N: usize>(&'n [&'n str; N]);

impl<'de, const N: usize> DeserializeSeed<'de> for NameSeed<'_, N> {
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
    fn objects_have_their_own_texts() {
        let text = r#" [ {"a": 1 } ,{"b":"}{", "a":{"c": "}"}}, {"x": 0}]"#;
        let texts = objects(text, &["a"]).unwrap();
        let texts: Vec<_> = texts
            .iter()
            .map(|(text, fields)| (*text, fields.values[0]))
            .collect();
        let nested = r#"{"c": "}"}"#;
        let second = r#"{"b":"}{", "a":{"c": "}"}}"#;
        assert_eq!(
            texts,
            [
                (r#"{"a": 1 }"#, Some("1")),
                (second, Some(nested)),
                (r#"{"x": 0}"#, None)
            ]
        );
        for other in ["[1]", "[{}]", "[{\"a\":1}, null]", "{}", "[", "[{\"a\":1}] x"] {
            assert!(objects(other, &["a"]).is_none(), "{other}");
        }
    }

    #[test]
    fn what_is_no_object_is_an_error() {
        for text in ["[]", "null", "\"a\"", "1", "{", "{\"a\":1}x", ""] {
            assert!(fields(text, &["a"]).is_err(), "{text}");
        }
    }
}
