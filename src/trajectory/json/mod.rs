//! Decodes, encodes and measures JSON strings and nesting, in validated JSON text.

pub(super) mod fields;
pub(crate) mod leaves;
pub(super) mod members;

use std::borrow::Cow;

/// The deepest nesting accepted: readers of the output (Python's `json`, Arrow) fail near it.
pub const MAX_DEPTH: usize = 256;

/// Returns true if validated JSON text nests deeper than [`MAX_DEPTH`]. Iterative, so that depth costs no stack.
pub fn too_deep(json: &str) -> bool {
    let bytes = json.as_bytes();
    let mut depth = 0_usize;
    let mut position = 0;
    while let Some(&byte) = bytes.get(position) {
        match byte {
            b'"' => position = string_end(bytes, position),
            b'[' | b'{' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return true;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        position += 1;
    }
    false
}

/// Returns the index of the quote that closes the string opened at `open`; the last byte if none does.
pub(super) fn string_end(bytes: &[u8], open: usize) -> usize {
    let mut position = open + 1;
    while let Some(found) = bytes
        .get(position..)
        .and_then(|rest| memchr::memchr2(b'"', b'\\', rest))
    {
        position += found;
        if bytes.get(position) == Some(&b'"') {
            return position;
        }
        position += 2;
    }
    bytes.len().saturating_sub(1)
}

/// Returns a string literal's text, and true if decoding lost nothing (a lone surrogate has no text).
pub fn decode(literal: &str) -> (Cow<'_, str>, bool) {
    let mut scratch = String::new();
    let inner = inner_of(literal);
    match decode_inner(inner, &mut scratch) {
        Decoded::Plain => (Cow::Borrowed(inner), true),
        Decoded::Exact => (Cow::Owned(scratch), true),
        Decoded::Lossy => (Cow::Owned(scratch), false),
    }
}

/// The same as [`decode`], into a buffer that the caller reuses; the result borrows from either.
pub fn decode_into<'a>(literal: &'a str, scratch: &'a mut String) -> (&'a str, bool) {
    scratch.clear();
    let inner = inner_of(literal);
    match decode_inner(inner, scratch) {
        Decoded::Plain => (inner, true),
        Decoded::Exact => (scratch, true),
        Decoded::Lossy => (scratch, false),
    }
}

/// Returns the byte offset in a string literal of the character at byte offset `at` of its text, or of its end.
pub fn place_in(literal: &str, at: usize) -> Option<usize> {
    places_in(literal, &[at])?.pop()
}

/// Returns the same for several offsets, in order.
pub fn places_in(literal: &str, offsets: &[usize]) -> Option<Vec<usize>> {
    let literal = literal.strip_suffix('"')?;
    let bytes = literal.as_bytes();
    let (mut place, mut decoded) = (1, 0);
    let place_of = |&at: &usize| {
        while decoded < at {
            if *bytes.get(place)? == b'\\' {
                let (character, length) = escaped(bytes, place);
                decoded += character.map_or(char::REPLACEMENT_CHARACTER.len_utf8(), char::len_utf8);
                place += length;
            } else {
                // Up to the next escape each byte stands for itself.
                let rest = bytes.get(place..)?;
                let run = rest.get(..at - decoded).unwrap_or(rest);
                let run = memchr::memchr(b'\\', run).unwrap_or(run.len());
                decoded += run;
                place += run;
            }
        }
        (decoded == at && literal.is_char_boundary(place)).then_some(place)
    };
    offsets.iter().map(place_of).collect()
}

fn inner_of(literal: &str) -> &str {
    literal
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or(literal)
}

enum Decoded {
    /// The literal has no escapes and is its own text.
    Plain,
    Exact,
    /// A lone surrogate was replaced by U+FFFD.
    Lossy,
}

fn decode_inner(inner: &str, out: &mut String) -> Decoded {
    let bytes = inner.as_bytes();
    let Some(first) = memchr::memchr(b'\\', bytes) else {
        return Decoded::Plain;
    };
    out.reserve(inner.len());
    let mut exact = true;
    let mut copied = 0;
    let mut next = Some(first);
    while let Some(escape) = next {
        out.push_str(inner.get(copied..escape).unwrap_or_default());
        copied = escape;
        // Texts in other scripts may consist of escapes only.
        while bytes.get(copied) == Some(&b'\\') {
            let (character, length) = escaped(bytes, copied);
            exact &= character.is_some();
            out.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
            copied += length;
        }
        let rest = bytes.get(copied..).unwrap_or_default();
        next = memchr::memchr(b'\\', rest).map(|at| copied + at);
    }
    out.push_str(inner.get(copied..).unwrap_or_default());
    if exact { Decoded::Exact } else { Decoded::Lossy }
}

/// Returns the character that the escape at `position` encodes (`None` for a lone surrogate), and the escape's length.
fn escaped(bytes: &[u8], position: usize) -> (Option<char>, usize) {
    let simple = |character| (Some(character), 2);
    match bytes.get(position + 1) {
        Some(b'n') => simple('\n'),
        Some(b't') => simple('\t'),
        Some(b'r') => simple('\r'),
        Some(b'b') => simple('\u{8}'),
        Some(b'f') => simple('\u{c}'),
        Some(b'u') => unicode_escape(bytes, position),
        Some(&other @ (b'"' | b'\\' | b'/')) => simple(char::from(other)),
        // JSON has no other escape; in invalid text, the backslash is itself.
        _ => (Some('\\'), 1),
    }
}

fn unicode_escape(bytes: &[u8], position: usize) -> (Option<char>, usize) {
    let Some(unit) = hex4(bytes, position + 2) else {
        return (Some('\\'), 1);
    };
    if let Some(character) = char::from_u32(unit) {
        return (Some(character), 6);
    }
    // A high surrogate is a character only together with an escaped low one right after it.
    let paired = bytes.get(position + 6..position + 8) == Some(b"\\u".as_slice());
    match hex4(bytes, position + 8).filter(|low| paired && unit < 0xDC00 && (0xDC00..0xE000).contains(low)) {
        Some(low) => (
            char::from_u32(0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00)),
            12,
        ),
        None => (None, 6),
    }
}

fn hex4(bytes: &[u8], start: usize) -> Option<u32> {
    let digits: &[u8; 4] = bytes.get(start..)?.first_chunk()?;
    let [a, b, c, d] = digits.map(|digit| u32::from(DIGITS[usize::from(digit)]));
    let is_hex = a | b | c | d < 16;
    is_hex.then_some(a << 12 | b << 8 | c << 4 | d)
}

/// The value of each hexadecimal digit; 255 for other bytes.
const DIGITS: [u8; 256] = {
    let mut table = [255; 256];
    let mut value = 0;
    while value < 16 {
        table[b"0123456789abcdef"[value] as usize] = value as u8;
        table[b"0123456789ABCDEF"[value] as usize] = value as u8;
        value += 1;
    }
    table
};

/// Appends the escaped form of `text`, without quotes, to `out`. Non-ASCII text stays as it is.
pub fn escape_into(text: &str, out: &mut String) {
    let quoted = serde_json::Value::from(text).to_string();
    out.push_str(inner_of(&quoted));
}

/// Returns `text` as a JSON string.
pub fn quoted(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('"');
    escape_into(text, &mut literal);
    literal.push('"');
    literal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_decode_as_serde_json_decodes_them() {
        for literal in [
            r#""""#,
            r#""plain é""#,
            r#""a\nb\t\"q\" \\ \/ \u00e9 \ud83d\ude00 \b\f\r""#,
            r#""\u0000x""#,
        ] {
            let expected: String = serde_json::from_str(literal).unwrap();
            assert_eq!(decode(literal), (Cow::Borrowed(expected.as_str()), true));
        }
    }

    #[test]
    fn a_lone_surrogate_is_replaced_and_reported() {
        for literal in [
            r#""a\ud800b""#,
            r#""a\udc00b""#,
            r#""a\ud800\ud800\udc00b""#,
            r#""\ud800""#,
        ] {
            let (text, exact) = decode(literal);
            assert!(!exact && text.contains('\u{fffd}'), "{literal}");
        }
    }

    #[test]
    fn places_in_a_text_are_found_in_its_literal() {
        for literal in [
            r#""plain é x""#,
            r#""a\nb\t\"q\" \\ \u00e9 \ud83d\ude00漢\b""#,
            r#""\ud800y""#,
        ] {
            let text = decode(literal).0;
            for at in 0..=text.len() {
                let place = place_in(literal, at);
                assert_eq!(place.is_some(), text.is_char_boundary(at), "{literal} {at}");
                if let Some(place) = place {
                    let before = format!("{}\"", &literal[..place]);
                    assert_eq!(decode(&before).0, text[..at], "{literal} {at}");
                }
            }
            assert_eq!(place_in(literal, text.len() + 1), None);
        }
    }

    #[test]
    fn escaping_round_trips() {
        let text = "line\n\"quoted\" \\ tab\t\u{1} é 漢 😀";
        let mut out = String::from("\"");
        escape_into(text, &mut out);
        out.push('"');
        assert_eq!(decode(&out), (Cow::Borrowed(text), true));
    }

    #[test]
    fn brackets_inside_strings_do_not_nest() {
        assert!(!too_deep(&format!("\"{}\"", "[".repeat(1000))));
        assert!(!too_deep(&format!(
            "{}{}",
            "[".repeat(MAX_DEPTH),
            "]".repeat(MAX_DEPTH)
        )));
        assert!(too_deep(&format!(
            "{}{}",
            "[".repeat(MAX_DEPTH + 1),
            "]".repeat(MAX_DEPTH + 1)
        )));
    }
}
