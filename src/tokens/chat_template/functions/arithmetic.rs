//! Operators that make texts and lists, as in Python, with a check of the budget before they do.

use minijinja::value::{Rest, ValueKind};
use minijinja::{Environment, Error, Value};

use super::strings::joined;
use crate::tokens::chat_template::arguments::fault;
use crate::tokens::chat_template::bounds;
use crate::tokens::chat_template::names::{ADD, CONCATENATE, MULTIPLY};
use crate::tokens::chat_template::values::markup::{escaped, marked};
use crate::tokens::chat_template::values::text_of;
use crate::tokens::chat_template::values::{List, ListKind, is_tuple};

/// Bytes of a value in a list.
const ELEMENT: usize = size_of::<Value>();

/// Adds these filters to the engine.
pub fn add(environment: &mut Environment<'_>) {
    environment.add_filter(ADD, added);
    environment.add_filter(MULTIPLY, |first: &Value, Rest(others): Rest<Value>| {
        folded(first, &others, times)
    });
    environment.add_filter(CONCATENATE, concatenated);
}

fn added(first: &Value, Rest(others): Rest<Value>) -> Result<Value, Error> {
    let parts = std::iter::once(first).chain(&others);
    let plain = parts.map(|part| part.as_str().filter(|_| !part.is_safe()));
    match plain.collect::<Option<Vec<&str>>>() {
        Some(texts) => joined(&texts, "").and_then(bounds::text),
        None => folded(first, &others, plus),
    }
}

fn folded(
    first: &Value,
    others: &[Value],
    operator: fn(&Value, &Value) -> Result<Value, Error>,
) -> Result<Value, Error> {
    let mut result = first.clone();
    for other in others {
        result = operator(&result, other)?;
    }
    Ok(result)
}

fn concatenated(first: &Value, Rest(others): Rest<Value>) -> Result<Value, Error> {
    let mut out = text_of(first)?;
    for other in &others {
        let text = text_of(other)?;
        bounds::room(out.len().saturating_add(text.len()))?;
        out.push_str(&text);
    }
    bounds::text(out)
}

fn is_sequence(value: &Value) -> bool {
    matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable)
}

fn is_float(value: &Value) -> bool {
    value.kind() == ValueKind::Number && !value.is_integer()
}

/// The value as an integer; booleans count as numbers, as in Python.
fn integer(value: &Value) -> Result<i128, Error> {
    i128::try_from(value.clone())
}

fn float(value: &Value) -> Result<f64, Error> {
    f64::try_from(value.clone())
}

fn number(result: Option<i128>) -> Result<Value, Error> {
    let result = result.ok_or_else(|| fault("the number is too large"))?;
    Ok(i64::try_from(result).map_or_else(|_| Value::from(result), Value::from))
}

fn plus(left: &Value, right: &Value) -> Result<Value, Error> {
    match (left.as_str(), right.as_str()) {
        (Some(one), Some(other)) if left.is_safe() || right.is_safe() => {
            let part = |value: &Value, text: &str| {
                if value.is_safe() {
                    Ok(text.to_owned())
                } else {
                    escaped(text)
                }
            };
            bounds::room(one.len().saturating_add(other.len()))?;
            marked(part(left, one)? + &part(right, other)?)
        }
        (Some(one), Some(other)) => {
            bounds::room(one.len().saturating_add(other.len()))?;
            bounds::text([one, other].concat())
        }
        (None, None) if is_sequence(left) && is_sequence(right) => {
            let lengths = [left.len(), right.len()].map(Option::unwrap_or_default);
            bounds::room(lengths.iter().sum::<usize>().saturating_mul(ELEMENT))?;
            let elements = left.try_iter()?.chain(right.try_iter()?).collect::<Vec<_>>();
            match (is_tuple(left), is_tuple(right)) {
                (true, true) => List::of_kind(elements, ListKind::Tuple),
                (false, false) => List::made(elements),
                _ => Err(fault("a list and a tuple cannot be added")),
            }
        }
        (None, None) if is_float(left) || is_float(right) => Ok(Value::from(float(left)? + float(right)?)),
        (None, None) => number(integer(left)?.checked_add(integer(right)?)),
        _ => Err(fault("these values cannot be added")),
    }
}

fn times(left: &Value, right: &Value) -> Result<Value, Error> {
    let is_many = |value: &Value| value.as_str().is_some() || is_sequence(value);
    let (of, by) = match (is_many(left), is_many(right)) {
        (true, false) => (left, right),
        (false, true) => (right, left),
        (true, true) => return Err(fault("these values cannot be multiplied")),
        (false, false) if is_float(left) || is_float(right) => {
            return Ok(Value::from(float(left)? * float(right)?));
        }
        (false, false) => return number(integer(left)?.checked_mul(integer(right)?)),
    };
    // A negative count is zero.
    let count = usize::try_from(integer(by)?.max(0)).unwrap_or(usize::MAX);
    if let Some(text) = of.as_str() {
        bounds::room(text.len().saturating_mul(count))?;
        let repeated = text.repeat(count);
        return if of.is_safe() {
            marked(repeated)
        } else {
            bounds::text(repeated)
        };
    }
    let elements: Vec<Value> = of.try_iter()?.collect();
    bounds::room(elements.len().saturating_mul(count).saturating_mul(ELEMENT))?;
    // Repeating an empty list must take no time, however large the count.
    let count = if elements.is_empty() { 0 } else { count };
    let repeated = (0..count).flat_map(|_| elements.iter().cloned()).collect();
    List::of_kind(
        repeated,
        if is_tuple(of) {
            ListKind::Tuple
        } else {
            ListKind::List
        },
    )
}
