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
        let mut found = find_iter(page.as_bytes(), mark.as_bytes()).take(MAX_PLACES);
        found.find_map(|at| {
            let left = left_of(page, at)?;
            if *before == "[ref=" {
                return named(left);
            }
            let end = at + mark.len() - usize::from(behind.ends_with('<'));
            let right = || {
                page.get(end..page.len().min(end + MAX_ELEMENT))
                    .or_else(|| page.get(end..))
            };
            left.is_empty().then(|| named(right()?.lines().next()?))?
        })
    });
    let element = cleaned(&named?);
    shortened(&element, MAX_VALUE).map(Into::into)
}

/// Places of a page where an element's number is looked at, and bytes before and behind it.
const MAX_PLACES: usize = 64;
const MAX_ELEMENT: usize = 400;

/// The text before a place on its line, without bullets; `None` if that is too long.
fn left_of(page: &str, at: usize) -> Option<&str> {
    let from = at.saturating_sub(MAX_ELEMENT);
    let bytes = page.as_bytes().get(from..at)?;
    let start = match memchr::memrchr(b'\n', bytes) {
        Some(end) => from + end + 1,
        None if from == 0 => 0,
        None => return None,
    };
    Some(
        page.get(start..at)?
            .trim_start_matches([' ', '\t', '-', '*'])
            .trim_end(),
    )
}

/// The role and the name of an element: of `link 'Help' url='/help'`, `button "Go"` and `<button title=x>Go</button>`.
fn named(element: &str) -> Option<String> {
    let (role, name) = if let Some(tag) = element.strip_prefix('<') {
        // A tag ends outside of its quotes.
        let mut quote = None;
        let end = tag.bytes().position(|byte| {
            match byte {
                b'"' | b'\'' if quote.is_none() => quote = Some(byte),
                _ if Some(byte) == quote => quote = None,
                _ => {}
            }
            byte == b'>' && quote.is_none()
        })?;
        let role = tag.get(..end)?.split([' ', '/']).next()?;
        (role, tag.get(end + 1..)?.split('<').next()?)
    } else {
        let (role, rest) = element.split_once(' ')?;
        let quote = rest.chars().next().filter(|sign| matches!(sign, '\'' | '"'))?;
        let rest = rest.get(1..)?;
        // States and addresses follow a name, which may have the same sign in it.
        let is_end = |at: &usize| {
            let behind = rest.get(at + 1..).unwrap_or_default();
            let word = behind
                .strip_prefix(' ')
                .and_then(|behind| behind.split(' ').next());
            let is_state = || word.is_some_and(|word| word.contains(['=', '[']) || word.ends_with(':'));
            behind.is_empty() || behind.starts_with([',', ':']) || is_state()
        };
        let ends = rest.match_indices(quote).map(|(at, _)| at).take(MAX_PLACES);
        let end = ends.clone().find(is_end).or_else(|| ends.clone().last())?;
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
