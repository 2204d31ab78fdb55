//! Floats and strings in Python's form.

use std::fmt::Write;

/// Appends a float in the shortest form that reads back as the same number, with an exponent where Python has one.
pub fn float_into(float: f64, out: &mut String) {
    if float.is_nan() {
        out.push_str("nan");
        return;
    }
    if float.is_infinite() {
        out.push_str(if float > 0.0 { "inf" } else { "-inf" });
        return;
    }
    let scientific = format!("{float:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if float == 0.0 || (-4..16).contains(&exponent) {
        let _ = write!(out, "{float:?}");
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        let _ = write!(out, "{digits}e{sign}{:02}", exponent.unsigned_abs());
    }
}

/// Appends the result of `repr(text)`.
pub fn string_into(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    out.push(quote);
    for character in text.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            _ if character == quote => out.extend(['\\', quote]),
            ' '..='~' => out.push(character),
            _ if is_printable(character) => out.push(character),
            _ => {
                let code = u32::from(character);
                let _ = match code {
                    0..=0xff => write!(out, "\\x{code:02x}"),
                    0x100..=0xffff => write!(out, "\\u{code:04x}"),
                    _ => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push(quote);
}

/// Returns true if Python's `str.isprintable` does. Rust's `Debug` uses the same classes of characters, but also
/// escapes combining marks, unless they follow another character.
fn is_printable(character: char) -> bool {
    let mut after_another = String::from("a");
    after_another.push(character);
    after_another.escape_debug().count() == 2
}
