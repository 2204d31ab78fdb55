//! Secrets that are known by what stands around them: assignments, headers, URLs, key blocks.

use std::ops::Range;

use memchr::memmem;

use super::rules::Class;
use super::{begins_word, distinct, looks_random};

/// Longest value of an assignment.
const MAX_VALUE: usize = 200;

/// Longest header of a JSON web token.
const MAX_JWT_HEAD: usize = 512;

/// Longest part of a JSON web token.
const MAX_JWT_PART: usize = 8_192;

/// Longest private key block.
const MAX_PEM: usize = 16_384;

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

/// Ends that a name may have after the word and still announce a secret: `SECRET_KEY`, `token_value`.
const TAILS: [&str; 8] = [
    "",
    "_key",
    "_value",
    "_string",
    "key",
    "_access_key",
    "1",
    "_token",
];

/// The value of `password = …` where it can be one.
pub(super) fn assigned_password(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let (span, is_quoted) = assigned(text, word)?;
    let value = text.get(span.clone())?;
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let symbols = value
        .chars()
        .filter(|c| !c.is_alphanumeric() && !matches!(c, '_' | '.' | '-'))
        .count();
    let capitals = value.bytes().filter(u8::is_ascii_uppercase).count();
    let is_mixed = if is_quoted {
        value.len() >= 6 && letters > 0 && (digits > 0 || symbols > 0)
    } else {
        value.len() >= 7
            && letters > 0
            && digits > 0
            && (symbols > 0 || digits > 1 || (capitals > 0 && capitals < letters))
            && !is_code(text, &span)
    };
    (is_mixed && distinct(value) >= 5 && !is_filler(value)).then_some(span)
}

/// The value of `api_key: …` where it is a machine's.
pub(super) fn assigned_secret(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let (span, is_quoted) = assigned(text, word)?;
    let value = text.get(span.clone())?;
    let is_long = value.len() >= 16
        && value
            .bytes()
            .all(|byte| Class::Path.holds(byte) || byte.is_ascii_punctuation())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_path = value.starts_with(['/', '~', '.']) || value.matches('/').count() > value.len() / 8;
    (is_long
        && !is_path
        && looks_random(value)
        && distinct(value) >= 8
        && entropy(value) >= 3.0
        && !is_words(value)
        && !is_filler(value)
        && !is_uuid(value)
        && (is_quoted || !is_code(text, &span)))
    .then_some(span)
}

/// The credentials after `Bearer ` or `Basic `: after the header's name, or where they can be nothing else.
pub(super) fn authorization(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    if !begins_word(text, word.start) {
        return None;
    }
    let rest = text.get(word.end..)?;
    let length = rest
        .bytes()
        .take(ANY_HEADER)
        .position(|b| !Class::Path.holds(b) && b != b'~')
        .unwrap_or(rest.len().min(ANY_HEADER));
    let value = rest.get(..length)?.trim_end_matches('.');
    let bytes = text.as_bytes();
    let before = bytes
        .get(word.start.saturating_sub(24)..word.start)
        .unwrap_or_default()
        .to_ascii_lowercase();
    // The marker of an earlier redaction is no header's name.
    let is_header = memmem::find_iter(&before, b"authorization").any(|at| {
        !before
            .get(at..)
            .is_some_and(|rest| rest.starts_with(b"authorization-header]"))
    });
    let is_secret = if is_header {
        value.len() >= 8
            && distinct(value) >= 5
            && (value.bytes().any(|b| b.is_ascii_digit())
                || value.bytes().skip(1).any(|b| b.is_ascii_uppercase()))
    } else {
        value.len() >= 20 && looks_random(value) && entropy(value) >= 3.0 && !is_words(value)
    };
    (is_secret && !is_filler(value)).then(|| word.end..word.end + value.len())
}

/// Longest credentials of a header.
const ANY_HEADER: usize = 4096;

/// `user:password` between `://` and `@`.
pub(super) fn url_credentials(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let rest = text.get(word.end..)?;
    let stop = rest.bytes().take(300).position(|b| {
        b.is_ascii_whitespace()
            || matches!(
                b,
                b'/' | b'@' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'(' | b'\\' | b'?' | b'#'
            )
    })?;
    if rest.as_bytes().get(stop) != Some(&b'@') {
        return None;
    }
    let credentials = rest.get(..stop)?;
    let (_, password) = credentials.split_once(':')?;
    let is_placeholder = password.len() < 3
        || password.starts_with(['$', '{', '%', '[', '*'])
        || credentials.starts_with('[')
        || credentials.contains("[REDACTED:")
        || is_filler(password)
        || ["pass", "pwd", "secret", "pw"].contains(&password)
        || (host_is_example(rest.get(stop + 1..)?) && is_simple(password));
    (!is_placeholder).then(|| word.end..word.end + stop)
}

/// Whether the host is one of those reserved for documentation.
fn host_is_example(host: &str) -> bool {
    host.starts_with("example.") || host.starts_with("www.example.")
}

/// Whether a password is a plain short word, percent escapes aside.
fn is_simple(password: &str) -> bool {
    let mut letters = 0;
    let mut rest = password;
    while let Some(c) = rest.chars().next() {
        let escape = rest
            .as_bytes()
            .get(1..3)
            .is_some_and(|hex| c == '%' && hex.iter().all(u8::is_ascii_hexdigit));
        if !escape && !c.is_ascii_lowercase() {
            return false;
        }
        letters += usize::from(!escape);
        rest = rest.get(if escape { 3 } else { 1 }..).unwrap_or_default();
    }
    letters <= 8
}

/// A private key block, its lines real or escaped (`\n`).
pub(super) fn private_key(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let rest = text.get(word.start..)?;
    let bytes = rest.as_bytes();
    let window = bytes.get(..MAX_PEM.min(bytes.len()))?;
    let label_end = memmem::find(window.get(..80.min(window.len()))?, b"PRIVATE KEY")?;
    let body_start = label_end + memmem::find(window.get(label_end..)?, b"-----")? + 5;
    let body = window.get(body_start..)?;
    let (body_end, block_end) = if let Some(end) = memmem::find(body, b"-----END") {
        let tail = body.get(end + 8..)?;
        (
            end,
            end + 8 + memmem::find(tail.get(..60.min(tail.len()))?, b"-----").map_or(0, |at| at + 5),
        )
    } else {
        let is_body = |b: u8| (Class::Path.holds(b) && b != b'-') || b.is_ascii_whitespace() || b == b'\\';
        let end = body.iter().position(|b| !is_body(*b)).unwrap_or(body.len());
        (end, end)
    };
    let letters = body
        .get(..body_end)?
        .iter()
        .filter(|b| b.is_ascii_alphanumeric())
        .count();
    (letters >= 48).then(|| word.start..word.start + body_start + block_end)
}

/// Three parts of base64 with dots between them, the first two JSON objects.
pub(super) fn json_web_token(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let part_end = |from: usize, most: usize| {
        let part = bytes.get(from..).unwrap_or_default();
        from + part
            .iter()
            .take(most)
            .take_while(|b| Class::Url.holds(**b))
            .count()
    };
    if !text.get(word.start..)?.starts_with("eyJ") || !begins_word(text, word.start) {
        return None;
    }
    let head_end = part_end(word.start, MAX_JWT_HEAD);
    let claims = text.get(head_end..)?.strip_prefix('.')?;
    if head_end - word.start < 12 || !claims.starts_with("eyJ") {
        return None;
    }
    let claims_end = part_end(head_end + 1, MAX_JWT_PART);
    text.get(claims_end..)?.strip_prefix('.')?;
    let end = part_end(claims_end + 1, MAX_JWT_PART);
    (claims_end - head_end > 8 && end - claims_end > 16).then_some(word.start..end)
}

/// The value assigned to the name that `word` ends or nearly ends, and whether it stands in quotes.
fn assigned(text: &str, word: Range<usize>) -> Option<(Range<usize>, bool)> {
    let bytes = text.as_bytes();
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(b' ');
    let mut at = word.end;
    while Class::Url.holds(byte(at)) && at < word.end + 16 && at < bytes.len() {
        at += 1;
    }
    let tail = text.get(word.end..at)?.to_ascii_lowercase().replace('-', "_");
    if !TAILS.contains(&tail.as_str()) {
        return None;
    }
    at = skip(bytes, at, b"\\\"'`]");
    at = skip(bytes, at, b" \t");
    match (byte(at), byte(at + 1)) {
        (b'=', b'=') | (b':', b':') => return None,
        (b'=', b'>') | (b':', b'=') => at += 2,
        (b'=' | b':', _) => at += 1,
        _ => return None,
    }
    at = skip(bytes, at, b" \t");
    let start = skip(bytes, at, b"\\\"'`");
    let is_quoted = start > at;
    let value = bytes.get(start..)?;
    let ends = |b: &u8| {
        b.is_ascii_whitespace()
            || b.is_ascii_control()
            || matches!(b, b'"' | b'\'' | b'`' | b'\\')
            || (!is_quoted
                && matches!(
                    b,
                    b',' | b';' | b')' | b'(' | b'[' | b']' | b'}' | b'{' | b'&' | b'>' | b'<'
                ))
            || (is_quoted && matches!(b, b';'))
    };
    let length = value
        .iter()
        .take(MAX_VALUE)
        .position(ends)
        .unwrap_or(value.len().min(MAX_VALUE));
    // A quoted value of several words is a sentence.
    if is_quoted && value.get(length).is_some_and(|b| *b == b' ') {
        return None;
    }
    let span = start..start + length;
    let value = text.get(span.clone())?;
    (!value.starts_with(['$', '{', '%', '[', '<', '(', '*'])).then_some((span, is_quoted))
}

fn skip(bytes: &[u8], at: usize, set: &[u8]) -> usize {
    at + bytes
        .get(at..)
        .unwrap_or_default()
        .iter()
        .take(8)
        .take_while(|b| set.contains(b))
        .count()
}

/// Whether an unquoted value is an expression: a call, an index, an attribute of something.
fn is_code(text: &str, span: &Range<usize>) -> bool {
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

fn is_filler(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let is_test = ["test", "demo", "pass"].iter().any(|word| {
        lower
            .strip_prefix(word)
            .is_some_and(|tail| tail.len() <= 4 && tail.bytes().all(|b| b.is_ascii_digit()))
    });
    is_test || FILLERS.iter().any(|filler| lower.contains(filler))
}

/// Whether it is words joined by dashes or underscores, with at most a short number among them.
fn is_words(value: &str) -> bool {
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

fn is_uuid(value: &str) -> bool {
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
fn entropy(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
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
