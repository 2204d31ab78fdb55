//! Masks: lines that stand for outputs of tools. Each says what was run and how it ended, and keeps what went wrong.

mod ending;
mod errors;
#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;

pub use errors::error_lines;

use super::redact::redact;
use crate::compress::anchors::{Anchor, held_mask};
use crate::events::attempt::Attempt;
use crate::events::pairing::Pairing;
use crate::events::source::{Context, source_turns};
use crate::trajectory::TurnView;

/// Characters up to which an output stays as it is.
const SHORT: usize = 200;

/// Text before the identifiers that stood only in the output.
const MENTIONS: &str = "; mentions ";

/// Longest list of such names, in characters.
const MAX_NAMED: usize = 600;

/// The part of its output that such a list may be long.
const NAMED_SHARE: usize = 2;

/// A line for one output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask {
    /// The tool turn.
    pub turn: usize,
    /// Its index among the responses of the turn.
    pub response: usize,
    /// The text in place of the output; further error lines follow, a line each.
    pub text: String,
    /// The same where the output comes once more later: it says so.
    pub reference: Option<String>,
}

impl Mask {
    /// Names what later turns rely on and only this output (of so many characters) told, as far as there is room: the most
    /// used first.
    pub fn name(&mut self, anchors: &[Anchor], output_chars: usize) {
        let room = MAX_NAMED.min(output_chars / NAMED_SHARE);
        for text in std::iter::once(&mut self.text).chain(&mut self.reference) {
            let names = unsaid(anchors, text, room);
            if !names.is_empty() {
                let end = text.find('\n').unwrap_or(text.len());
                text.insert_str(end, &format!("{MENTIONS}{}", names.join(", ")));
            }
        }
    }
}

/// The anchors that a text does not hold, as many as `room` characters take; no secrets, nothing that breaks the line.
fn unsaid<'a>(anchors: &'a [Anchor], text: &str, room: usize) -> Vec<&'a str> {
    let mut left = room.saturating_sub(MENTIONS.len());
    let missing = anchors.iter().zip(held_mask(anchors, text));
    let missing = missing.filter(|(anchor, is_held)| {
        !is_held && !anchor.text.contains(char::is_control) && redact(&anchor.text).1 == 0
    });
    let fits = |(anchor, _): (&'a Anchor, bool)| {
        left = left.checked_sub(anchor.text.chars().count() + 2)?;
        Some(anchor.text.as_str())
    };
    missing.filter_map(fits).collect()
}

/// Masks for the outputs of the tool turns of `region`, oldest first: those that are long, and no masks themselves.
///
/// `region` are the turns as they may be read, without secrets; `all` are all turns as they are written, and `images`
/// tells how many images each output of a turn holds. Of either, turns that matter to no long output may be left out.
pub fn masks(
    region: &[TurnView<'_>],
    all: &[TurnView<'_>],
    images: impl Fn(usize) -> Vec<usize>,
) -> Vec<Mask> {
    let newest = newest(all);
    let before = region
        .first()
        .and_then(|turn| view_at(all, turn.index.checked_sub(1)?));
    let context = Context {
        before,
        ..Context::of(all)
    };
    let sources = source_turns(context, region, Into::into);
    let pairing = Pairing::of(&sources);
    let mut masks = Vec::new();
    for (index, view) in region.iter().enumerate() {
        if view.responses.is_empty() {
            continue;
        }
        let Some(written) = view_at(all, view.index) else {
            continue;
        };
        let images = images(view.index);
        let responses = view.responses.iter().zip(&written.responses);
        for (place, (response, written)) in responses.enumerate() {
            let images = images.get(place).copied().unwrap_or_default();
            if images == 0 && !is_long(&written.content) {
                continue;
            }
            let attempt = Attempt::answered_at(&sources, &pairing, (index, place));
            let label = attempt.target.label();
            if is_mask(&written.content, &label) {
                continue;
            }
            let line = |beside: Option<&str>| {
                let ending = ending::ending(&response.content, &attempt, images, beside);
                let mut text = format!("{label}{}", ending.first);
                for line in ending.more {
                    text.push('\n');
                    text.push_str(&line);
                }
                text
            };
            let later = newest
                .get(written.content.as_ref())
                .filter(|newest| newest.place != (view.index, place));
            masks.push(Mask {
                turn: view.index,
                response: place,
                text: line(None),
                reference: later.map(|newest| line(Some(&same_as(newest.id)))),
            });
        }
    }
    masks
}

/// The view of a turn among those of some or all turns, in order.
pub fn view_at<'s, 'v>(views: &'s [TurnView<'v>], turn: usize) -> Option<&'s TurnView<'v>> {
    let at_its_place = views.get(turn).filter(|view| view.index == turn);
    at_its_place.or_else(|| {
        let place = views.binary_search_by_key(&turn, |view| view.index);
        views.get(place.ok()?)
    })
}

/// The last place of an output.
struct Newest<'v> {
    place: (usize, usize),
    id: Option<&'v str>,
}

/// The last place of every long output.
fn newest<'v>(all: &'v [TurnView<'_>]) -> FxHashMap<&'v str, Newest<'v>> {
    let mut newest = FxHashMap::default();
    for view in all {
        for (place, response) in view.responses.iter().enumerate() {
            if is_long(&response.content) {
                let found = Newest {
                    place: (view.index, place),
                    id: response.id.as_deref(),
                };
                newest.insert(response.content.as_ref(), found);
            }
        }
    }
    newest
}

fn same_as(id: Option<&str>) -> String {
    match id.map(crate::events::line::cleaned) {
        Some(id) if !id.is_empty() && id.len() <= SHORT / 2 => format!(", the same as later in {id}"),
        _ => ", the same as in a later call".to_owned(),
    }
}

/// Returns true if an output is long enough to be masked.
pub fn is_long(output: &str) -> bool {
    output.len() > SHORT && output.chars().nth(SHORT).is_some()
}

/// Returns true if an output is a mask already: it begins as the mask of its own call would.
fn is_mask(output: &str, head: &str) -> bool {
    output
        .strip_prefix(head)
        .is_some_and(|rest| rest.starts_with(" -> ") || rest.starts_with(", "))
}
