//! Blocks cut into units, each with what quoting it is worth: what later turns repeat of it, and what they may repeat.

use rustc_hash::{FxHashMap, FxHashSet};

use super::blocks::{Block, LEAST_CHANCE};
use super::candidate::order;
use super::quoted::{fenced, tells};
use super::superseded::Told;
use super::units;
use crate::compress::anchors::Matcher;
use crate::compress::reuse::{Reuse, pieces};
use crate::knowledge::phrases::Kinds;

/// Bytes of a token, about.
const TOKEN_BYTES: f32 = 3.5;

/// The chance of the start of a block, as a part of that of its end: work goes on where it stopped.
const START: f32 = 0.75;

/// The worth of words that somebody has answered, as a part of that of others: much of them comes again as a phrase.
const ANSWERED: f32 = 0.4;

/// The worth of a piece that comes again in its block, as a part of that of its last place.
const REPEATED: f32 = 0.3;

/// The worth of an identifier that later turns rely on, in bytes that they repeat.
const ANCHOR: f32 = 12.0;

/// Stands for what was left out.
const CUT: &str = "…";

/// A block in units.
pub(super) struct Measured {
    pub block: Block,
    pub units: Vec<Unit>,
}

/// A stretch of text that is quoted as a whole or not at all.
pub(super) struct Unit {
    pub end: usize,
    pub cost: f32,
    /// If a quotation may begin with it: not within an object of data, whose fields would seem to be another one's.
    pub may_begin: bool,
    /// If it tells more than the next step or an answered question, and nothing told it anew later.
    tells: bool,
    /// The worth of what stands nowhere else.
    pub worth: f32,
    /// The worth of all of it.
    pub most: f32,
    /// The pieces that stand in other blocks as well: number and worth.
    pub shared: Vec<(u32, f32)>,
}

/// Weighs the units of blocks. Returns the blocks and the number of pieces that stand in several of them.
pub(super) fn measured(
    blocks: Vec<Block>,
    reuse: &Reuse,
    anchors: usize,
    matcher: &Matcher<'_>,
    told: &Told,
) -> (Vec<Measured>, usize) {
    // The block that a piece stands in first, and its number once it stands in another one.
    let mut seen: FxHashMap<u64, (u32, Option<u32>)> = FxHashMap::default();
    let mut shared = 0;
    let texts = blocks.iter().zip(0_u32..);
    let pieces_of: Vec<Vec<(usize, u64, f32)>> = texts
        .map(|(block, place)| {
            let mut found = Vec::new();
            for (end, piece) in pieces(&block.text) {
                let Some(wanted) = reuse.wanted(piece) else {
                    continue;
                };
                if wanted == 0.0 && block.chance < LEAST_CHANCE {
                    continue;
                }
                let (first, number) = seen.entry(piece).or_insert((place, None));
                if *first != place && number.is_none() {
                    *number = Some(shared);
                    shared += 1;
                }
                let is_answered = block.is_answered && !block.has_call && end < block.words;
                let wanted = if is_answered { ANSWERED * wanted } else { wanted };
                let chance = block.chance * (START + (1.0 - START) * end as f32 / block.text.len() as f32);
                found.push((end, piece, chance + wanted));
            }
            found
        })
        .collect();
    let measured = blocks.into_iter().zip(pieces_of);
    let mut wanted = vec![true; anchors];
    let blocks = measured.map(|(block, found)| {
        let mut units = units_of(&block, told);
        let mut own = FxHashSet::default();
        for (end, piece, worth) in found.into_iter().rev() {
            let worth = if own.insert(piece) {
                worth
            } else {
                REPEATED * worth
            };
            let place = units.partition_point(|unit| unit.end <= end);
            if let Some(unit) = units.get_mut(place).filter(|unit| unit.tells) {
                match seen.get(&piece).and_then(|(_, number)| *number) {
                    Some(number) => unit.shared.push((number, worth)),
                    None => unit.worth += worth,
                }
            }
        }
        matcher.find(&block.text, &mut wanted, |_, at| {
            let place = units.partition_point(|unit| unit.end <= at);
            if let Some(unit) = units.get_mut(place) {
                unit.worth += ANCHOR;
            }
            false
        });
        for unit in &mut units {
            unit.most = unit
                .shared
                .iter()
                .fold(unit.worth, |most, (_, worth)| most + worth);
        }
        Measured { block, units }
    });
    (blocks.collect(), shared as usize)
}

/// The units of a block, nothing weighed yet.
fn units_of(block: &Block, told: &Told) -> Vec<Unit> {
    let mut start = 0;
    let turn = (block.order / order(0, 0)).checked_sub(1);
    let unit = |end: usize| {
        let text = block.text.get(start..end).unwrap_or_default();
        let is_idle = || {
            let sentence = text.trim();
            !tells(text)
                || block.is_answered && sentence.ends_with(['?', '？'])
                || told.is_replaced(turn, sentence, Kinds::of(sentence))
        };
        let unit = Unit {
            end,
            cost: (end - start) as f32 / TOKEN_BYTES,
            may_begin: units::may_begin(block.text.get(..start).unwrap_or_default(), text),
            tells: end > block.words || !is_idle(),
            worth: 0.0,
            most: 0.0,
            shared: Vec::new(),
        };
        start = end;
        unit
    };
    units::ends(&block.text).into_iter().map(unit).collect()
}

impl Measured {
    /// The chosen units under their heading, marks in place of the others; `None` if nothing is chosen.
    pub fn passage(&self, is_chosen: &[bool]) -> Option<String> {
        let Block { text, headings, .. } = &self.block;
        let mut passage = String::new();
        let (mut start, mut is_gap) = (0, false);
        for (unit, is_chosen) in self.units.iter().zip(is_chosen) {
            if *is_chosen {
                if is_gap {
                    let is_at_line = passage.is_empty() || passage.ends_with('\n');
                    let line_before = text.get(..start).is_some_and(|before| before.ends_with('\n'));
                    passage.push_str(CUT);
                    passage.push_str(if is_at_line && line_before { "\n" } else { " " });
                }
                passage.push_str(text.get(start..unit.end).unwrap_or_default());
                is_gap = false;
            } else {
                is_gap = true;
            }
            start = unit.end;
        }
        if passage.trim().is_empty() {
            return None;
        }
        let mut passage = passage.trim_end().trim_start_matches('\n').to_owned();
        if is_gap {
            passage.push_str(if text.ends_with('\n') || passage.contains('\n') {
                "\n"
            } else {
                " "
            });
            passage.push_str(CUT);
        }
        let heading = &headings[usize::from(is_chosen.contains(&false))];
        Some(if passage.contains('\n') {
            [heading.as_str(), ":\n", &fenced(&passage)].concat()
        } else {
            [heading.as_str(), ": ", &passage].concat()
        })
    }

    pub fn worth(&self, is_chosen: &[bool]) -> f32 {
        let chosen = self
            .units
            .iter()
            .zip(is_chosen)
            .filter(|(_, is_chosen)| **is_chosen);
        chosen
            .map(|(unit, _)| unit.worth + unit.shared.iter().map(|(_, worth)| worth).sum::<f32>())
            .sum()
    }
}
