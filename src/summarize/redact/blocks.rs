//! Secrets that are known by their own form, but not by how they begin alone: key blocks, web tokens, tokens with a mark within.

use std::ops::Range;

use memchr::memmem;

use super::rules::Class;
use super::shape::{begins_word, looks_random};

/// Longest header of a JSON web token.
const MAX_JWT_HEAD: usize = 512;

/// Longest part of a JSON web token.
const MAX_JWT_PART: usize = 8_192;

/// Longest private key block.
const MAX_PEM: usize = 65_536;

/// A private key block, its lines real or escaped (`\n`).
pub(super) fn private_key(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let rest = text.get(word.start..)?;
    let bytes = rest.as_bytes();
    let window = bytes.get(..MAX_PEM.min(bytes.len()))?;
    let label_end = memmem::find(window.get(..80.min(window.len()))?, b"PRIVATE KEY")?;
    let body_start = label_end + memmem::find(window.get(label_end..)?, b"-----")? + 5;
    let body = window.get(body_start..)?;
    // No dashes stand in a body, so whatever has them first ends it.
    let dashes = memmem::find(body, b"-----");
    let end = dashes.filter(|at| body.get(at + 5..).is_some_and(|rest| rest.starts_with(b"END")));
    let (body_end, block_end) = if let Some(end) = end {
        let tail = body.get(end + 8..)?;
        (
            end,
            end + 8 + memmem::find(tail.get(..60.min(tail.len()))?, b"-----").map_or(0, |at| at + 5),
        )
    } else {
        // A block that is encrypted begins with headers.
        let has_headers = body
            .get(..20.min(body.len()))?
            .windows(9)
            .any(|at| at == b"Proc-Type");
        let is_body = |b: u8| {
            (Class::Path.holds(b) && b != b'-')
                || b.is_ascii_whitespace()
                || b == b'\\'
                || (has_headers && matches!(b, b':' | b',' | b'-'))
        };
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
    if head_end - word.start < 12 {
        return None;
    }
    let next = |from: usize| {
        text.get(from..)?.strip_prefix('.')?;
        Some(part_end(from + 1, MAX_JWT_PART))
    };
    let claims_end = part_end(head_end + 1, MAX_JWT_PART);
    let end = next(claims_end)?;
    if claims.starts_with("eyJ") {
        // One that nobody signed ends with a dot.
        let is_signed = end - claims_end > 16;
        return (claims_end - head_end > 8 && (is_signed || end - claims_end == 1))
            .then_some(word.start..end);
    }
    // An encrypted one has five parts.
    let end = next(end).and_then(next)?;
    (end - head_end > 60).then_some(word.start..end)
}

/// A token that is known by a mark in its middle, with so many characters before it and after it.
pub(super) fn around(
    text: &str,
    mark: Range<usize>,
    before: (Class, usize, usize),
    after: (Class, usize, usize),
) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let (class, least, most) = before;
    let length = bytes
        .get(..mark.start)?
        .iter()
        .rev()
        .take(most + 1)
        .take_while(|byte| class.holds(**byte))
        .count();
    let start = mark.start - length;
    let tail = bytes
        .get(mark.end..)?
        .iter()
        .take(after.2 + 1)
        .take_while(|byte| after.0.holds(**byte))
        .count();
    let end = mark.end + tail;
    let fits = (least..=most).contains(&length) && (after.1..=after.2).contains(&tail);
    (fits && begins_word(text, start) && looks_random(text.get(mark.end..end)?)).then_some(start..end)
}
