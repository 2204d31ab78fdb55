//! The choice of lines: those worth most for their cost in tokens, with values that later turns use first.

use std::collections::BinaryHeap;

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::candidate::{Candidate, Section};
use crate::compress::anchors::Matcher;
use crate::summarize::grounding::{KEY_REFERENCES, References};
use crate::tokens::TokenCounter;

/// Bytes of candidate lines looked at per token of the budget: two to three times what can enter.
const COUNTED_BYTES: usize = 10;

/// Bytes that a token of a line has on average: what it may cost, told without counting.
const TOKEN_BYTES: usize = 4;

/// Bytes that a token of a line has at most on average, nearly always: what it costs at least.
const MAX_TOKEN_BYTES: usize = 6;

/// A line chosen for the summary.
pub(super) struct Chosen {
    /// The line.
    pub candidate: Candidate,
    /// Its tokens, bullet and line end included.
    pub cost: usize,
    /// Its worth per token when it was chosen: the lowest are dropped first when room is short.
    pub density: u64,
    /// The anchors that it holds.
    pub held: Vec<usize>,
}

/// A candidate with what ranking needs to know of it.
struct RankedCandidate {
    candidate: Candidate,
    /// Its tokens; an estimate until it is counted.
    cost: usize,
    is_counted: bool,
    held: Vec<usize>,
}

impl RankedCandidate {
    fn new(candidate: Candidate, held: Vec<usize>) -> Self {
        Self {
            cost: candidate.text.len() / TOKEN_BYTES + 1,
            is_counted: false,
            candidate,
            held,
        }
    }

    /// Lower bound of its cost in tokens until it is counted.
    fn least(&self) -> usize {
        self.candidate.text.len() / MAX_TOKEN_BYTES + 1
    }

    /// Counts it, once.
    fn count(&mut self, line: &mut String, counter: &dyn TokenCounter) {
        self.cost = cost(&self.candidate.text, line, counter);
        self.is_counted = true;
    }
}

/// The cost of a line in tokens with bullet and line end, as it is written into `line`.
pub(super) fn cost(text: &str, line: &mut String, counter: &dyn TokenCounter) -> usize {
    line.clear();
    line.extend(["- ", text, "\n"]);
    counter.count(line)
}

/// Anchors that are still to be held, and their cost as plain references.
struct Cover<'c> {
    is_covered: Vec<bool>,
    reference_cost: &'c [usize],
    is_reserved: Vec<bool>,
    bonus: Vec<f64>,
}

/// The lines for `budget` tokens, in the order printed, leaving `reference_room` for `references` to what they do not hold.
pub(super) fn chosen(
    candidates: Vec<Candidate>,
    references: &References<'_>,
    matcher: &Matcher<'_>,
    is_held: &[bool],
    budget: usize,
    reference_room: usize,
    counter: &dyn TokenCounter,
) -> Vec<Chosen> {
    let mut entries = entries(candidates, matcher, references.anchors().len(), budget);
    let mut cover = cover(references, is_held, reference_room.min(budget));
    let reference_label = if cover.is_reserved.contains(&true) {
        counter.count(KEY_REFERENCES) + 1
    } else {
        0
    };
    let mut left = budget.saturating_sub(cover.reserved() + reference_label);
    let mut section_spent: FxHashMap<Section, usize> = FxHashMap::default();
    let mut taken = Vec::new();
    let mut deferred = Vec::new();
    let mut heap: BinaryHeap<(u64, std::cmp::Reverse<usize>)> = entries
        .iter()
        .enumerate()
        .map(|(index, entry)| (cover.density(entry), std::cmp::Reverse(index)))
        .collect();
    let mut line = String::new();
    let mut is_capped = true;
    loop {
        let Some((_, std::cmp::Reverse(index))) = heap.pop() else {
            if !is_capped {
                break;
            }
            // Every section had its share; what is left goes to whatever is worth most.
            is_capped = false;
            heap = deferred
                .drain(..)
                .map(|index| (u64::MAX, std::cmp::Reverse(index)))
                .collect();
            continue;
        };
        let Some(entry) = entries.get_mut(index) else {
            continue;
        };
        let mut density = cover.density(entry);
        if density == 0 {
            continue;
        }
        let is_beaten = |density: u64| heap.peek().is_some_and(|(next, _)| *next > density);
        // Lines are counted when it is their turn and they may fit: most never are.
        let spent = section_spent.get(&entry.candidate.section).copied();
        let share = (budget as f64 * entry.candidate.section.share()) as usize;
        let is_beyond_share = |cost: usize| is_capped && spent.is_some_and(|spent| spent + cost > share);
        let may_fit = || {
            let least = entry.least();
            least <= left + cover.released(entry) && !is_beyond_share(least)
        };
        if !entry.is_counted && !is_beaten(density) && may_fit() {
            entry.count(&mut line, counter);
            density = cover.density(entry);
        }
        if is_beaten(density) {
            heap.push((density, std::cmp::Reverse(index)));
            continue;
        }
        let heading = if spent.is_none() {
            counter.count(entry.candidate.section.label()) + 1
        } else {
            0
        };
        let cost = entry.cost + heading;
        if is_beyond_share(cost) {
            deferred.push(index);
            continue;
        }
        let released = cover.released(entry);
        if cost > left + released {
            continue;
        }
        left = left + released - cost;
        *section_spent.entry(entry.candidate.section).or_default() += cost;
        cover.take(entry);
        taken.push((index, density));
    }
    let mut chosen: Vec<Chosen> = Vec::with_capacity(taken.len());
    let densities: FxHashMap<usize, u64> = taken.into_iter().collect();
    for (index, entry) in entries.into_iter().enumerate() {
        if let Some(&density) = densities.get(&index) {
            chosen.push(Chosen {
                candidate: entry.candidate,
                cost: entry.cost,
                density,
                held: entry.held,
            });
        }
    }
    chosen.sort_by_key(|line| line.candidate.place());
    chosen
}

/// The candidates worth looking at.
fn entries(
    candidates: Vec<Candidate>,
    matcher: &Matcher<'_>,
    anchor_count: usize,
    budget: usize,
) -> Vec<RankedCandidate> {
    let is_best = are_best(&candidates);
    let mut wanted = vec![true; anchor_count];
    // What is sorted is small: worth and place.
    let mut places: Vec<(f64, f64, usize)> = Vec::with_capacity(candidates.len());
    let mut entries: Vec<Option<RankedCandidate>> = Vec::with_capacity(candidates.len());
    for (candidate, is_best) in candidates.into_iter().zip(is_best) {
        if !is_best {
            continue;
        }
        let mut held = Vec::new();
        matcher.find(&candidate.text, &mut wanted, |index, _| {
            held.push(index);
            false
        });
        for index in &held {
            if let Some(is_wanted) = wanted.get_mut(*index) {
                *is_wanted = true;
            }
        }
        let rough = (candidate.value + held.len() as f64) / (candidate.text.len() / 4 + 8) as f64;
        places.push((rough, candidate.value, entries.len()));
        entries.push(Some(RankedCandidate::new(candidate, held)));
    }
    places.sort_unstable_by(|a, b| {
        let by_worth = b.0.total_cmp(&a.0).then_with(|| b.1.total_cmp(&a.1));
        by_worth.then_with(|| a.2.cmp(&b.2))
    });
    let mut bytes = 0;
    let looked_at = places.iter().map_while(|(.., place)| {
        let entry = entries.get_mut(*place).and_then(Option::take);
        let enters = bytes <= COUNTED_BYTES * budget;
        bytes += entry.as_ref().map_or(0, |entry| entry.candidate.text.len());
        entry.filter(|_| enters)
    });
    looked_at.collect()
}

/// For each candidate, whether it is the first of those worth most that say the same.
fn are_best(candidates: &[Candidate]) -> Vec<bool> {
    let mut is_best = vec![true; candidates.len()];
    let mut best: FxHashMap<&str, usize> =
        FxHashMap::with_capacity_and_hasher(candidates.len(), FxBuildHasher);
    for (place, candidate) in candidates.iter().enumerate() {
        let other = best.entry(&candidate.text).or_insert(place);
        if *other == place {
            continue;
        }
        let is_better = candidates
            .get(*other)
            .is_some_and(|other| candidate.value > other.value);
        let worse = if is_better {
            std::mem::replace(other, place)
        } else {
            place
        };
        if let Some(is_best) = is_best.get_mut(worse) {
            *is_best = false;
        }
    }
    is_best
}

/// The anchors that other lines do not hold; plain references may claim `room` tokens ahead of every line.
fn cover<'c>(references: &'c References<'_>, is_held: &[bool], room: usize) -> Cover<'c> {
    let (anchors, reference_cost) = (references.anchors(), references.costs());
    let mut reserved = 0;
    let is_reserved = reference_cost
        .iter()
        .zip(is_held)
        .map(|(cost, is_held)| {
            let fits = !is_held && reserved + cost <= room;
            reserved += if fits { *cost } else { 0 };
            fits
        })
        .collect();
    let bonus = anchors
        .iter()
        .map(|anchor| 0.6 + 0.7 * (anchor.uses as f64).ln_1p())
        .collect();
    Cover {
        is_covered: is_held.to_vec(),
        reference_cost,
        is_reserved,
        bonus,
    }
}

impl Cover<'_> {
    fn reserved(&self) -> usize {
        self.reference_cost
            .iter()
            .zip(&self.is_reserved)
            .filter(|(_, reserved)| **reserved)
            .map(|(cost, _)| cost)
            .sum()
    }

    fn open<'c>(&'c self, entry: &'c RankedCandidate) -> impl Iterator<Item = usize> + 'c {
        entry
            .held
            .iter()
            .copied()
            .filter(|index| self.is_covered.get(*index) == Some(&false))
    }

    /// Worth per token, in millionths.
    fn density(&self, entry: &RankedCandidate) -> u64 {
        let bonus: f64 = self.open(entry).filter_map(|index| self.bonus.get(index)).sum();
        let net = entry.cost.saturating_sub(self.released(entry)) + 6;
        ((entry.candidate.value + bonus) / net as f64 * 1e6) as u64
    }

    /// Tokens kept for plain references that the line makes needless.
    fn released(&self, entry: &RankedCandidate) -> usize {
        self.open(entry)
            .filter(|index| self.is_reserved.get(*index) == Some(&true))
            .filter_map(|index| self.reference_cost.get(index))
            .sum()
    }

    fn take(&mut self, entry: &RankedCandidate) {
        for index in &entry.held {
            if let Some(is_covered) = self.is_covered.get_mut(*index) {
                *is_covered = true;
            }
        }
    }
}
