//! Secrets in markup: fields of forms that hold one.

use std::ops::Range;

use crate::summarize::redact::value::is_reference;
use crate::summarize::redact::value::shape::{distinct, head, is_filler};
use crate::summarize::redact::value::word_lists::SECRET_FIELDS;

/// Longest tag.
const MAX_TAG: usize = 600;

/// Shortest secret in a field.
const MIN_SECRET: usize = 6;

/// The value of a field for a secret, wherever among its attributes it stands: `<input value="…" type="password">`.
pub fn input(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let rest = head(text.get(word.end..)?, MAX_TAG);
    let tag = rest.get(..rest.find('>')?)?;
    let mut is_secret_field = false;
    let mut value = None;
    let mut at = 0;
    while let Some(equals) = tag.get(at..)?.find('=') {
        let name = tag
            .get(at..at + equals)?
            .trim()
            .rsplit(char::is_whitespace)
            .next()?;
        let opening = tag.get(at + equals + 1..)?;
        let quotes = opening.len() - opening.trim_start_matches([' ', '\\', '"', '\'']).len();
        let start = at + equals + 1 + quotes;
        let content = tag.get(start..)?;
        let ends = |c: char| matches!(c, '"' | '\'' | '\\') || quotes == 0 && c.is_whitespace();
        let length = content.find(ends).unwrap_or(content.len());
        let content = content.get(..length)?;
        match name {
            "value" => value = Some(start..start + length),
            "type" | "name" | "id" | "autocomplete" => {
                let content = content.to_ascii_lowercase();
                is_secret_field |= SECRET_FIELDS.iter().any(|field| content.contains(field));
            }
            _ => {}
        }
        at = start + length;
    }
    let span = value.filter(|_| is_secret_field)?;
    let secret = tag.get(span.clone())?;
    let is_secret = secret.len() >= MIN_SECRET
        && distinct(secret) >= 4
        && !secret.contains(' ')
        && !is_reference(secret)
        && !is_filler(secret)
        && !secret.contains("REDACTED");
    is_secret.then(|| word.end + span.start..word.end + span.end)
}
