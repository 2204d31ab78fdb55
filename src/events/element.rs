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
    let start = NUMBER.find(line.as_bytes())? + NUMBER.needle().len();
    let (number, _) = line.get(start..)?.split_once('"')?;
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
    let name = rest.split("',").next()?.trim_end().trim_end_matches('\'');
    let element = cleaned(&[role, " '", name, "'"].concat());
    (!name.is_empty())
        .then(|| shortened(&element, MAX_VALUE))
        .flatten()
        .map(Into::into)
}
