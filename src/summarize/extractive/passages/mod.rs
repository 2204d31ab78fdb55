//! Passages: the stretches of blocks that tell most of what later turns repeat, for the tokens there are.
//!
//! Each piece of text counts once, in whichever block is quoted first, and not at all where turns before the region say it. At a
//! price per token, the stretches of a block that are worth more than they cost are found in one walk; the price at which they
//! fill the room is found by halving.

mod bridges;
mod measured;
mod units;
mod walk;

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::block::{Block, BlockCalls};
use super::candidate::{Candidate, Section};
use super::quoted::Quoted;
use super::rank::{Chosen, cost};
use super::unused::USED_BYTES;
use crate::compress::anchors::Matcher;
use crate::compress::reuse::Reuse;
use crate::tokens::TokenCounter;
use measured::{MeasuredBlock, Unit, measured};
use walk::{GAP, HEADING, UnitWalk};

/// The part of a unit's worth that newer quotations do not tell, at the least: one that only repeats them, or that they tell
/// otherwise, is not quoted.
const NEWS: f32 = 0.3;

/// The number of halvings of the price, and of corrections of the room by exact counts.
const HALVINGS: usize = 9;
const CORRECTIONS: usize = 6;

/// A room as a part of one that was too much.
const LESS: f32 = 0.8;

/// The highest price, and the lowest one where it is known what later turns repeat, in repeated bytes for each token.
const LOWEST_PRICE: f32 = 0.05;
const HIGHEST_PRICE: f32 = 6.0;

/// The part of the room that quotations take, whatever later turns repeat.
const LEAST_FILLED: f32 = 0.33;

/// The lowest price of an output's text, which comes again more seldom than is counted.
const LOWEST_OF_OUTPUTS: f32 = 0.4;

/// The least part of a block that is quoted, and the tokens beyond which its length counts no more: single lines of a text tell a
/// reader little.
const LEAST_PART: f32 = 0.25;
const LONG_BLOCK: f32 = 200.0;

/// The least part of words that somebody has answered that later turns repeat: of a state, a question or advice that was overtaken
/// they repeat single words. Counted on lines that people labelled.
const LEAST_REPEATED: f32 = 0.1;

/// The same of words before a call that only looks something up: most of them announce it.
const LEAST_ANNOUNCED: f32 = 0.3;

/// The blocks of a region with what their units are worth.
pub(super) struct Passages {
    blocks: Vec<MeasuredBlock>,
    /// The number of pieces that stand in several blocks.
    shared: usize,
    /// The lowest price, however much room there is.
    lowest_price: f32,
    /// If it is known all that later turns repeat.
    is_all_known: bool,
    /// The part of the room that its quotations take at most.
    share: f32,
    /// The choices at prices that were looked at, by the bits of the price: budgets of about the same size look at the same ones.
    at_prices: RefCell<FxHashMap<u32, PassageChoice>>,
}

/// Tokens, about, and for each block whether each of its units is quoted.
type PassageChoice = (f32, Rc<Vec<Vec<bool>>>);

impl Passages {
    /// Measures the blocks of a region.
    pub fn of(blocks: Vec<Block>, reuse: &Reuse, anchors: usize, matcher: &Matcher<'_>) -> Self {
        let (blocks, shared) = measured(blocks, reuse, anchors, matcher);
        Self {
            blocks,
            shared,
            lowest_price: if reuse.is_empty() { 0.0 } else { LOWEST_PRICE },
            is_all_known: reuse.is_all_known(),
            share: 1.0,
            at_prices: RefCell::default(),
        }
    }

    /// The same, of which the newest is told in a part of the room.
    pub fn of_newest(self) -> Self {
        let share = LEAST_FILLED;
        Self { share, ..self }
    }

    /// Quotations for at most `room` tokens.
    pub fn quoted(&self, room: usize, matcher: &Matcher<'_>, counter: &dyn TokenCounter) -> Quoted {
        let room = (self.share * room as f32) as usize;
        let mut best = Quoted::default();
        let (mut low, mut high) = (0.0, f32::INFINITY);
        let mut estimate = room as f32;
        for correction in 0..2 * CORRECTIONS {
            // Less than there is room for is better than nothing.
            if correction >= CORRECTIONS {
                if !best.lines.is_empty() {
                    break;
                }
                estimate /= 2.0;
            }
            let chosen = self.chosen(estimate);
            // With much room the lowest price decides, and not the estimate.
            estimate = estimate.min(self.tokens_of(&chosen).max(low));
            let quoted = self.written(chosen, matcher, counter);
            let tokens = quoted.tokens;
            let scaled = estimate * room as f32 / tokens.max(1) as f32;
            if tokens <= room {
                let is_all = estimate <= low;
                low = estimate;
                if tokens >= best.tokens {
                    best = quoted;
                }
                if tokens + room / 25 >= room || is_all {
                    break;
                }
            } else {
                high = estimate;
            }
            // Nearer to what the room allows, between what was too much and what was not.
            estimate = if scaled > low && scaled < high {
                scaled
            } else if high.is_finite() {
                f32::midpoint(low, high)
            } else {
                2.0 * estimate
            };
        }
        best
    }

    /// The same quotations, and the newest of what they leave out, for at most `room` tokens.
    pub fn filled_up(
        &self,
        quoted: Quoted,
        room: usize,
        matcher: &Matcher<'_>,
        counter: &dyn TokenCounter,
    ) -> Quoted {
        let mut left = room.saturating_sub(quoted.tokens) as f32;
        for _ in 0..CORRECTIONS {
            let mut chosen = quoted.chosen.clone();
            bridges::add_newest(&self.blocks, &mut chosen, left);
            if chosen == quoted.chosen {
                break;
            }
            let filled = self.written(chosen, matcher, counter);
            if filled.tokens <= room {
                return filled;
            }
            left *= LESS;
        }
        quoted
    }

    /// The tokens of chosen units with their headings and gaps, about.
    fn tokens_of(&self, chosen: &[Vec<bool>]) -> f32 {
        let mut tokens = 0.0;
        for (measured, is_chosen) in self.blocks.iter().zip(chosen) {
            let mut is_within = None;
            for (unit, is_chosen) in measured.units.iter().zip(is_chosen) {
                if *is_chosen {
                    tokens +=
                        unit.cost + is_within.map_or(HEADING, |is_within| if is_within { 0.0 } else { GAP });
                }
                if *is_chosen || is_within.is_some() {
                    is_within = Some(*is_chosen);
                }
            }
        }
        tokens
    }

    /// The units quoted for about `room` tokens: for each block, whether each of its units is.
    fn chosen(&self, room: f32) -> Vec<Vec<bool>> {
        let chosen = self.chosen_above(self.lowest_price, room);
        let least = room * LEAST_FILLED;
        if self.lowest_price > 0.0 && self.tokens_of(&chosen) < least {
            // Later turns repeat little: what is newest is told.
            return self.chosen_above(0.0, least);
        }
        chosen
    }

    /// The same at a price of at least `low`.
    fn chosen_above(&self, mut low: f32, room: f32) -> Vec<Vec<bool>> {
        let mut high = HIGHEST_PRICE;
        let mut walk = UnitWalk::default();
        let (mut tokens, mut best) = self.choice(HIGHEST_PRICE, &mut walk);
        let mut too_much = None;
        for _ in 0..HALVINGS {
            let price = f32::midpoint(low, high);
            let (sum, chosen) = self.choice(price, &mut walk);
            if sum <= room {
                high = price;
                (tokens, best) = (sum, chosen);
            } else {
                low = price;
                too_much = Some(chosen);
            }
        }
        let mut best = Rc::unwrap_or_clone(best);
        if let Some(too_much) = too_much {
            self.fill(&mut best, &too_much, room - tokens);
        }
        for (measured, is_chosen) in self.blocks.iter().zip(&mut best) {
            let mut is_within = false;
            for (unit, is_chosen) in measured.units.iter().zip(is_chosen) {
                *is_chosen &= is_within || unit.may_begin;
                is_within = *is_chosen;
            }
        }
        for (measured, is_chosen) in self.blocks.iter().zip(&mut best) {
            bridges::keep_headings(measured, is_chosen);
        }
        let tokens = self.tokens_of(&best);
        bridges::close(&self.blocks, &mut best, room - tokens);
        best
    }

    /// Adds units that a slightly lower price would choose, as far as there is room: of the newest blocks first, of each its end.
    fn fill(&self, best: &mut [Vec<bool>], too_much: &[Vec<bool>], room: f32) {
        let mut left = room;
        for ((measured, best), more) in self.blocks.iter().zip(best).zip(too_much) {
            if !best.contains(&true) && more.contains(&true) {
                left -= HEADING;
            }
            let mut after = true;
            for ((unit, is_chosen), more) in measured.units.iter().zip(best.iter_mut()).zip(more).rev() {
                if *more && !*is_chosen {
                    left -= unit.cost + if after { 0.0 } else { GAP };
                    if left < 0.0 {
                        return;
                    }
                    *is_chosen = true;
                }
                after = *is_chosen;
            }
        }
    }

    /// The choice at a price, made once.
    fn choice(&self, price: f32, walk: &mut UnitWalk) -> PassageChoice {
        if let Some(choice) = self.at_prices.borrow().get(&price.to_bits()) {
            return choice.clone();
        }
        let (tokens, chosen) = self.at_price(price, walk);
        let choice = (tokens, Rc::new(chosen));
        self.at_prices
            .borrow_mut()
            .insert(price.to_bits(), choice.clone());
        choice
    }

    /// The stretches that are worth more than they cost at a price, the newest blocks first, and their tokens.
    fn at_price(&self, price: f32, walk: &mut UnitWalk) -> (f32, Vec<Vec<bool>>) {
        let mut is_told = vec![false; self.shared];
        let mut tokens = 0.0;
        // Below the lowest price nobody asks what later turns repeat.
        let is_known = self.lowest_price > 0.0 && price >= self.lowest_price;
        let least = if is_known { USED_BYTES } else { 0.0 };
        let chosen = self.blocks.iter().map(|measured| {
            let of_text = if is_known && measured.block.is_output() {
                price.max(LOWEST_OF_OUTPUTS)
            } else {
                price
            };
            // All that its units may be worth does not pay for a heading.
            let most = measured
                .units
                .iter()
                .map(|unit| (unit.most - of_text * unit.cost).max(0.0));
            if most.sum::<f32>() < price * HEADING + least {
                return vec![false; measured.units.len()];
            }
            let value = |unit: &Unit| {
                let mut open = unit.worth;
                for (piece, worth) in measured.shared_of(unit) {
                    open += if is_told.get(*piece as usize) == Some(&false) {
                        *worth
                    } else {
                        0.0
                    };
                }
                let worth = if open < NEWS * unit.most { 0.0 } else { open };
                (worth - of_text * unit.cost, unit.may_begin)
            };
            let mut is_chosen = walk.best(measured.units.iter().map(value), price, least);
            // Words before a call that is not quoted were overtaken by it, others by the answer to them.
            let is_overtaken = || {
                let repeats_less =
                    |least: f32| self.is_all_known && measured.repeated_part(&is_chosen) < least;
                let (block, is_words_only) = (&measured.block, measured.is_words_only(&is_chosen));
                is_words_only && self.lowest_price > 0.0 && measured.known(&is_chosen) < USED_BYTES
                    || is_words_only && block.calls == BlockCalls::OnlyLook && repeats_less(LEAST_ANNOUNCED)
                    || block.is_answered_alone() && repeats_less(LEAST_REPEATED)
            };
            if measured.part_of(&is_chosen, LONG_BLOCK) < LEAST_PART || is_overtaken() {
                is_chosen.fill(false);
            }
            let mut is_first = true;
            let mut was_chosen = true;
            for (unit, is_chosen) in measured.units.iter().zip(&is_chosen) {
                if *is_chosen {
                    tokens += unit.cost + if was_chosen { 0.0 } else { GAP };
                    tokens += if is_first { HEADING } else { 0.0 };
                    is_first = false;
                    for (piece, _) in measured.shared_of(unit) {
                        if let Some(is_told) = is_told.get_mut(*piece as usize) {
                            *is_told = true;
                        }
                    }
                }
                was_chosen = *is_chosen;
            }
            is_chosen
        });
        let chosen = chosen.collect();
        (tokens, chosen)
    }

    /// The quotations as they are written.
    fn written(&self, chosen: Vec<Vec<bool>>, matcher: &Matcher<'_>, counter: &dyn TokenCounter) -> Quoted {
        let mut quoted = Quoted::default();
        let mut line = String::new();
        for (measured, is_chosen) in self.blocks.iter().zip(&chosen) {
            let Some(text) = measured.passage(is_chosen) else {
                continue;
            };
            let cost = cost(&text, &mut line, counter);
            let held = matcher.held(&text).into_iter().enumerate();
            let held: Vec<usize> = held
                .filter(|(_, is_held)| *is_held)
                .map(|(index, _)| index)
                .collect();
            let block = &measured.block;
            let is_part = is_chosen.contains(&false);
            quoted.tokens += cost;
            let told = if block.is_output() && is_part {
                &mut quoted.parts
            } else {
                &mut quoted.calls
            };
            let call = block.told.filter(|_| !measured.is_words_only(is_chosen));
            told.extend(call.map(|call| (call, block.order)));
            let worth = measured.worth(is_chosen);
            quoted.lines.push(Chosen {
                held,
                candidate: Candidate {
                    section: Section::Recent,
                    order: block.order,
                    text,
                    value: f64::from(worth),
                },
                cost,
                density: (f64::from(worth) / cost.max(1) as f64 * 1e6) as u64,
            });
        }
        if !quoted.lines.is_empty() {
            quoted.tokens += counter.count(Section::Recent.label()) + 1;
        }
        quoted.lines.sort_by_key(|line| line.candidate.order);
        quoted.chosen = chosen;
        quoted
    }
}
