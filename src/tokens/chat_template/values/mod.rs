//! Values that behave as Python's, where the engine's own do not, and the text of all values: `str()` and `repr()`.

pub(super) mod generator;
pub(super) mod json;
pub(super) mod made;
pub(super) mod markup;
mod nesting;
pub(super) mod python;
pub(super) mod ranges;

use std::collections::HashMap;
use std::fmt::{self, Write};
use std::sync::Arc;

use minijinja::value::{DynObject, Enumerator, Object, ObjectExt, ObjectRepr, ValueKind};
use minijinja::{Error, Value};

use crate::tokens::chat_template::bounds::{self, DEEPEST};
use nesting::Nesting;
use python::{float_into, string_into};
use ranges::Range;

/// Methods of every Python dictionary; as attributes they hide fields of the same name.
const DICT_METHODS: [&str; 11] = [
    "clear",
    "copy",
    "fromkeys",
    "get",
    "items",
    "keys",
    "pop",
    "popitem",
    "setdefault",
    "update",
    "values",
];

/// A JSON object.
#[derive(Debug)]
pub struct Dict {
    pairs: Vec<(Value, Value)>,
    /// The indexes of named fields, if there are many.
    places: HashMap<Arc<str>, usize>,
    nesting: Nesting,
}

impl Dict {
    fn place(&self, key: &Value) -> Option<usize> {
        match key.as_str() {
            Some(name) => self.named(name),
            None => self.pairs.iter().position(|(known, _)| known == key),
        }
    }

    fn named(&self, name: &str) -> Option<usize> {
        if self.places.is_empty() {
            self.pairs.iter().position(|(key, _)| key.as_str() == Some(name))
        } else {
            self.places.get(name).copied()
        }
    }

    fn value_at(&self, place: usize) -> Option<Value> {
        self.pairs.get(place).map(|(_, value)| value.clone())
    }
}

impl Object for Dict {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.value_at(self.place(key)?)
    }

    /// Looks up `dict.name`, as opposed to `dict['name']`.
    fn get_value_by_str(self: &Arc<Self>, name: &str) -> Option<Value> {
        if DICT_METHODS.contains(&name) {
            return Some(Value::from_object(Method(name.to_owned())));
        }
        self.value_at(self.named(name)?)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        self.mapped_rev_key_value_enumerator(|dict| Box::new(dict.pairs.iter().cloned()))
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.pairs.len())
    }

    fn render(self: &Arc<Self>, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        repr_into(&Value::from_dyn_object(Arc::clone(self)), &mut out);
        formatter.write_str(&out)
    }
}

/// A list, or a tuple that holds more than texts and numbers.
#[derive(Debug)]
pub struct List {
    elements: Vec<Value>,
    kind: ListKind,
    nesting: Nesting,
}

/// The Python type of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListKind {
    /// A list.
    List,
    /// A tuple.
    Tuple,
    /// An element of `groupby`'s result: a tuple of two, with names.
    Group,
}

/// Returns true if a value is a tuple.
pub fn is_tuple(value: &Value) -> bool {
    value.is_tuple()
        || value
            .downcast_object_ref::<List>()
            .is_some_and(|list| list.kind != ListKind::List)
}

impl Object for List {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let place = match (self.kind, key.as_str()) {
            (ListKind::Group, Some("grouper")) => 0,
            (ListKind::Group, Some("list")) => 1,
            _ => key.as_usize()?,
        };
        self.elements.get(place).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.elements.len())
    }

    fn render(self: &Arc<Self>, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        repr_into(&Value::from_dyn_object(Arc::clone(self)), &mut out);
        formatter.write_str(&out)
    }
}

/// A method of a value that is named but not called.
#[derive(Debug)]
struct Method(String);

impl Object for Method {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn render(self: &Arc<Self>, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "<built-in method {} of dict object>", self.0)
    }
}

/// The result of `items()`, `keys()` or `values()`: iterable and with a length, but not a list.
#[derive(Debug)]
pub struct View {
    /// The name of its type.
    pub name: &'static str,
    values: Vec<Value>,
    nesting: Nesting,
}

impl View {}

impl Object for View {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Iterable
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        self.mapped_rev_enumerator(|view| Box::new(view.values.iter().cloned()))
    }
}

/// A number that the engine cannot hold, or would format in another way than Python: a long integer, or a float with an
/// exponent.
#[derive(Debug)]
pub struct Numeral {
    /// The number as Python formats it.
    pub text: String,
    /// The number is a float.
    pub is_float: bool,
}

impl Object for Numeral {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn render(self: &Arc<Self>, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

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

/// The result of `str(value)`, if the budget has room for it.
pub fn text_of(value: &Value) -> Result<String, Error> {
    bounds::room(value.as_str().map_or(0, str::len))?;
    Ok(str(value))
}
