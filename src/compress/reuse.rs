//! Text that later turns repeat: the parts of a region that kept assistant turns quote, found by hashes of pieces.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::trajectory::json::leaves::leaves;
use crate::trajectory::{Role, TurnView, Turns};

/// The length of a piece in bytes.
const PIECE: usize = 8;

/// Most bytes of kept turns that are read before the region, and after it.
const MAX_BEFORE: usize = 256 * 1024;
const MAX_AFTER: usize = 128 * 1024;

/// The weight of an assistant turn after the region, relative to the one before it: the next turn matters most.
const LATER: f32 = 0.9;

/// Pieces of text before a region, and pieces that kept assistant turns after it repeat.
#[derive(Debug, Clone, Default)]
pub struct Reuse {
    /// Samples of the pieces before the region.
    known: FxHashSet<u64>,
    known_filter: PieceFilter,
    filter: PieceFilter,
    wanted: FxHashMap<u64, f32>,
    /// More turns follow than those that were read.
    goes_on: bool,
}

/// Knows no pieces.
static NONE: LazyLock<Reuse> = LazyLock::new(Reuse::default);

impl Reuse {
    /// Returns the reuse of a region whose surroundings are unknown.
    pub fn none() -> &'static Self {
        &NONE
    }

    /// Reads the kept turns around a region. Without `kept_after`, later turns are unknown.
    pub fn of(kept_before: Turns<'_>, kept_after: Option<Turns<'_>>) -> Self {
        let mut reuse = Self::default();
        if let Some(kept_after) = kept_after {
            reuse.read_after(kept_after);
        }
        let mut left = MAX_BEFORE;
        for turn in kept_before.all() {
            for_each_text(&turn, &mut left, |text| {
                reuse.known.reserve(text.len() / 8);
                for piece in pieces(text) {
                    if is_sample(piece) {
                        reuse.known.insert(piece);
                        reuse.known_filter.add(piece);
                    }
                    if reuse.filter.may_hold(piece) {
                        reuse.wanted.remove(&piece);
                    }
                }
            });
        }
        reuse.filter = PieceFilter::of(reuse.wanted.keys());
        reuse
    }

    /// The same; where `more` turns follow than were read, they may repeat what these do not.
    #[must_use]
    pub fn with_more(self, more: bool) -> Self {
        let goes_on = self.goes_on | more;
        Self { goes_on, ..self }
    }

    /// Returns true if turns follow that were not read.
    pub fn goes_on(&self) -> bool {
        self.goes_on
    }

    /// Returns true if later turns repeat something, and all of it is known.
    pub fn is_all_known(&self) -> bool {
        !self.is_empty() && !self.goes_on
    }

    /// Adds the pieces after the region that first occur in an assistant turn.
    fn read_after(&mut self, kept_after: Turns<'_>) {
        // Most text there is tool output: only pieces that also occur in an assistant turn need an entry.
        let mut left = MAX_AFTER;
        for turn in kept_after.all() {
            for_each_text(&turn, &mut left, |text| {
                if turn.role == Role::Assistant {
                    pieces(text).for_each(|piece| self.filter.add(piece));
                }
            });
        }
        let mut left = MAX_AFTER;
        let mut weight = 1.0;
        for turn in kept_after.all() {
            let is_use = turn.role == Role::Assistant;
            for_each_text(&turn, &mut left, |text| {
                for piece in pieces(text) {
                    if self.filter.may_hold(piece) {
                        let weight = if is_use { weight } else { 0.0 };
                        self.wanted.entry(piece).or_insert(weight);
                    }
                }
            });
            if is_use {
                weight *= LATER;
            }
        }
        self.goes_on = left == 0;
        self.wanted.retain(|_, weight| *weight > 0.0);
    }

    /// Returns the weight of a piece in later turns, 0 to 1; 0 for pieces that occur before the region.
    #[inline]
    pub fn wanted(&self, piece: u64) -> f32 {
        if self.may_be_wanted(piece) {
            self.wanted.get(&piece).copied().unwrap_or_default()
        } else {
            0.0
        }
    }

    /// Returns false for most pieces whose weight is 0.
    #[inline]
    pub fn may_be_wanted(&self, piece: u64) -> bool {
        self.filter.may_hold(piece)
    }

    /// Returns true if a sample occurs in turns before the region.
    #[inline]
    pub fn is_known(&self, sample: u64) -> bool {
        self.known_filter.may_hold(sample) && self.known.contains(&sample)
    }

    /// Returns true if later turns repeat no piece.
    pub fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }
}

/// A Bloom-style set of pieces, with false positives: it fits into the nearest cache, where a hash set does not.
#[derive(Debug, Clone)]
struct PieceFilter(Box<[u64; 1 << FILTER_BITS]>);

/// The number of 64-bit words of a filter, as a power of two: 16 KiB.
const FILTER_BITS: u32 = 11;

impl Default for PieceFilter {
    fn default() -> Self {
        Self(Box::new([0; 1 << FILTER_BITS]))
    }
}

impl PieceFilter {
    fn of<'p>(pieces: impl Iterator<Item = &'p u64>) -> Self {
        let mut filter = Self::default();
        pieces.for_each(|piece| filter.add(*piece));
        filter
    }

    #[inline]
    fn place(piece: u64) -> (usize, u64) {
        let high = piece >> (u64::BITS - 6 - FILTER_BITS);
        ((high >> 6) as usize, 1 << (high & 63))
    }

    fn add(&mut self, piece: u64) {
        let (word, bit) = Self::place(piece);
        if let Some(word) = self.0.get_mut(word) {
            *word |= bit;
        }
    }

    #[inline]
    fn may_hold(&self, piece: u64) -> bool {
        let (word, bit) = Self::place(piece);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }
}

/// Returns the hashes of the pieces of a text.
pub fn pieces(text: &str) -> impl Iterator<Item = u64> {
    ending_within(text.as_bytes(), 0, text.len())
}

/// Returns the hashes of the pieces whose last byte lies within `start..end`.
pub fn ending_within(text: &[u8], start: usize, end: usize) -> impl ExactSizeIterator<Item = u64> {
    let text = text
        .get((start + 1).saturating_sub(PIECE)..end)
        .unwrap_or_default();
    text.windows(PIECE).map(|window| {
        let bytes: [u8; PIECE] = window.try_into().unwrap_or_default();
        u64::from_le_bytes(bytes).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    })
}

/// Returns true for one piece in four, by its hash: the same pieces in every text, for estimates.
#[inline]
pub fn is_sample(piece: u64) -> bool {
    (piece >> SAMPLE_SHIFT).trailing_zeros() >= 2
}

/// The bits of a hash that select samples: not those that a filter reads.
const SAMPLE_SHIFT: u32 = 42;

/// Hands the texts of a turn to `read`, as a model reads them (arguments of calls decoded), up to `left` bytes.
fn for_each_text(turn: &TurnView<'_>, left: &mut usize, mut read: impl FnMut(&str)) {
    let mut within = |text: &str| {
        let text = text.get(..text.floor_char_boundary(*left)).unwrap_or_default();
        *left -= text.len();
        read(text);
    };
    within(&turn.text);
    for call in &turn.calls {
        match leaves(&call.arguments, usize::MAX) {
            Some(leaves) => leaves.iter().for_each(|leaf| within(&leaf.value())),
            None => within(&call.arguments),
        }
    }
    for response in &turn.responses {
        within(&response.content);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(role: Role, text: &str) -> TurnView<'static> {
        TurnView::of_text(0, role, text.to_owned())
    }

    fn worth(reuse: &Reuse, text: &str) -> f32 {
        pieces(text).map(|piece| reuse.wanted(piece)).sum()
    }

    #[test]
    fn what_kept_assistant_turns_repeat_is_wanted_and_what_stands_before_is_not() {
        let before = [turn(Role::Human, "The task is to repair the reader of lines.")];
        let after = [
            turn(Role::Tool, "An output names the directory of caches."),
            turn(
                Role::Assistant,
                "The reader of lines is repaired in lib/reader/buffered_lines.rs; see the directory of caches.",
            ),
            turn(Role::Human, "Thanks, that is all I wanted to know about it."),
        ];
        let reuse = Reuse::of(Turns::Kept(&before), Some(Turns::Kept(&after)));
        assert!(worth(&reuse, "lib/reader/buffered_lines.rs") > 2.0);
        assert!(worth(&reuse, "the reader of lines").abs() < f32::EPSILON);
        assert!(worth(&reuse, "directory of caches").abs() < f32::EPSILON);
        assert!(worth(&reuse, "that is all I wanted to know").abs() < f32::EPSILON);
        assert!(Reuse::of(Turns::Kept(&before), None).is_empty());
    }
}
