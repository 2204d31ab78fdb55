//! Mends answers without a call: a human turn reports them.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};

use super::told::OrphanReport;
use super::{MendedTurn, insert, is_exact, run_of};
use crate::trajectory::edit::responses::replaced;
use crate::trajectory::json::fields::fields;
use crate::trajectory::parse::content::content_text;
use crate::trajectory::parse::parts::{Part, parts};
use crate::trajectory::parse::results::elements;
use crate::trajectory::structure::shape::CallsAndAnswers;
use crate::trajectory::structure::{CallPlace, Structure};
use crate::trajectory::{Record, Turn, json, view, without_responses};

/// A turn with answers that have no call.
struct Stray {
    /// The indexes of these answers.
    places: Vec<usize>,
    /// The rest of the turn; `None` if nothing is left.
    left: Option<String>,
    /// The parts to be reported, as JSON, if other parts of the turn answer calls.
    parts: Option<String>,
}

/// Moves answers without a call to a human turn after the tool turns around them: later turns may rely on them, so they
/// are not dropped, and trainers and templates refuse them where they are.
pub(super) fn tell_orphans<'a>(
    record: &Record<'a>,
    structure: &Structure<'a>,
    items: &mut Vec<MendedTurn<'a>>,
) -> bool {
    let in_place = tell_in_place(record, structure, items);
    let mut strays = strays(record, structure);
    let is_changed = in_place || !strays.is_empty();
    let mut new = Vec::new();
    let mut end = record.turns.len();
    while let Some(last) = (0..end).rev().find(|turn| strays.contains_key(turn)) {
        let run = run_of(record, last);
        let mut told = OrphanReport::default();
        let mut is_told = false;
        for turn in run.clone() {
            if let (Some(read), Some(stray)) = (record.turns.get(turn), strays.get(&turn)) {
                tell(&mut told, read, turn, stray);
                is_told |= stray.parts.as_deref() != Some("[]");
            }
        }
        if is_told {
            new.push((run.end - 1, told.turn(record)));
        }
        end = run.start;
    }
    for item in items.iter_mut() {
        let left = item.place.and_then(|place| strays.get_mut(&place)?.left.take());
        if let Some((left, place)) = left.zip(item.place) {
            item.text = Cow::Owned(left);
            strays.remove(&place);
        }
    }
    insert(items, new);
    items.retain(|item| item.place.is_none_or(|place| !strays.contains_key(&place)));
    is_changed
}

/// Replaces a person's results without a call by texts, after those results that answer a call.
fn tell_in_place<'a>(record: &Record<'a>, structure: &Structure<'a>, items: &mut [MendedTurn<'a>]) -> bool {
    let mut is_changed = false;
    for orphans in structure.orphans.chunk_by(|a, b| a.0 == b.0) {
        let Some(&(turn, _)) = orphans.first() else {
            continue;
        };
        let shape = structure.shapes.get(turn);
        if shape.is_none_or(|shape| shape.own_answers() > 0) {
            continue;
        }
        let places: FxHashSet<usize> = orphans.iter().map(|(_, place)| *place).collect();
        let read = record.turns.get(turn);
        let told = read.and_then(|read| {
            let content = read.content()?;
            replaced(read.text, content, &with_texts(content, &places))
        });
        if let Some((told, item)) = told.zip(items.get_mut(turn)) {
            item.text = Cow::Owned(told);
            is_changed = true;
        }
    }
    is_changed
}

/// Returns a content with texts in place of the results at these indexes among its results.
fn with_texts(content: &str, orphans: &FxHashSet<usize>) -> String {
    let mut results: Vec<Cow<'_, str>> = Vec::new();
    let mut said: Vec<Cow<'_, str>> = Vec::new();
    let mut place = 0;
    for (element, id) in elements(content) {
        if id.is_none() {
            said.push(Cow::Borrowed(element));
            continue;
        }
        if orphans.contains(&place) {
            said.extend(told_result(element).into_iter().map(Cow::Owned));
        } else {
            results.push(Cow::Borrowed(element));
        }
        place += 1;
    }
    results.append(&mut said);
    format!("[{}]", results.join(", "))
}

/// Returns the parts that report the content of a result.
fn told_result(result: &str) -> Vec<String> {
    let mut told = OrphanReport::default();
    let content = fields(result, &["content"])
        .ok()
        .and_then(|fields| fields.values[0]);
    let content = content.unwrap_or("\"\"");
    let is_exact = |literal: &str| json::decode(literal).1;
    match parts(content) {
        Some(parts) if parts.iter().any(|part| matches!(part, Part::Image)) => told.parts(content),
        Some(parts)
            if parts
                .iter()
                .all(|part| matches!(part, Part::Text(text) if is_exact(text))) =>
        {
            told.text(&content_text(content));
        }
        None if content.starts_with('"') && is_exact(content) => told.text(&content_text(content)),
        _ => told.text(content),
    }
    told.into_parts()
}

/// Returns the answers without a call that can be reported, by turn.
fn strays(record: &Record<'_>, structure: &Structure<'_>) -> FxHashMap<usize, Stray> {
    let answering: FxHashSet<CallPlace> = structure.links.iter().map(|(answer, _)| *answer).collect();
    let stray_of = |orphans: &[CallPlace]| {
        let (turn, _) = *orphans.first()?;
        let read = record.turns.get(turn).filter(|read| !read.opaque)?;
        let places: Vec<usize> = orphans.iter().map(|(_, place)| *place).collect();
        let shape = structure
            .shapes
            .get(turn)
            .filter(|shape| shape.own_answers() > 0)?;
        let is_called = |place: &usize| answering.contains(&(turn, *place));
        let (left, parts) = if places.len() < shape.own_answers() {
            let is_text = read.is_plain_text() && is_exact(read);
            (
                Some(is_text.then(|| without_responses(read, &places)).flatten()?),
                None,
            )
        } else if (0..shape.answers.len()).any(|place| is_called(&place)) {
            let (left, parts) = apart(read, &shape, is_called)?;
            (Some(left), Some(parts))
        } else {
            (None, None)
        };
        Some((turn, Stray { places, left, parts }))
    };
    let by_turn = structure.orphans.chunk_by(|a, b| a.0 == b.0);
    by_turn.filter_map(stray_of).collect()
}

/// Returns the turn without its own id and with only the parts that answer calls, and the other parts.
fn apart(
    read: &Turn<'_>,
    shape: &CallsAndAnswers<'_, '_>,
    is_called: impl Fn(&usize) -> bool,
) -> Option<(String, String)> {
    let ids = shape.answers.iter().enumerate();
    let called = ids.filter(|(place, _)| is_called(place));
    let called: FxHashSet<&str> = called.filter_map(|(_, id)| id.as_deref()).collect();
    let (answers, others): (Vec<_>, Vec<_>) = elements(read.content()?)
        .into_iter()
        .partition(|(_, id)| id.is_some_and(|id| called.contains(id)));
    let list = |elements: Vec<(&str, _)>| {
        let elements: Vec<&str> = elements.into_iter().map(|(element, _)| element).collect();
        format!("[{}]", elements.join(", "))
    };
    let ((role_key, text_key), role) = (read.keys(), read.role_name()?);
    let content = list(answers);
    let left = format!("{{\"{role_key}\": {role}, \"{text_key}\": {content}}}");
    Some((left, list(others)))
}

/// Reports a turn's answers without a call; if it has no other content, all of its text.
fn tell(told: &mut OrphanReport, read: &Turn<'_>, turn: usize, stray: &Stray) {
    let content = read.content().unwrap_or_default();
    let is_text = read.is_plain_text() && is_exact(read);
    if let Some(parts) = &stray.parts {
        told.parts(parts);
    } else if stray.left.is_none() && read.images() > 0 {
        told.parts(content);
    } else if !is_text && !content.is_empty() {
        told.text(content);
    } else {
        let view = view(read, turn);
        let around = stray.left.is_none().then_some(view.text.as_ref());
        let answers = stray.places.iter().filter_map(|place| view.responses.get(*place));
        let answers = answers.map(|response| response.content.as_ref());
        around.into_iter().chain(answers).for_each(|text| told.text(text));
    }
}
