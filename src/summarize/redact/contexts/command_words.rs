//! The words of a command line, without their quotes.

/// Bytes of a command that are read.
pub const MAX_COMMAND: usize = 800;

/// A word of a command, without its quotes.
pub struct CommandWord<'t> {
    /// The word.
    pub text: &'t str,
    /// The place where it stands.
    pub start: usize,
}

/// The words of the command that goes on at `at`, up to its end.
pub fn words(text: &str, at: usize) -> Vec<CommandWord<'_>> {
    let mut words = Vec::new();
    let bytes = text.as_bytes();
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(b'\n');
    let limit = bytes.len().min(at + MAX_COMMAND);
    let mut at = at;
    while at < limit {
        match byte(at) {
            b' ' | b'\t' => at += 1,
            b'\\' if byte(at + 1) == b'\n' => at += 2,
            b'\\' if byte(at + 1) == b'\\' && byte(at + 2) == b'n' => at += 3,
            b'\n' | b'\r' | b'|' | b';' | b'`' | b'&' | b'>' | b'<' => break,
            b'\\' if byte(at + 1) == b'n' => break,
            quote @ (b'"' | b'\'') => {
                let start = at + 1;
                let length = bytes
                    .get(start..limit)
                    .and_then(|rest| memchr::memchr2(quote, b'\n', rest));
                let Some(length) = length.filter(|length| byte(start + length) == quote) else {
                    break;
                };
                words.extend(
                    text.get(start..start + length)
                        .map(|text| CommandWord { text, start }),
                );
                at = start + length + 1;
            }
            b'\\' if matches!(byte(at + 1), b'"' | b'\'') => {
                let start = at + 2;
                let Some(length) = bytes
                    .get(start..limit)
                    .and_then(|rest| memchr::memchr2(b'\\', b'\n', rest))
                else {
                    break;
                };
                words.extend(
                    text.get(start..start + length)
                        .map(|text| CommandWord { text, start }),
                );
                at = start + length + 2;
            }
            _ => {
                let start = at;
                let rest = bytes.get(start..limit).unwrap_or_default();
                let ends = |byte: &u8| {
                    byte.is_ascii_whitespace() || matches!(byte, b'|' | b';' | b'`' | b'"' | b'\'')
                };
                let mut length = rest.iter().position(ends).unwrap_or(rest.len());
                // An option with a quoted value: `-p'x'`, `--user="a:b"`.
                if let Some(quote @ (b'"' | b'\'')) = rest.get(length).copied()
                    && length > 0
                    && let Some(inner) = rest
                        .get(length + 1..)
                        .and_then(|rest| memchr::memchr2(quote, b'\n', rest))
                    && rest.get(length + 1 + inner) == Some(&quote)
                {
                    let option = text.get(start..start + length).unwrap_or_default();
                    let inside = start + length + 1;
                    let option = option.trim_end_matches('=');
                    words.push(CommandWord { text: option, start });
                    words.extend(
                        text.get(inside..inside + inner)
                            .map(|text| CommandWord { text, start: inside }),
                    );
                    length += inner + 2;
                } else {
                    words.extend(
                        text.get(start..start + length)
                            .map(|text| CommandWord { text, start }),
                    );
                }
                at = start + length.max(1);
            }
        }
    }
    words
}
