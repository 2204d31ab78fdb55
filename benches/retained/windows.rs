//! Windows of trajectories: a head, a region that a summary would replace, and six turns after it.

use trajfit::internals::tokens::TokenCounter;
use trajfit::internals::trajectory::{Role, TurnView};

use crate::data::{Record, opening, said, turn_text};

/// Turns after a region.
pub const TAIL: usize = 6;

/// Assistant turns of these that are scored.
const SCORED: usize = 3;

/// Tokens that a region has at the least: it ends as soon as it has so many. All are more than any candidate's.
const REGIONS: [usize; 4] = [1_000, 2_000, 4_000, 8_000];

/// Bytes of the scored turns at least.
const SCORED_LEAST: usize = 200;

/// A part of a trajectory.
pub struct Window<'r> {
    pub record: &'r Record,
    /// Place of the record among all.
    pub place: usize,
    /// One past the region.
    pub end: usize,
    pub region_tokens: usize,
}

impl Window<'_> {
    pub fn head(&self) -> &[TurnView<'static>] {
        &self.record.turns[..self.record.head_end]
    }

    pub fn region(&self) -> &[TurnView<'static>] {
        &self.record.turns[self.record.head_end..self.end]
    }

    pub fn tail(&self) -> &[TurnView<'static>] {
        &self.record.turns[self.end..self.end + TAIL]
    }
}

/// Turns up to the last one that is scored: texts, each with whether it is scored.
pub fn tail_texts(tail: &[TurnView<'_>]) -> Vec<(String, bool)> {
    let mut texts = Vec::new();
    let mut left = SCORED;
    for turn in tail {
        if left == 0 {
            break;
        }
        let is_scored = turn.role == Role::Assistant;
        left -= usize::from(is_scored);
        texts.push((opening(turn.role).to_owned(), false));
        texts.push((said(turn), is_scored));
    }
    while texts.last().is_some_and(|(_, is_scored)| !is_scored) {
        texts.pop();
    }
    texts
}

/// The windows of all records. A conversation that stands there in several forms gives each of them other windows.
pub fn windows<'r>(records: &'r [Record], counter: &dyn TokenCounter) -> Vec<Window<'r>> {
    let mut windows = Vec::new();
    for (place, record) in records.iter().enumerate() {
        let ends = ends(record, counter);
        let form = record
            .forms
            .iter()
            .position(|form| *form == place)
            .unwrap_or_default();
        let forms = record.forms.len();
        let sizes = REGIONS
            .iter()
            .enumerate()
            .filter(|(number, _)| number % forms == form);
        let reached = sizes.filter_map(|(_, size)| ends.iter().find(|(_, tokens)| tokens >= size));
        let mut taken: Vec<(usize, usize)> = reached.copied().collect();
        // Two that share turns of their tails would tell the same twice.
        taken.dedup_by(|later, earlier| later.0 < earlier.0 + TAIL);
        let window = |(end, region_tokens)| Window {
            record,
            place,
            end,
            region_tokens,
        };
        windows.extend(taken.into_iter().map(window));
    }
    windows
}

/// Where a region of the record may end, and the tokens that it then has.
fn ends(record: &Record, counter: &dyn TokenCounter) -> Vec<(usize, usize)> {
    let mut region_tokens = 0;
    let mut ends = Vec::new();
    for end in record.head_end..=record.turns.len().saturating_sub(TAIL) {
        let window = Window {
            record,
            place: 0,
            end,
            region_tokens,
        };
        let scored = tail_texts(window.tail());
        let bytes: usize = scored.iter().filter(|text| text.1).map(|text| text.0.len()).sum();
        if record.is_cut[end] && bytes >= SCORED_LEAST {
            ends.push((end, region_tokens));
        }
        region_tokens += record
            .turns
            .get(end)
            .map_or(0, |turn| counter.count(&turn_text(turn)));
    }
    ends
}
