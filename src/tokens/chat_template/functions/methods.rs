//! Python's methods of strings, dictionaries and lists.

use minijinja::value::{DynObject, Tuple, ValueKind, from_args};
use minijinja::{Error, ErrorKind, State, Value};

use super::strings;
use crate::tokens::chat_template::arguments::fault;
use crate::tokens::chat_template::bounds;
use crate::tokens::chat_template::names::SLICE;
use crate::tokens::chat_template::values::generator::Generator;
use crate::tokens::chat_template::values::made::settled;
use crate::tokens::chat_template::values::{Dict, List, View, is_tuple};

/// Calls a method that the engine does not have.
pub fn call(_: &mut State, value: &Value, method: &str, arguments: &[Value]) -> Result<Value, Error> {
    if method == SLICE {
        return slice(value, arguments);
    }
    match value.kind() {
        ValueKind::String => {
            strings::call(value.as_str().unwrap_or_default(), method, arguments).and_then(settled)
        }
        ValueKind::Map => of_dict(value, method, arguments),
        ValueKind::Seq | ValueKind::Iterable => of_list(value, method, arguments),
        _ => Err(Error::from(ErrorKind::UnknownMethod)),
    }
}

fn of_dict(dict: &Value, method: &str, arguments: &[Value]) -> Result<Value, Error> {
    let pairs = dict
        .as_object()
        .and_then(DynObject::try_iter_pairs)
        .into_iter()
        .flatten();
    if method == "get" {
        let (key, default): (&Value, Option<Value>) = from_args(arguments)?;
        let found = dict.as_object().and_then(|object| object.get_value(key));
        return Ok(found.or(default).unwrap_or(Value::from(())));
    }
    let () = from_args(arguments)?;
    bounds::room(dict.len().unwrap_or_default().saturating_mul(128))?;
    match method {
        "items" => {
            let items = pairs.map(|(key, value)| settled(Value::from(Tuple::from([key, value]))));
            View::of("dict_items", items.collect::<Result<_, _>>()?)
        }
        "keys" => View::of("dict_keys", pairs.map(|(key, _)| key).collect()),
        "values" => View::of("dict_values", pairs.map(|(_, value)| value).collect()),
        "copy" => Dict::made(pairs.collect()),
        _ => Err(Error::from(ErrorKind::UnknownMethod)),
    }
}

fn of_list(list: &Value, method: &str, arguments: &[Value]) -> Result<Value, Error> {
    match method {
        "count" => {
            let (wanted,): (&Value,) = from_args(arguments)?;
            Ok(Value::from(
                list.try_iter()?.filter(|element| element == wanted).count(),
            ))
        }
        "index" => {
            let (wanted,): (&Value,) = from_args(arguments)?;
            let place = list.try_iter()?.position(|element| element == *wanted);
            place
                .map(Value::from)
                .ok_or_else(|| fault("the value is not in the list"))
        }
        "copy" => List::made(list.try_iter()?.collect()),
        _ => Err(Error::from(ErrorKind::UnknownMethod)),
    }
}

/// `value[start:stop:step]`.
fn slice(value: &Value, arguments: &[Value]) -> Result<Value, Error> {
    let (start, stop, step): (Option<i64>, Option<i64>, Option<i64>) = from_args(arguments)?;
    if let Some(text) = value.as_str() {
        bounds::room(text.len().saturating_mul(5))?;
        let characters: Vec<char> = text.chars().collect();
        let places = places(characters.len(), start, stop, step)?;
        let characters = places.filter_map(|place| characters.get(place));
        return bounds::text(characters.collect::<String>());
    }
    if !matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable)
        || value.downcast_object_ref::<View>().is_some()
        || value.downcast_object_ref::<Generator>().is_some()
    {
        return Err(fault("only texts and lists can be sliced"));
    }
    let elements: Vec<Value> = value.try_iter()?.collect();
    let places = places(elements.len(), start, stop, step)?;
    let elements: Vec<Value> = places.filter_map(|place| elements.get(place).cloned()).collect();
    if is_tuple(value) {
        settled(Value::from(Tuple::from(elements)))
    } else {
        List::made(elements)
    }
}

/// The indexes of a slice, by the rules of Python.
fn places(
    length: usize,
    start: Option<i64>,
    stop: Option<i64>,
    step: Option<i64>,
) -> Result<impl Iterator<Item = usize>, Error> {
    let step = step.unwrap_or(1);
    if step == 0 {
        return Err(fault("a slice's step cannot be zero"));
    }
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let (low, high) = if step > 0 { (0, length) } else { (-1, length - 1) };
    let bound = |given: Option<i64>, default: i64| match given {
        None => default,
        Some(place) if place < 0 => (place.saturating_add(length)).max(low),
        Some(place) => place.min(high),
    };
    let (first, end) = if step > 0 {
        (bound(start, low), bound(stop, high))
    } else {
        (bound(start, high), bound(stop, low))
    };
    let count = if step > 0 {
        end.saturating_sub(first)
    } else {
        first.saturating_sub(end)
    };
    let step_size = step.unsigned_abs();
    let count = u64::try_from(count).unwrap_or(0).div_ceil(step_size);
    Ok((0..count).filter_map(move |index| {
        let distance = i64::try_from(index.checked_mul(step_size)?).ok()?;
        usize::try_from(if step > 0 {
            first + distance
        } else {
            first - distance
        })
        .ok()
    }))
}
