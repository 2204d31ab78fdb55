//! Mends what is broken in a trajectory; turns that are not broken, and all other fields, keep their bytes.

mod ids;
mod join;
mod late;
mod missing;
mod orphans;
mod sanitize;
mod split;
mod tidy;
mod told;

use std::borrow::Cow;
use std::ops::Range;

use super::faults::Faults;
use super::json::quoted;
use super::structure::Structure;
use super::{Record, Role, Turn, append_text, apply, parse, view};
use ids::rename;
use join::join;
use late::bring_back;
use missing::answer;
use orphans::tell_orphans;

pub use sanitize::{Sanitized, sanitize};
pub use tidy::{NO_REQUEST, SYSTEM_MESSAGE, Shapes, Wishes};

/// What stands in place of a result that nobody has recorded.
pub const NO_RESULT: &str = "[no result of this call was recorded]";

/// What an output begins with whose call nobody has recorded: from then on it is something that is told, not an answer.
pub const STRAY_OUTPUT: &str = "[output of a tool; its call was not recorded]";

/// What it ends with: what somebody said may follow.
pub const STRAY_END: &str = "[end of the output]";

/// Times that a record is gone over: mending one thing can show another.
const MOST_ROUNDS: usize = 10;

/// A mended record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mended {
    /// Its text.
    pub text: String,
    /// The faults of the record as it came that were mended. One whose mending caused a fault of another kind counts.
    pub mended: Faults,
    /// What is broken in it still.
    pub left: Faults,
}

/// Mends a record; `None` where nothing is broken, or nothing that could be mended. Mending twice changes nothing more.
///
/// `opening` is what a summary turn begins with.
pub fn mend(record: &Record<'_>, opening: &str) -> Option<Mended> {
    if record.ambiguous {
        return None;
    }
    let structure = Structure::of(record, opening);
    let found = structure.faults();
    let mut next = round(record, &structure);
    let (mut text, mut left) = (None, found);
    let mut changed = Faults::default();
    for _ in 0..MOST_ROUNDS {
        let Some((kind, written)) = next.take() else { break };
        let Ok(record) = parse(written.as_bytes(), Some(record.format)) else {
            break;
        };
        let structure = Structure::of(&record, opening);
        let mut after = structure.faults();
        let fewer = kind(&mut left).saturating_sub(*kind(&mut after));
        *kind(&mut changed) += fewer.max(1);
        left = after;
        next = round(&record, &structure);
        text = Some(written);
    }
    Some(Mended {
        text: text?,
        mended: changed.at_most(&found),
        left,
    })
}

/// A turn of the record to be written.
struct Item<'a> {
    text: Cow<'a, str>,
    /// Its place in the record that was read.
    place: Option<usize>,
}

type Step = for<'a> fn(&Record<'a>, &Structure<'a>, &mut Vec<Item<'a>>) -> bool;

/// A count of faults, by what they are.
type Kind = fn(&mut Faults) -> &mut usize;

/// The steps that mend faults, in the order in which they are tried, each with the kind that it mends.
const STEPS: [(Kind, Step); 6] = [
    (|faults| &mut faults.packed_responses, unpack),
    (|faults| &mut faults.unanswered_calls, bring_back),
    (|faults| &mut faults.orphan_responses, tell_orphans),
    (|faults| &mut faults.repeated_ids, rename),
    (|faults| &mut faults.unanswered_calls, answer),
    (|faults| &mut faults.same_role_neighbours, join),
];

/// Mends the first kind of fault that there is.
fn round<'a>(record: &Record<'a>, structure: &Structure<'a>) -> Option<(Kind, String)> {
    STEPS.into_iter().find_map(|(kind, step)| {
        let turns = record.turns.iter().enumerate();
        let mut items: Vec<Item<'_>> = turns
            .map(|(place, turn)| Item {
                text: Cow::Borrowed(turn.text),
                place: Some(place),
            })
            .collect();
        let is_changed = step(record, structure, &mut items);
        Some((kind, is_changed.then(|| written(record, &items))??))
    })
}

/// The record with these turns. What stood between two turns stands there again where both are still neighbours.
fn written(record: &Record<'_>, items: &[Item<'_>]) -> Option<String> {
    let between = |turn: usize| {
        let (before, after) = (record.turn_span(turn)?, record.turn_span(turn + 1)?);
        record.text.get(before.end..after.start)
    };
    let usual = between(0).unwrap_or(", ");
    let first = record.turn_span(0)?;
    let last = record.turn_span(record.turns.len().checked_sub(1)?)?;
    let mut text = String::with_capacity(record.text.len() + 256);
    text.push_str(record.text.get(..first.start)?);
    let mut before: Option<&Item<'_>> = None;
    for item in items {
        if let Some(before) = before {
            let follows = before.place.filter(|place| Some(place + 1) == item.place);
            text.push_str(follows.and_then(between).unwrap_or(usual));
        }
        text.push_str(&item.text);
        before = Some(item);
    }
    text.push_str(record.text.get(last.end..)?);
    Some(text)
}

/// The turns of tools that stand together with `turn`.
fn run_of(record: &Record<'_>, turn: usize) -> Range<usize> {
    let is_tool = |index: &usize| {
        record
            .turns
            .get(*index)
            .is_some_and(|turn| turn.speaker() == Role::Tool)
    };
    let start = (0..turn).rev().take_while(is_tool).last().unwrap_or(turn);
    let end = (turn..record.turns.len())
        .take_while(is_tool)
        .last()
        .map_or(turn, |last| last + 1);
    start..end
}

/// Puts new turns in, each after the turn at a place (of one place in their order), and after what was put in there before.
fn insert(items: &mut Vec<Item<'_>>, mut new: Vec<(usize, String)>) {
    new.sort_by_key(|(after, _)| *after);
    let mut new = new.into_iter().peekable();
    let old = std::mem::take(items);
    for item in old {
        while let Some((_, text)) = new.next_if(|(after, _)| item.place.is_some_and(|place| *after < place)) {
            items.push(own(text));
        }
        items.push(item);
    }
    items.extend(new.map(|(_, text)| own(text)));
}

fn own<'a>(text: String) -> Item<'a> {
    Item {
        text: Cow::Owned(text),
        place: None,
    }
}

/// Answers in one turn, where the format has one each, get turns of their own.
fn unpack<'a>(record: &Record<'a>, structure: &Structure<'a>, items: &mut Vec<Item<'a>>) -> bool {
    let mut is_changed = false;
    for &turn in structure.packed.iter().rev() {
        let Some(read) = record.turns.get(turn).filter(|turn| turn.is_plain_text()) else {
            continue;
        };
        let view = view(read, turn);
        let is_whole = view.text.trim().is_empty() && view.responses.len() > 1;
        if !is_whole || !is_exact(read) {
            continue;
        }
        let apart = view.responses.iter().map(|response| {
            let id = response.id.as_deref().map(quoted);
            let name = response.name.as_deref().map(quoted);
            let role = read.role_name().unwrap_or("\"tool\"");
            Item {
                text: Cow::Owned(tool_turn(
                    read.keys(),
                    role,
                    id.as_deref(),
                    name.as_deref(),
                    &response.content,
                )),
                place: None,
            }
        });
        let apart: Vec<Item<'a>> = apart.collect();
        items.splice(turn..=turn, apart);
        is_changed = true;
    }
    is_changed
}

/// The turn's text with an addition at the end of what it says.
fn appended(record: &Record<'_>, turn: &str, addition: &str) -> Option<String> {
    let read = super::turn_of(turn)?;
    let alone = Record {
        text: turn,
        format: record.format,
        id: None,
        system: None,
        tools: None,
        turns: Vec::new(),
        ambiguous: false,
    };
    let edit = append_text(&alone, &read, addition)?;
    Some(apply(turn, vec![edit]))
}

fn is_exact(turn: &Turn<'_>) -> bool {
    turn.pieces(&mut String::new(), |_| {})
}

fn tool_turn(keys: (&str, &str), role: &str, id: Option<&str>, name: Option<&str>, text: &str) -> String {
    let (role_key, text_key) = keys;
    let field = |key: &str, value: Option<&str>| {
        value
            .map(|value| format!("\"{key}\": {value}, "))
            .unwrap_or_default()
    };
    let (id, name) = (field("tool_call_id", id), field("name", name));
    format!(
        "{{\"{role_key}\": {role}, {id}{name}\"{text_key}\": {}}}",
        quoted(text)
    )
}
