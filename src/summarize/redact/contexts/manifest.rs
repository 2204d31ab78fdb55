//! Secrets in documents that say what they are: the data of a Kubernetes secret, lists of keys.

use std::ops::Range;

use memchr::memmem;

use crate::summarize::redact::alphabet::Alphabet;
use crate::summarize::redact::prefix::own_start;
use crate::summarize::redact::value::shape::is_machine_made;

/// Longest document of a Kubernetes secret on each side of its kind.
const MAX_MANIFEST: usize = 4_096;

/// Most objects with data in such a document.
const MAX_OBJECTS: usize = 4;

/// The values of `data` and `stringData` in the document of a Kubernetes secret.
pub fn kubernetes(text: &str, word: Range<usize>) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let from = word.start.saturating_sub(MAX_MANIFEST);
    let before = bytes.get(from..word.start).unwrap_or_default();
    let from = memmem::rfind(before, b"\n---").map_or(from, |at| from + at + 4);
    let after = bytes
        .get(word.end..bytes.len().min(word.end + MAX_MANIFEST))
        .unwrap_or_default();
    let to = memmem::find(after, b"\n---").map_or(word.end + after.len(), |at| word.end + at);
    let mut spans = Vec::new();
    let window = bytes.get(from..to).unwrap_or_default();
    let mut searched = 0;
    let mut objects = 0;
    while objects < MAX_OBJECTS
        && let Some(place) = window.get(searched..).and_then(|rest| memmem::find(rest, b"ata"))
    {
        let at = searched + place + 3;
        searched = at;
        let head = window.get(..at).unwrap_or_default();
        let is_text = head.ends_with(b"stringData");
        if !is_text && !head.ends_with(b"data") || head.ends_with(b"metadata") {
            continue;
        }
        objects += 1;
        entries(bytes, from + at, to, is_text, &mut spans);
    }
    spans.retain(|span| {
        text.get(span.clone())
            .is_some_and(|value| !value.contains("[REDACTED"))
    });
    spans
}

/// The values of an object's entries, in YAML or JSON.
fn entries(bytes: &[u8], at: usize, to: usize, is_text: bool, spans: &mut Vec<Range<usize>>) {
    let window = bytes.get(at..to).unwrap_or_default();
    let Some(colon) = window.iter().take(4).position(|byte| *byte == b':') else {
        return;
    };
    let is_json = window
        .get(colon + 1..)
        .unwrap_or_default()
        .iter()
        .find(|byte| !byte.is_ascii_whitespace())
        == Some(&b'{');
    let mut place = at + colon + 1;
    let separators: &[u8] = if is_json { b",}" } else { b"\n" };
    for (index, entry) in window
        .get(colon + 1..)
        .unwrap_or_default()
        .split(|byte| separators.contains(byte))
        .take(100)
        .enumerate()
    {
        let start = place;
        place += entry.len() + 1;
        let own = if is_json { 0 } else { own_start(entry) };
        let start = start + own;
        let entry = entry.get(own..).unwrap_or_default();
        let indented = entry.first().is_some_and(|byte| matches!(byte, b' ' | b'\t'));
        if !is_json && index == 0 {
            continue;
        }
        let Some(sign) = memchr::memchr(b':', entry).filter(|_| is_json || indented) else {
            break;
        };
        let value = entry.get(sign + 1..).unwrap_or_default();
        let skip = value
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'\\'))
            .count();
        let value = value.get(skip..).unwrap_or_default();
        let length = value
            .iter()
            .take_while(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'\\'))
            .count();
        let value = value.get(..length).unwrap_or_default();
        let is_secret = if is_text {
            length >= 4 && !value.starts_with(b"{") && !value.starts_with(b"$")
        } else {
            length >= 8 && value.iter().all(|byte| Alphabet::Base64.holds(*byte))
        };
        if is_secret {
            spans.push(start + sign + 1 + skip..start + sign + 1 + skip + length);
        }
    }
}

/// The texts of a list: `"keys_base64": ["…", "…"]`.
pub fn list(text: &str, word: Range<usize>) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut spans = Vec::new();
    let head = bytes
        .get(word.end..bytes.len().min(word.end + 12))
        .unwrap_or_default();
    let Some(open) = memchr::memchr(b'[', head) else {
        return spans;
    };
    let limit = bytes.len().min(word.end + 4_096);
    let mut at = word.end + open + 1;
    while let Some(rest) = bytes.get(at..limit) {
        let skip = rest
            .iter()
            .take_while(|byte| !Alphabet::Base64.holds(**byte) && **byte != b']')
            .count();
        let start = at + skip;
        // The letter of an escape is no part of the text.
        let start = start
            + usize::from(
                bytes.get(start.saturating_sub(1)) == Some(&b'\\') && bytes.get(start) == Some(&b'n'),
            );
        let length = bytes
            .get(start..limit)
            .unwrap_or_default()
            .iter()
            .take_while(|byte| Alphabet::Base64.holds(**byte))
            .count();
        if length == 0 && skip == rest.len() || bytes.get(start) == Some(&b']') {
            break;
        }
        if text
            .get(start..start + length)
            .is_some_and(|value| is_machine_made(value, 16))
        {
            spans.push(start..start + length);
        }
        at = start + length.max(1);
    }
    spans
}
