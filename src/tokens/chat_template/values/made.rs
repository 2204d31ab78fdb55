//! The making of containers. Every container stores its depth and the number of values in it, and one that exceeds a
//! limit is never made: so whatever walks values, dropping them included, needs a bounded stack and bounded time.

use std::collections::HashMap;
use std::sync::Arc;

use minijinja::value::{DynObject, ObjectRepr, Tuple, ValueKind};
use minijinja::{Error, Value};

use super::generator::Generator;
use super::nesting::{Extent, Nesting};
use super::ranges::Range;
use super::{Dict, List, ListKind, View};
use crate::tokens::chat_template::arguments::fault;
use crate::tokens::chat_template::bounds::{self, DEEPEST};

/// Maximum number of fields that are searched without an index.
const FEW: usize = 12;

/// The depth that a namespace or a loop counts as: less deep values may be put into it, but not another one or itself.
const CHANGING: usize = 350;

/// The error message for values that are nested too deeply.
const TOO_DEEP: &str = "the template puts values deeper into one another than any sensible one does";

/// Bytes of a container, and of each value in it.
const CONTAINER: usize = 96;
const ELEMENT: usize = size_of::<Value>();

/// Minimum bytes of a value when it is written.
const WRITTEN: usize = 4;

impl Dict {
    /// The dictionary of these fields. Of fields with the same name the last value counts, at the place of the first.
    pub fn of(given: Vec<(Value, Value)>) -> Value {
        let nesting = of_chat(given.iter().map(|(_, value)| value));
        Self::with_nesting(given, nesting)
    }

    /// The dictionary of these fields, made by a template.
    pub fn made(given: Vec<(Value, Value)>) -> Result<Value, Error> {
        let nesting = of_made(given.iter().flat_map(|(key, value)| [key, value]))?;
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
}

impl List {
    /// The list of these elements of the chat.
    pub fn of(elements: Vec<Value>) -> Value {
        let nesting = of_chat(&elements);
        Value::from_object(Self {
            elements,
            kind: ListKind::List,
            nesting,
        })
    }

    /// The list of these elements, made by a template.
    pub fn made(elements: Vec<Value>) -> Result<Value, Error> {
        Self::of_kind(elements, ListKind::List)
    }

    /// A list or tuple of these elements, made by a template.
    pub fn of_kind(elements: Vec<Value>, kind: ListKind) -> Result<Value, Error> {
        let nesting = of_made(&elements)?;
        Ok(Value::from_object(Self {
            elements,
            kind,
            nesting,
        }))
    }
}

impl View {
    /// A view of these values.
    pub fn of(name: &'static str, values: Vec<Value>) -> Result<Value, Error> {
        let nesting = of_made(&values)?;
        Ok(Value::from_object(Self {
            name,
            values,
            nesting,
        }))
    }
}

impl Generator {
    /// A generator of these elements.
    pub fn of(elements: Vec<Value>) -> Result<Value, Error> {
        let nesting = of_made(&elements)?;
        Ok(Value::from_object(Self::new(elements, nesting)))
    }
}

/// Nesting of a container in the chat: its depth is limited already, and it is not charged to the budget.
fn of_chat<'v>(values: impl IntoIterator<Item = &'v Value>) -> Nesting {
    let extent = around(values);
    Nesting { extent, bytes: 0 }
}

/// Nesting of a container that a template makes.
fn of_made<'v>(values: impl IntoIterator<Item = &'v Value>) -> Result<Nesting, Error> {
    let mut count = 0_usize;
    let extent = around(values.into_iter().inspect(|_| count += 1));
    if extent.depth > DEEPEST {
        return Err(fault(TOO_DEEP));
    }
    bounds::room(extent.values.saturating_mul(WRITTEN))?;
    let bytes = count.saturating_mul(ELEMENT).saturating_add(CONTAINER);
    bounds::charge(bytes)?;
    Ok(Nesting { extent, bytes })
}

/// The extent of a container of these values.
fn around<'v>(values: impl IntoIterator<Item = &'v Value>) -> Extent {
    let start = Extent { depth: 1, values: 1 };
    values.into_iter().map(extent).fold(start, |whole, part| Extent {
        depth: whole.depth.max(part.depth + 1),
        values: whole.values.saturating_add(part.values),
    })
}

/// The depth and number of the values in a value that [`settled`] returned.
fn extent(value: &Value) -> Extent {
    let flat = |depth| Extent { depth, values: 1 };
    let Some(object) = value.as_object() else {
        return flat(0);
    };
    let own = object.downcast_ref::<List>().map(|own| own.nesting.extent);
    let own = own.or_else(|| object.downcast_ref::<Dict>().map(|own| own.nesting.extent));
    let own = own.or_else(|| object.downcast_ref::<View>().map(|own| own.nesting.extent));
    let own = own.or_else(|| object.downcast_ref::<Generator>().map(Generator::extent));
    own.unwrap_or_else(|| flat(if is_changing(object) { CHANGING } else { 1 }))
}

/// Returns true if other values can be put into a value later.
fn is_changing(object: &DynObject) -> bool {
    let name = object.type_name();
    ["::Namespace", "::Loop"].iter().any(|end| name.ends_with(end))
}

/// The value, with containers of the engine replaced by ones that store their depth. Texts are charged.
pub fn settled(value: Value) -> Result<Value, Error> {
    let Some(object) = value.as_object() else {
        bounds::count(&value)?;
        return Ok(value);
    };
    let is_own = object.is::<List>() || object.is::<Dict>() || object.is::<View>();
    if is_own || object.is::<Generator>() || object.is::<Range>() || is_changing(object) {
        return Ok(value);
    }
    match (value.kind(), object.repr()) {
        (ValueKind::Map, ObjectRepr::Map) => {
            let pairs = object.try_iter_pairs().into_iter().flatten();
            let pairs = pairs.map(|(key, value)| Ok((settled(key)?, settled(value)?)));
            Dict::made(pairs.collect::<Result<_, Error>>()?)
        }
        (ValueKind::Seq | ValueKind::Iterable, _) => {
            bounds::room(value.len().unwrap_or_default().saturating_mul(ELEMENT))?;
            let is_flat = |tuple: &Tuple| tuple.iter().all(|value| value.as_object().is_none());
            if object.downcast_ref::<Tuple>().is_some_and(is_flat) {
                bounds::charge(value.len().unwrap_or_default().saturating_mul(ELEMENT))?;
                return Ok(value);
            }
            let elements = value.try_iter()?.map(settled).collect::<Result<_, _>>()?;
            let kind = if value.is_tuple() {
                ListKind::Tuple
            } else if object.type_name().ends_with("::GroupTuple") {
                ListKind::Group
            } else {
                ListKind::List
            };
            List::of_kind(elements, kind)
        }
        _ => Ok(value),
    }
}

/// The value, or an error if a namespace or a loop must not keep it.
pub fn kept(value: Value) -> Result<Value, Error> {
    let value = settled(value)?;
    if extent(&value).depth < CHANGING {
        Ok(value)
    } else {
        Err(fault(TOO_DEEP))
    }
}
