//! The leaves of a JSON text in the order and spelling written: a scanner that builds no tree and stops early.

use std::borrow::Cow;

/// A scalar of a JSON text. Strings are decoded when they are asked for: most of what calls write is never read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf<'a> {
    /// The key that it, or the list it is in, stands under, as written: with its quotes.
    written_key: &'a str,
    /// The value as written, a string with its quotes.
    written: &'a str,
    /// How deep: 1 for the fields of the outermost object.
    pub depth: usize,
    /// Whether it was a string.
    pub is_string: bool,
}

impl<'a> Leaf<'a> {
    /// The key, decoded.
    pub fn key(&self) -> Cow<'a, str> {
        decoded(self.written_key)
    }

    /// Whether the key is one of `names`.
    pub fn is_under(&self, names: &[&str]) -> bool {
        names.contains(&unquoted(self.written_key))
    }

    /// The value: a string decoded, a number as written.
    pub fn value(&self) -> Cow<'a, str> {
        if self.is_string {
            decoded(self.written)
        } else {
            Cow::Borrowed(self.written)
        }
    }

    /// The bytes of the value as written: at most six for each of the decoded, and the quotes.
    pub fn written_len(&self) -> usize {
        self.written.len()
    }
}

/// The first `most` leaves, nulls left out; `None` where `text` is no JSON object or list as far as it was read.
pub fn leaves(text: &str, most: usize) -> Option<Vec<Leaf<'_>>> {
    let text = text.trim();
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    // The open objects and lists: whether it is an object, and the key that its list items stand under.
    let mut open: Vec<(bool, &str)> = Vec::new();
    let mut key = "";
    let mut awaits_key = false;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b':' => at += 1,
            b'{' | b'[' => {
                open.push((byte == b'{', key));
                awaits_key = byte == b'{';
                at += 1;
            }
            b'}' | b']' => {
                let (is_object, _) = open.pop()?;
                if is_object != (byte == b'}') {
                    return None;
                }
                at += 1;
                match open.last() {
                    Some((false, list_key)) => key = list_key,
                    Some((true, _)) => {}
                    None => return bytes.get(at).is_none().then_some(found),
                }
            }
            b',' => {
                awaits_key = open.last()?.0;
                at += 1;
            }
            b'"' => {
                let end = string_end(bytes, at)?;
                let written = text.get(at..end)?;
                if awaits_key {
                    key = written;
                    awaits_key = false;
                } else {
                    found.push(Leaf {
                        written_key: key,
                        written,
                        depth: open.len(),
                        is_string: true,
                    });
                }
                at = end;
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
                    found.push(Leaf {
                        written_key: key,
                        written: word,
                        depth: open.len(),
                        is_string: false,
                    });
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

/// Where the string that begins at `start` ends, its closing quote included.
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes.get(at) == Some(&b'"') {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// What stands between quotes, decoded; as written where it has escapes that JSON does not know.
fn decoded(literal: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\\', literal.as_bytes()).is_none() {
        return Cow::Borrowed(unquoted(literal));
    }
    serde_json::from_str(literal).map_or(Cow::Borrowed(unquoted(literal)), Cow::Owned)
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
