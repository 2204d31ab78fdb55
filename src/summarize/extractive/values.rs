//! Lines that say what a value is that later turns use: the line of the region it stands in, shortened around it.

use rustc_hash::FxHashSet;

use super::candidate::{Candidate, Section};
use super::excerpt::excerpt;
use super::source::{Arguments, SourceTurn};
use super::{Limits, order};
use crate::compress::anchors::{Anchor, Matcher};
use crate::trajectory::Role;

/// Places looked at for one anchor.
const MAX_PLACES: usize = 6;

/// Words after which a line tells no more for having another.
const MOST_WORDS: usize = 8;

/// Where an anchor stands in the region.
struct Place<'t> {
    turn: usize,
    role: Role,
    /// Whether the assistant wrote it into a call.
    is_written: bool,
    text: &'t str,
    at: usize,
}

/// A line for each anchor found in the region (several anchors share one where they stand together), and for each anchor
/// whether the region holds it at all.
pub(super) fn values(
    turns: &[SourceTurn<'_>],
    anchors: &[Anchor],
    matcher: &Matcher<'_>,
    limits: Limits,
    candidates: &mut Vec<Candidate>,
) -> Vec<bool> {
    let mut wanted = vec![true; anchors.len()];
    let mut places: Vec<Vec<Place<'_>>> = anchors.iter().map(|_| Vec::new()).collect();
    for (turn, source) in turns.iter().enumerate() {
        for (text, is_written) in texts(source) {
            matcher.find(text, &mut wanted, |index, at| {
                let Some(found) = places.get_mut(index) else {
                    return false;
                };
                // The last place is always the latest one: a later statement of the same thing wins.
                found.truncate(MAX_PLACES - 1);
                found.push(Place {
                    turn,
                    role: source.role,
                    is_written,
                    text,
                    at,
                });
                true
            });
        }
    }
    let mut seen: FxHashSet<String> = FxHashSet::default();
    for (anchor, found) in anchors.iter().zip(&places) {
        let best = best_line(found, &anchor.text, limits.line);
        if let Some((place, text)) = best
            && seen.insert(text.clone())
        {
            candidates.push(Candidate {
                section: Section::Values,
                order: order(place.turn, place.at % 1_000),
                text,
                value: 0.3,
            });
        }
    }
    places.iter().map(|found| !found.is_empty()).collect()
}

/// The line that tells most about an anchor, of equals the latest one, and where it stands.
fn best_line<'p, 't>(found: &'p [Place<'t>], anchor: &str, most: usize) -> Option<(&'p Place<'t>, String)> {
    let mut places: Vec<(usize, usize, &Place<'_>)> = found
        .iter()
        .enumerate()
        .filter(|(_, place)| !place.is_written)
        .map(|(number, place)| (who(place.role), number, place))
        .collect();
    // Those come first that may be worth most, so that few lines have to be made.
    places.sort_unstable_by_key(|(who, number, _)| std::cmp::Reverse((*who, *number)));
    let mut best: Option<((usize, usize), &Place<'_>, String)> = None;
    for (who, number, place) in places {
        let is_beaten = |least: &(usize, usize)| (who + MOST_WORDS, number) < *least;
        if best.as_ref().is_some_and(|(worth, ..)| is_beaten(worth)) {
            continue;
        }
        let Some(line) = excerpt(place.text, place.at, anchor, most) else {
            continue;
        };
        let worth = (who + words(&line), number);
        if best.as_ref().is_none_or(|(least, ..)| worth > *least) {
            best = Some((worth, place, line));
        }
    }
    best.map(|(_, place, line)| (place, line))
}

/// The texts of a turn, and whether they are arguments of a call.
fn texts<'t>(turn: &'t SourceTurn<'_>) -> impl Iterator<Item = (&'t str, bool)> {
    let arguments = turn.calls.iter().flat_map(|call| -> Vec<&'t str> {
        match &call.arguments {
            Arguments::Json(json) => vec![json.as_ref()],
            Arguments::Tagged(fields) => fields.iter().map(|(_, value)| value.as_str()).collect(),
        }
    });
    std::iter::once(turn.prose.as_ref())
        .chain(turn.answers.iter().map(|(_, content)| content.as_ref()))
        .map(|text| (text, false))
        .chain(arguments.map(|text| (text, true)))
        .filter(|(text, _)| !text.is_empty())
}

/// How much a line of theirs tells: people's words before outputs, outputs before code that the model wrote.
fn who(role: Role) -> usize {
    match role {
        Role::Human => 6,
        Role::Tool => 3,
        Role::Assistant => 4,
        Role::System | Role::Other => 1,
    }
}

/// The words of a line, as far as more of them tell more.
fn words(line: &str) -> usize {
    line.split_whitespace()
        .filter(|word| word.chars().any(char::is_alphabetic))
        .take(MOST_WORDS)
        .count()
}
