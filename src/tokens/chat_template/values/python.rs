//! Values as text in Python's form: `str()` and `repr()`.

use std::fmt::Write;

use minijinja::value::{DynObject, ValueKind};
use minijinja::{Error, Value};

use super::ranges::Range;
use super::{View, is_tuple};
use crate::tokens::chat_template::bounds::{self, DEEPEST};

/// The result of `str(value)`; empty for an undefined value.
pub fn str(value: &Value) -> String {
    match value.as_str() {
        Some(text) => text.to_owned(),
        None if value.is_undefined() => String::new(),
        None => {
            let mut out = String::new();
            repr_into(value, &mut out);
            out
        }
    }
}

/// Appends the result of `repr(value)`, as far as the budget has room for it.
pub fn repr_into(value: &Value, out: &mut String) {
    repr_at(value, out, 0);
}

fn repr_at(value: &Value, out: &mut String, depth: usize) {
    // A namespace also shows its contents, whose depth is not part of its own.
    if depth > 2 * DEEPEST || bounds::room(out.len()).is_err() {
        return;
    }
    match value.kind() {
        ValueKind::None => out.push_str("None"),
        ValueKind::Bool => out.push_str(if value.is_true() { "True" } else { "False" }),
        ValueKind::String => string_into(value.as_str().unwrap_or_default(), out),
        ValueKind::Number if value.is_integer() => {
            let _ = write!(out, "{value}");
        }
        ValueKind::Number => float_into(f64::try_from(value.clone()).unwrap_or_default(), out),
        ValueKind::Seq if value.downcast_object_ref::<Range>().is_some() => {
            let _ = write!(out, "{value}");
        }
        ValueKind::Map => map_into(value, out, depth + 1),
        ValueKind::Seq | ValueKind::Iterable => sequence_into(value, out, depth + 1),
        ValueKind::Undefined => out.push_str("Undefined"),
        _ => {
            let _ = write!(out, "{value}");
        }
    }
}

fn map_into(value: &Value, out: &mut String, depth: usize) {
    out.push('{');
    let pairs = value.as_object().and_then(DynObject::try_iter_pairs);
    for (index, (key, value)) in pairs.into_iter().flatten().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        repr_at(&key, out, depth);
        out.push_str(": ");
        repr_at(&value, out, depth);
    }
    out.push('}');
}

fn sequence_into(value: &Value, out: &mut String, depth: usize) {
    let view = value.downcast_object_ref::<View>().map(|view| view.name);
    let (open, close) = match view {
        Some(name) => {
            out.push_str(name);
            ("([", "])")
        }
        None if is_tuple(value) => ("(", ")"),
        None => ("[", "]"),
    };
    out.push_str(open);
    let mut length = 0;
    for element in value.try_iter().into_iter().flatten() {
        if length > 0 {
            out.push_str(", ");
        }
        repr_at(&element, out, depth);
        length += 1;
    }
    out.push_str(if length == 1 && is_tuple(value) {
        ",)"
    } else {
        close
    });
}

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

fn string_into(text: &str, out: &mut String) {
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

/// The result of `str(value)`, if the budget has room for it.
pub fn text_of(value: &Value) -> Result<String, Error> {
    bounds::room(value.as_str().map_or(0, str::len))?;
    Ok(str(value))
}
