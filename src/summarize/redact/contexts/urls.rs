//! Secrets in addresses: users with passwords, signed queries.

use std::ops::Range;

use crate::summarize::redact::alphabet::Alphabet;
use crate::summarize::redact::value::shape::{head, is_filler, is_machine_made, is_password, is_uuid};

/// Longest part of an address that is looked at.
const MAX_PART: usize = 300;

/// Longest parameter.
const MAX_PARAMETER: usize = 4096;

/// `user:password`, or a token, between `://` and `@`.
pub fn credentials(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let rest = text.get(word.end..)?;
    let Some(mut stop) = end_of_user(rest, 0) else {
        return unescaped(text, word.end);
    };
    if !rest.get(..stop)?.contains(':')
        && let Some(end) = end_of_user(rest, stop + 1)
    {
        // The user is an address itself: `me@example.org:password@host`.
        stop = end;
    }
    let credentials = rest.get(..stop)?;
    let Some((_, password)) = credentials.split_once(':') else {
        let is_token = is_machine_made(credentials, 20) && !credentials.contains("REDACTED");
        return is_token.then(|| word.end..word.end + stop);
    };
    let is_placeholder = password.len() < 3
        || password.starts_with(['$', '{', '%', '[', '*'])
        || credentials.starts_with('[')
        || credentials.contains("[REDACTED:")
        || is_filler(password)
        || ["pass", "pwd", "secret", "pw"].contains(&password)
        || (host_is_example(rest.get(stop + 1..)?) && is_simple(password));
    (!is_placeholder).then(|| word.end..word.end + stop)
}

/// A user and a password with signs in it that would have to be escaped: `user:a/b#c@host`.
fn unescaped(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = head(text.get(at..)?, MAX_PART);
    let ends = |c: char| {
        c.is_whitespace() || c.is_control() || matches!(c, '"' | '\'' | '`' | '<' | '>' | '\\' | '|')
    };
    let length = rest.find(ends).unwrap_or(rest.len());
    let address = rest.get(..length)?;
    let stop = address.rfind('@')?;
    let (user, password) = address.get(..stop)?.split_once(':')?;
    let host = address.get(stop + 1..)?;
    let is_user = !user.contains(['/', '?', '#', '@']);
    let is_host = host.starts_with(|c: char| c.is_ascii_alphanumeric())
        && host.split(['/', ':', '?']).next().is_some_and(|name| {
            name.contains('.') || name == "localhost" || host.contains(':') || !host.contains('/')
        });
    // The part before the first sign may be a port.
    let port = password.split(['/', '?', '#']).next()?;
    let is_port = port.bytes().all(|b| b.is_ascii_digit());
    let is_secret = is_user
        && is_host
        && !is_port
        && is_password(password)
        && password
            .bytes()
            .any(|b| b.is_ascii_digit() || b.is_ascii_uppercase())
        && !host_is_example(host)
        && !password.starts_with(['$', '{', '%', '[', '*']);
    (is_secret
        && !password.contains("REDACTED")
        && !password.contains("://")
        && password.matches('/').count() < 3)
        .then(|| at..at + stop)
}

/// Returns where the next `@` stands, if that is before anything else that ends a user and a password.
fn end_of_user(rest: &str, from: usize) -> Option<usize> {
    let ends = |b: u8| {
        b.is_ascii_whitespace()
            || matches!(
                b,
                b'/' | b'@' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b'?' | b'#'
            )
    };
    let stop = from + rest.bytes().skip(from).take(MAX_PART).position(ends)?;
    (rest.as_bytes().get(stop) == Some(&b'@')).then_some(stop)
}

/// Returns true if the host is one of those reserved for documentation.
fn host_is_example(host: &str) -> bool {
    host.starts_with("example.") || host.starts_with("www.example.")
}

/// Returns true if a password is a plain short word, percent escapes aside.
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

/// The value of a parameter that gives access: `?sig=…`, `&X-Amz-Signature=…`, `?key=…`.
pub fn parameter(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let before = bytes.get(..word.start)?;
    let is_parameter = matches!(bytes.get(word.start), Some(b'?' | b'&'))
        || matches!(before, [.., b'?' | b'&' | b';' | b'-'])
        || before.ends_with(b"u0026")
        || before.ends_with(b", ");
    if !is_parameter {
        return None;
    }
    let rest = bytes.get(word.end..)?;
    let length = rest
        .iter()
        .take(MAX_PARAMETER)
        .take_while(|b| Alphabet::Path.holds(**b) || matches!(b, b'%' | b'~'))
        .count();
    let span = word.end..word.end + length;
    let value = text.get(span.clone())?;
    (is_machine_made(value, 20) && !is_uuid(value)).then_some(span)
}
