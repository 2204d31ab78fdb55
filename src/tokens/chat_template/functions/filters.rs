//! Filters and tests of Jinja, where the engine's own differ from Python's.

use minijinja::value::{Kwargs, Rest, ValueKind, from_args};
use minijinja::{Environment, Error, State, Value};

use super::iteration::walkable;
use super::sizes::as_list;
use super::{strings, to_json};
use crate::tokens::chat_template::arguments::{fault, in_order};
use crate::tokens::chat_template::bounds;
use crate::tokens::chat_template::values::generator::Generator;
use crate::tokens::chat_template::values::text_of;
use crate::tokens::chat_template::values::{Numeral, View};

/// Adds these filters and tests to the engine.
pub fn add(environment: &mut Environment<'_>) {
    environment.add_filter("tojson", to_json::to_json);
    environment.add_filter("string", |value: &Value| text_of(value).and_then(bounds::text));
    environment.add_filter("join", join);
    environment.add_filter("trim", trim);
    environment.add_filter("replace", replace);
    environment.add_filter("indent", indent);
    environment.add_filter("int", int);
    environment.add_filter("float", float);
    for name in ["default", "d"] {
        environment.add_filter(name, default);
    }
    for name in ["length", "count"] {
        environment.add_filter(name, length);
    }
    environment.add_test("iterable", is_iterable);
    environment.add_test("sequence", is_sequence);
    environment.add_test("number", is_number);
    environment.add_test("float", is_float);
}

/// `join(value, d='', attribute=None)`.
fn join(state: &mut State, value: Value, positional: Rest<Value>, named: Kwargs) -> Result<Value, Error> {
    let arguments = in_order((positional, named), &["d", "attribute"])?;
    let (between, attribute): (&Value, &Value) = from_args(&arguments)?;
    let mut list = walkable(value)?;
    if !attribute.is_none() && !attribute.is_undefined() {
        let named = Kwargs::from_iter([("attribute", attribute.clone())]);
        list = state.apply_filter("map", &[list, named.into()])?;
    }
    bounds::room(as_list(&list))?;
    let parts = list.try_iter()?.map(|part| match part.as_str() {
        Some(_) => Ok(part),
        None => text_of(&part).and_then(bounds::text),
    });
    let parts: Vec<Value> = parts.collect::<Result<_, Error>>()?;
    let parts: Vec<&str> = parts.iter().filter_map(Value::as_str).collect();
    bounds::text(strings::joined(&parts, &text_of(between)?)?)
}

fn trim(value: &Value, characters: Option<&str>) -> Result<Value, Error> {
    let text = text_of(value)?;
    bounds::text(strings::stripped(&text, characters, true, true))
}

fn replace(value: &Value, old: &Value, new: &Value, count: Option<i64>) -> Result<Value, Error> {
    bounds::text(strings::replaced(
        &text_of(value)?,
        &text_of(old)?,
        &text_of(new)?,
        count,
    )?)
}

fn indent(text: &str, positional: Rest<Value>, named: Kwargs) -> Result<Value, Error> {
    let arguments = in_order((positional, named), &["width", "first", "blank"])?;
    let (width, first, blank): (&Value, &Value, &Value) = from_args(&arguments)?;
    let margin = match (width.as_str(), i64::try_from(width.clone())) {
        (Some(margin), _) => margin.to_owned(),
        (None, Ok(width)) => {
            let width = usize::try_from(width).unwrap_or(0);
            bounds::room(width)?;
            " ".repeat(width)
        }
        (None, Err(_)) => " ".repeat(4),
    };
    let text = format!("{text}\n");
    let lines = text.bytes().filter(u8::is_ascii_control).count();
    bounds::room(lines.saturating_mul(margin.len() + 64).saturating_add(text.len()))?;
    let mut out = String::new();
    for (index, line) in strings::lines(&text, false).into_iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let has_margin = if index == 0 {
            first.is_true()
        } else {
            blank.is_true() || !line.is_empty()
        };
        if has_margin {
            out.push_str(&margin);
        }
        out.push_str(line);
    }
    bounds::text(out)
}

fn int(value: &Value, default: Option<Value>, base: Option<u32>) -> Value {
    let default = default.unwrap_or_else(|| Value::from(0));
    let Some(text) = value.as_str() else {
        let float = f64::try_from(value.clone())
            .ok()
            .filter(|float| float.is_finite());
        return match (i64::try_from(value.clone()), float) {
            (Ok(int), _) => Value::from(int),
            (_, Some(float)) => Value::from(float as i64),
            _ => default,
        };
    };
    let text = strings::stripped(text, None, true, true);
    let digits = match base {
        Some(16) => text.trim_start_matches("0x"),
        _ => text,
    };
    let float = || text.parse::<f64>().ok().filter(|float| float.is_finite());
    match i64::from_str_radix(digits, base.filter(|base| (2..=36).contains(base)).unwrap_or(10)) {
        Ok(int) => Value::from(int),
        Err(_) => float().map_or(default, |float| Value::from(float as i64)),
    }
}

fn float(value: &Value, default: Option<Value>) -> Value {
    let float = match value.as_str() {
        Some(text) => strings::stripped(text, None, true, true).parse().ok(),
        None => f64::try_from(value.clone()).ok(),
    };
    float.map_or_else(|| default.unwrap_or_else(|| Value::from(0.0)), Value::from)
}

fn default(value: &Value, positional: Rest<Value>, named: Kwargs) -> Result<Value, Error> {
    let arguments = in_order((positional, named), &["default_value", "boolean"])?;
    let (default, boolean): (&Value, &Value) = from_args(&arguments)?;
    let is_absent = value.is_undefined() || (boolean.is_true() && !value.is_true());
    Ok(match (is_absent, default.is_undefined()) {
        (false, _) => value.clone(),
        (true, true) => Value::from(""),
        (true, false) => default.clone(),
    })
}

fn length(value: &Value) -> Result<usize, Error> {
    if value.is_undefined() {
        return Ok(0);
    }
    value.len().ok_or_else(|| fault("the value has no length"))
}

fn is_iterable(value: &Value) -> bool {
    let kind = value.kind();
    matches!(
        kind,
        ValueKind::String | ValueKind::Seq | ValueKind::Map | ValueKind::Iterable | ValueKind::Undefined
    )
}

/// Returns true if a value has a length and can be indexed.
fn is_sequence(value: &Value) -> bool {
    is_iterable(value)
        && value.downcast_object_ref::<View>().is_none()
        && value.downcast_object_ref::<Generator>().is_none()
}

fn is_number(value: &Value) -> bool {
    matches!(value.kind(), ValueKind::Number | ValueKind::Bool)
        || value.downcast_object_ref::<Numeral>().is_some()
}

fn is_float(value: &Value) -> bool {
    match value.downcast_object_ref::<Numeral>() {
        Some(numeral) => numeral.is_float,
        None => value.kind() == ValueKind::Number && !value.is_integer(),
    }
}
