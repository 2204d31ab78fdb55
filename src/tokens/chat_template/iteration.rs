//! Iteration as Python has it: `none` cannot be walked, and what some filters generate can be walked once.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use minijinja::value::{Enumerator, Object, ObjectRepr, Rest, ValueOrKwargs};
use minijinja::{Environment, Error, State, Value, filters};

use super::charged;
use super::methods::fault;
use super::nesting::{Extent, Nesting, settled};

/// The filter that a loop's sequence goes through.
pub const ITERATE: &str = "__iterate__";

/// Gives the engine the filters that walk a sequence, those that generate one among them.
pub fn add(environment: &mut Environment<'_>) {
    /// Puts a function of Python's behaviour in front of the engine's own filter.
    macro_rules! front {
        ($front:ident: $($name:ident),*) => {$(
            environment.add_filter(concat!("__", stringify!($name)), filters::$name);
            environment.add_filter(
                stringify!($name),
                |state: &mut State, value: Value, Rest(arguments): Rest<ValueOrKwargs>| {
                    $front(state, concat!("__", stringify!($name)), value, arguments)
                },
            );
        )*};
    }
    environment.add_filter(ITERATE, walkable);
    front!(walk_back: last);
    front!(walk: first, list, max, min, sort, sum, groupby, dictsort);
    front!(generate: batch, items, reverse, slice, unique);
    front!(generate_of_any: map, reject, rejectattr, select, selectattr);
}

/// The value itself, if Python can walk it as far as `none` is concerned; the engine refuses the rest. What is undefined is
/// empty.
pub fn walkable(value: Value) -> Result<Value, Error> {
    if value.is_none() {
        return Err(fault("`none` is no sequence"));
    }
    if value.is_undefined() {
        return Generator::of(Vec::new());
    }
    Ok(value)
}

fn apply(
    state: &mut State,
    filter: &str,
    value: Value,
    arguments: Vec<ValueOrKwargs>,
) -> Result<Value, Error> {
    let arguments = arguments.into_iter().map(ValueOrKwargs::into_value);
    let all: Vec<Value> = std::iter::once(value).chain(arguments).collect();
    charged::before_filter(filter, &all)?;
    settled(state.apply_filter(filter, &all)?)
}

fn walk(
    state: &mut State,
    filter: &str,
    value: Value,
    arguments: Vec<ValueOrKwargs>,
) -> Result<Value, Error> {
    apply(state, filter, walkable(value)?, arguments)
}

fn walk_back(
    state: &mut State,
    filter: &str,
    value: Value,
    arguments: Vec<ValueOrKwargs>,
) -> Result<Value, Error> {
    if value.downcast_object_ref::<Generator>().is_some() {
        return Err(fault("a generator cannot be walked from its end"));
    }
    walk(state, filter, value, arguments)
}

fn generate(
    state: &mut State,
    filter: &str,
    value: Value,
    arguments: Vec<ValueOrKwargs>,
) -> Result<Value, Error> {
    if value.is_undefined() {
        return walkable(value);
    }
    generator(walk(state, filter, value, arguments)?)
}

/// For filters that ask whether there is anything before they walk it.
fn generate_of_any(
    state: &mut State,
    filter: &str,
    value: Value,
    arguments: Vec<ValueOrKwargs>,
) -> Result<Value, Error> {
    let value = if value.is_true() { value } else { Value::from(()) };
    generator(apply(state, filter, value, arguments)?)
}

/// A generator of the elements of a value; a text stays one.
fn generator(value: Value) -> Result<Value, Error> {
    if value.as_str().is_some() {
        return Ok(value);
    }
    Generator::of(value.try_iter()?.collect())
}

/// A generator: it is true, has no length and no elements by number, and gives every element once.
#[derive(Debug)]
pub struct Generator {
    rest: Mutex<std::vec::IntoIter<Value>>,
    nesting: Nesting,
}

impl Generator {
    /// Of these elements.
    fn of(elements: Vec<Value>) -> Result<Value, Error> {
        let nesting = Nesting::of_made(&elements)?;
        let rest = Mutex::new(elements.into_iter());
        Ok(Value::from_object(Self { rest, nesting }))
    }

    /// What a walk through it meets.
    pub fn extent(&self) -> Extent {
        self.nesting.extent()
    }

    fn rest(&self) -> MutexGuard<'_, std::vec::IntoIter<Value>> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A walk through what a generator has left; how much that is, loops are told.
struct Walk(Arc<Generator>);

impl Iterator for Walk {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        self.0.rest().next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.rest().size_hint()
    }
}

impl Object for Generator {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Iterable
    }

    fn get_value(self: &Arc<Self>, _: &Value) -> Option<Value> {
        Some(Value::UNDEFINED)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Iter(Box::new(Walk(Arc::clone(self))))
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        None
    }

    fn is_true(self: &Arc<Self>) -> bool {
        true
    }

    fn render(self: &Arc<Self>, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("<generator object>")
    }
}
