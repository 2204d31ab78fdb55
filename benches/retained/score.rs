//! What the next turns of a window cost after each candidate.

use rayon::prelude::*;
use trajfit::internals::tokens::TokenCounter;

use crate::candidates::Candidate;
use crate::data::{Record, opening, turn_text};
use crate::model::Model;
use crate::windows::{Window, tail_texts};
use trajfit::internals::trajectory::{Role, TurnView};

/// Tokens that a candidate may cost.
pub const SIZES: [usize; 2] = [300, 750];

/// Bytes read beforehand of each record of the same source, of how many of these, and the same of one record of each other source.
const OF_SAME: usize = 16_000;
const SAME: usize = 16;
const OF_OTHERS: usize = 6_000;

/// Bytes read beforehand of one output.
const OF_OUTPUT: usize = 600;

/// Turns at the start of a record that instructions stand in.
const INSTRUCTIONS: usize = 2;

/// The bits of a window's scored turns.
pub struct Scored {
    /// The window's record, and the end of its region.
    pub record: usize,
    pub end: usize,
    pub source: String,
    /// The conversation, whatever form it is in.
    pub conversation: usize,
    pub region_tokens: usize,
    /// Bytes scored.
    pub bytes: usize,
    pub nothing: f64,
    pub full: f64,
    /// For each size, in the order of the candidates.
    pub after: [Vec<After>; SIZES.len()],
}

/// After one candidate.
pub struct After {
    pub bits: f64,
    /// Tokens that it really has.
    pub tokens: usize,
}

/// Scores the windows, those of one record with one reading of other records.
pub fn scored(records: &[Record], windows: &[Window<'_>], counter: &dyn TokenCounter) -> Vec<Scored> {
    let of_records: Vec<&[Window<'_>]> = windows.chunk_by(|one, other| one.place == other.place).collect();
    let scored: Vec<Vec<Scored>> = of_records
        .par_iter()
        .with_max_len(1)
        .map(|windows| {
            let mut primed = Model::new();
            primed.read(other_records(records, windows[0].place).as_bytes());
            let mut after_head = Model::new();
            let mut scratch = Model::new();
            let score = |window| score(window, &primed, &mut after_head, &mut scratch, counter);
            windows.iter().map(score).collect()
        })
        .collect();
    scored.into_iter().flatten().collect()
}

fn score(
    window: &Window<'_>,
    primed: &Model,
    after_head: &mut Model,
    scratch: &mut Model,
    counter: &dyn TokenCounter,
) -> Scored {
    after_head.become_like(primed);
    after_head.read(window.record.head_text().as_bytes());
    let tail = tail_texts(window.tail());
    let mut bits_after = |text: &str| bits(text, &tail, after_head, scratch);
    let nothing = bits_after("");
    let region: String = window.region().iter().map(turn_text).collect();
    let full = bits_after(&region);
    let after = SIZES.map(|size| {
        let after = Candidate::ALL.iter().map(|candidate| {
            let text = candidate.text(window, size, counter);
            After {
                tokens: counter.count(&text),
                bits: bits_after(&format!("{}{text}", opening(Role::Human))),
            }
        });
        after.collect()
    });
    Scored {
        record: window.place,
        end: window.end,
        region_tokens: window.region_tokens,
        source: window.record.source.clone(),
        conversation: window.record.forms[0],
        bytes: tail.iter().filter(|text| text.1).map(|text| text.0.len()).sum(),
        nothing,
        full,
        after,
    }
}

/// What the scored texts of a tail cost after a head and a text.
pub fn bits(text: &str, tail: &[(String, bool)], after_head: &Model, scratch: &mut Model) -> f64 {
    scratch.become_like(after_head);
    scratch.read(text.as_bytes());
    let mut bits = 0.0;
    for (text, is_scored) in tail {
        if *is_scored {
            bits += scratch.cost(text.as_bytes());
        } else {
            scratch.read(text.as_bytes());
        }
    }
    bits
}

/// Text of other records, of other tasks: one record of each other source, then many of the same.
pub fn other_records(records: &[Record], place: usize) -> String {
    let own = &records[place];
    let others = || {
        let numbered = records.iter().enumerate();
        numbered
            .filter(|(other, _)| !own.kin.contains(other))
            .map(|(_, record)| record)
    };
    let mut text = String::new();
    let strangers: Vec<&Record> = others().filter(|other| other.source != own.source).collect();
    for of_source in strangers.chunk_by(|one, other| one.source == other.source) {
        let longest = of_source.iter().max_by_key(|record| record.turns.len());
        text.extend(longest.map(|record| without_instructions(record, OF_OTHERS)));
    }
    let same: Vec<&Record> = others().filter(|other| other.source == own.source).collect();
    let step = same.len().div_ceil(SAME).max(1);
    for record in same.iter().step_by(step) {
        text.push_str(&without_instructions(record, OF_SAME));
    }
    text
}

/// The start of a record behind its instructions, with its outputs cut short.
fn without_instructions(record: &Record, most: usize) -> String {
    let mut text = String::new();
    for turn in record.turns.iter().skip(INSTRUCTIONS) {
        let mut turn: TurnView<'_> = turn.clone();
        for response in &mut turn.responses {
            let end = response.content.floor_char_boundary(OF_OUTPUT);
            response.content = response.content[..end].to_owned().into();
        }
        text.push_str(&turn_text(&turn));
        if text.len() > most {
            text.truncate(text.floor_char_boundary(most));
            break;
        }
    }
    text
}
