//! Sizes of values that filters are about to make, in bytes.

use minijinja::value::ValueKind;
use minijinja::{Error, Value};

use crate::tokens::chat_template::arguments::fault;
use crate::tokens::chat_template::bounds;

/// Bytes of an element of a list while the list is made.
const ELEMENT: usize = 64;

/// Bytes of a list that is made of a value: of its elements, or of as many as a number requests.
pub fn as_list(value: &Value) -> usize {
    let elements = match (value.as_str(), value.kind()) {
        (Some(text), _) => text.len(),
        (None, ValueKind::Number) => usize::try_from(value.clone()).unwrap_or_default(),
        (None, _) => value.len().unwrap_or_default(),
    };
    elements.saturating_mul(ELEMENT)
}

/// Bytes that a format string requests: by the numbers in it, and by values if these give widths.
pub fn of_format(text: &str, values: &[Value]) -> usize {
    let wide = text.contains(['*']) || text.contains(":{");
    let numbers = values
        .iter()
        .filter(|value| wide && value.kind() == ValueKind::Number);
    let widths = numbers.map(|number| usize::try_from(number.clone()).unwrap_or_default());
    let texts = values.iter().map(size);
    widths.chain(texts).fold(in_text(text), usize::saturating_add)
}

/// The sum of the widths in a format string: the numbers after a `%` and, in braces, after a colon.
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

/// Checks that the budget has room for the result of a filter that iterates over a sequence.
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
