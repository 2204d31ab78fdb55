//! Named fields of a JSON object, as spans of its text.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::scan::Scan;
use crate::trajectory::json;

/// The requested fields, each as JSON text; absent and null ones are `None`.
pub struct Fields<'a, const N: usize> {
    /// The values in the order of the requested names; of a field given twice, the last.
    pub values: [Option<&'a str>; N],
    /// True for names that occur in the object more than once.
    pub repeated: [bool; N],
    /// The value of a field that was not requested nests too deep.
    pub too_deep: bool,
    /// No value nests too deep.
    pub is_shallow: bool,
    /// True for names that occur in the object.
    seen: [bool; N],
    /// The object has a field.
    has_any: bool,
}

/// Reads the object in `text`; an error if it is no object, or no JSON.
pub fn fields<'a, const N: usize>(
    text: &'a str,
    names: &[&str; N],
) -> Result<Fields<'a, N>, serde_json::Error> {
    if let Some(fields) = scanned(text, names) {
        return Ok(fields);
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let fields = deserializer.deserialize_map(FieldsVisitor { names })?;
    deserializer.end()?;
    Ok(fields)
}

/// The same, where the scanner takes the text.
fn scanned<'a, const N: usize>(text: &'a str, names: &[&str; N]) -> Option<Fields<'a, N>> {
    let mut scan = Scan::new(text);
    let mut fields = Fields::shallow();
    each_member(&mut scan, |scan, key| {
        fields.note(index_of(key, names), scan.value()?);
        Some(())
    })?;
    scan.is_at_end().then_some(fields)
}

/// Calls `take` with each key of the object that is next, to take the value behind it.
fn each_member<'a>(
    scan: &mut Scan<'a>,
    mut take: impl FnMut(&mut Scan<'a>, &'a str) -> Option<()>,
) -> Option<()> {
    scan.take(b'{')?;
    if scan.peek()? == b'}' {
        return scan.take(b'}');
    }
    loop {
        let key = scan.key()?;
        take(scan, key)?;
        if scan.peek()? == b'}' {
            return scan.take(b'}');
        }
        scan.take(b',')?;
    }
}

/// The index of a key, given with its quotes, among the requested names.
fn index_of(key: &str, names: &[&str]) -> Option<usize> {
    let inner = key.get(1..key.len() - 1)?;
    if inner.contains('\\') {
        let (key, is_exact) = json::decode(key);
        return names.iter().position(|name| is_exact && *name == key);
    }
    names.iter().position(|name| *name == inner)
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
    let mut scan = Scan::new(text);
    let mut fields = Fields::shallow();
    let mut lists = [const { None }; LISTS];
    each_member(&mut scan, |scan, key| {
        let index = index_of(key, names);
        let value = if let Some(list) = index.and_then(|index| lists.get_mut(index)) {
            scan.peek();
            let start = scan.at();
            *list = Some(objects(scan, text.len(), elements)?);
            scan.since(start)
        } else {
            scan.value()?
        };
        fields.note(index, value);
        Some(())
    })?;
    scan.is_at_end().then_some((fields, lists))
}

/// Reads the list of objects that is next, in a text of `length` bytes; `None` if one of them has no fields.
fn objects<'a, T, const M: usize>(
    scan: &mut Scan<'a>,
    length: usize,
    elements: Elements<'_, impl Fn(&'a str, &Fields<'a, M>) -> Option<T>, M>,
) -> Option<Vec<T>> {
    let Elements { names, make, most } = elements;
    let mut objects = Vec::new();
    scan.take(b'[')?;
    if scan.peek()? == b']' {
        scan.take(b']')?;
        return Some(objects);
    }
    let first = scan.at();
    loop {
        scan.peek()?;
        let start = scan.at();
        let mut fields = Fields::shallow();
        each_member(scan, |scan, key| {
            fields.note(index_of(key, names), scan.value()?);
            Some(())
        })?;
        let made = make(scan.since(start), &fields).filter(|_| fields.has_any && objects.len() < most)?;
        make_room(&mut objects, scan.at() - first, length - first);
        objects.push(made);
        if scan.peek()? == b']' {
            scan.take(b']')?;
            return Some(objects);
        }
        scan.take(b',')?;
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

/// Returns the elements of the list in `text`; `None` if it is no list, or no JSON.
pub fn elements_of(text: &str) -> Option<Vec<&str>> {
    let scanned = || {
        let mut scan = Scan::new(text);
        let mut elements = Vec::new();
        scan.take(b'[')?;
        if scan.peek()? != b']' {
            elements.push(scan.value()?);
            while scan.peek()? == b',' {
                scan.take(b',')?;
                elements.push(scan.value()?);
            }
        }
        scan.take(b']')?;
        scan.is_at_end().then_some(elements)
    };
    scanned().or_else(|| {
        let read: Vec<&RawValue> = serde_json::from_str(text).ok()?;
        Some(read.into_iter().map(RawValue::get).collect())
    })
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
            let value = map.next_value::<&'de RawValue>()?.get();
            fields.too_deep |= index.is_none() && value.starts_with(['[', '{']) && json::too_deep(value);
            fields.note(index, value);
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
            is_shallow: false,
            seen: [false; N],
            has_any: false,
        }
    }
}

impl<'a, const N: usize> Fields<'a, N> {
    /// No fields yet, of an object that the scanner takes: it declines what nests deep.
    fn shallow() -> Self {
        Self {
            is_shallow: true,
            ..Self::default()
        }
    }

    /// Returns true if the name at `index` occurs in the object, even with null.
    pub fn is_there(&self, index: usize) -> bool {
        self.seen.get(index).copied().unwrap_or_default()
    }

    /// Records the value of the name at `index`, or of a field that was not requested.
    fn note(&mut self, index: Option<usize>, value: &'a str) {
        self.has_any = true;
        let slots = index.and_then(|at| {
            Some((
                self.values.get_mut(at)?,
                self.seen.get_mut(at)?,
                self.repeated.get_mut(at)?,
            ))
        });
        if let Some((slot, seen, repeated)) = slots {
            *repeated = *seen;
            *seen = true;
            *slot = Some(value).filter(|value| *value != "null");
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
