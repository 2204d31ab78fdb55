//! The engine's own filters and functions that make texts, lists and what holds others, with a check before and after.

use minijinja::value::{DynObject, Kwargs, Rest, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, State, Value, filters, functions};

use super::methods::fault;
use super::nesting::{KEPT, kept, settled};
use super::{bounds, python, ranges};

/// The function that checks a value which an operator or brackets made.
pub const MADE: &str = "__made__";

/// The test that charges text of the template, and never holds.
pub const WRITES: &str = "__writes__";

/// The engine's own filter `format`.
const OWN_FORMAT: &str = "__own_format__";

/// Bytes that an element of a list takes while one is made.
const ELEMENT: usize = 64;

macro_rules! charged {
    ($environment:ident, $cost:expr, $($name:ident)*) => {
        $({
            /// The engine's own.
            const OWN: &str = concat!("__own_", stringify!($name), "__");
            $environment.add_filter(OWN, filters::$name);
            let charged = |state: &mut State<'_, '_>, arguments: Rest<ValueOrKwargs>| {
                let arguments = arguments.into_values();
                for argument in &arguments {
                    bounds::room($cost(argument))?;
                }
                settled(state.apply_filter(OWN, &arguments)?)
            };
            $environment.add_filter(stringify!($name), charged);
        })*
    };
}

/// Gives the engine the checks, and its filters and functions with them.
pub fn add(environment: &mut Environment<'_>) {
    environment.add_function(MADE, settled);
    environment.add_function(KEPT, kept);
    environment.add_test(WRITES, |bytes: usize| bounds::charge(bytes).map(|()| false));
    environment.add_function("range", ranges::range);
    environment.add_function("dict", |value: Option<Value>, named: Kwargs| {
        settled(functions::dict(value, named)?)
    });
    environment.add_function("namespace", namespace);
    // Python's writes nothing without an extension.
    environment.remove_global("debug");
    charged!(environment, as_list, chain zip lines split);
    charged!(environment, as_text, upper lower title);
    environment.add_filter("pprint", |value: Value| {
        let mut out = String::new();
        python::repr_into(&value, &mut out);
        bounds::text(out)
    });
    environment.add_filter(OWN_FORMAT, filters::format);
    environment.add_filter("format", format);
}

fn namespace(defaults: Option<ValueOrKwargs>) -> Result<Value, Error> {
    let pairs = defaults.as_ref().and_then(|defaults| defaults.as_object());
    for (_, value) in pairs.and_then(DynObject::try_iter_pairs).into_iter().flatten() {
        kept(value)?;
    }
    functions::namespace(defaults)
}

/// Bytes of a list that is made of a value: of its elements, or of as many as it says.
pub fn as_list(value: &Value) -> usize {
    let elements = match (value.as_str(), value.kind()) {
        (Some(text), _) => text.len(),
        (None, ValueKind::Number) => usize::try_from(value.clone()).unwrap_or_default(),
        (None, _) => value.len().unwrap_or_default(),
    };
    elements.saturating_mul(ELEMENT)
}

/// Bytes of a text that is made of a value, character by character.
fn as_text(value: &Value) -> usize {
    value.as_str().map_or(0, str::len).saturating_mul(3)
}

/// Bytes that a format may ask for: by numbers in it, and by values where these say how wide others are.
pub fn of_format(text: &str, values: &[Value]) -> usize {
    let wide = text.contains(['*']) || text.contains(":{");
    let numbers = values
        .iter()
        .filter(|value| wide && value.kind() == ValueKind::Number);
    let widths = numbers.map(|number| usize::try_from(number.clone()).unwrap_or_default());
    let texts = values.iter().map(size);
    widths.chain(texts).fold(in_text(text), usize::saturating_add)
}

/// The sum of the numbers that say how wide something is: those behind a `%` and, in braces, behind a colon.
fn in_text(text: &str) -> usize {
    let signs = text.match_indices(['%', '{']);
    let specs = signs.map(|(at, sign)| {
        let after = text.get(at + 1..).unwrap_or_default();
        let end = after.find(|character: char| character == '}' || sign == "%" && character.is_alphabetic());
        let spec = after.get(..end.unwrap_or(after.len())).unwrap_or_default();
        let start = if sign == "%" {
            0
        } else {
            spec.find(':').unwrap_or(spec.len())
        };
        spec.get(start..).unwrap_or_default()
    });
    let numbers = specs.flat_map(|spec| spec.split(|character: char| !character.is_ascii_digit()));
    let widths = numbers.filter(|digits| !digits.is_empty());
    let widths = widths.map(|digits| digits.parse().unwrap_or(usize::MAX));
    widths.fold(0, usize::saturating_add)
}

fn size(value: &Value) -> usize {
    match (value.as_str(), value.kind()) {
        (Some(text), _) => text.len(),
        (None, ValueKind::Seq | ValueKind::Iterable) => {
            value.len().unwrap_or_default().saturating_mul(ELEMENT)
        }
        _ => 0,
    }
}

fn format(state: &mut State<'_, '_>, arguments: Rest<ValueOrKwargs>) -> Result<Value, Error> {
    let arguments = arguments.into_values();
    if let Some((text, values)) = arguments.split_first() {
        bounds::room(of_format(text.as_str().unwrap_or_default(), values))?;
    }
    settled(state.apply_filter(OWN_FORMAT, &arguments)?)
}

/// Checks that there is room for what a filter that walks a sequence makes of its arguments.
pub fn before_filter(name: &str, arguments: &[Value]) -> Result<(), Error> {
    let elements = arguments.iter().map(as_list);
    bounds::room(elements.fold(0, usize::saturating_add))?;
    let start = |argument: &Value| argument.get_attr("start").unwrap_or_default();
    let mut starts = arguments
        .get(2)
        .into_iter()
        .cloned()
        .chain(arguments.last().map(start));
    if name.ends_with("sum") && starts.any(|start| start.as_str().is_some()) {
        return Err(fault("texts cannot be summed, but joined"));
    }
    Ok(())
}
