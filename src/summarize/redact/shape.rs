//! What a secret looks like, and what only looks like one: fillers, words, paths, code.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// Words in a value that say it is none.
const FILLERS: [&str; 20] = [
    "example",
    "your",
    "changeme",
    "change_me",
    "placeholder",
    "dummy",
    "xxxx",
    "****",
    "....",
    "redacted",
    "password",
    "passwd",
    "secret_",
    "process.env",
    "os.environ",
    "getenv",
    "insert",
    "todo",
    "<",
    "sample",
];

static FILLER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let words = AhoCorasick::builder().ascii_case_insensitive(true).build(FILLERS);
    words.ok()
});

/// Whether a word begins at `at`: no letter or digit before it, unless it is the letter of a JSON escape.
pub(super) fn begins_word(text: &str, at: usize) -> bool {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    let in_word = before
        .last()
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    !in_word || is_escape_end(before)
}

/// Whether the last letters belong to what a text is wrapped in: `\n`, `%3D`, `\u0026`, a colour of a terminal.
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

/// Whether a value names a place: `/home/me`, `~/x`, `./y`.
pub(super) fn is_path(value: &str) -> bool {
    value.starts_with(['/', '~']) || value.starts_with("./") || value.starts_with("../")
}

/// Whether a value is one that a machine made: letters and digits in no order.
pub(super) fn is_machine_made(value: &str, least: usize) -> bool {
    value.len() >= least
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
        && looks_random(value)
        && distinct(value) >= 8
        && entropy(value) >= 3.0
        && !is_words(value)
        && !is_filler(value)
}

/// Whether a value between quotes can be a password.
pub(super) fn is_password(value: &str) -> bool {
    let has_letter = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    let has_other = value
        .chars()
        .any(|c| c.is_ascii_digit() || (!c.is_alphanumeric() && !matches!(c, '_' | '.' | '-')));
    value.len() >= 6 && has_letter && has_other && distinct(value) >= 5 && !is_filler(value)
}

/// Whether a text of a token's form can be one: digits among letters, and no filler like `xxxxxxxx`.
pub(super) fn looks_random(secret: &str) -> bool {
    secret.bytes().any(|byte| byte.is_ascii_digit()) && distinct(secret) >= 6
}

/// Whether a text without digits can be a token all the same: many letters of both cases (Hugging Face's are such).
pub(super) fn is_long_mixture(secret: &str) -> bool {
    let lower = secret.bytes().filter(u8::is_ascii_lowercase).count();
    let upper = secret.bytes().filter(u8::is_ascii_uppercase).count();
    lower >= 8 && upper >= 8 && distinct(secret) >= 12
}

/// How many different bytes there are.
pub(super) fn distinct(secret: &str) -> u32 {
    let mut seen = [0_u64; 4];
    for byte in secret.bytes() {
        if let Some(cell) = seen.get_mut(usize::from(byte >> 6)) {
            *cell |= 1 << (byte & 63);
        }
    }
    seen.iter().map(|cell| cell.count_ones()).sum()
}

pub(super) fn is_filler(value: &str) -> bool {
    let is_test = ["test", "demo", "pass"].iter().any(|word| {
        let (start, tail) = value.as_bytes().split_at(word.len().min(value.len()));
        start.eq_ignore_ascii_case(word.as_bytes()) && tail.len() <= 4 && tail.iter().all(u8::is_ascii_digit)
    });
    is_test || FILLER.as_ref().is_some_and(|words| words.is_match(value))
}

/// Whether it is words joined by dashes or underscores, with at most a short number among them.
pub(super) fn is_words(value: &str) -> bool {
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

pub(super) fn is_uuid(value: &str) -> bool {
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
pub(super) fn entropy(value: &str) -> f64 {
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

/// Past the bytes of `set`, a few at most.
pub(super) fn skip(bytes: &[u8], at: usize, set: &[u8]) -> usize {
    at + bytes
        .get(at..)
        .unwrap_or_default()
        .iter()
        .take(8)
        .take_while(|b| set.contains(b))
        .count()
}

/// Whether an unquoted value is an expression: a call, an index, an attribute of something.
pub(super) fn is_code(text: &str, span: &Range<usize>) -> bool {
    let value = text.get(span.clone()).unwrap_or_default();
    let next = text.as_bytes().get(span.end).copied().unwrap_or(b' ');
    let is_attribute = value.contains('.')
        && value.split('.').all(|part| {
            part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
                && part.len() < 24
        });
    matches!(next, b'(' | b'[' | b'{') || is_attribute
}
