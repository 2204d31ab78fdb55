//! Mends neighbours of one role: turns of text only, or a person's turns in parts, are joined.

use std::borrow::Cow;

use super::{MendedTurn, appended, is_exact};
use crate::trajectory::edit::responses::replaced;
use crate::trajectory::parse::calls::raw_calls;
use crate::trajectory::parse::content::content_text;
use crate::trajectory::parse::parts::{parts, text_part};
use crate::trajectory::parse::results::{elements, is_results_only};
use crate::trajectory::structure::Structure;
use crate::trajectory::{Record, Role, Turn};

/// Joins consecutive turns of one role, if all of them can be joined.
pub(super) fn join<'a>(
    record: &Record<'a>,
    structure: &Structure<'a>,
    items: &mut Vec<MendedTurn<'a>>,
) -> bool {
    let results_first = structure.calls_in_parts();
    let mut follows = vec![false; record.turns.len()];
    for &turn in &structure.neighbours {
        if let Some(follows) = follows.get_mut(turn) {
            *follows = may_join(record, structure, turn, results_first);
        }
    }
    let mut is_gone = vec![false; record.turns.len()];
    let mut start = 0;
    while start < record.turns.len() {
        let rest = follows.get(start + 1..).unwrap_or_default();
        let more = rest.iter().take_while(|follows| **follows).count();
        let turns = record.turns.get(start..=start + more).unwrap_or_default();
        let joined = joined(record, turns, results_first).filter(|_| more > 0);
        let Some((text, item)) = joined.zip(items.get_mut(start)) else {
            start += 1;
            continue;
        };
        item.text = Cow::Owned(text);
        let later = start + 1..start + 1 + more;
        is_gone.get_mut(later.clone()).unwrap_or_default().fill(true);
        start = later.end;
    }
    let before = items.len();
    items.retain(|item| {
        let gone = item.place.and_then(|place| is_gone.get(place));
        gone != Some(&true)
    });
    items.len() < before
}

/// Returns the first of these turns with the content of all.
fn joined(record: &Record<'_>, turns: &[Turn<'_>], results_first: bool) -> Option<String> {
    let (first, later) = turns.split_first().filter(|(_, later)| !later.is_empty())?;
    let has_results = |turn: &Turn<'_>| {
        turn.content()
            .is_some_and(|content| !elements(content).is_empty())
    };
    if !turns.iter().all(is_text) || later.iter().any(has_results) {
        return joined_parts(first, turns, results_first);
    }
    let mut addition = String::new();
    for content in later.iter().filter_map(Turn::content) {
        addition.push_str("\n\n");
        addition.push_str(&content_text(content));
    }
    appended(record, first.text, &addition)
}

/// Returns the same in parts, unchanged; texts become parts. If only one of the turns has content, it is returned as it
/// is. With `results_first`, other parts follow all results.
fn joined_parts(first: &Turn<'_>, turns: &[Turn<'_>], results_first: bool) -> Option<String> {
    let says_something = |turn: &&Turn<'_>| turn.content().is_some_and(|content| content != "\"\"");
    let saying: Vec<&Turn<'_>> = turns.iter().filter(says_something).collect();
    let [base, _, ..] = saying.as_slice() else {
        return Some(saying.first().unwrap_or(&first).text.to_owned());
    };
    let contents = saying.iter().filter_map(|turn| turn.content());
    let (results, contents): (Vec<&str>, Vec<&str>) = if results_first {
        let parts = contents.flat_map(|content| {
            let elements = elements(content);
            let whole = elements.is_empty().then_some((content, None));
            elements.into_iter().chain(whole)
        });
        let (results, said): (Vec<_>, Vec<_>) = parts.partition(|(_, id)| id.is_some());
        let parts = |parts: Vec<(_, _)>| parts.into_iter().map(|(part, _)| part).collect();
        (parts(results), parts(said))
    } else {
        (Vec::new(), contents.collect())
    };
    let said = contents.into_iter().map(|content| {
        if content.starts_with('"') {
            return Cow::Owned(text_part(content));
        }
        let list = content
            .strip_prefix('[')
            .and_then(|content| content.strip_suffix(']'));
        Cow::Borrowed(list.unwrap_or(content).trim())
    });
    let results = results.into_iter().map(Cow::Borrowed);
    let parts: Vec<Cow<'_, str>> = results.chain(said).collect();
    replaced(base.text, base.content()?, &format!("[{}]", parts.join(", ")))
}

/// Returns true if a turn and the one before it may be joined.
fn may_join(record: &Record<'_>, structure: &Structure<'_>, turn: usize, results_first: bool) -> bool {
    let Some(start) = turn.checked_sub(1) else {
        return false;
    };
    let Some([before, after]) = record.turns.get(start..=turn) else {
        return false;
    };
    let shape = |at: usize| structure.shapes.get(start + at);
    let has_results = |at: usize| shape(at).is_none_or(|shape| shape.in_parts > 0);
    if is_text(before) && is_text(after) && !has_results(1) {
        return [0, 1]
            .into_iter()
            .filter_map(shape)
            .all(|shape| shape.calls.is_empty());
    }
    let is_string = |turn: &Turn<'_>| turn.content().is_some_and(|content| content.starts_with('"'));
    if is_string(before) && is_string(after) {
        return false;
    }
    // A person's results must come first, or they answer nothing: if they cannot be put there, the turns stay.
    let are_first = !has_results(1) || results_first || before.content().is_some_and(is_results_only);
    are_first && is_said_in_parts(before, has_results(0)) && is_said_in_parts(after, has_results(1))
}

/// Returns true if a turn is text only; an empty list of calls does not matter.
fn is_text(turn: &Turn<'_>) -> bool {
    turn.is_plain_text() && is_exact(turn) && says_no_more(turn)
}

/// Returns true if a turn is a person's, in parts or with a text that could be a part.
fn is_said_in_parts(turn: &Turn<'_>, has_results: bool) -> bool {
    let can_be = |content: &str| content.starts_with('"') || has_results || parts(content).is_some();
    turn.speaker() == Role::Human && !turn.opaque && says_no_more(turn) && turn.content().is_none_or(can_be)
}

fn says_no_more(turn: &Turn<'_>) -> bool {
    let thinks = turn.reasoning().is_some_and(|reasoning| reasoning != "\"\"");
    !thinks && raw_calls(turn).is_empty()
}
