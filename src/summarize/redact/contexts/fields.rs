//! Secrets whose names stand elsewhere: in the columns of a statement, the members of a key, the pair of an identifier
//! and its secret, the line below a command.

use std::ops::Range;

use super::places::{is_given, lines_after, span_of};
use crate::summarize::redact::alphabet::Alphabet;
use crate::summarize::redact::value::shape::{
    head, is_joined_words, is_machine_made, is_password, is_random_word, is_strong_mixture, skip,
};
use crate::summarize::redact::value::word_lists::SECRET_FIELDS;

/// Bytes of a statement or a key that are read.
const MAX_LENGTH: usize = 2_000;

/// Bytes behind a statement in which the values of its parameters stand.
const MAX_GAP: usize = 300;

/// Most rows of a statement.
const MAX_ROWS: usize = 50;

/// Characters of an identifier of AWS and of its secret.
const AWS_PAIR: (usize, usize) = (20, 40);

/// The members of a JSON Web Key that are secret.
const KEY_MEMBERS: [&str; 7] = ["k", "d", "p", "q", "dp", "dq", "qi"];

/// Returns true if a text can be a secret where its place says that one stands there.
fn is_likely(secret: &str) -> bool {
    is_given(secret)
        && !secret.contains(' ')
        && (is_password(secret)
            || is_joined_words(secret)
            || is_random_word(secret)
            || is_strong_mixture(secret)
            || is_machine_made(secret, 8))
}

/// The values of an `INSERT INTO users (name, password) VALUES ('bob', 'secret')` whose columns are named like secrets.
pub fn inserted(text: &str, word: Range<usize>) -> Vec<Range<usize>> {
    columns_and_values(text, word.end).unwrap_or_default()
}

fn columns_and_values(text: &str, at: usize) -> Option<Vec<Range<usize>>> {
    let statement = head(text.get(at..)?, MAX_LENGTH);
    let open = statement.find('(').filter(|open| *open < 120)?;
    let close = open + statement.get(open..)?.find(')')?;
    let signs = |c: char| c.is_whitespace() || matches!(c, '"' | '`' | '\'' | '[' | ']' | '\\');
    let columns = statement.get(open + 1..close)?.split(',');
    let secret: Vec<usize> = columns
        .map(|column| column.trim_matches(signs).to_ascii_lowercase())
        .enumerate()
        .filter(|(_, column)| is_secret_column(column))
        .map(|(place, _)| place)
        .collect();
    let rest = statement.get(close + 1..)?;
    let values = rest.to_ascii_lowercase().find("values").filter(|at| *at < 40)?;
    if secret.is_empty() {
        return None;
    }
    let mut from = at + close + 1 + values + "values".len();
    let mut spans = Vec::new();
    for row in 0..MAX_ROWS {
        let open = text
            .get(from..)?
            .find('(')
            .filter(|gap| *gap < if row == 0 { 20 } else { 8 });
        let Some(open) = open else { break };
        let (mut cells, mut end) = tuple(text, from + open + 1)?;
        if row == 0 && cells.iter().all(Option::is_none) {
            // Parameters: their values stand behind the statement.
            let rest = head(text.get(end..)?, MAX_GAP);
            let first = ["('", "(\"", "['", "[\""]
                .iter()
                .filter_map(|open| rest.find(open))
                .min()?;
            (cells, end) = tuple(text, end + first + 1)?;
        }
        let named = secret.iter().filter_map(|place| cells.get(*place)?.clone());
        spans.extend(named.filter(|span| text.get(span.clone()).is_some_and(is_likely)));
        from = end;
    }
    Some(spans)
}

/// Returns true if a column is named like a secret.
fn is_secret_column(column: &str) -> bool {
    SECRET_FIELDS
        .iter()
        .chain(["pass", "token", "private_key"].iter())
        .any(|field| {
            column
                .strip_suffix(field)
                .is_some_and(|head| head.is_empty() || head.ends_with('_'))
        })
}

/// The texts between quotes of a list of values, in their places, and where it ends.
fn tuple(text: &str, at: usize) -> Option<(Vec<Option<Range<usize>>>, usize)> {
    let bytes = text.as_bytes();
    let limit = bytes.len().min(at + MAX_LENGTH);
    let mut cells = vec![None];
    let (mut at, mut depth) = (at, 0_usize);
    while at < limit {
        match bytes.get(at)? {
            quote @ (b'"' | b'\'') => {
                let end = at + 1 + memchr::memchr(*quote, bytes.get(at + 1..limit)?)?;
                let inner = at + 1..end - usize::from(bytes.get(end - 1) == Some(&b'\\') && end > at + 1);
                if depth == 0
                    && let Some(last) = cells.last_mut()
                {
                    last.get_or_insert(inner);
                }
                at = end;
            }
            b'(' | b'[' => depth += 1,
            b')' | b']' if depth == 0 => return Some((cells, at + 1)),
            b')' | b']' => depth -= 1,
            b',' if depth == 0 => cells.push(None),
            _ => {}
        }
        at += 1;
    }
    None
}

/// The secret members of a JSON Web Key, which has its type in `"kty"`.
pub fn key_members(text: &str, word: Range<usize>) -> Vec<Range<usize>> {
    let start = text.floor_char_boundary(word.start.saturating_sub(MAX_LENGTH));
    let before = text.get(start..word.start).unwrap_or_default();
    let open = before.rfind('{').map_or(start, |at| start + at);
    let object = head(text.get(open..).unwrap_or_default(), 2 * MAX_LENGTH);
    let object = object.split('}').next().unwrap_or_default();
    let mut texts = object.split('"').map(|part| part.trim_end_matches('\\'));
    let mut name = "";
    let mut spans = Vec::new();
    // Texts and what stands between them by turns.
    texts.next();
    while let (Some(value), Some(between)) = (texts.next(), texts.next()) {
        let is_key = KEY_MEMBERS.contains(&name) && value.len() >= 16;
        if is_key && value.bytes().all(|byte| Alphabet::Path.holds(byte)) {
            spans.extend(span_of(text, value));
        }
        name = if between.trim_start().starts_with(':') {
            value
        } else {
            ""
        };
    }
    spans
}

/// The keys of a numbered list: `(0) 0x…`.
pub fn numbered_keys(text: &str, word: Range<usize>) -> Vec<Range<usize>> {
    let lines = lines_after(text, word.end).skip(1).take(24);
    let keys = lines.filter_map(|line| {
        let (number, key) = line.trim().strip_prefix('(')?.split_once(") ")?;
        let digits = key.strip_prefix("0x").unwrap_or(key);
        let is_key = digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        (is_key && number.bytes().all(|byte| byte.is_ascii_digit())).then(|| span_of(text, key))?
    });
    keys.collect()
}

/// The secret right behind an identifier of AWS that begins at `at`: `AKIA…:secret`, `AKIA…,secret`.
pub fn aws_secret(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let (id, length) = AWS_PAIR;
    let sign = skip(bytes, at + id, b"\"':,;|\t ");
    let secret = text.get(sign..sign + length)?;
    let is_end = !bytes
        .get(sign + length)
        .is_some_and(|byte| Alphabet::Base64.holds(*byte));
    let is_pair = sign > at + id && is_end && secret.bytes().all(|byte| Alphabet::Base64.holds(byte));
    (is_pair && is_machine_made(secret, length)).then_some(sign..sign + length)
}

/// The line below a command that prints a secret: `wg genkey`.
pub fn next_line(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let mut lines = lines_after(text, word.end);
    let own = lines.next()?;
    let secret = lines.next()?.trim().trim_matches(['"', '\'', '`', '}']);
    let is_command = own.len() < 120 && !own.contains(['>', '<', '"']);
    (is_command && is_likely(secret)).then(|| span_of(text, secret))?
}

/// The password of `user:secret@tcp(host)`, as databases are named in Go.
pub fn before_protocol(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let from = text.floor_char_boundary(word.start.saturating_sub(MAX_GAP / 2));
    let before = text.get(from..word.start)?;
    let before = before.rsplit([' ', '"', '\'', '`', '\n', '=']).next()?;
    let (user, secret) = before.split_once(':')?;
    let is_value = is_given(secret) && (is_likely(secret) || secret.len() >= 8);
    let is_pair = !user.is_empty() && is_value && !secret.starts_with(['%', '$', '{']);
    is_pair.then(|| span_of(text, secret))?
}
