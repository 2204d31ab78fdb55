//! Lines that say what a value is that later turns use: the line of the region it stands in, shortened around it.

use rustc_hash::FxHashSet;

use super::candidate::{Candidate, Section};
use super::excerpt::excerpt;
use super::{Limits, order};
use crate::compress::anchors::{Anchor, Matcher, Search};
use crate::events::event::Event;
use crate::events::source::{Arguments, SourceTurn};
use crate::trajectory::Role;

/// Places looked at for one anchor.
const MAX_PLACES: usize = 4;

/// Words after which a line tells no more for having another.
const MOST_WORDS: usize = 8;

/// The length of lines where room is short, in characters.
const SHORT: usize = 100;

/// Where an anchor stands in what people said or tools brought back.
struct Place<'t> {
    turn: usize,
    role: Role,
    text: &'t str,
    at: usize,
}

/// When a place was told: its turn, then where in its text.
type When = (usize, usize);

/// What a line is worth: how much it tells, then when.
type Worth = (usize, When);

/// A line for each anchor found in the region (several anchors share one where they stand together), and for each anchor
/// whether the region holds it at all.
pub(super) fn values(
    turns: &[SourceTurn<'_>],
    anchors: &[Anchor],
    matcher: &Matcher<'_>,
    actions: &[Event],
    limits: Limits,
    candidates: &mut Vec<Candidate>,
) -> Vec<bool> {
    let places = places(turns, anchors.len(), matcher);
    let on_files = actions
        .iter()
        .filter(|action| action.target.is_run || action.target.file.is_some());
    // Lines of source code and of terminals say no more of a name than the name does, but may hold several.
    let is_code = limits.line > SHORT && 2 * on_files.count() > actions.len();
    let mut seen: FxHashSet<String> = FxHashSet::default();
    for (anchor, found) in anchors.iter().zip(&places) {
        let best = best_line(found, &anchor.text, limits.line);
        if let Some((place, text)) = best
            && (!is_code || place.role == Role::Human)
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
    let is_unknown: Vec<bool> = places.iter().map(Vec::is_empty).collect();
    if !is_unknown.contains(&true) {
        return vec![true; anchors.len()];
    }
    let mut search = Search::new(matcher, is_unknown);
    for arguments in turns.iter().flat_map(written) {
        search.find(arguments, |_, _| false);
    }
    let is_unknown = search.into_wanted().into_iter();
    is_unknown.map(|is_unknown| !is_unknown).collect()
}

/// The places of each anchor: people's words first, then all others, each from the end on, since a later statement of the
/// same thing wins.
fn places<'t>(turns: &'t [SourceTurn<'_>], count: usize, matcher: &Matcher<'_>) -> Vec<Vec<Place<'t>>> {
    let mut search = Search::new(matcher, vec![true; count]);
    let mut places: Vec<Vec<Place<'t>>> = (0..count).map(|_| Vec::new()).collect();
    for of_people in [true, false] {
        let turns = turns.iter().enumerate().rev();
        for (turn, source) in turns.filter(|(_, source)| (source.role == Role::Human) == of_people) {
            for text in said(source) {
                search.find(text, |index, at| {
                    let Some(found) = places.get_mut(index) else {
                        return false;
                    };
                    found.push(Place {
                        turn,
                        role: source.role,
                        text,
                        at,
                    });
                    found.len() < MAX_PLACES
                });
            }
        }
    }
    places
}

/// The line that tells most about an anchor, of equals the latest one, and where it stands.
fn best_line<'p, 't>(found: &'p [Place<'t>], anchor: &str, most: usize) -> Option<(&'p Place<'t>, String)> {
    let mut places: Vec<(usize, When, &Place<'_>)> = found
        .iter()
        .map(|place| (who(place.role), (place.turn, place.at), place))
        .collect();
    // Those come first that may be worth most, so that few lines have to be made.
    places.sort_unstable_by_key(|(who, when, _)| std::cmp::Reverse((*who, *when)));
    let mut best: Option<(Worth, &Place<'_>, String)> = None;
    for (who, when, place) in places {
        let is_beaten = |least: &Worth| (who + MOST_WORDS, when) < *least;
        if best.as_ref().is_some_and(|(worth, ..)| is_beaten(worth)) {
            continue;
        }
        let Some(line) = excerpt(place.text, place.at, anchor, most) else {
            continue;
        };
        let worth = (who + words(&line), when);
        if best.as_ref().is_none_or(|(least, ..)| worth > *least) {
            best = Some((worth, place, line));
        }
    }
    best.map(|(_, place, line)| (place, line))
}

/// What a turn says and brings back.
fn said<'t>(turn: &'t SourceTurn<'_>) -> impl Iterator<Item = &'t str> {
    let answers = turn.answers.iter().map(|(_, content)| content.as_ref());
    std::iter::once(turn.prose.as_ref()).chain(answers)
}

/// What the assistant wrote into the calls of a turn.
fn written<'t>(turn: &'t SourceTurn<'_>) -> impl Iterator<Item = &'t str> {
    turn.calls.iter().flat_map(|call| -> Vec<&'t str> {
        match &call.arguments {
            Arguments::Json(json) => vec![json.as_ref()],
            Arguments::Tagged(fields) => fields.iter().map(|(_, value)| value.as_str()).collect(),
        }
    })
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
    let is_telling = |word: &&str| {
        word.bytes().any(|byte| byte.is_ascii_alphabetic())
            || !word.is_ascii() && word.chars().any(char::is_alphabetic)
    };
    // A line of a summary has no blanks but spaces.
    line.split(' ').filter(is_telling).take(MOST_WORDS).count()
}
