//! The element of a page that a browser's call works on, as the page shown before it names it: `click(bid="171")` is `button 'Go'`.

use std::sync::LazyLock;

use memchr::memmem::{Finder, find_iter};

use super::line::{cleaned, shortened};
use super::source::SourceTurn;
use super::target::MAX_VALUE;

/// Start of an element's number in a call, as browser environments write it.
static NUMBER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("bid=\""));

/// Longest number of an element, in bytes.
const MAX_NUMBER: usize = 12;

/// Signs before and behind the number of an element, as pages write them; a number that stands behind its element ends with a bracket.
const MARKS: [(&str, &str); 4] = [("[", "] "), ("[", "]<"), ("uid=", " "), ("[ref=", "]")];

/// The role and name of the element whose number stands in the line of a call; none if the last page before the call has no such.
pub(super) fn element_of(line: &str, turns: &[SourceTurn<'_>], turn: usize) -> Option<String> {
    let number = match NUMBER.find(line.as_bytes()) {
        Some(at) => line.get(at + NUMBER.needle().len()..)?.split('"').next()?,
        None => first_value(line).or_else(|| first_in_brackets(line))?,
    };
    let is_of_number = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_number = number.len() <= MAX_NUMBER && number.bytes().all(is_of_number);
    let page = turns
        .get(..turn)?
        .iter()
        .rev()
        .find_map(|turn| turn.answers.last());
    let (_, page) = page.filter(|_| is_number && !number.is_empty())?;
    let named = MARKS.iter().find_map(|(before, behind)| {
        let mark = [before, number, behind].concat();
        find_iter(page.as_bytes(), mark.as_bytes()).find_map(|at| {
            let start = page.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
            let left = page.get(start..at)?.trim_start_matches([' ', '\t', '-', '*']);
            if *before == "[ref=" {
                return named(left.trim_end());
            }
            let end = at + mark.len() - usize::from(behind.ends_with('<'));
            left.is_empty().then(|| named(page.get(end..)?.lines().next()?))?
        })
    });
    let element = cleaned(&named?);
    shortened(&element, MAX_VALUE).map(Into::into)
}

/// The role and the name of an element: of `link 'Help' url='/help'`, `button "Go"` and `<button title=x>Go</button>`.
fn named(element: &str) -> Option<String> {
    let (role, name) = if let Some(tag) = element.strip_prefix('<') {
        let (tag, text) = tag.split_once('>')?;
        let role = tag.split([' ', '/']).next()?;
        (role, text.split('<').next()?)
    } else {
        let (role, rest) = element.split_once(' ')?;
        let quote = rest.chars().next().filter(|sign| matches!(sign, '\'' | '"'))?;
        let rest = rest.get(1..)?;
        // States and addresses follow a name.
        let is_end = |at: &usize| {
            let behind = rest.get(at + 1..).unwrap_or_default();
            let word = behind.split_whitespace().next().unwrap_or_default();
            behind.trim().is_empty()
                || behind.starts_with(',')
                || word.contains('=')
                || word.ends_with(':')
                || quote == '"'
        };
        let end = rest.match_indices(quote).map(|(at, _)| at).find(is_end)?;
        (role, rest.get(..end)?)
    };
    let name = name.trim();
    (!name.is_empty()).then(|| [role, " '", name, "'"].concat())
}

/// The number in the first brackets of a call: `1503` of `type [1503] [Kiel]`.
fn first_in_brackets(line: &str) -> Option<&str> {
    let (verb, rest) = line.split_once(" [")?;
    let number = rest.split(']').next()?;
    let is_verb = !verb.is_empty() && verb.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    Some(number).filter(|number| is_verb && number.bytes().any(|byte| byte.is_ascii_digit()))
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
