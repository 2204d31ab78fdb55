//! What a number or a code is: the key that it stands under in an object, the label before it, or the words behind it.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

/// Bytes of a key that is told.
const MAX_KEY: usize = 32;

/// Words of a label, and behind a number.
const MAX_WORDS: usize = 2;

/// Words that say nothing of a number before them.
static LITTLE_WORDS: LazyLock<FxHashSet<&str>> =
    LazyLock::new(|| include_str!("little_words.csv").split_whitespace().collect());

/// If an identifier tells nothing of what it is.
pub(super) fn is_number(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'-'))
}

/// Letters of the longest code that its key tells more of.
const MAX_CODE: usize = 36;

/// Letters of the shortest word of a code that says what it is of.
const WORD: usize = 5;

/// If an identifier is a code that somebody gave to something, without a word in it: `H-771930`, `10:30`.
pub(super) fn is_code(text: &str) -> bool {
    let mut words = text.split(|sign: char| !sign.is_ascii_alphabetic());
    if words.any(|word| word.len() >= WORD) {
        return false;
    }
    let is_of_code = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | ':' | '_' | '#');
    text.len() <= MAX_CODE
        && text.bytes().filter(u8::is_ascii_digit).count() >= 3
        && text.chars().all(is_of_code)
}

/// If a key tells more of a code than that it is one.
pub(super) fn is_telling_key(key: &str) -> bool {
    key.contains('_') || key.bytes().skip(1).any(|byte| byte.is_ascii_uppercase())
}

/// The label of a number that ends a line or a clause: `Rx power = -13.8`, `Total rows: 50922`.
pub(super) fn label_before(text: &str, at: usize) -> Option<String> {
    let before = text
        .get(..at)?
        .trim_end_matches(['$', '€', '£', '~', '*', '`', '"', '\'']);
    let label = before.trim_end_matches(' ').strip_suffix([':', '='])?.trim_end();
    let line = label.get(label.rfind('\n').map_or(0, |end| end + 1)..)?;
    let clause = line.rsplit([',', ';', '(', '|', '.']).next()?;
    let words: Vec<&str> = clause.split_whitespace().map(without_marks).collect();
    let words = words.get(words.len().saturating_sub(MAX_WORDS)..)?;
    let is_of_word = |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '-');
    let is_word = |word: &&str| {
        word.starts_with(char::is_alphabetic)
            && word.len() <= MAX_KEY
            && word.chars().all(is_of_word)
            && !LITTLE_WORDS.contains(word)
    };
    (!words.is_empty() && words.iter().all(is_word)).then(|| words.join(" "))
}

/// The words behind a number that say what it counts: `2119 input errors`.
pub(super) fn unit_behind(text: &str, end: usize) -> Option<String> {
    let line = text.get(end..)?.lines().next()?.strip_prefix(' ')?;
    // The sign of a number is no part of it.
    let before = text
        .get(..end)?
        .trim_end_matches(|sign: char| sign.is_ascii_digit() || ".,".contains(sign));
    if before.ends_with(['-', '−']) {
        return None;
    }
    // `Errors` begins a sentence, `MB` is a unit.
    let is_name =
        |word: &str| word.starts_with(char::is_uppercase) && word.chars().skip(1).all(char::is_lowercase);
    let is_word = |word: &&str| {
        word.len() > 1 && word.len() <= MAX_KEY && word.chars().all(char::is_alphabetic) && !is_name(word)
    };
    let mut words: Vec<&str> = Vec::new();
    for piece in line.split(' ').take(MAX_WORDS) {
        let word = piece.trim_end_matches([',', '.', ';', ':', ')']);
        if !is_word(&word) || LITTLE_WORDS.contains(word) {
            break;
        }
        words.push(word);
        if word.len() < piece.len() {
            break;
        }
    }
    (!words.is_empty()).then(|| words.join(" "))
}

fn without_marks(word: &str) -> &str {
    word.trim_matches(|sign: char| !sign.is_alphanumeric())
}

/// The key of the member whose value begins at a byte of a text with objects: `"item_id": "7`, with its quotes escaped or not.
pub(super) fn key_before(text: &str, at: usize) -> Option<&str> {
    let before = text.get(..at)?.trim_end_matches(['"', '\'', '\\', '$']);
    let before = before.trim_end().strip_suffix(':')?;
    let quoted = before.trim_end();
    let name = quoted.strip_suffix(['"', '\''])?.trim_end_matches('\\');
    let is_of_name = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
    let start = name.rfind(|sign| !is_of_name(sign)).map_or(0, |at| at + 1);
    let key = name.get(start..)?;
    let is_opened = name.get(..start)?.ends_with(['"', '\'']);
    let is_key =
        is_opened && key.len() <= MAX_KEY && key.starts_with(|sign: char| sign.is_ascii_alphabetic());
    is_key.then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_what_its_key_says() {
        for (text, key) in [
            (r#"{"item_id": "42"}"#, Some("item_id")),
            (r#"{"price":42}"#, Some("price")),
            (r#"{\"item_id\": \"42\"}"#, Some("item_id")),
            ("{'price': 42}", Some("price")),
            (r#"{"total": "$42"}"#, Some("total")),
            (r#"{"ids": ["42"]}"#, None),
            (r#"{"42": {}}"#, None),
            (r#"{"1": 42}"#, None),
            (r#"{"the key": 42}"#, None),
            ("port: 42", None),
            ("42", None),
        ] {
            assert_eq!(key_before(text, text.find("42").unwrap()), key, "{text}");
        }
        assert!(is_number("232.49") && !is_number("W42"));
        for (text, expected) in [
            ("H-771930", true),
            ("10:30", true),
            ("a/b100", false),
            ("line_2", false),
            ("paypal_7644869", false),
            ("v1.200", false),
        ] {
            assert_eq!(is_code(text), expected, "{text}");
        }
        assert!(is_telling_key("hold_id") && is_telling_key("deviceName") && !is_telling_key("id"));
    }

    #[test]
    fn a_number_in_a_text_is_what_stands_beside_it() {
        for (text, label, unit) in [
            ("     2119 input errors, 2119 CRC", None, Some("input errors")),
            ("Established, 2119 prefixes so far", None, Some("prefixes")),
            ("- **Rx power** = 2119 dBm", Some("Rx power"), Some("dBm")),
            ("the sum of new rows: $2119.", Some("new rows"), None),
            ("Rx power: -2119 dB", None, None),
            ("see y/z?id: 2119 Fixed yesterday", None, None),
            ("2119 of them", None, None),
            ("id 2119|2120", None, None),
            ("10:2119", None, None),
        ] {
            let at = text.find("2119").unwrap();
            assert_eq!(label_before(text, at).as_deref(), label, "{text}");
            assert_eq!(unit_behind(text, at + 4).as_deref(), unit, "{text}");
        }
    }
}
