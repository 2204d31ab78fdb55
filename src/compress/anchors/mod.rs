//! Identifiers that later turns rely on, and which of them a compression would leave dangling.

mod filter;
mod invented;
mod kind;
mod matcher;
mod outputs;
mod pair;
mod scan;
mod search;
#[cfg(test)]
mod tests;
mod words;

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use crate::trajectory::{Role, TurnView, Turns};

pub use invented::invented;
pub use kind::is_spaceless;
pub use matcher::Matcher;
pub use outputs::{Output, told_by_outputs};
pub use pair::{Needed, PairScore, score, score_aligned};
pub use scan::{argument_values, identifiers};
pub use search::Search;

/// An identifier (path, id, number, name, URL, hash, quoted value) that kept assistant turns use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// The identifier, as written.
    pub text: String,
    /// How many times kept assistant turns use it.
    pub uses: usize,
}

/// Identifiers looked at for one compression; more is a data dump, and the least used are then left out.
const MAX_CANDIDATES: usize = 8_192;

/// An identifier that a kept assistant turn uses, before it is known whether it dangles.
struct Use {
    uses: usize,
    first_turn: usize,
}

/// The identifiers that replacing `region` would leave dangling: kept assistant turns after the region use them (in
/// their text or in call arguments), the region is a source of them, and neither `kept_before` nor an earlier turn
/// of `kept_after` is. Most used first, ties by first use.
pub fn dangling<'b, 'r, 'a>(
    kept_before: impl Into<Turns<'b>>,
    region: impl Into<Turns<'r>>,
    kept_after: impl Into<Turns<'a>>,
) -> Vec<Anchor> {
    let (kept_before, region, kept_after) = (kept_before.into(), region.into(), kept_after.into());
    let (texts, uses) = used(kept_after.all().enumerate());
    if texts.is_empty() || region.is_empty() {
        return Vec::new();
    }
    let matcher = Matcher::new(texts.iter().map(String::as_str));
    let mut search = Search::new(&matcher, vec![true; texts.len()]);
    for turn in region.all() {
        for text in turn.texts() {
            search.find(text, |_, _| false);
        }
    }
    let unsourced = search.into_wanted().into_iter();
    let sourced: Vec<bool> = unsourced.map(|is_unsourced| !is_unsourced).collect();
    if !sourced.contains(&true) {
        return Vec::new();
    }
    // From here on only the sourced ones are looked for; a hit elsewhere means that they do not dangle.
    let mut search = Search::new(&matcher, sourced);
    for turn in kept_before.all() {
        for text in turn.texts() {
            search.find(text, |_, _| false);
        }
    }
    for (turn_index, turn) in kept_after.all().enumerate() {
        for text in turn.texts() {
            search.find(text, |pattern, _| {
                // Still wanted where this turn is the first use itself, or comes after it.
                uses.get(pattern).is_none_or(|used| turn_index >= used.first_turn)
            });
        }
    }
    let open = search.into_wanted();
    let mut anchors: Vec<Anchor> = texts
        .into_iter()
        .zip(uses)
        .zip(open)
        .filter(|(_, is_open)| *is_open)
        .map(|((text, used), _)| Anchor {
            text,
            uses: used.uses,
        })
        .collect();
    // Stable: candidates are in the order of their first use.
    anchors.sort_by_key(|anchor| std::cmp::Reverse(anchor.uses));
    anchors
}

/// For each anchor whether `text` holds it as a whole identifier.
pub fn held_mask(anchors: &[Anchor], text: &str) -> Vec<bool> {
    matcher_of(anchors).held(text)
}

/// A matcher for what `anchors` name.
pub fn matcher_of(anchors: &[Anchor]) -> Matcher<'_> {
    Matcher::new(anchors.iter().map(|anchor| anchor.text.as_str()))
}

/// The identifiers of the assistant turns among numbered ones, in order of first use, with how often and where they are used.
fn used<'v>(turns: impl Iterator<Item = (usize, Cow<'v, TurnView<'v>>)>) -> (Vec<String>, Vec<Use>) {
    let mut place: FxHashMap<String, usize> = FxHashMap::default();
    let mut texts: Vec<String> = Vec::new();
    let mut uses: Vec<Use> = Vec::new();
    let mut note = |identifier: &str, turn_index: usize| {
        if let Some(used) = place.get(identifier).and_then(|index| uses.get_mut(*index)) {
            used.uses += 1;
        } else if texts.len() < MAX_CANDIDATES {
            place.insert(identifier.to_owned(), texts.len());
            texts.push(identifier.to_owned());
            uses.push(Use {
                uses: 1,
                first_turn: turn_index,
            });
        }
    };
    for (turn_index, turn) in turns.filter(|(_, turn)| turn.role == Role::Assistant) {
        identifiers(&turn.text, |identifier| note(identifier, turn_index));
        for call in &turn.calls {
            for value in argument_values(&call.arguments) {
                if value.is_whole {
                    note(&value.text, turn_index);
                } else {
                    identifiers(&value.text, |identifier| note(identifier, turn_index));
                }
            }
        }
    }
    (texts, uses)
}
