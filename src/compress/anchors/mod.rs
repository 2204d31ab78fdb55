//! Identifiers that later turns rely on, and those of them that a compression would leave dangling.

mod filter;
mod invented;
mod key;
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
use key::{is_code, is_number, is_telling_key, key_before, label_before, unit_behind};
pub use kind::is_spaceless;
pub use matcher::Matcher;
pub use outputs::{ToolOutput, anchors_of_outputs};
pub use pair::{Needed, PairScore, score, score_aligned};
pub use scan::{argument_values, identifiers};
pub use search::Search;

/// An identifier (path, id, number, name, URL, hash, quoted value) that kept assistant turns use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// The identifier, as written.
    pub text: String,
    /// Number of uses in kept assistant turns.
    pub uses: usize,
    /// The key that it stands under in the region, or the label before it, if it is a number.
    pub key: Option<String>,
    /// The words behind it in the region, if it is a number without a key: what it counts.
    pub unit: Option<String>,
    /// The file that it stands in, if it is a name and the region shows or changes that file.
    pub file: Option<String>,
}

impl Anchor {
    /// An identifier without a key.
    pub fn new(text: impl Into<String>, uses: usize) -> Self {
        Self {
            text: text.into(),
            uses,
            key: None,
            unit: None,
            file: None,
        }
    }

    /// The identifier as a list of references names it: a number with what it is.
    pub fn reference(&self) -> Cow<'_, str> {
        match (&self.key, &self.unit) {
            (Some(key), _) => Cow::Owned([key, " ", &self.text].concat()),
            (None, Some(unit)) => Cow::Owned([&self.text, " ", unit].concat()),
            (None, None) => Cow::Borrowed(&self.text),
        }
    }
}

/// Most identifiers examined for one compression; beyond that it is a data dump, and later ones are ignored.
const MAX_CANDIDATES: usize = 8_192;

/// The uses of an identifier in kept assistant turns, before it is known to dangle.
struct IdentifierUses {
    uses: usize,
    first_turn: usize,
}

/// Returns the identifiers that replacing `region` would leave dangling: kept assistant turns after the region use them
/// (in their text or in call arguments), the region is a source of them, and neither `kept_before` nor an earlier turn
/// of `kept_after` is. The most used come first, ties by first use.
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
    // The search continues for identifiers that the region contains; a hit elsewhere means that they do not dangle.
    let mut search = Search::new(&matcher, sourced);
    for turn in kept_before.all() {
        for text in turn.texts() {
            search.find(text, |_, _| false);
        }
    }
    for (turn_index, turn) in kept_after.all().enumerate() {
        for text in turn.texts() {
            search.find(text, |pattern, _| {
                // A hit in the first turn that uses it, or later, is no earlier source.
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
        .map(|((text, used), _)| Anchor::new(text, used.uses))
        .collect();
    // The sort is stable: candidates are in the order of their first use.
    anchors.sort_by_key(|anchor| std::cmp::Reverse(anchor.uses));
    add_keys(&mut anchors, region);
    anchors
}

/// Adds to numbers what they are: the key from the first place where they have one, or else the words beside them. Codes have a key, or
/// nothing.
fn add_keys(anchors: &mut [Anchor], region: Turns<'_>) {
    let named = |anchor: &Anchor| is_number(&anchor.text) || is_code(&anchor.text);
    let numbers: Vec<bool> = anchors.iter().map(named).collect();
    if !numbers.contains(&true) {
        return;
    }
    let texts: Vec<String> = anchors.iter().map(|anchor| anchor.text.clone()).collect();
    let matcher = Matcher::new(texts.iter().map(String::as_str));
    let mut search = Search::new(&matcher, numbers);
    for turn in region.all() {
        for text in turn.texts() {
            search.find(text, |pattern, at| {
                let Some(anchor) = anchors.get_mut(pattern) else {
                    return false;
                };
                let is_number = is_number(&anchor.text);
                let key = key_before(text, at);
                if let Some(key) = key.filter(|key| is_number || is_telling_key(key)) {
                    anchor.key = Some(key.to_owned());
                    return false;
                }
                if !is_number {
                    return true;
                }
                // Words beside it are second best.
                if anchor.key.is_none() && anchor.unit.is_none() {
                    anchor.key = label_before(text, at);
                    anchor.unit = unit_behind(text, at + anchor.text.len());
                }
                true
            });
        }
    }
}

/// Returns for each anchor true if `text` contains it as a whole identifier.
pub fn held_mask(anchors: &[Anchor], text: &str) -> Vec<bool> {
    matcher_of(anchors).held(text)
}

/// Returns a matcher for the texts of `anchors`.
pub fn matcher_of(anchors: &[Anchor]) -> Matcher<'_> {
    Matcher::new(anchors.iter().map(|anchor| anchor.text.as_str()))
}

/// Returns the identifiers of the assistant turns, in order of first use, each with its number of uses and first turn.
fn used<'v>(
    turns: impl Iterator<Item = (usize, Cow<'v, TurnView<'v>>)>,
) -> (Vec<String>, Vec<IdentifierUses>) {
    let mut place: FxHashMap<String, usize> = FxHashMap::default();
    let mut texts: Vec<String> = Vec::new();
    let mut uses: Vec<IdentifierUses> = Vec::new();
    let mut note = |identifier: &str, turn_index: usize| {
        if let Some(used) = place.get(identifier).and_then(|index| uses.get_mut(*index)) {
            used.uses += 1;
        } else if texts.len() < MAX_CANDIDATES {
            place.insert(identifier.to_owned(), texts.len());
            texts.push(identifier.to_owned());
            uses.push(IdentifierUses {
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
