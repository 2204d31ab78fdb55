//! Mends ids that several calls share: each call gets its own.

use std::borrow::Cow;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::MendedTurn;
use crate::trajectory::json::fields::fields;
use crate::trajectory::parse::in_parts::in_parts;
use crate::trajectory::parse::raw_call::raw_call;
use crate::trajectory::parse::results::result_ids;
use crate::trajectory::structure::shape::CallsAndAnswers;
use crate::trajectory::structure::{CallPlace, Structure};
use crate::trajectory::view::decode::{tagged_calls_of, tagged_responses};
use crate::trajectory::{Edit, Record, Turn, apply, json};

/// Gives calls with an id of an earlier call a new one, and their answers as well.
pub(super) fn rename<'a>(
    record: &Record<'a>,
    structure: &Structure<'a>,
    items: &mut Vec<MendedTurn<'a>>,
) -> bool {
    let mut free_ids = FreeIds::of(structure);
    let answers: FxHashMap<CallPlace, CallPlace> = structure
        .links
        .iter()
        .map(|(answer, call)| (*call, *answer))
        .collect();
    let answering: FxHashSet<CallPlace> = answers.values().copied().collect();
    let mut spots = Spots {
        record,
        structure,
        answering: &answering,
        of_turns: FxHashMap::default(),
    };
    let mut edits: FxHashMap<usize, Vec<Edit>> = FxHashMap::default();
    for &(turn, place) in &structure.repeated {
        let calls = structure.shapes.get(turn).map(|shape| shape.calls);
        let id = calls.and_then(|calls| calls.get(place)?.as_deref());
        let Some(id) = id.filter(|id| FreeIds::has_like(id)) else {
            continue;
        };
        let has_id = |(turn, place): &CallPlace| {
            let shape = structure.shapes.get(*turn);
            shape.is_some_and(|shape| matches!(shape.answers.get(*place), Some(Some(_))))
        };
        let answer = answers.get(&(turn, place)).copied().filter(has_id);
        let in_call = spots.of((turn, place), IdOwner::Call);
        let in_answer = answer.map(|answer| spots.of(answer, IdOwner::Answer));
        if in_call.is_empty() || in_answer.as_ref().is_some_and(Vec::is_empty) {
            continue;
        }
        let free = free_ids.like(id);
        let answered = answer.map_or(turn, |(turn, _)| turn);
        let everywhere = [(turn, in_call), (answered, in_answer.unwrap_or_default())];
        for (turn, spots) in everywhere {
            let edits = edits.entry(turn).or_default();
            edits.extend(spots.into_iter().map(|spot| spot.edit(&free)));
        }
    }
    let is_changed = !edits.is_empty();
    for (turn, edits) in edits {
        if let (Some(read), Some(item)) = (record.turns.get(turn), items.get_mut(turn)) {
            item.text = Cow::Owned(apply(read.text, edits));
        }
    }
    is_changed
}

/// Generates ids that no call and no answer of a record has.
struct FreeIds<'a> {
    taken: FxHashSet<String>,
    /// The last suffix tried for each string.
    suffixes: FxHashMap<&'a str, usize>,
    last_number: i64,
}

impl<'a> FreeIds<'a> {
    fn of(structure: &Structure<'_>) -> Self {
        let ids = structure.shapes.ids().iter();
        let taken: FxHashSet<String> = ids.filter_map(|id| id.as_deref().map(str::to_owned)).collect();
        let numbers = taken.iter().filter_map(|id| id.parse::<i64>().ok());
        Self {
            last_number: numbers.max().unwrap_or(0).max(0),
            suffixes: FxHashMap::default(),
            taken,
        }
    }

    /// Returns true if `id` is a string or a number, so that another id of its type can be made.
    fn has_like(id: &str) -> bool {
        id.starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit())
    }

    /// Returns the next free id of the type of `id`, as JSON: a string with a suffix, or a number above all others.
    fn like(&mut self, id: &'a str) -> String {
        loop {
            let free = if let Some(bare) = id.strip_suffix('"') {
                let suffix = self.suffixes.entry(bare).or_insert(1);
                *suffix += 1;
                format!("{bare}_{suffix}\"")
            } else {
                self.last_number = self.last_number.checked_add(1).unwrap_or(1);
                self.last_number.to_string()
            };
            if self.taken.insert(free.clone()) {
                return free;
            }
        }
    }
}

/// The place of an id in a turn.
#[derive(Debug, Clone)]
struct Spot {
    at: Range<usize>,
    /// The id is inside a text, so that it must be escaped.
    in_text: bool,
}

impl Spot {
    /// Returns the edit that writes another id there.
    fn edit(self, id: &str) -> Edit {
        let mut text = id.to_owned();
        if self.in_text {
            text.clear();
            json::escape_into(id, &mut text);
        }
        Edit { at: self.at, text }
    }
}

/// The owner of an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum IdOwner {
    Call,
    Answer,
}

/// Finds the ids of calls and answers; each turn is read once.
struct Spots<'r, 'a> {
    record: &'r Record<'a>,
    structure: &'r Structure<'a>,
    /// The answers that belong to a call.
    answering: &'r FxHashSet<CallPlace>,
    of_turns: FxHashMap<(usize, IdOwner), Vec<Vec<Spot>>>,
}

impl Spots<'_, '_> {
    /// Returns all places of one id; none if it cannot be replaced.
    fn of(&mut self, (turn, place): CallPlace, said: IdOwner) -> Vec<Spot> {
        let (record, structure, answering) = (self.record, self.structure, self.answering);
        let of_turn = self.of_turns.entry((turn, said)).or_insert_with(|| {
            let read = record.turns.get(turn);
            let Some((read, shape)) = read.zip(structure.shapes.get(turn)) else {
                return Vec::new();
            };
            match said {
                IdOwner::Call => call_spots(read, &shape),
                IdOwner::Answer => answer_spots(read, &shape, |place| answering.contains(&(turn, place))),
            }
        });
        of_turn.get_mut(place).map(std::mem::take).unwrap_or_default()
    }
}

/// Returns the places of the ids of each call.
fn call_spots(read: &Turn<'_>, shape: &CallsAndAnswers<'_, '_>) -> Vec<Vec<Spot>> {
    let Range { start, end } = shape.calls_in_parts;
    // The part of a call in a field may repeat its id.
    let mut copies: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
    for id in in_parts(read)
        .iter()
        .flat_map(|found| &found.calls)
        .rev()
        .filter_map(|call| call.id)
    {
        copies.entry(id).or_default().push(id);
    }
    let in_text = texts(read, tagged_calls_of, |block| raw_call(block).id);
    let spot = |(place, id): (usize, &Option<Cow<'_, str>>)| match id {
        Some(Cow::Borrowed(literal)) => {
            let copy = copies
                .get_mut::<str>(literal)
                .filter(|_| place < start)
                .and_then(Vec::pop);
            copy.into_iter()
                .chain([*literal])
                .map(|id| field(read, id))
                .collect()
        }
        Some(Cow::Owned(_)) => {
            let spot = place.checked_sub(end).and_then(|place| in_text.get(place));
            spot.cloned().flatten().into_iter().collect()
        }
        None => Vec::new(),
    };
    shape.calls.iter().enumerate().map(spot).collect()
}

/// Returns the places of the ids of each answer. An answer's own id may be repeated in a part of its content; a part
/// without a call belongs to the last answer with its id that has one.
fn answer_spots(
    read: &Turn<'_>,
    shape: &CallsAndAnswers<'_, '_>,
    is_answering: impl Fn(usize) -> bool,
) -> Vec<Vec<Spot>> {
    let in_text = texts(read, tagged_responses, |block| {
        fields(block, &["tool_call_id"]).ok()?.values[0]
    });
    let mut spots = vec![Vec::new(); shape.answers.len()];
    let mut places: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (place, (id, spots)) in shape.answers.iter().zip(&mut spots).enumerate() {
        match id {
            Some(Cow::Borrowed(literal)) if place < shape.own_answers() => spots.push(field(read, literal)),
            Some(Cow::Owned(_)) => spots.extend(in_text.get(place).cloned().flatten()),
            _ => {}
        }
        if let Some(id) = id.as_deref().filter(|_| is_answering(place)) {
            places.entry(id).or_default().push(place);
        }
    }
    let mut counts: FxHashMap<&str, usize> = FxHashMap::default();
    for id in result_ids(read.content().unwrap_or_default()) {
        let count = counts.entry(id).or_insert(0);
        let places = places.get(id).map_or(&[][..], Vec::as_slice);
        let place = places.get(*count).or(places.last());
        if let Some(spots) = place.and_then(|place| spots.get_mut(*place)) {
            spots.push(field(read, id));
        }
        *count += 1;
    }
    spots
}

/// Returns the place of a field of a turn.
fn field(read: &Turn<'_>, literal: &str) -> Spot {
    let start = (literal.as_ptr() as usize).saturating_sub(read.text.as_ptr() as usize);
    Spot {
        at: start..start + literal.len(),
        in_text: false,
    }
}

/// Returns the places of the ids in the blocks of a turn's text, by block.
fn texts(
    read: &Turn<'_>,
    blocks: fn(&str) -> Vec<Range<usize>>,
    id: impl Fn(&str) -> Option<&str>,
) -> Vec<Option<Spot>> {
    let content = read.content().filter(|content| content.starts_with('"'));
    let Some((content, (text, true))) = content.map(|content| (content, json::decode(content))) else {
        return Vec::new();
    };
    let ids = blocks(&text).into_iter().map(|block| {
        let id = id(text.get(block)?.trim())?;
        let start = (id.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
        Some(start..start + id.len())
    });
    let ids: Vec<Option<Range<usize>>> = ids.collect();
    let offsets: Vec<usize> = ids.iter().flatten().flat_map(|id| [id.start, id.end]).collect();
    let start = field(read, content).at.start;
    let places = json::places_in(content, &offsets).unwrap_or_default();
    let mut places = places.chunks_exact(2);
    let mut spot = |_: Range<usize>| match places.next()? {
        [from, to] => Some(Spot {
            at: start + from..start + to,
            in_text: true,
        }),
        _ => None,
    };
    ids.into_iter().map(|id| spot(id?)).collect()
}
