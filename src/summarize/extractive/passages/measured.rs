//! Blocks cut into units, each with what quoting it is worth: what later turns repeat of it, and what they may repeat.

use std::ops::Range;

use super::units;
use crate::compress::anchors::Matcher;
use crate::compress::piece_index::PieceIndex;
use crate::compress::reuse::{Reuse, ending_within, is_sample};
use crate::summarize::extractive::block::{Block, BlockOrigin};
use crate::summarize::extractive::blocks::LEAST_CHANCE;
use crate::summarize::extractive::quoted::{CUT, Heading, fenced, tells, with_argument};

/// Bytes of a token, about.
const TOKEN_BYTES: f32 = 3.5;

/// The chance of the start of a block, as a part of that of its end: work goes on where it stopped.
const START: f32 = 0.75;

/// Bytes of an output's end. However long the rest is, no more of it is repeated.
const END: usize = 2_000;

/// The worth of a piece that comes again in its block, as a part of that of its last place.
const REPEATED: f32 = 0.3;

/// The worth of an identifier that later turns rely on, in bytes that they repeat.
const ANCHOR: f32 = 12.0;

/// A block in units.
pub(super) struct MeasuredBlock {
    pub block: Block,
    pub units: Vec<Unit>,
    /// The pieces that stand in other blocks as well, unit by unit: number and worth.
    shared: Vec<(u32, f32)>,
}

/// A stretch of text that is quoted as a whole or not at all.
pub(super) struct Unit {
    pub end: usize,
    pub cost: f32,
    /// If it is worth anything, and a quotation may begin with it: not within an object of data, whose fields would seem to be
    /// another one's.
    pub may_begin: bool,
    /// If it tells nothing: the heading says it, or it only announces.
    pub is_idle: bool,
    /// The worth of each sample of its pieces, as far as nothing is known of it.
    chance: f32,
    /// The worth of what stands nowhere else.
    pub worth: f32,
    /// The worth of all of it.
    pub most: f32,
    /// The worth of what later turns are known to repeat.
    known: f32,
    /// The bytes that later turns are known to repeat, about.
    repeated: f32,
    /// The places of its pieces among those of its block that stand in other blocks as well.
    shared: Range<usize>,
}

/// A piece of a block that later turns repeat, or may repeat.
struct FoundPiece {
    unit: u32,
    /// Its place among those seen.
    piece: u32,
    /// The part of it that later turns are known to repeat.
    wanted: f32,
    /// If it stands for others: its unit's chance is its too.
    is_sample: bool,
}

/// Weighs the units of blocks. Returns the blocks and the number of pieces that stand in several of them.
pub(super) fn measured(
    blocks: Vec<Block>,
    reuse: &Reuse,
    anchors: usize,
    matcher: &Matcher<'_>,
) -> (Vec<MeasuredBlock>, usize) {
    let mut pieces = PieceIndex::within(blocks.iter().map(|block| block.text.len()).sum());
    let texts = blocks.into_iter().zip(0_u32..);
    let found: Vec<(MeasuredBlock, Vec<FoundPiece>)> = texts
        .map(|(block, place)| {
            let mut units = units_of(&block.text);
            let found = found(&block, place, &mut units, reuse, &mut pieces);
            let shared = Vec::new();
            (MeasuredBlock { block, units, shared }, found)
        })
        .collect();
    let mut wanted = vec![true; anchors];
    let blocks = found
        .into_iter()
        .zip(0_u32..)
        .map(|((mut measured, found), place)| {
            let MeasuredBlock { block, units, shared } = &mut measured;
            for found in found.iter().rev() {
                let counted = pieces.count(found.piece, place);
                let (Some(unit), Some((number, is_repeated))) = (units.get_mut(found.unit as usize), counted)
                else {
                    continue;
                };
                let worth = found.wanted + if found.is_sample { unit.chance } else { 0.0 };
                let worth = if is_repeated { REPEATED * worth } else { worth };
                match number {
                    Some(number) => {
                        if unit.shared.is_empty() {
                            unit.shared.start = shared.len();
                        }
                        shared.push((number, worth));
                        unit.shared.end = shared.len();
                    }
                    None => unit.worth += worth,
                }
            }
            matcher.find(&block.text, &mut wanted, |_, at| {
                let place = units.partition_point(|unit| unit.end <= at);
                if let Some(unit) = units.get_mut(place) {
                    unit.worth += ANCHOR;
                    unit.known += ANCHOR;
                }
                false
            });
            let mut start = 0;
            for unit in units {
                let shared = shared.get(unit.shared.clone()).unwrap_or_default();
                unit.most = shared.iter().fold(unit.worth, |most, (_, worth)| most + worth);
                let (before, text) = block.text.split_at(start);
                let text = text.get(..unit.end - start).unwrap_or_default();
                let is_said = start < block.words;
                unit.may_begin = unit.most > 0.0 && units::may_begin(before, text, is_said);
                start = unit.end;
            }
            measured
        });
    let blocks = blocks.collect();
    (blocks, pieces.shared())
}

/// The pieces that count in a block: all that later turns are known to repeat, and samples where they may repeat others.
fn found(
    block: &Block,
    number: u32,
    units: &mut [Unit],
    reuse: &Reuse,
    all: &mut PieceIndex,
) -> Vec<FoundPiece> {
    let mut found = Vec::new();
    // The pieces of a unit that may count, with room for one more, and those that do.
    let mut counting: Vec<u64> = Vec::new();
    let mut counted: Vec<(u64, f32, bool)> = Vec::new();
    let length = block.text.len() as f32;
    let heading = Heading::of(&block.headings[1]);
    let mut start = 0;
    for (place, unit) in units.iter_mut().enumerate() {
        let chance = block.chances[usize::from(unit.end > block.words)];
        let is_fresh = chance >= LEAST_CHANCE;
        let pieces = ending_within(block.text.as_bytes(), start, unit.end);
        let count = pieces.len();
        if counting.len() <= count {
            counting.resize(count + 1, 0);
        }
        // Most pieces are neither samples nor wanted. Which are is hard to predict: each is written, and stays if it counts.
        let (mut samples, mut may_count) = (0, 0);
        for piece in pieces {
            let is_sample = is_fresh & is_sample(piece);
            samples += usize::from(is_sample);
            if let Some(place) = counting.get_mut(may_count) {
                *place = piece;
            }
            may_count += usize::from(is_sample | reuse.may_be_wanted(piece));
        }
        counted.clear();
        for piece in counting.iter().take(may_count) {
            let wanted = reuse.wanted(*piece);
            let is_sample = is_fresh && is_sample(*piece) && !reuse.is_known(*piece);
            if wanted > 0.0 || is_sample {
                counted.push((*piece, wanted, is_sample));
            }
        }
        let text = block.text.get(start..unit.end).unwrap_or_default();
        start = unit.end;
        if !is_fresh && counted.is_empty() {
            unit.is_idle = unit.end <= block.words || heading.tells(text.trim());
            continue;
        }
        if is_idle(block, &heading, text, unit.end) {
            unit.is_idle = true;
            continue;
        }
        for &(piece, wanted, is_sample) in &counted {
            unit.known += block.weight * wanted;
            unit.repeated += if wanted > 0.0 { 1.0 } else { 0.0 };
            found.push(FoundPiece {
                unit: place as u32,
                piece: all.note(piece, number),
                wanted: block.weight * wanted,
                is_sample,
            });
        }
        if is_fresh {
            let place = if block.origin != BlockOrigin::Output {
                START + (1.0 - START) * unit.end as f32 / length
            } else if block.text.len() - unit.end < END {
                1.0
            } else {
                (END as f32 / length).min(1.0)
            };
            let chance = block.weight * chance * place * count as f32;
            if samples == 0 {
                unit.worth += chance;
            } else {
                unit.chance = chance / samples as f32;
            }
        }
    }
    found
}

/// If the unit that ends at `end` says what the heading says, only announces the next step, or asks what was answered.
fn is_idle(block: &Block, heading: &Heading<'_>, unit: &str, end: usize) -> bool {
    let sentence = unit.trim();
    heading.tells(sentence)
        || end <= block.words && (!tells(unit) || block.is_answered && sentence.ends_with(['?', '？']))
}

/// The units of a block, nothing weighed yet.
fn units_of(text: &str) -> Vec<Unit> {
    let mut start = 0;
    let unit = |end: usize| {
        let unit = Unit {
            end,
            cost: (end - start) as f32 / TOKEN_BYTES,
            may_begin: false,
            is_idle: false,
            chance: 0.0,
            worth: 0.0,
            most: 0.0,
            known: 0.0,
            repeated: 0.0,
            shared: 0..0,
        };
        start = end;
        unit
    };
    units::ends(text).into_iter().map(unit).collect()
}

/// The least bytes of the longest stretch in a quotation with gaps: about a line of code. Shorter ones tell nothing by themselves.
const LEAST_STRETCH: usize = 80;

/// The same of an output, most of which nobody chose to write.
const LEAST_OF_OUTPUTS: usize = 110;

impl MeasuredBlock {
    /// The chosen units under their heading, marks in place of the others; `None` if nothing is chosen, or only fragments.
    pub fn passage(&self, is_chosen: &[bool]) -> Option<String> {
        let Block { text, headings, .. } = &self.block;
        let mut passage = String::new();
        let (mut start, mut is_gap) = (0, false);
        let (mut stretch, mut longest) = (0, 0);
        for (unit, is_chosen) in self.units.iter().zip(is_chosen) {
            if *is_chosen {
                if is_gap {
                    let is_at_line = passage.is_empty() || passage.ends_with('\n');
                    let line_before = text.get(..start).is_some_and(|before| before.ends_with('\n'));
                    passage.push_str(CUT);
                    passage.push_str(if is_at_line && line_before { "\n" } else { " " });
                }
                let quoted = text.get(start..unit.end).unwrap_or_default();
                passage.push_str(quoted);
                is_gap = false;
                stretch += quoted.trim().len();
                longest = longest.max(stretch);
            } else {
                is_gap = true;
                stretch = 0;
            }
            start = unit.end;
        }
        let least = if self.block.is_output() {
            LEAST_OF_OUTPUTS
        } else {
            LEAST_STRETCH
        };
        let is_idle = self.chosen(is_chosen).all(|unit| unit.is_idle);
        if passage.trim().is_empty() || is_idle || is_chosen.contains(&false) && longest < least {
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
        let heading = match is_chosen.contains(&false) {
            _ if self.is_words_only(is_chosen) => &headings[2],
            is_part => &headings[usize::from(is_part)],
        };
        let first = is_chosen.iter().position(|is_chosen| *is_chosen).unwrap_or(0);
        let is_call_alone = self.block.has_call() && self.start_of(first) >= self.block.words;
        Some(if passage.contains('\n') {
            [heading.trim_end_matches(':'), ":\n", &fenced(&passage)].concat()
        } else if let Some(line) = is_call_alone.then(|| with_argument(heading, &passage)).flatten() {
            line
        } else {
            [heading.as_str(), ": ", &passage].concat()
        })
    }

    /// If nothing of a call is chosen but the words before it.
    pub fn is_words_only(&self, is_chosen: &[bool]) -> bool {
        let last = is_chosen.iter().rposition(|is_chosen| *is_chosen);
        self.block.has_call() && last.is_some_and(|last| self.start_of(last) < self.block.words)
    }

    /// The tokens of some units that stand beside one another, about; `None` if they are more than `most` or one tells nothing.
    pub fn cost_of(&self, units: Range<usize>, most: f32) -> Option<f32> {
        let units = self.units.get(units)?;
        let cost = units.iter().map(|unit| unit.cost).sum::<f32>();
        (cost <= most && !units.iter().any(|unit| unit.is_idle)).then_some(cost)
    }

    /// The chosen units.
    fn chosen<'m>(&'m self, is_chosen: &'m [bool]) -> impl Iterator<Item = &'m Unit> {
        let units = self.units.iter().zip(is_chosen);
        units.filter_map(|(unit, is_chosen)| is_chosen.then_some(unit))
    }

    /// The worth of what later turns are known to repeat of the chosen units.
    pub fn known(&self, is_chosen: &[bool]) -> f32 {
        self.chosen(is_chosen).map(|unit| unit.known).sum()
    }

    /// The part of the chosen units that later turns are known to repeat.
    pub fn repeated_part(&self, is_chosen: &[bool]) -> f32 {
        let sum = |of: fn(&Unit) -> f32| self.chosen(is_chosen).map(of).sum::<f32>();
        sum(|unit| unit.repeated) / (TOKEN_BYTES * sum(|unit| unit.cost)).max(1.0)
    }

    /// The chosen part of it, in tokens; beyond `most` its length counts no more.
    pub fn part_of(&self, is_chosen: &[bool], most: f32) -> f32 {
        let (mut part, mut all) = (0.0, 0.0);
        for (unit, is_chosen) in self.units.iter().zip(is_chosen) {
            all += unit.cost;
            part += if *is_chosen { unit.cost } else { 0.0 };
        }
        part / all.min(most)
    }

    fn start_of(&self, unit: usize) -> usize {
        let before = unit.checked_sub(1).and_then(|before| self.units.get(before));
        before.map_or(0, |before| before.end)
    }

    /// The text of a unit.
    pub fn text_of(&self, unit: usize) -> &str {
        let start = self.start_of(unit);
        let end = self.units.get(unit).map_or(start, |unit| unit.end);
        self.block.text.get(start..end).unwrap_or_default()
    }

    /// If a unit is a blank line.
    pub fn is_blank(&self, unit: usize) -> bool {
        self.text_of(unit).trim().is_empty()
    }

    /// The worth of the chosen units.
    pub fn worth(&self, is_chosen: &[bool]) -> f32 {
        self.chosen(is_chosen)
            .map(|unit| unit.worth + self.shared_of(unit).iter().map(|(_, worth)| worth).sum::<f32>())
            .sum()
    }

    /// The pieces of a unit that stand in other blocks as well: number and worth.
    pub fn shared_of(&self, unit: &Unit) -> &[(u32, f32)] {
        self.shared.get(unit.shared.clone()).unwrap_or_default()
    }
}
