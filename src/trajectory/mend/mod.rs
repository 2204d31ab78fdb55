//! Mends the faults of a trajectory; turns without a fault, and all other fields, keep their bytes.

mod ids;
mod items;
mod join;
mod late;
mod missing;
mod orphans;
mod sanitize;
mod split;
mod tidy;
mod told;

use std::borrow::Cow;

use super::json::quoted;
use super::structure::Structure;
use super::structure::faults::Faults;
use super::{Record, parse, view};
use ids::rename;
use items::{
    MendedTurn, NO_RESULT, STRAY_END, STRAY_OUTPUT, appended, insert, is_exact, run_of, tool_turn, written,
};
use join::join;
use late::bring_back;
use missing::answer;
use orphans::tell_orphans;

pub use sanitize::{Sanitized, sanitize};
pub use tidy::{NO_REQUEST, SYSTEM_MESSAGE, TidyCounts, Wishes};

/// Most rounds per record: mending one fault can reveal another.
const MOST_ROUNDS: usize = 10;

/// A mended record.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "the counterpart of what is left")]
pub struct Mended {
    /// The record's text.
    pub text: String,
    /// The faults of the original that were mended. A fault whose mending caused one of another kind counts.
    pub mended: Faults,
    /// The faults that remain.
    pub left: Faults,
}

/// Mends a record; `None` if it has no fault that can be mended. Mending twice changes nothing more.
///
/// `opening` is the text that a summary turn begins with.
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

type MendStep = for<'a> fn(&Record<'a>, &Structure<'a>, &mut Vec<MendedTurn<'a>>) -> bool;

/// Selects the count of one kind of fault.
type FaultCount = fn(&mut Faults) -> &mut usize;

/// The steps that mend faults, in the order in which they are tried, each with the kind that it mends.
const STEPS: [(FaultCount, MendStep); 6] = [
    (|faults| &mut faults.packed_responses, unpack),
    (|faults| &mut faults.unanswered_calls, bring_back),
    (|faults| &mut faults.orphan_responses, tell_orphans),
    (|faults| &mut faults.repeated_ids, rename),
    (|faults| &mut faults.unanswered_calls, answer),
    (|faults| &mut faults.same_role_neighbours, join),
];

/// Mends the first kind of fault found.
fn round<'a>(record: &Record<'a>, structure: &Structure<'a>) -> Option<(FaultCount, String)> {
    STEPS.into_iter().find_map(|(kind, step)| {
        let turns = record.turns.iter().enumerate();
        let mut items: Vec<MendedTurn<'_>> = turns
            .map(|(place, turn)| MendedTurn {
                text: Cow::Borrowed(turn.text),
                place: Some(place),
            })
            .collect();
        let is_changed = step(record, structure, &mut items);
        Some((kind, is_changed.then(|| written(record, &items))??))
    })
}

/// Splits turns with several answers, if the format has one answer per turn.
fn unpack<'a>(record: &Record<'a>, structure: &Structure<'a>, items: &mut Vec<MendedTurn<'a>>) -> bool {
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
            MendedTurn {
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
        let apart: Vec<MendedTurn<'a>> = apart.collect();
        items.splice(turn..=turn, apart);
        is_changed = true;
    }
    is_changed
}
