//! Secrets that are known by their name: `password = …`, `"api_key": "…"`, `--token …`, `<secret>…`.

use std::ops::Range;

use super::rules::Class;
use super::shape::{
    distinct, is_code, is_filler, is_machine_made, is_password, is_path, is_uuid, is_words, skip,
};

/// Longest value of an assignment.
const MAX_VALUE: usize = 200;

/// Longest name of a value.
const MAX_NAME: usize = 48;

/// Longest type between a name and its value.
const MAX_TYPE: usize = 40;

/// Ends that a name may have after the word and still announce a secret: `SECRET_KEY`, `token_value`.
const TAILS: [&str; 9] = [
    "",
    "_key",
    "_value",
    "_string",
    "key",
    "_access_key",
    "1",
    "_token",
    "_base",
];

/// Functions that give a name its value.
const SETTERS: [&str; 5] = ["define", "setenv", "putenv", "setdefault", "setproperty"];

/// What stands before `_KEY` in names of keys that open nothing.
const PLAIN_KEYS: [&str; 12] = [
    "PUBLIC",
    "PRIMARY",
    "FOREIGN",
    "SORT",
    "PARTITION",
    "CACHE",
    "GROUP",
    "UNIQUE",
    "ROUTING",
    "HASH",
    "IDEMPOTENCY",
    "SSH_PUB",
];

/// A value, and what it was found by.
struct Assigned {
    span: Range<usize>,
    is_quoted: bool,
    /// In a sentence: `the password is …`.
    is_told: bool,
}

/// The value of `password = …` where it can be one.
pub(super) fn password(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let Assigned {
        span,
        is_quoted,
        is_told,
    } = assigned(text, word)?;
    let value = text.get(span.clone())?;
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let symbols = value
        .chars()
        .filter(|c| !c.is_alphanumeric() && !matches!(c, '_' | '.' | '-'))
        .count();
    let capitals = value.bytes().filter(u8::is_ascii_uppercase).count();
    let is_mixed = if is_quoted {
        is_password(value)
    } else {
        value.len() >= 7
            && letters > 0
            && digits > 0
            && (symbols > 0 || digits > 1 || (capitals > 0 && capitals < letters))
            && !is_code(text, &span)
            && !(is_told && is_words(value))
    };
    (is_mixed && distinct(value) >= 5 && !is_filler(value) && !is_path(value)).then_some(span)
}

/// The value of `api_key: …` where it is a machine's.
pub(super) fn secret(text: &str, word: Range<usize>, kind: &str) -> Option<Range<usize>> {
    let Assigned { span, is_quoted, .. } = assigned(text, word)?;
    let value = text.get(span.clone())?;
    let is_plain = value
        .bytes()
        .all(|byte| Class::Path.holds(byte) || byte.is_ascii_punctuation());
    let is_place = is_path(value) || value.starts_with('.') || value.matches('/').count() > value.len() / 8;
    (is_plain
        && !is_place
        && is_machine_made(value, 16)
        && !(kind == "token" && is_uuid(value))
        && (is_quoted || !is_code(text, &span)))
    .then_some(span)
}

/// The value of a variable of the environment whose name ends with `_KEY`.
pub(super) fn variable_key(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let name = variable(text, &word)?;
    if PLAIN_KEYS.iter().any(|plain| name.ends_with(plain)) {
        return None;
    }
    secret(text, word, "key")
}

/// The value of a variable of the environment whose name ends with `_PASS`.
pub(super) fn variable_password(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    variable(text, &word)?;
    password(text, word)
}

/// The session in `sessionid=…`; not in `sessionId`, which programs name their runs by.
pub(super) fn session(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let name = text.get(word.clone())?;
    let is_one_case = name.bytes().all(|byte| byte.is_ascii_uppercase())
        || name.bytes().all(|byte| byte.is_ascii_lowercase());
    if is_one_case {
        secret(text, word, "token")
    } else {
        None
    }
}

/// What stands before the word in the name of a variable of the environment.
fn variable<'t>(text: &'t str, word: &Range<usize>) -> Option<&'t str> {
    let name = text.get(name_start(text.as_bytes(), word.start)..word.end)?;
    let is_variable = name
        .bytes()
        .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    is_variable.then(|| text.get(name_start(text.as_bytes(), word.start)..word.start))?
}

/// Where the name begins that has the word at `at`.
fn name_start(bytes: &[u8], at: usize) -> usize {
    let before = bytes.get(..at).unwrap_or_default();
    let length = before
        .iter()
        .rev()
        .take(MAX_NAME)
        .take_while(|byte| Class::Url.holds(**byte))
        .count();
    at - length
}

/// The value assigned to the name that `word` ends or nearly ends.
fn assigned(text: &str, word: Range<usize>) -> Option<Assigned> {
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
    let (at, is_told) = value_start(bytes, word.start, at)?;
    // In a form that is sent, the next field begins there; in a text it may be part of a password.
    let is_form = byte(at.saturating_sub(1)) == b'=';
    let at = past_type(bytes, skip(bytes, at, b" \t"));
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
                    b',' | b';' | b')' | b'(' | b'[' | b']' | b'}' | b'{' | b'>' | b'<'
                ))
            || (!is_quoted && is_form && *b == b'&')
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
    (!value.starts_with(['$', '{', '%', '[', '<', '(', '*'])).then_some(Assigned {
        span,
        is_quoted,
        is_told,
    })
}

/// Where the value of a name begins that ends at `end`, and whether a sentence tells it.
fn value_start(bytes: &[u8], word: usize, end: usize) -> Option<(usize, bool)> {
    let name_end = skip(bytes, end, b"\\\"'`]");
    let at = skip(bytes, name_end, b" \t");
    let rest = bytes.get(at..)?;
    let name = name_start(bytes, word);
    let before = || bytes.get(..name).unwrap_or_default();
    let start = match rest {
        [b'=', b'=', ..] | [b':', b':', ..] => return None,
        [b'=', b'>', ..] | [b':', b'=', ..] => at + 2,
        [b'=' | b':', ..] => at + 1,
        // A colon as wide as an ideograph.
        [0xEF, 0xBC, 0x9A, ..] => at + 3,
        [b'>', ..] if before().ends_with(b"<") => at + 1,
        [b',', ..] if name_end > end && is_setter(before()) => at + 1,
        [b'i', b's', b' ' | b':', ..] if at == end + 1 => return Some((at + 3, true)),
        _ => {
            let is_option = bytes.get(name..word)?.starts_with(b"--") || is_login(before());
            return named_value(bytes.get(name_end..)?)
                .map(|length| name_end + length)
                .or((is_option && at > name_end).then_some(at))
                .map(|at| (at, false));
        }
    };
    Some((start, false))
}

/// The length of `value =` after a name that is a value itself: `name: DB_PASSWORD`, then `value: …`.
fn named_value(rest: &[u8]) -> Option<usize> {
    let gap = rest
        .iter()
        .take(40)
        .take_while(|byte| byte.is_ascii_whitespace() || matches!(byte, b',' | b'\\' | b'"'))
        .count();
    let value = rest.get(gap..)?.strip_prefix(b"value")?;
    let quotes = skip(value, 0, b"\\\"'");
    let sign = matches!(value.get(quotes), Some(b'=' | b':'));
    (gap > 0 && sign).then_some(gap + 5 + quotes + 1)
}

/// Whether `define('` or the like stands there.
fn is_setter(before: &[u8]) -> bool {
    let quotes = before
        .iter()
        .rev()
        .take(3)
        .take_while(|byte| matches!(byte, b'\\' | b'"' | b'\''))
        .count();
    let Some([call @ .., b'(']) = before.get(..before.len() - quotes) else {
        return false;
    };
    SETTERS.iter().any(|setter| {
        let start = call.len().saturating_sub(setter.len());
        call.get(start..)
            .is_some_and(|name| name.eq_ignore_ascii_case(setter.as_bytes()))
    })
}

/// Whether it is the line of a `.netrc`: `login me password …`.
fn is_login(before: &[u8]) -> bool {
    let start = before.len().saturating_sub(MAX_NAME);
    let near = before.get(start..).unwrap_or_default();
    memchr::memmem::find(near, b"login ").is_some() && near.ends_with(b" ")
}

/// Past a type between a name and its quoted value: `token: str = "…"`.
fn past_type(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let length = rest
        .iter()
        .take(MAX_TYPE)
        .take_while(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'[' | b']' | b'|' | b'.' | b' ' | b'?')
        })
        .count();
    match rest.get(length..) {
        Some([b'=', b' ', b'"' | b'\'', ..]) if length > 0 => at + length + 2,
        _ => at,
    }
}
