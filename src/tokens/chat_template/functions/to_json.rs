//! The filter `tojson` of `apply_chat_template`: Python's `json.dumps`, without Jinja's HTML escapes.

use std::fmt::Write;

use minijinja::value::{DynObject, Kwargs, Rest, ValueKind, from_args};
use minijinja::{Error, ErrorKind, Value};

use crate::tokens::chat_template::arguments::in_order;
use crate::tokens::chat_template::bounds;
use crate::tokens::chat_template::bounds::DEEPEST;
use crate::tokens::chat_template::values::generator::Generator;
use crate::tokens::chat_template::values::python::float_into;
use crate::tokens::chat_template::values::ranges::Range;
use crate::tokens::chat_template::values::{self, Numeral, View};

/// `tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False)`.
pub fn to_json(value: &Value, positional: Rest<Value>, named: Kwargs) -> Result<Value, Error> {
    let arguments = in_order(
        (positional, named),
        &["ensure_ascii", "indent", "separators", "sort_keys"],
    )?;
    let (ensure_ascii, indent, separators, sort_keys): (&Value, &Value, &Value, &Value) =
        from_args(&arguments)?;
    let indent = match (indent.as_str(), indent.kind()) {
        (Some(text), _) => Some(text.to_owned()),
        (None, ValueKind::None | ValueKind::Undefined) => None,
        (None, ValueKind::Bool) => Some(" ".repeat(usize::from(indent.is_true()))),
        (None, _) => {
            let width = usize::try_from(i64::try_from(indent.clone())?).unwrap_or(0);
            bounds::room(width)?;
            Some(" ".repeat(width))
        }
    };
    let (between, after_key) = if separators.is_none() || separators.is_undefined() {
        (
            if indent.is_some() { "," } else { ", " }.to_owned(),
            ": ".to_owned(),
        )
    } else {
        let part = |index| separators.get_item_by_index(index).map(|part| values::str(&part));
        (part(0)?, part(1)?)
    };
    let mut writer = JsonWriter {
        out: String::new(),
        ensure_ascii: ensure_ascii.is_true(),
        indent,
        between,
        after_key,
        sort_keys: sort_keys.is_true(),
    };
    writer.value(value, 0)?;
    bounds::text(writer.out)
}

/// Returns true if a sequence is a list, not just an iterable.
fn is_list(value: &Value) -> bool {
    !value
        .as_object()
        .is_some_and(|object| object.is::<View>() || object.is::<Generator>() || object.is::<Range>())
}

/// Maximum bytes of a text with its quotes and escapes.
fn longest(text: &str) -> usize {
    text.len().saturating_mul(2).saturating_add(2)
}

struct JsonWriter {
    out: String,
    ensure_ascii: bool,
    indent: Option<String>,
    between: String,
    after_key: String,
    sort_keys: bool,
}

impl JsonWriter {
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        if depth > 2 * DEEPEST {
            let message = "a value that lies too deep cannot be written as JSON";
            return Err(Error::new(ErrorKind::InvalidOperation, message));
        }
        // A list may hold another one twice, and that one the next, so the output can grow exponentially.
        bounds::room(self.out.len().saturating_add(value.as_str().map_or(8, longest)))?;
        match value.kind() {
            ValueKind::None => self.out.push_str("null"),
            ValueKind::Bool => self.out.push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::String => self.string(value.as_str().unwrap_or_default()),
            ValueKind::Number => self.number(value),
            ValueKind::Map => self.map(value, depth)?,
            ValueKind::Seq | ValueKind::Iterable if is_list(value) => self.list(value, depth)?,
            ValueKind::Plain if value.downcast_object_ref::<Numeral>().is_some() => self.numeral(value),
            kind => {
                let message = format!("a value that is {kind} cannot be written as JSON");
                return Err(Error::new(ErrorKind::InvalidOperation, message));
            }
        }
        Ok(())
    }

    fn number(&mut self, value: &Value) {
        if value.is_integer() {
            let _ = write!(self.out, "{value}");
            return;
        }
        let float = f64::try_from(value.clone()).unwrap_or_default();
        match float {
            _ if float.is_nan() => self.out.push_str("NaN"),
            f64::INFINITY => self.out.push_str("Infinity"),
            f64::NEG_INFINITY => self.out.push_str("-Infinity"),
            _ => float_into(float, &mut self.out),
        }
    }

    fn numeral(&mut self, value: &Value) {
        let start = self.out.len();
        let _ = write!(self.out, "{value}");
        // An infinite float: a JSON number that is too large is read as one.
        if self.out.ends_with("inf") {
            self.out.truncate(start);
            self.out.push_str(if value.to_string().starts_with('-') {
                "-Infinity"
            } else {
                "Infinity"
            });
        }
    }

    fn map(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        let pairs = value.as_object().and_then(DynObject::try_iter_pairs);
        let mut pairs: Vec<(Value, Value)> = pairs.into_iter().flatten().collect();
        if pairs.is_empty() {
            self.out.push_str("{}");
            return Ok(());
        }
        if self.sort_keys {
            pairs.sort_by(|one, other| one.0.cmp(&other.0));
        }
        self.out.push('{');
        for (index, (key, value)) in pairs.iter().enumerate() {
            self.before_element(index, depth + 1)?;
            self.key(key)?;
            self.out.push_str(&self.after_key);
            self.value(value, depth + 1)?;
        }
        self.line(depth)?;
        self.out.push('}');
        Ok(())
    }

    fn key(&mut self, key: &Value) -> Result<(), Error> {
        match key.kind() {
            ValueKind::String => self.string(key.as_str().unwrap_or_default()),
            ValueKind::None | ValueKind::Bool | ValueKind::Number => {
                self.out.push('"');
                self.value(key, 0)?;
                self.out.push('"');
            }
            kind => {
                let message = format!("a key of JSON cannot be {kind}");
                return Err(Error::new(ErrorKind::InvalidOperation, message));
            }
        }
        Ok(())
    }

    fn list(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        let mut length = 0;
        for element in value.try_iter()? {
            if length == 0 {
                self.out.push('[');
            }
            self.before_element(length, depth + 1)?;
            self.value(&element, depth + 1)?;
            length += 1;
        }
        if length == 0 {
            self.out.push_str("[]");
        } else {
            self.line(depth)?;
            self.out.push(']');
        }
        Ok(())
    }

    fn before_element(&mut self, index: usize, depth: usize) -> Result<(), Error> {
        if index > 0 {
            self.out.push_str(&self.between);
        }
        self.line(depth)
    }

    /// Starts a new line, if there is an indent.
    fn line(&mut self, depth: usize) -> Result<(), Error> {
        if let Some(indent) = &self.indent {
            let margin = indent.len().saturating_mul(depth);
            bounds::room(self.out.len().saturating_add(margin))?;
            self.out.push('\n');
            for _ in 0..depth {
                self.out.push_str(indent);
            }
        }
        Ok(())
    }

    fn string(&mut self, text: &str) {
        self.out.push('"');
        let mut copied = 0;
        for (at, byte) in text.bytes().enumerate() {
            let escape = match byte {
                b'"' => "\\\"",
                b'\\' => "\\\\",
                b'\n' => "\\n",
                b'\r' => "\\r",
                b'\t' => "\\t",
                0x08 => "\\b",
                0x0c => "\\f",
                0..0x20 => "",
                0x7f.. if self.ensure_ascii => "",
                _ => continue,
            };
            if at < copied {
                continue;
            }
            self.out.push_str(text.get(copied..at).unwrap_or_default());
            copied = at + 1;
            if escape.is_empty() {
                let character = text
                    .get(at..)
                    .and_then(|rest| rest.chars().next())
                    .unwrap_or_default();
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let _ = write!(self.out, "\\u{unit:04x}");
                }
                copied = at + character.len_utf8();
            } else {
                self.out.push_str(escape);
            }
        }
        self.out.push_str(text.get(copied..).unwrap_or_default());
        self.out.push('"');
    }
}
