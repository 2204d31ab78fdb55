//! Units that are quoted beside those that were chosen: headings that items need, gaps that are closed so that a quotation reads as
//! it was written, and the newest work where there is room for it.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::measured::MeasuredBlock;
use super::units;
use super::walk::{GAP, HEADING};
use crate::summarize::extractive::block::BlockCalls;

/// The longest gap that is closed, in tokens: of words and calls, and of outputs, whose lines stand for themselves.
const LONGEST: f32 = 80.0;
const LONGEST_OF_OUTPUTS: f32 = 24.0;

/// The longest way from a quotation to the start or end of its paragraph, in tokens.
const PARAGRAPH: f32 = 40.0;

/// Units looked at above an item at most.
const MAX_UNITS: usize = 64;

/// The newest calls and words that room which is left goes to. Older ones add little to what the next turns can be told from.
const NEWEST: usize = 2;

/// Bytes of the shortest unit that is not quoted twice.
const LEAST_TOLD: usize = 24;

/// Units that are left out between quoted ones.
struct Gap {
    block: usize,
    units: Range<usize>,
    cost: f32,
}

/// Finds gaps in a block: the units of each, and its cost.
type GapsOf = fn(&MeasuredBlock, &[bool]) -> Vec<(Range<usize>, f32)>;

/// Closes gaps, the shortest first, and then completes paragraphs, as far as `room` tokens go.
pub(super) fn close(blocks: &[MeasuredBlock], chosen: &mut [Vec<bool>], room: f32) {
    let mut left = room;
    let mut take = |mut gaps: Vec<Gap>, chosen: &mut [Vec<bool>]| {
        gaps.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        for gap in gaps {
            if gap.cost > left {
                break;
            }
            left -= gap.cost;
            let units = chosen
                .get_mut(gap.block)
                .and_then(|units| units.get_mut(gap.units));
            units
                .into_iter()
                .flatten()
                .for_each(|is_chosen| *is_chosen = true);
        }
    };
    let each = |chosen: &[Vec<bool>], of: GapsOf| {
        let blocks = blocks.iter().zip(chosen).enumerate();
        let gaps = blocks.flat_map(|(block, (measured, is_chosen))| {
            let found = of(measured, is_chosen).into_iter();
            found.map(move |(units, cost)| Gap { block, units, cost })
        });
        gaps.collect::<Vec<Gap>>()
    };
    take(each(chosen, between), chosen);
    take(each(chosen, beside), chosen);
}

/// The gaps between quoted units, each with its cost.
fn between(measured: &MeasuredBlock, is_chosen: &[bool]) -> Vec<(Range<usize>, f32)> {
    let longest = if measured.block.is_output() {
        LONGEST_OF_OUTPUTS
    } else {
        LONGEST
    };
    let mut gaps = Vec::new();
    let mut last: Option<usize> = None;
    for (unit, _) in is_chosen.iter().enumerate().filter(|(_, is_chosen)| **is_chosen) {
        if let Some(start) = last.map(|last| last + 1).filter(|start| *start < unit) {
            gaps.extend(
                measured
                    .cost_of(start..unit, longest)
                    .map(|cost| (start..unit, cost - GAP)),
            );
        }
        last = Some(unit);
    }
    gaps
}

/// The rests of the paragraphs that quotations of words and calls begin or end in.
fn beside(measured: &MeasuredBlock, is_chosen: &[bool]) -> Vec<(Range<usize>, f32)> {
    if measured.block.is_output() {
        return Vec::new();
    }
    let is_quoted = |unit: usize| is_chosen.get(unit) == Some(&true);
    let mut gaps = Vec::new();
    for unit in (0..is_chosen.len()).filter(|unit| is_quoted(*unit)) {
        if unit > 0 && !is_quoted(unit - 1) {
            let start = (0..unit)
                .rev()
                .find(|at| is_quoted(*at) || measured.is_blank(*at));
            let start = start.map_or(0, |at| at + 1);
            gaps.push(start..unit);
        }
        if unit + 1 < is_chosen.len() && !is_quoted(unit + 1) {
            let end = (unit + 1..is_chosen.len()).find(|at| is_quoted(*at) || measured.is_blank(*at));
            gaps.push(unit + 1..end.unwrap_or(is_chosen.len()));
        }
    }
    let priced = gaps.into_iter().filter(|gap| !gap.is_empty());
    priced
        .filter_map(|gap| Some((gap.clone(), measured.cost_of(gap, PARAGRAPH)?)))
        .collect()
}

/// Quotes the newest calls and words from their ends on, as far as `room` tokens go, and words before calls that say nothing of
/// themselves beside them. Of words before a look around, and of what was overtaken (words by the answer to them, failures by what
/// mended them), quotations are only completed.
pub(super) fn add_newest(blocks: &[MeasuredBlock], chosen: &mut [Vec<bool>], room: f32) {
    let mut left = room;
    let mut told = told(blocks, chosen);
    let mut newest: Vec<(&MeasuredBlock, &mut Vec<bool>)> = blocks.iter().zip(chosen).collect();
    newest.retain(|(MeasuredBlock { block, .. }, is_chosen)| {
        // A call that came again is quoted once.
        let is_last = !block.has_call() || block.told.is_some();
        let is_new = is_last && block.chances[1] > 0.0 && !block.announces();
        !block.is_output() && (is_chosen.contains(&true) || is_new)
    });
    newest.sort_by_key(|(measured, _)| std::cmp::Reverse(measured.block.order));
    let mut others = 0;
    for (measured, is_chosen) in newest {
        others += usize::from(measured.block.calls != BlockCalls::Wordless);
        if others > NEWEST {
            break;
        }
        if !is_chosen.contains(&true) {
            left -= HEADING;
        }
        let mut first = measured.units.len();
        for (place, unit) in measured.units.iter().enumerate().rev() {
            let is_there =
                is_chosen.get(place) == Some(&true) || told.contains(measured.text_of(place).trim());
            if !is_there && unit.cost > left {
                break;
            }
            left -= if is_there { 0.0 } else { unit.cost };
            first = place;
        }
        let mut is_within = false;
        for (place, is_chosen) in is_chosen.iter_mut().enumerate().skip(first) {
            let text = measured.text_of(place).trim();
            if !*is_chosen && !told.contains(text) && (is_within || may_begin(measured, place)) {
                *is_chosen = true;
                told.extend(Some(text).filter(|text| text.len() >= LEAST_TOLD));
            }
            is_within = *is_chosen;
        }
        if first > 0 {
            break;
        }
    }
}

/// The texts of the chosen units that would tell nothing new elsewhere.
fn told<'m>(blocks: &'m [MeasuredBlock], chosen: &[Vec<bool>]) -> FxHashSet<&'m str> {
    let blocks = blocks.iter().zip(chosen);
    let texts = blocks.flat_map(|(measured, is_chosen)| {
        let units = is_chosen.iter().enumerate().filter(|(_, is_chosen)| **is_chosen);
        units.map(|(unit, _)| measured.text_of(unit).trim())
    });
    texts.filter(|text| text.len() >= LEAST_TOLD).collect()
}

/// If a quotation may begin with a unit.
fn may_begin(measured: &MeasuredBlock, unit: usize) -> bool {
    let before = unit.checked_sub(1).and_then(|before| measured.units.get(before));
    let start = before.map_or(0, |before| before.end);
    let before = measured.block.text.get(..start).unwrap_or_default();
    units::may_begin(before, measured.text_of(unit), start < measured.block.words)
}

/// Quotes the headings of the list items that quotations begin with: without its heading an item seems to stand under the one before.
pub(super) fn keep_headings(measured: &MeasuredBlock, is_chosen: &mut [bool]) {
    let is_at_line = |unit: usize| unit == 0 || measured.text_of(unit - 1).ends_with('\n');
    for unit in (1..is_chosen.len()).rev() {
        let begins = is_chosen.get(unit) == Some(&true) && is_chosen.get(unit - 1) == Some(&false);
        let depth = (begins && is_at_line(unit)).then(|| item_depth(measured.text_of(unit)));
        let Some(depth) = depth.flatten() else {
            continue;
        };
        let above = (0..unit).rev().take(MAX_UNITS);
        let mut above = above.take_while(|above| is_chosen.get(*above) != Some(&true));
        let heading = above.find(|above| is_at_line(*above) && is_heading(measured.text_of(*above), depth));
        if let Some(is_chosen) = heading.and_then(|heading| is_chosen.get_mut(heading)) {
            *is_chosen = true;
        }
    }
}

/// The indent of a line that is an item of a list.
fn item_depth(line: &str) -> Option<usize> {
    let text = line.trim_start_matches(' ');
    let digits = text.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let is_numbered = digits.len() < text.len() && digits.starts_with(['.', ')']);
    let rest = if is_numbered {
        digits.get(1..)?
    } else {
        text.strip_prefix(['-', '*', '•'])?
    };
    rest.starts_with(' ').then_some(line.len() - text.len())
}

/// If a line stands above items with an indent: a line that opens a list, or an item that it belongs to.
fn is_heading(line: &str, depth: usize) -> bool {
    let text = line.trim();
    let is_above = item_depth(line).is_none_or(|own| own < depth);
    let opens = text.ends_with([':', '：'])
        || text.starts_with('#')
        || text.ends_with("**")
        || item_depth(line).is_some();
    is_above && opens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_have_an_indent_and_headings_stand_above() {
        let depths = ["- a", "  2. b", "* c", "-d", "1.5 e", "f"].map(item_depth);
        assert_eq!(depths, [Some(0), Some(2), Some(0), None, None, None]);
        for (line, depth, expected) in [
            ("Order #W1 (delivered):\n", 0, true),
            ("1. Order #W1\n", 3, true),
            ("- another\n", 0, false),
            ("## Orders\n", 0, true),
            ("Some words.\n", 0, false),
        ] {
            assert_eq!(is_heading(line, depth), expected, "{line}");
        }
    }
}
