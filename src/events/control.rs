//! Control characters, terminal escapes and invisible marks in texts.

use std::borrow::Cow;

/// Number of bytes of an escape sequence after its first.
pub(super) fn escape_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let (body, is_last): (usize, fn(u8) -> bool) = match bytes.first() {
        Some(b'[') => {
            let is_parameter =
                |byte: &u8| matches!(byte, b' '..=b'~') && !byte.is_ascii_alphabetic() && *byte != b'@';
            let body = bytes.iter().skip(1).take_while(|byte| is_parameter(byte)).count();
            (body, |byte| byte.is_ascii_alphabetic() || byte == b'@')
        }
        Some(b']') => {
            let is_text = |byte: &u8| !matches!(byte, 0x7 | 0x1b | b'\n');
            let body = bytes.iter().skip(1).take_while(|byte| is_text(byte)).count();
            (body, |byte| byte == 0x7)
        }
        _ => return 0,
    };
    let ends = bytes.get(1 + body).is_some_and(|byte| is_last(*byte));
    1 + body + usize::from(ends)
}

pub(super) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fffd}')
}

/// The bytes that are looked at together.
const CHUNK: usize = 64;

/// If bytes are printable ASCII, line ends and tabs.
fn is_plain(bytes: &[u8]) -> bool {
    // No early exit: several bytes are compared at once.
    let is_other = |byte: &u8| u8::from(!matches!(byte, b' '..=b'~' | b'\n' | b'\t'));
    bytes.iter().fold(0, |others, byte| others | is_other(byte)) == 0
}

/// `text` without escapes, invisible marks and control characters other than line ends and tabs.
pub(crate) fn without_control(text: &str) -> Cow<'_, str> {
    let goes = |c: char| c != '\n' && c != '\t' && (c.is_control() || is_invisible(c));
    let chunks = text.as_bytes().chunks(CHUNK).enumerate();
    let mut other = chunks.filter(|(_, chunk)| !is_plain(chunk)).map(|(number, _)| {
        let start = text.floor_char_boundary(number * CHUNK);
        let end = text.ceil_char_boundary((number + 1) * CHUNK);
        text.get(start..end).unwrap_or_default()
    });
    if !other.any(|chunk| chunk.contains(goes)) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, c)) = rest.find(goes).and_then(|at| {
        let c = rest.get(at..)?.chars().next()?;
        Some((rest.get(..at)?, c))
    }) {
        kept.push_str(before);
        rest = rest.get(before.len() + c.len_utf8()..).unwrap_or_default();
        if c == '\u{1b}' {
            rest = rest.get(escape_length(rest)..).unwrap_or_default();
        }
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}
