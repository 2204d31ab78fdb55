//! Secrets in headers: authorization, with any scheme, and cookies.

use std::ops::Range;

use memchr::memmem;

use crate::summarize::redact::alphabet::Alphabet;
use crate::summarize::redact::value::shape::{
    begins_word, distinct, entropy, is_code, is_filler, is_machine_made, is_words, looks_random, skip,
};
use crate::summarize::redact::value::word_lists::COOKIE_ATTRIBUTES;

/// Longest header.
const MAX_HEADER: usize = 4096;

/// Longest name of a scheme.
const MAX_SCHEME: usize = 24;

/// Longest name of a cookie.
const MAX_COOKIE_NAME: usize = 80;

/// The credentials after `Bearer ` or `Basic `: after the header's name, or where they can be nothing else.
pub fn authorization(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    if !begins_word(text, word.start) {
        return None;
    }
    let rest = text.get(word.end..)?;
    let length = rest
        .bytes()
        .take(MAX_HEADER)
        .position(|b| !Alphabet::Path.holds(b) && b != b'~')
        .unwrap_or(rest.len().min(MAX_HEADER));
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

/// The credentials of an authorization header of any other scheme, or of none.
pub fn other_scheme(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let (at, is_quoted) = after_name(bytes, word.end)?;
    let scheme = bytes
        .get(at..)?
        .iter()
        .take(MAX_SCHEME + 1)
        .take_while(|byte| Alphabet::Url.holds(**byte))
        .count();
    let scheme = text.get(at..at + scheme)?;
    let is_scheme =
        !scheme.is_empty() && scheme.len() <= MAX_SCHEME && bytes.get(at + scheme.len()) == Some(&b' ');
    if is_scheme && (scheme.eq_ignore_ascii_case("bearer") || scheme.eq_ignore_ascii_case("basic")) {
        return None;
    }
    let start = if is_scheme { at + scheme.len() + 1 } else { at };
    let length = bytes
        .get(start..)?
        .iter()
        .take(MAX_HEADER)
        .take_while(|byte| Alphabet::Path.holds(**byte) || matches!(byte, b'~' | b':' | b'%' | b'|'))
        .count();
    let span = start..start + length;
    let value = text.get(span.clone())?;
    // Without a scheme and quotes it may be the name of a type.
    let is_plain = is_scheme || is_quoted || value.bytes().filter(u8::is_ascii_digit).count() > 2;
    (is_machine_made(value, 16) && is_plain && (is_quoted || !is_code(text, &span))).then_some(span)
}

/// The values of `Cookie: a=1; session=…`, from the first that is a secret to the last one.
pub fn cookies(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let name_end = word.end + usize::from(bytes.get(word.end) == Some(&b's'));
    let is_option = bytes.get(..word.start)?.ends_with(b"--") && bytes.get(name_end) == Some(&b' ');
    let start = if is_option {
        skip(bytes, name_end + 1, b"\\\"'`")
    } else {
        after_name(bytes, name_end)?.0
    };
    let rest = bytes.get(start..)?;
    // Nothing more is read unless it begins like a cookie.
    let name = rest
        .iter()
        .take(MAX_COOKIE_NAME)
        .take_while(|byte| Alphabet::Dotted.holds(**byte))
        .count();
    if rest.get(name) != Some(&b'=') {
        return None;
    }
    let ends = |byte: &u8| byte.is_ascii_control() || matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b'<');
    let length = rest
        .iter()
        .take(MAX_HEADER)
        .position(ends)
        .unwrap_or(rest.len().min(MAX_HEADER));
    let mut at = start;
    let mut secrets: Option<Range<usize>> = None;
    for pair in text.get(start..start + length)?.split_inclusive(';') {
        let end = at + pair.trim_end_matches(';').len();
        if let Some((name, value)) = pair.trim_end_matches(';').split_once('=')
            && !COOKIE_ATTRIBUTES
                .iter()
                .any(|known| name.trim().eq_ignore_ascii_case(known))
            && let Some(value) = value.split([' ', ',']).next()
            && is_cookie(value)
        {
            let from = at + name.len() + 1;
            let to = (from + value.len()).min(end);
            secrets = Some(secrets.map_or(from, |before| before.start)..to);
        }
        at += pair.len();
    }
    secrets
}

/// Returns where a value begins after the name of its header, and whether it stands in quotes.
fn after_name(bytes: &[u8], end: usize) -> Option<(usize, bool)> {
    let at = skip(bytes, skip(bytes, end, b"\\\"'`]"), b" \t");
    if !matches!(bytes.get(at), Some(b':' | b'=')) || matches!(bytes.get(at + 1), Some(b':' | b'=')) {
        return None;
    }
    let at = skip(bytes, at + 1, b" \t");
    let start = skip(bytes, at, b"\\\"'`");
    Some((start, start > at))
}

fn is_cookie(value: &str) -> bool {
    value.len() >= 10
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
        && !value.starts_with(['$', '{', '%', '[', '<', '('])
        && looks_random(value)
        && !is_words(value)
        && !is_filler(value)
}
