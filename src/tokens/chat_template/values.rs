//! Values that behave as Python's where the engine's own do not.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use minijinja::Value;
use minijinja::value::{Enumerator, Object, ObjectExt, ObjectRepr};

use super::python;

/// Fields up to which a dictionary is searched without an index.
const FEW: usize = 12;

/// What every dictionary of Python has; as attributes they hide fields of the same name.
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
    /// Where the fields stand, if they are many.
    places: HashMap<Arc<str>, usize>,
}

impl Dict {
    /// The dictionary of these fields; of those with one name the last counts, at the place of the first.
    pub fn of(given: Vec<(Value, Value)>) -> Value {
        let many = given.len() > FEW;
        let mut dict = Self {
            pairs: Vec::with_capacity(given.len()),
            places: HashMap::new(),
        };
        for (key, value) in given {
            let name = key.as_str().unwrap_or_default();
            if let Some(pair) = dict.place(name).and_then(|place| dict.pairs.get_mut(place)) {
                pair.1 = value;
                continue;
            }
            if many {
                dict.places.insert(Arc::from(name), dict.pairs.len());
            }
            dict.pairs.push((key, value));
        }
        Value::from_object(dict)
    }

    fn place(&self, name: &str) -> Option<usize> {
        if self.places.is_empty() {
            self.pairs.iter().position(|(key, _)| key.as_str() == Some(name))
        } else {
            self.places.get(name).copied()
        }
    }

    fn field(&self, name: &str) -> Option<Value> {
        self.pairs.get(self.place(name)?).map(|(_, value)| value.clone())
    }
}

impl Object for Dict {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.field(key.as_str()?)
    }

    /// This is how `dict.name` is looked up, as opposed to `dict['name']`.
    fn get_value_by_str(self: &Arc<Self>, name: &str) -> Option<Value> {
        if DICT_METHODS.contains(&name) {
            return Some(Value::from_object(Method(name.to_owned())));
        }
        self.field(name)
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

/// A JSON list.
#[derive(Debug)]
pub struct List(Vec<Value>);

impl List {
    /// The list of these elements.
    pub fn of(elements: Vec<Value>) -> Value {
        Value::from_object(Self(elements))
    }
}

impl Object for List {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.0.get(key.as_usize()?).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.0.len())
    }

    fn render(self: &Arc<Self>, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        python::repr_into(&Value::from_dyn_object(Arc::clone(self)), &mut out);
        formatter.write_str(&out)
    }
}

/// A method of a value, named but not called.
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

/// What `items()`, `keys()` and `values()` give: it can be walked and has a length, and is no list.
#[derive(Debug)]
pub struct View {
    /// The name of its type.
    pub name: &'static str,
    /// What it shows.
    pub values: Vec<Value>,
}

impl Object for View {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Iterable
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        self.mapped_rev_enumerator(|view| Box::new(view.values.iter().cloned()))
    }
}

/// A number that the engine cannot hold, or would write in another way than Python: a long integer, or a float with an
/// exponent.
#[derive(Debug)]
pub struct Numeral {
    /// As Python writes it.
    pub text: String,
    /// Whether it is a float.
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
