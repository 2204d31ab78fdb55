//! Values that behave as Python's, where the engine's own do not.

pub(super) mod generator;
pub(super) mod json;
pub(super) mod markup;
pub(super) mod nesting;
pub(super) mod python;
pub(super) mod ranges;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use minijinja::value::{Enumerator, Object, ObjectExt, ObjectRepr};
use minijinja::{Error, Value};

use nesting::{Extent, Nesting};

/// Maximum number of fields that are searched without an index.
const FEW: usize = 12;

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
    /// The dictionary of these fields. Of fields with the same name the last value counts, at the place of the first.
    pub fn of(given: Vec<(Value, Value)>) -> Value {
        let nesting = Nesting::of_chat(given.iter().map(|(_, value)| value));
        Self::with_nesting(given, nesting)
    }

    /// The dictionary of these fields, made by a template.
    pub fn made(given: Vec<(Value, Value)>) -> Result<Value, Error> {
        let nesting = Nesting::of_made(given.iter().flat_map(|(key, value)| [key, value]))?;
        Ok(Self::with_nesting(given, nesting))
    }

    fn with_nesting(given: Vec<(Value, Value)>, nesting: Nesting) -> Value {
        let many = given.len() > FEW;
        let mut dict = Self {
            pairs: Vec::with_capacity(given.len()),
            places: HashMap::new(),
            nesting,
        };
        for (key, value) in given {
            if let Some(pair) = dict.place(&key).and_then(|place| dict.pairs.get_mut(place)) {
                pair.1 = value;
                continue;
            }
            if let Some(name) = key.as_str().filter(|_| many) {
                dict.places.insert(Arc::from(name), dict.pairs.len());
            }
            dict.pairs.push((key, value));
        }
        Value::from_object(dict)
    }

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

    /// The depth and number of the values in it.
    pub fn extent(&self) -> Extent {
        self.nesting.extent()
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
        python::repr_into(&Value::from_dyn_object(Arc::clone(self)), &mut out);
        formatter.write_str(&out)
    }
}

/// A list, or a tuple that holds more than texts and numbers.
#[derive(Debug)]
pub struct List {
    elements: Vec<Value>,
    kind: Kind,
    nesting: Nesting,
}

/// The Python type of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A list.
    List,
    /// A tuple.
    Tuple,
    /// An element of `groupby`'s result: a tuple of two, with names.
    Group,
}

impl List {
    /// The list of these elements of the chat.
    pub fn of(elements: Vec<Value>) -> Value {
        let nesting = Nesting::of_chat(&elements);
        Value::from_object(Self {
            elements,
            kind: Kind::List,
            nesting,
        })
    }

    /// The list of these elements, made by a template.
    pub fn made(elements: Vec<Value>) -> Result<Value, Error> {
        Self::of_kind(elements, Kind::List)
    }

    /// A list or tuple of these elements, made by a template.
    pub fn of_kind(elements: Vec<Value>, kind: Kind) -> Result<Value, Error> {
        let nesting = Nesting::of_made(&elements)?;
        Ok(Value::from_object(Self {
            elements,
            kind,
            nesting,
        }))
    }

    /// The depth and number of the values in it.
    pub fn extent(&self) -> Extent {
        self.nesting.extent()
    }
}

/// Returns true if a value is a tuple.
pub fn is_tuple(value: &Value) -> bool {
    value.is_tuple()
        || value
            .downcast_object_ref::<List>()
            .is_some_and(|list| list.kind != Kind::List)
}

impl Object for List {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let place = match (self.kind, key.as_str()) {
            (Kind::Group, Some("grouper")) => 0,
            (Kind::Group, Some("list")) => 1,
            _ => key.as_usize()?,
        };
        self.elements.get(place).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.elements.len())
    }

    fn render(self: &Arc<Self>, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        python::repr_into(&Value::from_dyn_object(Arc::clone(self)), &mut out);
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

impl View {
    /// A view of these values.
    pub fn of(name: &'static str, values: Vec<Value>) -> Result<Value, Error> {
        let nesting = Nesting::of_made(&values)?;
        Ok(Value::from_object(Self {
            name,
            values,
            nesting,
        }))
    }

    /// The depth and number of the values in it.
    pub fn extent(&self) -> Extent {
        self.nesting.extent()
    }
}

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
