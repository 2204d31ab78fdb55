//! The shape of a secret, and of texts that only look like one: fillers, words, paths, code.

use std::ops::Range;
use std::sync::LazyLock;

use super::word_lists::{FILLERS, NAME_PARTS, PLAIN_PARTS, PLAIN_VALUES};
use aho_corasick::AhoCorasick;

static FILLER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let words = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(FILLERS.iter());
    words.ok()
});

/// Returns true if a word begins at `at`: no letter or digit before it, unless it is the letter of a JSON escape.
pub(in crate::summarize::redact) fn begins_word(text: &str, at: usize) -> bool {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    let in_word = before
        .last()
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    !in_word || is_escape_end(before)
}

/// Returns true if a part of a name may begin at `at`: no letter or digit before it, or a hump of it (`dbPass`).
pub(in crate::summarize::redact) fn begins_part(bytes: &[u8], at: usize) -> bool {
    let before = bytes.get(..at).unwrap_or_default();
    match before.last() {
        Some(last) if last.is_ascii_alphanumeric() => {
            let is_hump = last.is_ascii_lowercase() && bytes.get(at).is_some_and(u8::is_ascii_uppercase);
            is_hump || is_escape_end(before)
        }
        _ => true,
    }
}

/// Returns true if the last letters belong to what a text is wrapped in: `\n`, `%3D`, `\u0026`, a colour of a terminal.
fn is_escape_end(before: &[u8]) -> bool {
    let is_hex = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_hexdigit);
    match before {
        [.., b'\\', b'n' | b't' | b'r'] => true,
        [.., b'%', a, b] if is_hex(&[*a, *b]) => true,
        [.., b'\\', b'u', a, b, c, d] if is_hex(&[*a, *b, *c, *d]) => true,
        [head @ .., b'm'] => {
            let parameters = head
                .iter()
                .rev()
                .take_while(|byte| byte.is_ascii_digit() || **byte == b';')
                .count();
            let opening = head.get(..head.len() - parameters).unwrap_or_default();
            parameters <= 12 && (opening.ends_with(b"\x1b[") || opening.ends_with(b"u001b["))
        }
        _ => false,
    }
}

/// Returns true if a value names a place: `/home/me`, `~/x`, `./y`.
pub(in crate::summarize::redact) fn is_path(value: &str) -> bool {
    value.starts_with(['/', '~']) || value.starts_with("./") || value.starts_with("../")
}

/// Returns true if a value is one that a machine made: letters and digits in no order.
pub(in crate::summarize::redact) fn is_machine_made(value: &str, least: usize) -> bool {
    value.len() >= least
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
        && looks_random(value)
        && distinct(value) >= 8
        && entropy(value) >= 3.0
        && !is_words(value)
        && !is_filler(value)
}

/// Returns true if a value between quotes can be a password.
pub(in crate::summarize::redact) fn is_password(value: &str) -> bool {
    let has_letter = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    let has_other = value
        .chars()
        .any(|c| c.is_ascii_digit() || (!c.is_alphanumeric() && !matches!(c, '_' | '.' | '-')));
    value.len() >= 6 && has_letter && has_other && distinct(value) >= 5 && !is_filler(value)
}

/// Returns true if a text of a token's form can be one: digits among letters, and no filler like `xxxxxxxx`.
pub(in crate::summarize::redact) fn looks_random(secret: &str) -> bool {
    secret.bytes().any(|byte| byte.is_ascii_digit()) && distinct(secret) >= 6
}

/// Returns true if a text without digits can be a token: many letters of both cases (Hugging Face's are such).
pub(in crate::summarize::redact) fn is_long_mixture(secret: &str) -> bool {
    let lower = secret.bytes().filter(u8::is_ascii_lowercase).count();
    let upper = secret.bytes().filter(u8::is_ascii_uppercase).count();
    lower >= 8 && upper >= 8 && distinct(secret) >= 12
}

/// Returns how many different bytes there are.
pub(in crate::summarize::redact) fn distinct(secret: &str) -> u32 {
    let mut seen = [0_u64; 4];
    for byte in secret.bytes() {
        if let Some(cell) = seen.get_mut(usize::from(byte >> 6)) {
            *cell |= 1 << (byte & 63);
        }
    }
    seen.iter().map(|cell| cell.count_ones()).sum()
}

pub(in crate::summarize::redact) fn is_filler(value: &str) -> bool {
    let is_test = ["test", "demo", "pass"].iter().any(|word| {
        let (start, tail) = value.as_bytes().split_at(word.len().min(value.len()));
        start.eq_ignore_ascii_case(word.as_bytes()) && tail.len() <= 4 && tail.iter().all(u8::is_ascii_digit)
    });
    is_test || FILLER.as_ref().is_some_and(|words| words.is_match(value))
}

/// Returns true if it is words joined by dashes or underscores, with at most a short number among them.
pub(in crate::summarize::redact) fn is_words(value: &str) -> bool {
    value.split(['_', '-', '.', '/', ':']).all(|word| {
        let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
        word.len() - letters.len() <= 4
            && letters.len() <= 14
            && letters.bytes().all(|b| b.is_ascii_alphabetic())
            && (letters.bytes().all(|b| b.is_ascii_lowercase())
                || letters.bytes().all(|b| b.is_ascii_uppercase())
                || letters.bytes().skip(1).all(|b| b.is_ascii_lowercase()))
    })
}

pub(in crate::summarize::redact) fn is_uuid(value: &str) -> bool {
    value.len() == 36
        && value.bytes().enumerate().all(|(at, b)| {
            if [8, 13, 18, 23].contains(&at) {
                b == b'-'
            } else {
                b.is_ascii_hexdigit()
            }
        })
}

/// Shannon entropy in bits per byte.
pub(in crate::summarize::redact) fn entropy(value: &str) -> f64 {
    // Values are ASCII; other bytes share counts, which makes them less of a secret.
    let mut counts = [0_u16; 128];
    for byte in value.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte & 127)) {
            *count = count.saturating_add(1);
        }
    }
    let total = value.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / total)
        .map(|share| -share * share.log2())
        .sum()
}

/// Returns the place behind the bytes of `set`, a few at most.
pub(in crate::summarize::redact) fn skip(bytes: &[u8], at: usize, set: &[u8]) -> usize {
    at + bytes
        .get(at..)
        .unwrap_or_default()
        .iter()
        .take(8)
        .take_while(|b| set.contains(b))
        .count()
}

/// Returns true if an unquoted value is an expression: a call, an index, an attribute of something.
pub(in crate::summarize::redact) fn is_code(text: &str, span: &Range<usize>) -> bool {
    let value = text.get(span.clone()).unwrap_or_default();
    let next = text.as_bytes().get(span.end).copied().unwrap_or(b' ');
    let is_attribute = value.contains('.')
        && value.split('.').all(|part| {
            part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
                && part.len() < 24
        });
    matches!(next, b'(' | b'[' | b'{')
        || (next == b'<' && value.bytes().all(|b| b.is_ascii_alphanumeric()))
        || is_attribute
}

/// The letters that follow each letter in words, as bits: 228 pairs make up 93 of 100 in English and in code.
const PAIRS: [u32; 26] = [
    0x013e_b94e,
    0x0012_4911,
    0x001e_4d95,
    0x0014_4119,
    0x00ef_b87d,
    0x0012_4931,
    0x0006_6191,
    0x0008_4111,
    0x02ae_f87f,
    0x0000_0000,
    0x0004_0110,
    0x011c_4919,
    0x0014_d113,
    0x003c_697d,
    0x007e_fc4f,
    0x011e_c991,
    0x0010_0000,
    0x011e_7d5d,
    0x001c_c995,
    0x011e_4995,
    0x000e_b957,
    0x0000_0111,
    0x0000_4111,
    0x0088_8000,
    0x0004_8000,
    0x0000_0010,
];

/// Returns true if letters follow each other as in no word: eight or more, with fewer than six in ten usual pairs.
pub(in crate::summarize::redact) fn is_random_word(value: &str) -> bool {
    let mut pairs = 0;
    let mut usual = 0;
    let mut letters = 0;
    let mut before: Option<u8> = None;
    for byte in value.bytes() {
        if !byte.is_ascii_alphabetic() {
            before = None;
            continue;
        }
        letters += 1;
        let letter = byte.to_ascii_lowercase() - b'a';
        if let Some(before) = before {
            pairs += 1;
            let row = PAIRS.get(usize::from(before)).copied().unwrap_or_default();
            usual += row >> letter & 1;
        }
        before = Some(letter);
    }
    let is_unusual = pairs >= 6 && usual * 10 < pairs * 6;
    letters >= 8 && (is_unusual || has_short_humps(value)) && distinct(value) >= 6
}

/// Returns true if upper and lower case change as in no name: four humps or more, under three letters on average.
fn has_short_humps(value: &str) -> bool {
    let bytes = value.as_bytes();
    let mut humps = 0;
    let mut letters = 0;
    let mut before = b'.';
    for (at, byte) in bytes.iter().enumerate() {
        if byte.is_ascii_alphabetic() {
            letters += 1;
            let next = bytes.get(at + 1).copied().unwrap_or(b'.');
            let opens = if byte.is_ascii_uppercase() {
                !before.is_ascii_uppercase() || next.is_ascii_lowercase()
            } else {
                !before.is_ascii_alphabetic()
            };
            humps += usize::from(opens);
        }
        before = *byte;
    }
    let upper = bytes.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    humps >= 4 && upper >= 3 && upper < letters && letters * 10 < humps * 27
}

/// The beginning of a text: so many bytes at most, whole characters.
pub(in crate::summarize::redact) fn head(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or_default()
}

/// Returns true if it is three words or more, joined by one sign, as tools make them for people:
/// `window-saddle-fossil`. Joined by dots or underscores, none may be a typical part of a name in a program.
pub(in crate::summarize::redact) fn is_joined_words(value: &str) -> bool {
    let is_name = || {
        value
            .split(['.', '_'])
            .any(|part| NAME_PARTS.contains(&part.trim_end_matches('s')) || NAME_PARTS.contains(&part))
    };
    is_joined_by(value, '-')
        || ['.', '_']
            .iter()
            .any(|sign| is_joined_by(value, *sign) && !is_name())
}

/// Returns true if it is three words and more, joined by that sign.
fn is_joined_by(value: &str, sign: char) -> bool {
    let parts = value.split(sign);
    parts.clone().count() >= 3
        && value.len() >= 14
        && parts.clone().all(|part| {
            let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
            letters.bytes().all(|byte| byte.is_ascii_lowercase())
                && (letters.len() >= 3 || letters.is_empty() && !part.is_empty())
        })
        && parts.clone().filter(|part| part.len() >= 4).count() >= 3
        && !parts
            .clone()
            .any(|part| PLAIN_PARTS.contains(&part) || PLAIN_VALUES.contains(&part))
}

/// Returns true if letters of both cases, digits and signs change as in no code, even with brackets among them.
pub(in crate::summarize::redact) fn is_strong_mixture(value: &str) -> bool {
    let count = |is: fn(&u8) -> bool| value.bytes().filter(is).count();
    let longest_run = value
        .split(|c: char| !c.is_ascii_alphabetic())
        .map(str::len)
        .max();
    let signs = count(u8::is_ascii_punctuation) - count(|byte| matches!(byte, b'_' | b'-' | b'.'));
    value.len() >= 10
        && value.is_ascii()
        && count(u8::is_ascii_digit) >= 1
        && count(u8::is_ascii_uppercase) >= 1
        && count(u8::is_ascii_lowercase) >= 1
        && signs >= 2
        && longest_run.is_some_and(|run| run <= 5 || run <= 7 && is_random_word(value))
        && distinct(value) >= 9
        && !value.contains([' ', '"'])
        && !value.contains("REDACTED")
}

/// The length of a password of four groups.
pub(in crate::summarize::redact) const GROUPED: usize = 19;

/// Returns true if a text begins with a password as Google makes them for programs: four groups of four letters.
pub(in crate::summarize::redact) fn is_grouped(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_at = |at: usize, byte: u8| {
        if at % 5 == 4 {
            byte == b' '
        } else {
            byte.is_ascii_lowercase()
        }
    };
    let goes_on = match bytes.get(GROUPED) {
        Some(b' ') => bytes.get(GROUPED + 1).is_some_and(u8::is_ascii_lowercase),
        next => next.is_some_and(u8::is_ascii_alphanumeric),
    };
    bytes
        .get(..GROUPED)
        .is_some_and(|group| group.iter().enumerate().all(|(at, byte)| is_at(at, *byte)))
        && !goes_on
        && text
            .get(..GROUPED)
            .is_some_and(|group| is_random_word(&group.replace(' ', "")))
}

/// Returns true if it begins with a date: `2026-04-17`, `2026-04-17T00:13:28Z`.
pub(super) fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_date = bytes.get(..10).is_some_and(|date| {
        date.iter().enumerate().all(|(at, byte)| {
            if at == 4 || at == 7 {
                *byte == b'-'
            } else {
                byte.is_ascii_digit()
            }
        })
    });
    is_date
        && bytes.iter().skip(10).all(|byte| {
            byte.is_ascii_digit() || matches!(byte, b'T' | b'Z' | b' ' | b':' | b'.' | b'+' | b'-')
        })
}
