//! Splits a turn with answers to calls of several turns, so that each piece can be moved to its call.

use rustc_hash::FxHashMap;

use super::quoted;
use crate::trajectory::edit::responses::{only_text, replaced};
use crate::trajectory::parse::results::elements;
use crate::trajectory::structure::CallPlace;
use crate::trajectory::structure::shape::CallsAndAnswers;
use crate::trajectory::view::decode::whole_responses;
use crate::trajectory::{Turn, json, without_responses};

/// The result of splitting a turn.
pub(super) struct Split {
    /// New turns, each with the index of the turn that called.
    pub pieces: Vec<(usize, String)>,
    /// The rest that stays in place; `None` if nothing does.
    pub left: Option<String>,
}

/// The answers of a turn as written, by the index of the turn that called.
struct Groups<'t> {
    callers: Vec<(usize, Vec<&'t str>)>,
    stays: bool,
}

/// Removes late answers, given with their calls, from a turn; `None` if they cannot be separated from each other.
pub(super) fn split(
    read: &Turn<'_>,
    shape: &CallsAndAnswers<'_, '_>,
    late: &[(CallPlace, CallPlace)],
) -> Option<Split> {
    let content = read.content()?;
    if shape.in_parts == 0 {
        envelopes(read, content, shape, late)
    } else {
        parts(read, content, shape, late)
    }
}

/// The same for results in parts. Their ids name their calls; other parts stay. In a tool's turn with an id of its own
/// they cannot be split.
fn parts(
    read: &Turn<'_>,
    content: &str,
    shape: &CallsAndAnswers<'_, '_>,
    late: &[(CallPlace, CallPlace)],
) -> Option<Split> {
    if shape.own_answers() > 0 {
        return None;
    }
    let callers: FxHashMap<&str, usize> = late
        .iter()
        .filter_map(|((_, place), (caller, _))| Some((shape.answers.get(*place)?.as_deref()?, *caller)))
        .collect();
    let caller_of = |id: Option<&str>| callers.get(id?).copied();
    let elements: Vec<(&str, Option<usize>)> = elements(content)
        .into_iter()
        .map(|(element, id)| (element, caller_of(id)))
        .collect();
    let groups = grouped(elements.iter().copied());
    let list = |elements: &[&str]| format!("[{}]", elements.join(", "));
    let stays: Vec<&str> = elements
        .iter()
        .filter(|(_, caller)| caller.is_none())
        .map(|(element, _)| *element)
        .collect();
    let with = |elements: &[&str]| replaced(read.text, content, &list(elements));
    let left = if groups.stays { Some(with(&stays)?) } else { None };
    written(read, groups, left, list, with)
}

/// The same for envelopes in a text. Text around them stays with the rest.
fn envelopes(
    read: &Turn<'_>,
    content: &str,
    shape: &CallsAndAnswers<'_, '_>,
    late: &[(CallPlace, CallPlace)],
) -> Option<Split> {
    let (text, is_exact) = json::decode(only_text(content)?);
    let blocks = whole_responses(&text);
    if !is_exact || blocks.len() != shape.answers.len() {
        return None;
    }
    let callers: FxHashMap<usize, usize> = late
        .iter()
        .map(|((_, place), (caller, _))| (*place, *caller))
        .collect();
    let blocks = blocks.into_iter().enumerate();
    let blocks = blocks.map(|(place, block)| Some((text.get(block)?, callers.get(&place).copied())));
    let blocks: Vec<(&str, Option<usize>)> = blocks.collect::<Option<_>>()?;
    let groups = grouped(blocks.iter().copied());
    // All of them are removed but one group.
    let rest = if groups.stays {
        None
    } else {
        groups.callers.first().map(|(caller, _)| *caller)
    };
    let gone = blocks
        .iter()
        .enumerate()
        .filter(|(_, (_, caller))| *caller != rest);
    let gone: Vec<usize> = gone.map(|(place, _)| place).collect();
    let rest = || without_responses(read, &gone);
    let left = if groups.stays { Some(rest()?) } else { None };
    let text = |blocks: &[&str]| quoted(&blocks.join("\n"));
    written(read, groups, left, text, |_| rest())
}

/// Groups elements by caller, in the order of their first answers; elements without a caller stay.
fn grouped<'t>(elements: impl Iterator<Item = (&'t str, Option<usize>)>) -> Groups<'t> {
    let mut callers: Vec<(usize, Vec<&str>)> = Vec::new();
    let mut places: FxHashMap<usize, usize> = FxHashMap::default();
    let mut stays = false;
    for (element, caller) in elements {
        let Some(caller) = caller else {
            stays = true;
            continue;
        };
        let place = *places.entry(caller).or_insert_with(|| {
            callers.push((caller, Vec::new()));
            callers.len() - 1
        });
        if let Some((_, group)) = callers.get_mut(place) {
            group.push(element);
        }
    }
    Groups { callers, stays }
}

/// Returns the pieces as turns. If nothing stays, the first one has the turn's other fields.
fn written<'t>(
    read: &Turn<'_>,
    groups: Groups<'t>,
    left: Option<String>,
    content: impl Fn(&[&'t str]) -> String,
    with: impl Fn(&[&'t str]) -> Option<String>,
) -> Option<Split> {
    let (role_key, text_key) = read.keys();
    let role = read.role_name()?;
    let mut pieces = Vec::with_capacity(groups.callers.len());
    for (index, (caller, elements)) in groups.callers.into_iter().enumerate() {
        let piece = if index == 0 && left.is_none() {
            with(&elements)?
        } else {
            let content = content(&elements);
            format!("{{\"{role_key}\": {role}, \"{text_key}\": {content}}}")
        };
        pieces.push((caller, piece));
    }
    (!pieces.is_empty()).then_some(Split { pieces, left })
}
