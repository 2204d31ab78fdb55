//! Secrets that stand at a place of their line: password files, cookie jars, columns of tables, SQL.

use std::ops::Range;

use crate::summarize::redact::prefix::own_start;
use crate::summarize::redact::value::is_reference;
use crate::summarize::redact::value::shape::{head, is_filler, is_random_word, looks_random, skip};

/// Longest line that is looked at.
const MAX_LINE: usize = 1_000;

/// Longest secret of a statement.
const MAX_SECRET: usize = 200;

/// The line around a place.
fn line_at(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let from = at.saturating_sub(MAX_LINE);
    let start = bytes
        .get(from..at)?
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(from, |place| from + place + 1);
    let escaped = memchr::memmem::rfind(bytes.get(start..at)?, b"\\n").map_or(0, |place| place + 2);
    let start = start + escaped;
    let start = start + own_start(bytes.get(start..at)?);
    let rest = bytes.get(at..bytes.len().min(at + MAX_LINE))?;
    let end = rest
        .iter()
        .position(|byte| matches!(byte, b'\n' | b'\r'))
        .map_or(at + rest.len(), |place| at + place);
    let escaped = memchr::memmem::find(bytes.get(at..end)?, b"\\n");
    let end = escaped.map_or(end, |place| at + place);
    text.is_char_boundary(start).then_some(start..end)
}

/// The password in `host:port:database:user:password`.
pub fn password_file(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let line = line_at(text, word.start)?;
    // The word is `:port:`; the host stands before it, and three fields after it.
    let start = word.end - 1;
    let rest = text.get(start..line.end)?.strip_prefix(':')?;
    let mut fields = rest.splitn(3, ':');
    let (database, user, password) = (fields.next()?, fields.next()?, fields.next()?);
    let is_field =
        |field: &str| !field.is_empty() && field.len() < 64 && !field.contains(['/', ' ', '@', '"', '\'']);
    // Fields of a file of users.
    let is_number = |field: &str| field.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let length = password
        .find([' ', '"', '\'', '`', '\t'])
        .unwrap_or(password.len());
    let password = password.get(..length)?;
    let password = password.split("\\n").next()?;
    let at = start + 1 + database.len() + 1 + user.len() + 1;
    let fits = is_field(database)
        && is_field(user)
        && !(is_number(database) && is_number(user))
        && password.len() >= 4
        && !is_reference(password)
        && !is_filler(password);
    (fits && !password.contains("[REDACTED")).then(|| at..at + password.len())
}

/// The value of a line of a cookie jar: seven fields with tabs between them.
pub fn cookie_jar(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let line = line_at(text, word.start)?;
    let whole = text.get(line.clone())?;
    let tab = if whole.contains('\t') { "\t" } else { "\\t" };
    let fields: Vec<&str> = whole.split(tab).collect();
    let value = fields
        .iter()
        .position(|field| matches!(*field, "TRUE" | "FALSE"))
        .and_then(|at| fields.get(at + 5))?;
    let value = value.split("\\n").next()?.trim_end_matches(['"', '\'']);
    let start = line.start + (value.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    let is_secret = value.len() >= 8
        && (looks_random(value) || is_random_word(value))
        && !is_filler(value)
        && !value.starts_with('[');
    is_secret.then(|| start..start + value.len())
}

/// The text after `IDENTIFIED BY`, `IDENTIFIED WITH … BY`.
pub fn identified(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let rest = text.get(word.end..)?;
    let near = rest.get(..rest.char_indices().nth(80).map_or(rest.len(), |(at, _)| at))?;
    let upper = near.to_ascii_uppercase();
    let by = if upper.starts_with("BY ") {
        3
    } else if upper.starts_with("WITH ") {
        upper.find(" BY ").or_else(|| upper.find(" AS "))? + 4
    } else {
        return None;
    };
    let bytes = text.as_bytes();
    let at = skip(bytes, word.end + by, b" ");
    let at = text.get(at..)?.strip_prefix("PASSWORD ").map_or(at, |_| at + 9);
    let start = skip(bytes, at, b"\\\"'");
    let is_quoted = start > at;
    let rest = head(text.get(start..)?, MAX_SECRET);
    let ends = |c: char| {
        matches!(c, '"' | '\'' | '`' | '\n' | '\\') || (!is_quoted && (c.is_whitespace() || c == ';'))
    };
    let length = rest.find(ends)?;
    let value = rest.get(..length)?;
    let is_told = value.bytes().any(|byte| byte.is_ascii_digit()) && !value.contains(['(', '.', '`']);
    let is_secret = value.len() >= 4 && !is_reference(value) && !is_filler(value) && (is_quoted || is_told);
    (is_secret && !value.contains("REDACTED") && value != "%s" && value != "?").then(|| start..start + length)
}

/// The answer of a digest: `Digest … response="…"`.
pub fn digest(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let before = bytes.get(word.start.saturating_sub(500)..word.start)?;
    let line = before.rsplit(|byte| *byte == b'\n').next()?;
    memchr::memmem::find(line, b"igest ")?;
    let start = skip(bytes, word.end, b"\\\"'");
    let length = bytes
        .get(start..)?
        .iter()
        .take(129)
        .take_while(|byte| byte.is_ascii_hexdigit())
        .count();
    (32..=128).contains(&length).then_some(start..start + length)
}
