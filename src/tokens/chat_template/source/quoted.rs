//! String literals in the text of a template.

/// The end of the string literal that starts at `start`, its closing quote included.
pub fn string_end(bytes: &[u8], start: usize) -> usize {
    let quote = bytes.get(start).copied();
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            _ if Some(byte) == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}
