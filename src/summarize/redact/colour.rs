//! Skips text between a name and its value that is neither: colours of a terminal, types.

/// Longest type between a name and its value.
const MAX_TYPE: usize = 40;

/// Returns the place behind the colour of a terminal: `\x1b[0;32m`.
pub fn past_colour(bytes: &[u8], at: usize) -> usize {
    let mut at = at;
    for _ in 0..3 {
        let rest = bytes.get(at..).unwrap_or_default();
        let openings: [&[u8]; 5] = [b"\x1b[", b"\\u001b[", b"\\x1b[", b"\\033[", b"\\e["];
        let Some(opening) = openings.iter().find(|opening| rest.starts_with(opening)) else {
            break;
        };
        let inner = rest.get(opening.len()..).unwrap_or_default();
        let length = inner
            .iter()
            .take(12)
            .take_while(|byte| byte.is_ascii_digit() || **byte == b';')
            .count();
        if !matches!(inner.get(length), Some(b'm' | b'K')) {
            break;
        }
        at += opening.len() + length + 1;
    }
    at
}

/// Returns the place behind a type between a name and its quoted value: `token: str = "…"`.
pub fn past_type(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let length = rest
        .iter()
        .take(MAX_TYPE)
        .take_while(|byte| {
            byte.is_ascii_alphanumeric()
                || matches!(
                    byte,
                    b'_' | b'[' | b']' | b'|' | b'.' | b' ' | b'?' | b'&' | b'\'' | b':'
                )
        })
        .count();
    match rest.get(length..) {
        Some([b'=', b' ', b'"' | b'\'', ..]) if length > 0 => at + length + 2,
        Some([b'=', b'"' | b'\'', ..]) if length > 0 => at + length + 1,
        _ => at,
    }
}
