//! Secrets that are known by their own form, but not by how they begin alone: blocks of keys, web tokens.

use std::ops::Range;

use memchr::memmem;

use crate::summarize::redact::alphabet::Alphabet;
use crate::summarize::redact::prefix::own_start;
use crate::summarize::redact::value::shape::begins_word;

/// Longest header of a JSON web token.
const MAX_JWT_HEAD: usize = 512;

/// Longest part of a JSON web token.
const MAX_JWT_PART: usize = 8_192;

/// Longest label of a key before its last words.
const MAX_LABEL: usize = 40;

/// Longest line of a key, or key on one line.
const MAX_KEY_LINE: usize = 8_192;

/// The width of a line of a key file of `PuTTY`.
const PUTTY_WIDTH: usize = 64;

/// Longest private key block.
const MAX_PEM: usize = 65_536;

/// The private key block that the label at `word` opens, or the rest of one that it ends.
pub fn labelled_key(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let from = word.start.saturating_sub(MAX_LABEL);
    let before = text.as_bytes().get(from..word.start)?;
    let dashes = memmem::rfind(before, b"-----")?;
    let start = from + dashes;
    let label = before.get(dashes + 5..)?;
    if label.starts_with(b"BEGIN ") {
        private_key(text, start..start + "-----BEGIN ".len())
    } else if label.starts_with(b"END ") {
        key_tail(text, start..start + "-----END ".len())
    } else {
        None
    }
}

/// A private key block, its lines real or escaped (`\n`).
fn private_key(text: &str, word: Range<usize>) -> Option<Range<usize>> {
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
            (Alphabet::Path.holds(b) && b != b'-')
                || b.is_ascii_whitespace()
                || b == b'\\'
                || (has_headers && matches!(b, b':' | b',' | b'-'))
        };
        let mut end = 0;
        for line in body.split_inclusive(|byte| *byte == b'\n') {
            let own = own_start(line);
            let length = line.get(own..)?.iter().take_while(|byte| is_body(**byte)).count();
            if length == 0 {
                break;
            }
            end += own + length;
            if own + length < line.len() {
                break;
            }
        }
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
pub fn json_web_token(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let part_end = |from: usize, most: usize| {
        let part = bytes.get(from..).unwrap_or_default();
        from + part
            .iter()
            .take(most)
            .take_while(|b| Alphabet::Url.holds(**b))
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
        // An unsigned one ends with a dot.
        let is_signed = end - claims_end > 16;
        return (claims_end - head_end > 8 && (is_signed || end - claims_end == 1))
            .then_some(word.start..end);
    }
    // An encrypted one has five parts.
    let end = next(end).and_then(next)?;
    (end - head_end > 60).then_some(word.start..end)
}

/// The lines of a private key whose beginning was cut off: those right before `-----END … PRIVATE KEY-----`.
fn key_tail(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let label = bytes.get(word.end..bytes.len().min(word.end + 40))?;
    memmem::find(label, b"PRIVATE KEY")?;
    let from = word.start.saturating_sub(MAX_PEM);
    let mut start = word.start;
    let mut letters = 0;
    // Lines, real or escaped, from the last one up.
    while start > from {
        let from = from.max(start.saturating_sub(MAX_KEY_LINE));
        let head = bytes.get(from..start)?;
        let head = head
            .strip_suffix(b"\n")
            .or_else(|| head.strip_suffix(b"\\n"))
            .unwrap_or(head);
        let head = head.strip_suffix(b"\r").unwrap_or(head);
        let real = memchr::memrchr(b'\n', head).map_or(0, |at| at + 1);
        let escaped = memmem::rfind(head, b"\\n").map_or(0, |at| at + 2);
        let line_start = real.max(escaped);
        let line = head.get(line_start..)?;
        let body = line.trim_ascii();
        let body = body.get(own_start(body)..)?.trim_ascii();
        let is_body = !body.is_empty() && body.iter().all(|byte| Alphabet::Base64.holds(*byte));
        // Only the last line is short, and the first one may be cut.
        if !is_body || (letters > 0 && body.len() < 30 && from + line_start > 0 && letters > 64) {
            break;
        }
        letters += body.len();
        start = from + line_start;
        if line_start == 0 {
            break;
        }
    }
    (letters >= 16).then_some(start..word.start)
}

/// The whole of a key in base64 that is known by how it begins, over all its lines.
pub fn bare_key(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let head = bytes.get(word.start..)?;
    let is_private = match head {
        // A block that is encoded once more: certificates and public keys are none.
        [b'L', b'S', b'0', b't', ..] => {
            let label = head.get(15..22).unwrap_or_default();
            !label.starts_with(b"DRVJU")
                && !label.starts_with(b"QVUJM")
                && !label.starts_with(b"BDRVJU")
                && !label.starts_with(b"BQVUJM")
        }
        [b'M', b'I', b'I', ..] => matches!(head.get(6..10), Some(b"IBAD" | b"IBAA")),
        _ => true,
    };
    if !is_private
        || !begins_word(text, word.start)
        || text
            .get(word.start..word.start + 3)?
            .bytes()
            .all(|b| b.is_ascii_lowercase())
    {
        return None;
    }
    let length = lines_of(head, Alphabet::Base64, usize::MAX);
    (length >= 60).then_some(word.start..word.start + length)
}

/// The private lines of a key file of `PuTTY`: so many as it says.
pub fn putty_key(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let rest = text.get(word.end..)?.trim_start_matches(' ');
    let digits = rest.bytes().take(4).take_while(u8::is_ascii_digit).count();
    let count: usize = rest.get(..digits)?.parse().ok()?;
    let bytes = text.as_bytes();
    let start = text.len() - rest.len() + digits;
    let newlines = ["\r\n", "\n", "\\r\\n", "\\n"];
    let newline = newlines
        .into_iter()
        .find(|newline| text.get(start..).is_some_and(|rest| rest.starts_with(newline)))?;
    let start = start + newline.len();
    let start = start + prefix_of(bytes.get(start..)?, Alphabet::Base64, PUTTY_WIDTH);
    let length = lines_of(bytes.get(start..)?, Alphabet::Base64, count);
    (length >= 16).then_some(start..start + length)
}

/// The length of the prefix of a line of a key: blanks, and prefixes of tools that are no part of the key.
fn prefix_of(rest: &[u8], alphabet: Alphabet, width: usize) -> usize {
    let blanks = |rest: &[u8]| {
        rest.iter()
            .take(40)
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count()
    };
    let indent = blanks(rest);
    let line = rest.get(indent..).unwrap_or_default();
    let length = line
        .iter()
        .take(width + 1)
        .take_while(|byte| alphabet.holds(**byte))
        .count();
    if length == width {
        return indent;
    }
    let line = rest.get(..rest.len().min(MAX_KEY_LINE)).unwrap_or_default();
    let start = own_start(line);
    let own = start + blanks(rest.get(start..).unwrap_or_default());
    let length = rest
        .get(own..)
        .unwrap_or_default()
        .iter()
        .take_while(|byte| alphabet.holds(**byte))
        .count();
    if start > 0 && length >= 4 { own } else { indent }
}

/// The length of lines of an alphabet, real or escaped ones, so many at most.
fn lines_of(bytes: &[u8], alphabet: Alphabet, most: usize) -> usize {
    let window = bytes.get(..bytes.len().min(MAX_PEM)).unwrap_or_default();
    let mut at = 0;
    let mut end = 0;
    let mut width = 0;
    for line in 0..most {
        let rest = window.get(at..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| alphabet.holds(**byte)).count();
        // A shorter line is the last one.
        if length == 0 || (line > 0 && (length > width || length < 4)) {
            break;
        }
        end = at + length;
        let is_last = line > 0 && length < width;
        width = if line == 0 { length } else { width };
        let rest = window.get(end..).unwrap_or_default();
        let newline = [b"\r\n".as_slice(), b"\n", b"\\r\\n", b"\\n"]
            .into_iter()
            .find(|newline| rest.starts_with(newline));
        let Some(newline) = newline.filter(|_| !is_last) else {
            break;
        };
        at = end + newline.len();
        at += prefix_of(window.get(at..).unwrap_or_default(), alphabet, width);
    }
    end
}
