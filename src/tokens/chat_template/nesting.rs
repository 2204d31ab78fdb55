//! How deep the values are that a template builds. Every container carries its depth and how many values a walk through it
//! meets, and one with too much of either is never made: so whatever walks values, their end of life included, needs a bounded
//! stack and has an end.

use minijinja::value::{DynObject, ObjectRepr, Tuple, ValueKind};
use minijinja::{Error, Value};

use super::arguments::fault;
use super::bounds::{self, DEEPEST};
use super::generator::Generator;
use super::ranges::Range;
use super::values::{Dict, Kind, List, View};

/// What a namespace or a loop counts as, which may come to hold anything less deep later. So none can hold another one, or itself.
const CHANGING: usize = 350;

/// What is said of values that lie too deep.
const TOO_DEEP: &str = "the template puts values deeper into one another than any sensible one does";

/// Bytes that a container takes, and each value in it.
const CONTAINER: usize = 96;
const ELEMENT: usize = size_of::<Value>();

/// Bytes that a value makes at least where it is written.
const WRITTEN: usize = 4;

/// What a walk through a value meets.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// How deep it goes.
    depth: usize,
    /// How many values it meets: those that lie at two places twice.
    values: usize,
}

impl Extent {
    /// Of a container of these values.
    fn around<'v>(values: impl IntoIterator<Item = &'v Value>) -> Self {
        let start = Self { depth: 1, values: 1 };
        values.into_iter().map(extent).fold(start, |whole, part| Self {
            depth: whole.depth.max(part.depth + 1),
            values: whole.values.saturating_add(part.values),
        })
    }
}

/// The extent of a container, and its bytes in the budget until it is dropped.
#[derive(Debug)]
pub struct Nesting {
    extent: Extent,
    bytes: usize,
}

impl Nesting {
    /// Of a container of a chat: how deep that may be is known, and it is in no budget.
    pub fn of_chat<'v>(values: impl IntoIterator<Item = &'v Value>) -> Self {
        let extent = Extent::around(values);
        Self { extent, bytes: 0 }
    }

    /// Of a container that a template makes.
    pub fn of_made<'v>(values: impl IntoIterator<Item = &'v Value>) -> Result<Self, Error> {
        let mut count = 0_usize;
        let extent = Extent::around(values.into_iter().inspect(|_| count += 1));
        if extent.depth > DEEPEST {
            return Err(fault(TOO_DEEP));
        }
        bounds::room(extent.values.saturating_mul(WRITTEN))?;
        let bytes = count.saturating_mul(ELEMENT).saturating_add(CONTAINER);
        bounds::charge(bytes)?;
        Ok(Self { extent, bytes })
    }

    /// What a walk through the container meets.
    pub fn extent(&self) -> Extent {
        self.extent
    }
}

impl Drop for Nesting {
    fn drop(&mut self) {
        bounds::give_back(self.bytes);
    }
}

/// What a walk through a value meets that [`settled`] gave.
fn extent(value: &Value) -> Extent {
    let flat = |depth| Extent { depth, values: 1 };
    let Some(object) = value.as_object() else {
        return flat(0);
    };
    let own = object.downcast_ref::<List>().map(List::extent);
    let own = own.or_else(|| object.downcast_ref::<Dict>().map(Dict::extent));
    let own = own.or_else(|| object.downcast_ref::<View>().map(View::extent));
    let own = own.or_else(|| object.downcast_ref::<Generator>().map(Generator::extent));
    own.unwrap_or_else(|| flat(if is_changing(object) { CHANGING } else { 1 }))
}

/// Whether a value may come to hold others.
fn is_changing(object: &DynObject) -> bool {
    let name = object.type_name();
    ["::Namespace", "::Loop"].iter().any(|end| name.ends_with(end))
}

/// The value with the engine's own containers replaced by such as carry their depth. Texts are counted.
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
                Kind::Tuple
            } else if object.type_name().ends_with("::GroupTuple") {
                Kind::Group
            } else {
                Kind::List
            };
            List::of_kind(elements, kind)
        }
        _ => Ok(value),
    }
}

/// The value, if a namespace or a loop may hold it.
pub fn kept(value: Value) -> Result<Value, Error> {
    let value = settled(value)?;
    if extent(&value).depth < CHANGING {
        Ok(value)
    } else {
        Err(fault(TOO_DEEP))
    }
}
