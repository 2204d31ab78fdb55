//! Chooses the turns to be replaced: as few middle turns as bring the trajectory within its budget.

use std::ops::Range;

use super::{CutPoints, Outline, Reason, Region};

/// The plan for a trajectory over its budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// Replace these turns.
    Replace(Region),
    /// Keep it as it is, for this reason.
    Keep(Reason),
}

/// Plans one compression.
///
/// `compressible` is the range between head and tail, `need` the tokens that the region must free, including those for
/// its summary, and `summary_tokens` the most that the summary of a region may cost.
pub fn plan(
    outline: &Outline,
    cut_points: &CutPoints,
    compressible: Range<usize>,
    need: usize,
    summary_tokens: impl Fn(Region) -> usize,
) -> Plan {
    let candidates = readable_stretches(outline, cut_points, compressible);
    let Some(stretch) = choose(outline, &candidates, need) else {
        return Plan::Keep(Reason::plain(Reason::NOTHING_COMPRESSIBLE));
    };
    let end = cut_points
        .at_or_after(end_of_need(outline, &stretch, need))
        .min(stretch.end);
    match cut_points.region(stretch.start, end) {
        None => Plan::Keep(Reason::plain(Reason::NOTHING_COMPRESSIBLE)),
        Some(region) => {
            let (freed, summary_tokens) = (freed(outline, &region.range()), summary_tokens(region));
            if freed <= summary_tokens {
                Plan::Keep(Reason::with(
                    Reason::NO_NET_SAVING,
                    format!("the region frees {freed} tokens, its summary may cost {summary_tokens}"),
                ))
            } else {
                Plan::Replace(region)
            }
        }
    }
}

/// Extends a region until it frees `need`, by at least one group; `None` where no group is left.
pub fn extend(
    outline: &Outline,
    cut_points: &CutPoints,
    region: Region,
    compressible_end: usize,
    need: usize,
) -> Option<Region> {
    let stretches = readable_stretches(outline, cut_points, region.start()..compressible_end);
    let stretch = stretches.first()?;
    // Counts may be inexact: a region that seems to free enough may have turned out not to.
    let end = end_of_need(outline, stretch, need).max(region.end() + 1);
    cut_points
        .region(region.start(), cut_points.at_or_after(end).min(stretch.end))
        .filter(|extended| extended.end() > region.end())
}

/// Returns the tokens freed by replacing these turns: none by the last human turn, which the summary turn quotes.
pub fn freed(outline: &Outline, turns: &Range<usize>) -> usize {
    let last_human = outline.last_human;
    let cost = |index: usize| outline.turns.get(index).map_or(0, |turn| turn.tokens);
    turns
        .clone()
        .filter(|&index| Some(index) != last_human)
        .map(cost)
        .sum()
}

/// Returns the index at which the turns from the stretch's start have freed `need` tokens.
fn end_of_need(outline: &Outline, stretch: &Range<usize>, need: usize) -> usize {
    let last_human = outline.last_human;
    let mut sum = 0;
    for index in stretch.clone() {
        let turn = outline.turns.get(index).filter(|_| Some(index) != last_human);
        sum += turn.map_or(0, |turn| turn.tokens);
        if sum >= need {
            return index + 1;
        }
    }
    stretch.end
}

/// Returns the first stretch that frees enough; if none does, the one that frees most.
fn choose(outline: &Outline, stretches: &[Range<usize>], need: usize) -> Option<Range<usize>> {
    let enough = stretches.iter().find(|stretch| freed(outline, stretch) >= need);
    let most = || {
        stretches
            .iter()
            .rev()
            .max_by_key(|stretch| freed(outline, stretch))
    };
    enough.or_else(most).cloned()
}

/// Returns the parts of the compressible region, from cut point to cut point, whose turns may all be summarized.
///
/// There is more than one only where a turn could not be read, or where the last human turn has content that a summary
/// cannot quote.
fn readable_stretches(
    outline: &Outline,
    cut_points: &CutPoints,
    compressible: Range<usize>,
) -> Vec<Range<usize>> {
    let last_human = outline.last_human;
    let must_stay = |index: usize| {
        let turn = outline.turns.get(index);
        turn.is_none_or(|turn| !turn.readable || (Some(index) == last_human && !turn.quotable))
    };
    let mut stretches = Vec::new();
    let mut start = compressible.start;
    for barrier in compressible.clone().filter(|&index| must_stay(index)) {
        if barrier >= start {
            stretches.push(start..cut_points.at_or_before(barrier));
            start = cut_points.at_or_after(barrier + 1);
        }
    }
    stretches.push(start..compressible.end);
    stretches.retain(|stretch| stretch.start < stretch.end);
    stretches
}
