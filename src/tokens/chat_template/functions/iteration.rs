//! Iteration as in Python: `none` cannot be iterated, and the results of some filters can be iterated once.

use minijinja::value::{Rest, ValueOrKwargs};
use minijinja::{Environment, Error, State, Value, filters};

use super::sizes::before_filter;
use crate::tokens::chat_template::arguments::fault;
use crate::tokens::chat_template::names::ITERATE;
use crate::tokens::chat_template::values::generator::Generator;
use crate::tokens::chat_template::values::made::settled;

/// Adds the filters that iterate over a sequence to the engine, those that return a generator included.
pub fn add(environment: &mut Environment<'_>) {
    /// Wraps the engine's own filter in a function with Python's behaviour.
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

/// The value itself, or an error if it is `none`, as in Python; the engine refuses other values that cannot be
/// iterated. An undefined value becomes empty.
pub fn walkable(value: Value) -> Result<Value, Error> {
    if value.is_none() {
        return Err(fault("`none` is no sequence"));
    }
    if value.is_undefined() {
        return Generator::of(Vec::new());
    }
    Ok(value)
}

/// Arguments of a filter after its value.
type FilterArguments = Vec<ValueOrKwargs>;

fn apply(state: &mut State, filter: &str, value: Value, arguments: FilterArguments) -> Result<Value, Error> {
    let arguments = arguments.into_iter().map(ValueOrKwargs::into_value);
    let all: Vec<Value> = std::iter::once(value).chain(arguments).collect();
    before_filter(filter, &all)?;
    settled(state.apply_filter(filter, &all)?)
}

fn walk(state: &mut State, filter: &str, value: Value, arguments: FilterArguments) -> Result<Value, Error> {
    apply(state, filter, walkable(value)?, arguments)
}

fn walk_back(
    state: &mut State,
    filter: &str,
    value: Value,
    arguments: FilterArguments,
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
    arguments: FilterArguments,
) -> Result<Value, Error> {
    if value.is_undefined() {
        return walkable(value);
    }
    generator(walk(state, filter, value, arguments)?)
}

/// For filters that check if a sequence is empty before they iterate over it.
fn generate_of_any(
    state: &mut State,
    filter: &str,
    value: Value,
    arguments: FilterArguments,
) -> Result<Value, Error> {
    let value = if value.is_true() { value } else { Value::from(()) };
    generator(apply(state, filter, value, arguments)?)
}

/// A generator of the elements of a value; a text is returned unchanged.
fn generator(value: Value) -> Result<Value, Error> {
    if value.as_str().is_some() {
        return Ok(value);
    }
    Generator::of(value.try_iter()?.collect())
}
