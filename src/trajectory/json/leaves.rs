//! The leaves of a JSON text in order, as written: a scanner that builds no tree and stops early.

use std::borrow::Cow;

use crate::trajectory::json;

/// A scalar of a JSON text. Strings are decoded on request: most arguments of calls are never read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf<'a> {
    /// The key of the leaf, or of the list that contains it, as written: with its quotes.
    written_key: &'a str,
    /// The key of the object that contains it, as written; `None` for the outermost object and for items of lists.
    parent: Option<&'a str>,
    /// The value as written, a string with its quotes.
    written: &'a str,
    /// The nesting depth: 1 for the fields of the outermost object.
    pub depth: usize,
    /// The number of the record that contains it, an object in a list or under an id, counted from 1; 0 for none.
    pub record: usize,
    /// The list that contains the record.
    pub list: RecordList<'a>,
    /// The leaf is itself an item of a list.
    pub is_item: bool,
    /// The value is a string.
    pub is_string: bool,
}

/// A list of records, or an object with records under ids.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordList<'a> {
    /// Its place in the text.
    at: usize,
    written_key: &'a str,
}

impl<'a> RecordList<'a> {
    /// Returns its key, decoded; empty for the outermost list.
    pub fn key(self) -> Cow<'a, str> {
        decoded(self.written_key)
    }
}

impl<'a> Leaf<'a> {
    /// Returns the key, decoded.
    pub fn key(&self) -> Cow<'a, str> {
        decoded(self.written_key)
    }

    /// Returns the key of the object that contains the leaf, decoded.
    pub fn parent(&self) -> Option<Cow<'a, str>> {
        self.parent.map(decoded)
    }

    /// Returns true if both are in one object, as far as objects under keys can be distinguished.
    pub fn is_beside(&self, other: &Self) -> bool {
        self.parent.map(str::as_ptr) == other.parent.map(str::as_ptr) && self.record == other.record
    }

    /// Returns true if the key is one of `names`.
    pub fn is_under(&self, names: &[&str]) -> bool {
        names.contains(&unquoted(self.written_key))
    }

    /// Returns the value: a string decoded, a number as written.
    pub fn value(&self) -> Cow<'a, str> {
        if self.is_string {
            decoded(self.written)
        } else {
            Cow::Borrowed(self.written)
        }
    }

    /// Returns the length of the value in bytes as written: at most six per decoded byte, plus the quotes.
    pub fn written_len(&self) -> usize {
        self.written.len()
    }
}

/// Returns the first `most` leaves, without nulls; `None` if `text` is no JSON object or list as far as it was read.
pub fn leaves(text: &str, most: usize) -> Option<Vec<Leaf<'_>>> {
    let text = text.trim();
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let bytes = text.as_bytes();
    let mut found = Vec::with_capacity(most.min(text.len() / 12 + 1));
    let mut open: Vec<OpenValue<'_>> = Vec::new();
    let mut records = 0;
    let mut key = "";
    let mut awaits_key = false;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b':' => at += 1,
            b'{' | b'[' => {
                let is_object = byte == b'{';
                let (record, list) = match open.last() {
                    Some(outer) if is_object && (!outer.is_object || names_one_of_many(key)) => {
                        records += 1;
                        let list = RecordList {
                            at: outer.at,
                            written_key: outer.key,
                        };
                        (records, list)
                    }
                    Some(outer) => (outer.record, outer.list),
                    None => (0, RecordList::default()),
                };
                open.push(OpenValue {
                    is_object,
                    key,
                    record,
                    list,
                    at,
                });
                awaits_key = is_object;
                at += 1;
            }
            b'}' | b']' => {
                if open.pop()?.is_object != (byte == b'}') {
                    return None;
                }
                at += 1;
                match open.last() {
                    Some(outer) if outer.is_object => {}
                    Some(list) => key = list.key,
                    None => return bytes.get(at).is_none().then_some(found),
                }
            }
            b',' => {
                awaits_key = open.last()?.is_object;
                at = past(bytes, at + 1, b' ');
            }
            b'"' => {
                let end = string_end(bytes, at)?;
                let written = text.get(at..end)?;
                at = if awaits_key {
                    key = written;
                    awaits_key = false;
                    // A colon and a space nearly always follow a key; they are skipped here.
                    past(bytes, past(bytes, end, b':'), b' ')
                } else {
                    found.push(leaf(key, written, &open, true));
                    end
                };
            }
            _ => {
                let rest = bytes.get(at..)?;
                let length = rest
                    .iter()
                    .position(|b| !(b.is_ascii_alphanumeric() || b"+-.".contains(b)))
                    .unwrap_or(rest.len());
                let word = text.get(at..at + length)?;
                let is_number = word.starts_with(|c: char| c.is_ascii_digit() || c == '-');
                if awaits_key || !(is_number || ["true", "false", "null"].contains(&word)) {
                    return None;
                }
                if word != "null" {
                    found.push(leaf(key, word, &open, false));
                }
                at += length;
            }
        }
        if found.len() >= most {
            return Some(found);
        }
    }
    None
}

/// An object or list that is open where the scanner is.
struct OpenValue<'a> {
    is_object: bool,
    /// Its key, which items of a list have as well.
    key: &'a str,
    record: usize,
    list: RecordList<'a>,
    /// Its place in the text.
    at: usize,
}

fn leaf<'a>(written_key: &'a str, written: &'a str, open: &[OpenValue<'a>], is_string: bool) -> Leaf<'a> {
    let innermost = open.last();
    let object = open.iter().rposition(|open| open.is_object).unwrap_or(0);
    let outer = object.checked_sub(1).and_then(|outer| open.get(outer));
    let is_field = outer.is_some_and(|outer| outer.is_object);
    let parent = open.get(object).filter(|_| is_field).map(|object| object.key);
    Leaf {
        written_key,
        parent,
        written,
        depth: open.len(),
        record: innermost.map_or(0, |open| open.record),
        list: innermost.map_or(RecordList::default(), |open| open.list),
        is_item: innermost.is_some_and(|open| !open.is_object),
        is_string,
    }
}

/// Returns the index after `at` if `byte` is there, else `at`.
fn past(bytes: &[u8], at: usize, byte: u8) -> usize {
    at + usize::from(bytes.get(at) == Some(&byte))
}

/// Returns the end of the string that begins at `start`, closing quote included.
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += quote_or_escape(bytes.get(at..)?)?;
        if bytes.get(at) == Some(&b'"') {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// Returns the index of the first quote or backslash. Most strings are short: eight bytes are tested at a time before a
/// search begins that is faster in long ones.
fn quote_or_escape(text: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    /// Returns a mask with the highest bit of the first byte equal to `byte`, and perhaps of later ones.
    fn is(eight: u64, byte: u8) -> u64 {
        let other = eight ^ (ONES * u64::from(byte));
        other.wrapping_sub(ONES) & !other & (ONES << 7)
    }
    let (eights, _) = text.as_chunks::<8>();
    let short = eights.iter().take(4);
    for (index, eight) in short.enumerate() {
        let eight = u64::from_le_bytes(*eight);
        let found = is(eight, b'"') | is(eight, b'\\');
        if found != 0 {
            return Some(8 * index + found.trailing_zeros() as usize / 8);
        }
    }
    let searched = 8 * eights.len().min(4);
    Some(searched + memchr::memchr2(b'"', b'\\', text.get(searched..)?)?)
}

/// Returns the decoded text of a literal; escapes that JSON does not know stay as written.
fn decoded(literal: &str) -> Cow<'_, str> {
    json::decode(literal).0
}

/// Returns true for a key that names one of many objects, as a word of the format does not: with a digit in four characters or more.
fn names_one_of_many(written_key: &str) -> bool {
    let key = unquoted(written_key);
    key.len() >= 4 && key.bytes().any(|byte| byte.is_ascii_digit())
}

fn unquoted(literal: &str) -> &str {
    literal
        .get(1..literal.len().saturating_sub(1))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Option<Vec<(String, String)>> {
        Some(
            leaves(text, 9)?
                .into_iter()
                .map(|leaf| (leaf.key().into_owned(), leaf.value().into_owned()))
                .collect(),
        )
    }

    #[test]
    fn leaves_keep_order_and_spelling() {
        let text = r#"{"b": 2674.40, "a": {"x": "p\"q"}, "l": ["m", {"n": 1e400}, true], "z": null}"#;
        let expected = [
            ("b", "2674.40"),
            ("x", "p\"q"),
            ("l", "m"),
            ("n", "1e400"),
            ("l", "true"),
        ];
        let expected: Vec<_> = expected
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect();
        assert_eq!(pairs(text), Some(expected));
    }

    #[test]
    fn what_json_does_not_allow_in_a_string_stays_as_written() {
        let leaves = leaves("{\"a\": \"\\d+\\t\\x\n\\u12\"}", 9).unwrap();
        assert_eq!(leaves[0].value(), "\\d+\t\\x\n\\u12");
    }

    #[test]
    fn strings_end_at_their_quote_however_long() {
        for length in 0..80 {
            for (escape, value) in [("", ""), ("\\\"", "\""), ("é\\\\", "é\\")] {
                let plain = "x".repeat(length);
                let text = format!("{{\"{plain}\":\"{plain}{escape}{plain}\",\"b\" : 1 , \"c\":[ 2,3]}}");
                let long = format!("{plain}{value}{plain}");
                let expected = [
                    (plain.as_str(), long.as_str()),
                    ("b", "1"),
                    ("c", "2"),
                    ("c", "3"),
                ];
                let found = pairs(&text).unwrap();
                let found: Vec<_> = found
                    .iter()
                    .map(|(key, value)| (key.as_str(), value.as_str()))
                    .collect();
                assert_eq!(found, expected);
            }
        }
        assert_eq!(pairs(&format!("[\"{}", "x".repeat(50))), None);
    }

    #[test]
    fn leaves_know_their_record() {
        let text = r#"{"a": 1, "l": [{"b": 2, "m": [3, {"c": 4}], "d": {"e": 5}}, {"b": 6}], "f": 7}"#;
        let records: Vec<_> = leaves(text, 9)
            .unwrap()
            .into_iter()
            .map(|leaf| (leaf.value().into_owned(), leaf.record, leaf.is_item))
            .collect();
        let expected = [
            ("1", 0, false),
            ("2", 1, false),
            ("3", 1, true),
            ("4", 2, false),
            ("5", 1, false),
            ("6", 3, false),
            ("7", 0, false),
        ];
        assert_eq!(
            records,
            expected.map(|(value, record, is_item)| (value.to_owned(), record, is_item))
        );
    }

    #[test]
    fn records_know_their_list() {
        let text = r#"{"a": 1, "l": [{"b": 2}, {"m": [{"c": 3}]}], "by": {"id_1": {"d": 4}}}"#;
        let keys: Vec<_> = leaves(text, 9)
            .unwrap()
            .into_iter()
            .map(|leaf| leaf.list.key().into_owned())
            .collect();
        assert_eq!(keys, ["", "l", "m", "by"]);
        assert_eq!(leaves(r#"[{"b": 2}]"#, 9).unwrap()[0].list.key(), "");
    }

    #[test]
    fn what_only_starts_like_json_is_none() {
        for text in [
            "[File: x]",
            "{a: 1}",
            "[1, 2",
            "{\"a\": 1} and more",
            "",
            "[1}",
            "{\"a\"",
            "\\",
            "[\"\\",
            "{1: 2}",
        ] {
            assert_eq!(pairs(text), None, "{text}");
        }
    }
}
