//! The element of a page that a browser's call works on, as the page shown before it names it: `click(bid="171")` is `button 'Go'`.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::line::{cleaned, shortened};
use super::source::SourceTurn;
use super::target::MAX_VALUE;

/// Start of an element's number in a call, as browser environments write it.
static NUMBER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("bid=\""));

/// Longest number of an element, in bytes.
const MAX_NUMBER: usize = 12;

/// The role and name of the element whose number stands in the line of a call; none if the last page before the call has no such.
pub(super) fn element_of(line: &str, turns: &[SourceTurn<'_>], turn: usize) -> Option<String> {
    let number = match NUMBER.find(line.as_bytes()) {
        Some(at) => line.get(at + NUMBER.needle().len()..)?.split('"').next()?,
        None => first_value(line)?,
    };
    let is_number = number.len() <= MAX_NUMBER && number.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let page = turns
        .get(..turn)?
        .iter()
        .rev()
        .find_map(|turn| turn.answers.last());
    let (_, page) = page.filter(|_| is_number && !number.is_empty())?;
    let mark = ["[", number, "] "].concat();
    let at = memchr::memmem::find_iter(page.as_bytes(), mark.as_bytes()).find(|at| {
        let before = page.get(..*at).unwrap_or_default();
        before.trim_end_matches([' ', '\t']).ends_with('\n')
    })?;
    let element = page.get(at + mark.len()..)?.lines().next()?;
    // A name stands in quotes; states and addresses follow it.
    let (role, rest) = element.split_once(" '")?;
    let is_end = |at: &usize| {
        let behind = rest.get(at + 1..).unwrap_or_default();
        let word = behind.split_whitespace().next().unwrap_or_default();
        behind.trim().is_empty() || behind.starts_with(',') || word.contains('=')
    };
    let end = memchr::memchr_iter(b'\'', rest.as_bytes()).find(is_end)?;
    let name = rest.get(..end)?.trim();
    let element = cleaned(&[role, " '", name, "'"].concat());
    (!name.is_empty())
        .then(|| shortened(&element, MAX_VALUE))
        .flatten()
        .map(Into::into)
}

/// Arguments that name an element by its number.
const ELEMENTS: [&str; 9] = [
    "uid",
    "node",
    "element",
    "bid",
    "id",
    "ref",
    "index",
    "element_id",
    "node_id",
];

/// The first value of a call: `1503` of `click(element: 1503)`.
fn first_value(line: &str) -> Option<&str> {
    let (_, arguments) = line.split_once('(')?;
    let first = arguments.split([',', ')']).next()?;
    let (key, value) = first.split_once(": ")?;
    let value = Some(value).filter(|_| ELEMENTS.contains(&key))?;
    Some(value).filter(|value| value.bytes().any(|byte| byte.is_ascii_digit()))
}
