//! Lines that say what a value is that later turns use: the line of the region it stands in, shortened around it.

use std::borrow::Cow;

use rustc_hash::FxHashSet;

use super::candidate::{Candidate, Section};
use super::line::{cleaned_line, without_bullet};
use super::source::{Arguments, SourceTurn};
use super::{Limits, order};
use crate::compress::anchors::{Anchor, Matcher};
use crate::trajectory::Role;

/// Places looked at for one anchor.
const MAX_PLACES: usize = 6;

/// Bytes of a line looked at on each side of an anchor.
const REACH: usize = 600;

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
        let Some(line) = around(place, anchor, most) else {
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

/// The part of an anchor's line around it, in at most about `most` characters; `None` where the line says no more than
/// the anchor itself.
fn around(place: &Place<'_>, anchor: &str, most: usize) -> Option<String> {
    let text = place.text;
    let end = place.at + anchor.len();
    let mut start_limit = place.at.saturating_sub(REACH);
    while !text.is_char_boundary(start_limit) {
        start_limit += 1;
    }
    let mut end_limit = (end + REACH).min(text.len());
    while !text.is_char_boundary(end_limit) {
        end_limit -= 1;
    }
    let before = text.get(start_limit..place.at)?;
    let after = text.get(end..end_limit)?;
    let (before, cut_before) = match last_line_start(before.as_bytes()) {
        Some(start) => (before.get(start..)?, false),
        None => (before, start_limit > 0),
    };
    let (after, cut_after) = match first_line_end(after.as_bytes()) {
        Some(end) => (after.get(..end)?, false),
        None => (after, end_limit < text.len()),
    };
    let room = most.saturating_sub(anchor.chars().count());
    let after_length = after.chars().count();
    let left = tail_words(
        before,
        if after_length < room / 2 {
            room - after_length
        } else {
            room / 2
        },
        cut_before,
    );
    let right = head_words(after, room.saturating_sub(left.chars().count()), cut_after);
    let whole = text.get(place.at - left.len()..end + right.len())?;
    let line = cleaned_line(whole);
    let line = plain_json(&line);
    let line = without_bullet(&line)
        .trim_start_matches([',', '}', ']', ' '])
        .trim_end_matches([',', '{', '[', ' ', '(']);
    (line.len() >= anchor.len() + 4 && line.contains(anchor)).then(|| line.to_owned())
}

/// Where the last line of `text` begins. Code that a call writes stands in JSON, its line ends escaped.
fn last_line_start(text: &[u8]) -> Option<usize> {
    let newline = memchr::memrchr(b'\n', text).map(|at| at + 1);
    let from = newline.unwrap_or(0);
    let line = text.get(from..)?;
    let escaped = memchr::memrchr_iter(b'\\', line).find(|at| line.get(at + 1) == Some(&b'n'));
    escaped.map(|at| from + at + 2).or(newline)
}

/// Where the first line of `text` ends.
fn first_line_end(text: &[u8]) -> Option<usize> {
    let newline = memchr::memchr(b'\n', text);
    let line = text.get(..newline.unwrap_or(text.len()))?;
    let escaped = memchr::memchr_iter(b'\\', line).find(|at| line.get(at + 1) == Some(&b'n'));
    escaped.or(newline)
}

/// The last words of `text` in at most `most` characters; with `cut` its first word may be half a word.
fn tail_words(text: &str, most: usize, cut: bool) -> &str {
    if text.len() <= most && !cut {
        return text;
    }
    let count = text.chars().count();
    if count <= most && !cut {
        return text;
    }
    let skip = count.saturating_sub(most);
    let from = text.char_indices().nth(skip).map_or(text.len(), |(at, _)| at);
    let Some(tail) = text.get(from..) else { return "" };
    let piece = tail.find([' ', ',', ';']).and_then(|at| tail.get(at + 1..));
    // A field of a JSON object is told from its key on.
    let field = ["{\"", ", \"", ",\""]
        .iter()
        .filter_map(|mark| tail.find(mark).map(|at| at + mark.len() - 1))
        .min()
        .and_then(|at| tail.get(at..));
    field.or(piece).unwrap_or_default()
}

/// The first words of `text` in at most `most` characters; with `cut` its last word may be half a word.
fn head_words(text: &str, most: usize, cut: bool) -> &str {
    if text.len() <= most && !cut {
        return text;
    }
    let limit = text.char_indices().nth(most).map(|(at, _)| at);
    if limit.is_none() && !cut {
        return text;
    }
    let Some(head) = text.get(..limit.unwrap_or(text.len())) else {
        return "";
    };
    let field = head
        .rfind(", \"")
        .or_else(|| head.rfind(",\""))
        .and_then(|at| head.get(..at));
    // What directly follows the anchor belongs to its word.
    field
        .or_else(|| head.rfind([' ', ',', ';']).and_then(|at| head.get(..at)))
        .unwrap_or_default()
}

/// A piece of a JSON object without its quotes and brackets; other lines as they are.
fn plain_json(line: &str) -> Cow<'_, str> {
    if !line.contains("\":") {
        return Cow::Borrowed(line);
    }
    let mut plain = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' | '{' | '}' | '[' | ']' => {}
            '\\' if chars.peek() == Some(&'"') => {}
            ':' if chars.peek().is_some_and(|next| *next != ' ')
                && plain.ends_with(|last: char| last.is_alphanumeric() || last == '_') =>
            {
                plain.push(':');
                if chars.peek() == Some(&'"') {
                    plain.push(' ');
                }
            }
            c => plain.push(c),
        }
    }
    Cow::Owned(plain.split_whitespace().collect::<Vec<_>>().join(" "))
}
