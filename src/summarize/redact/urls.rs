//! Secrets in addresses and on command lines: users with passwords, signed queries.

use std::ops::Range;

use super::rules::Class;
use super::shape::{is_filler, is_machine_made, is_password, is_uuid, skip};

/// Longest part of an address that is looked at.
const MAX_PART: usize = 300;

/// Longest parameter.
const MAX_PARAMETER: usize = 4096;

/// How far back the program's name may stand before its options.
const MAX_COMMAND: usize = 200;

/// `user:password`, or a token, between `://` and `@`.
pub(super) fn credentials(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let rest = text.get(word.end..)?;
    let mut stop = end_of_user(rest, 0)?;
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

/// Where the next `@` stands, if that is before anything else that ends a user and a password.
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

/// The value of a parameter that lets whoever has the address in: `?sig=…`, `&X-Amz-Signature=…`, `?key=…`.
pub(super) fn parameter(text: &str, word: Range<usize>) -> Option<Range<usize>> {
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
        .take_while(|b| Class::Path.holds(**b) || matches!(b, b'%' | b'~'))
        .count();
    let span = word.end..word.end + length;
    let value = text.get(span.clone())?;
    (is_machine_made(value, 20) && !is_uuid(value)).then_some(span)
}

/// The password of `curl -u user:password`, `sshpass -p password`, `mysql -ppassword`.
pub(super) fn option(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let before = bytes.get(word.start.saturating_sub(MAX_COMMAND)..word.start)?;
    let line = before.rsplit(|byte| *byte == b'\n').next()?;
    let after = |program: &str| memchr::memmem::find(line, program.as_bytes()).is_some();
    let is_user = text.get(word.clone())?.ends_with("u ") || text.get(word.clone())?.ends_with("user ");
    let at = match bytes.get(word.end) {
        _ if is_user && (after("curl") || after("wget")) => word.end,
        Some(b' ') if !is_user && (after("sshpass") || after("docker login")) => word.end + 1,
        Some(b) if !is_user && *b != b' ' && (after("mysql") || after("mariadb") || after("sshpass")) => {
            word.end
        }
        _ => return None,
    };
    let start = skip(bytes, at, b"\\\"'");
    let rest = text.get(start..)?;
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '\\' | '|' | '>');
    let (length, _) = rest
        .char_indices()
        .take(MAX_PART)
        .find(|(_, c)| ends(*c))
        .or_else(|| (rest.len() <= MAX_PART).then_some((rest.len(), ' ')))?;
    let value = rest.get(..length)?;
    let from = if is_user { value.find(':')? + 1 } else { 0 };
    let password = value.get(from..)?;
    let is_secret = is_password(password) && !password.starts_with(['$', '{', '%', '[', '<', '*']);
    is_secret.then(|| start + from..start + value.len())
}
