//! Named fields of a JSON object, as spans of its text.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::trajectory::json;

/// The requested fields, each as JSON text; absent and null ones are `None`.
pub struct Fields<'a, const N: usize> {
    /// The values in the order of the requested names; of a field given twice, the last.
    pub values: [Option<&'a str>; N],
    /// True for names that occur in the object more than once.
    pub repeated: [bool; N],
    /// The value of a field that was not requested nests too deep.
    pub too_deep: bool,
    /// True for names that occur in the object.
    seen: [bool; N],
    /// The last value in the object.
    last: Option<&'a str>,
}

/// Reads the object in `text`; an error if it is no object, or no JSON.
pub fn fields<'a, const N: usize>(
    text: &'a str,
    names: &[&str; N],
) -> Result<Fields<'a, N>, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let fields = deserializer.deserialize_map(FieldsVisitor { names })?;
    deserializer.end()?;
    Ok(fields)
}

/// The way to read the objects of lists.
#[derive(Clone, Copy)]
pub struct Elements<'n, F, const M: usize> {
    /// The requested fields.
    pub names: &'n [&'n str; M],
    /// Makes a value from an object's text and its fields; `None` ends the reading.
    pub make: F,
    /// Most objects in a list.
    pub most: usize,
}

/// Reads the object in `text` together with the objects in the first `LISTS` of the requested fields, in one pass;
/// `None` if `text` is no object, or one of these fields is present but no list of objects that have fields.
pub fn fields_and_lists<'a, T, const N: usize, const LISTS: usize, const M: usize>(
    text: &'a str,
    names: &[&str; N],
    elements: Elements<'_, impl Fn(&'a str, &Fields<'a, M>) -> Option<T> + Copy, M>,
) -> Option<(Fields<'a, N>, [Option<Vec<T>>; LISTS])> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let visitor = ListsVisitor {
        text,
        names,
        elements,
    };
    let found = deserializer.deserialize_map(visitor).ok()?;
    deserializer.end().ok()?;
    Some(found)
}

/// Reads the objects of the list in `text`, in one pass; `None` if anything else is in it, or an object without fields.
pub fn objects<'a, T, const M: usize>(
    text: &'a str,
    names: &[&str; M],
    make: impl Fn(&'a str, &Fields<'a, M>) -> T + Copy,
) -> Option<Vec<T>> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let seed = ObjectsSeed {
        text,
        start: place_of('[', text, 0)? + 1,
        elements: Elements {
            names,
            make: |text, fields: &Fields<'a, M>| Some(make(text, fields)),
            most: usize::MAX,
        },
    };
    let (objects, _) = deserializer.deserialize_seq(seed).ok()?;
    deserializer.end().ok()?;
    Some(objects)
}

struct ListsVisitor<'a, 'n, F, const N: usize, const LISTS: usize, const M: usize> {
    text: &'a str,
    names: &'n [&'n str; N],
    elements: Elements<'n, F, M>,
}

impl<'de, T, F, const N: usize, const LISTS: usize, const M: usize> Visitor<'de>
    for ListsVisitor<'de, '_, F, N, LISTS, M>
where
    F: Fn(&'de str, &Fields<'de, M>) -> Option<T> + Copy,
{
    type Value = (Fields<'de, N>, [Option<Vec<T>>; LISTS]);

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object with lists of objects")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Fields::default();
        let mut lists = [const { None }; LISTS];
        // The end of the last value.
        let mut end = 0;
        while let Some(index) = map.next_key_seed(NameSeed(self.names))? {
            let value = if let Some(list) = index.and_then(|index| lists.get_mut(index)) {
                // Between the value before and this one stand white space, a comma, and the key.
                let start = place_of('[', self.text, end).ok_or_else(|| A::Error::custom("no list"))?;
                let (objects, last) = map.next_value_seed(ObjectsSeed {
                    text: self.text,
                    start: start + 1,
                    elements: self.elements,
                })?;
                *list = Some(objects);
                let close = place_of(']', self.text, last).unwrap_or(last);
                self.text.get(start..=close).unwrap_or_default()
            } else {
                map.next_value::<&'de RawValue>()?.get()
            };
            end = end_in(self.text, value);
            fields.note(index, value);
        }
        Ok((fields, lists))
    }
}

/// Reads a list of objects, and the end of the last of them.
struct ObjectsSeed<'a, 'n, F, const M: usize> {
    text: &'a str,
    /// The byte offset of the list in `text`.
    start: usize,
    elements: Elements<'n, F, M>,
}

impl<'de, T, F, const M: usize> DeserializeSeed<'de> for ObjectsSeed<'de, '_, F, M>
where
    F: Fn(&'de str, &Fields<'de, M>) -> Option<T> + Copy,
{
    type Value = (Vec<T>, usize);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T, F, const M: usize> Visitor<'de> for ObjectsSeed<'de, '_, F, M>
where
    F: Fn(&'de str, &Fields<'de, M>) -> Option<T> + Copy,
{
    type Value = (Vec<T>, usize);

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let Elements { names, make, most } = self.elements;
        let mut objects = Vec::new();
        let mut end = self.start;
        while let Some(fields) = seq.next_element_seed(FieldsVisitor { names })? {
            // Between two objects are white space and a comma, and after an object's last value white space and its
            // brace: the object's own text is found without reading it again.
            let object = object_at(self.text, end, fields.last);
            let object = object.ok_or_else(|| A::Error::custom("an object without fields"))?;
            end = end_in(self.text, object);
            let made = make(object, &fields).filter(|_| objects.len() < most);
            make_room(&mut objects, end - self.start, self.text.len() - self.start);
            objects.push(made.ok_or_else(|| A::Error::custom("objects that are not wanted"))?);
        }
        Ok((objects, end))
    }
}

/// Reserves room for the likely number of remaining elements, after `read` of `total` bytes of the list. Doubling each
/// time would at last take three times the memory needed, while elements are moved.
fn make_room<T>(list: &mut Vec<T>, read: usize, total: usize) {
    const FEW: usize = 1024;
    if list.len() == list.capacity() && list.len() >= FEW {
        let likely = list.len() as f64 * total.saturating_sub(read) as f64 / read.max(1) as f64;
        list.reserve_exact(likely as usize + list.len() / 16);
    }
}

/// Calls `take` for each element of the list in `text`, until it returns `false`.
pub fn each_element<'a>(text: &'a str, take: impl FnMut(&'a str) -> bool) -> Result<(), serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.deserialize_seq(EachVisitor(take))?;
    deserializer.end()
}

struct EachVisitor<F>(F);

impl<'de, F: FnMut(&'de str) -> bool> Visitor<'de> for EachVisitor<F> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        while let Some(element) = seq.next_element::<&'de RawValue>()? {
            if !(self.0)(element.get()) {
                return Err(A::Error::custom("an element that is not wanted"));
            }
        }
        Ok(())
    }
}

/// Returns the next object after `from`, given the last value in it.
fn object_at<'a>(text: &'a str, from: usize, last: Option<&str>) -> Option<&'a str> {
    let start = place_of('{', text, from)?;
    let end = place_of('}', text, end_in(text, last?))?;
    text.get(start..=end)
}

/// Returns the next position of `mark`.
fn place_of(mark: char, text: &str, from: usize) -> Option<usize> {
    Some(from + text.get(from..)?.find(mark)?)
}

/// Returns the end of a part of `text` in it.
fn end_in(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize) + part.len()
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
        let mut fields = Fields::default();
        while let Some(index) = map.next_key_seed(NameSeed(self.names))? {
            fields.note(index, map.next_value::<&'de RawValue>()?.get());
        }
        Ok(fields)
    }
}

impl<const N: usize> Default for Fields<'_, N> {
    fn default() -> Self {
        Self {
            values: [None; N],
            repeated: [false; N],
            too_deep: false,
            seen: [false; N],
            last: None,
        }
    }
}

impl<'a, const N: usize> Fields<'a, N> {
    /// Returns true if the name at `index` occurs in the object, even with null.
    pub fn is_there(&self, index: usize) -> bool {
        self.seen.get(index).copied().unwrap_or_default()
    }

    /// Records the value of the name at `index`, or of a field that was not requested.
    fn note(&mut self, index: Option<usize>, value: &'a str) {
        self.last = Some(value);
        let slots = index.and_then(|at| {
            Some((
                self.values.get_mut(at)?,
                self.seen.get_mut(at)?,
                self.repeated.get_mut(at)?,
            ))
        });
        match slots {
            Some((slot, seen, repeated)) => {
                *repeated = *seen;
                *seen = true;
                *slot = Some(value).filter(|value| *value != "null");
            }
            None => self.too_deep |= value.starts_with(['[', '{']) && json::too_deep(value),
        }
    }
}

/// Reads a key as its index among the requested names.
struct NameSeed<'n, const N: usize>(&'n [&'n str; N]);

impl<'de, const N: usize> DeserializeSeed<'de> for NameSeed<'_, N> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        // Reads bytes, not text: a key with a lone surrogate has no text, and must not end the reading.
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

    #[allow(clippy::unnecessary_wraps, reason = "it stands for one that may refuse")]
    fn with_first<'a>(text: &'a str, fields: &Fields<'a, 1>) -> Option<(&'a str, Option<&'a str>)> {
        Some((text, fields.values[0]))
    }

    #[test]
    fn objects_of_a_list_have_their_own_texts() {
        let list = r#"[ {"a": 1 } ,{"b":"}{", "a":{"c": "}"}}, {"x": 0}] "#;
        let text = format!(r#" {{"k": "[", "l" :{list}, "m": [], "k\u005b": 2, "l": {list}}} "#);
        let elements = Elements {
            names: &["a"],
            make: with_first,
            most: 3,
        };
        let (fields, lists) = fields_and_lists::<_, 3, 2, 1>(&text, &["l", "m", "k"], elements).unwrap();
        assert_eq!(fields.values, [Some(list.trim()), Some("[]"), Some("\"[\"")]);
        assert_eq!(fields.repeated, [true, false, false]);
        let [objects, none] = lists.map(Option::unwrap);
        let nested = r#"{"c": "}"}"#;
        let second = r#"{"b":"}{", "a":{"c": "}"}}"#;
        assert_eq!(
            objects,
            [
                (r#"{"a": 1 }"#, Some("1")),
                (second, Some(nested)),
                (r#"{"x": 0}"#, None)
            ]
        );
        assert!(none.is_empty());
        for other in [
            "[1]",
            "[{}]",
            "[{\"a\":1}, null]",
            "{}",
            "null",
            "[",
            "[{\"a\":1}] x",
        ] {
            let text = format!("{{\"l\": {other}}}");
            assert!(
                fields_and_lists::<_, 1, 1, 1>(&text, &["l"], elements).is_none(),
                "{other}"
            );
        }
    }

    #[test]
    fn what_is_no_object_is_an_error() {
        for text in ["[]", "null", "\"a\"", "1", "{", "{\"a\":1}x", ""] {
            assert!(fields(text, &["a"]).is_err(), "{text}");
        }
    }
}
