//! Byte-pair merging of one piece, counting what is left.

mod blocks;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::vocabulary::{NO_TOKEN, Rank, Vocabulary};

/// Pieces of fewer bytes are merged in a few small arrays.
const SHORT: usize = 1 << 8;

/// Longer ones for so many rounds, which is all that long runs of a few characters need; then by a
/// heap, since each round looks at the whole piece.
const ROUNDS: usize = 16;

/// Longer ones than this many bytes are merged a block at a time: merging takes up to 32 bytes of memory for each.
const BLOCK: usize = 1 << 16;

/// The number of tokens of `piece`: the pair of the lowest rank is merged, the leftmost of equals,
/// until no two neighbours make a token.
pub fn count(vocabulary: &Vocabulary, piece: &[u8]) -> usize {
    match piece.len() {
        ..16 => count_short::<16>(vocabulary, Bytes(piece)),
        16..64 => count_short::<64>(vocabulary, Bytes(piece)),
        64..SHORT => count_short::<SHORT>(vocabulary, Bytes(piece)),
        SHORT..=BLOCK => count_long(vocabulary, Bytes(piece)),
        _ => blocks::count(vocabulary, Bytes(piece), BLOCK),
    }
}

/// The same for a piece that is given as tokens.
pub fn count_tokens(vocabulary: &Vocabulary, tokens: &[Rank]) -> usize {
    match tokens.len() {
        0 | 1 => tokens.len(),
        ..16 => count_short::<16>(vocabulary, tokens),
        16..64 => count_short::<64>(vocabulary, tokens),
        64..SHORT => count_short::<SHORT>(vocabulary, tokens),
        SHORT..=BLOCK => count_long(vocabulary, tokens),
        _ => blocks::count(vocabulary, tokens, BLOCK),
    }
}

/// What is merged: its tokens before anything is, and what each makes with the next.
trait Unmerged: Copy {
    fn part(self, part: Range<usize>) -> Self;
    fn tokens(self, vocabulary: &Vocabulary) -> impl ExactSizeIterator<Item = Rank>;
    fn pairs(self, vocabulary: &Vocabulary) -> impl Iterator<Item = Rank>;
}

/// Bytes, whose tokens and pairs have tables.
#[derive(Clone, Copy)]
struct Bytes<'p>(&'p [u8]);

impl Unmerged for Bytes<'_> {
    fn part(self, part: Range<usize>) -> Self {
        Self(self.0.get(part).unwrap_or_default())
    }

    #[inline]
    fn tokens(self, vocabulary: &Vocabulary) -> impl ExactSizeIterator<Item = Rank> {
        self.0.iter().map(|byte| vocabulary.of_byte(*byte))
    }

    #[inline]
    fn pairs(self, vocabulary: &Vocabulary) -> impl Iterator<Item = Rank> {
        let rest = self.0.get(1..).unwrap_or_default();
        let pairs = self.0.iter().zip(rest);
        pairs.map(|(left, right)| vocabulary.of_byte_pair(*left, *right))
    }
}

impl Unmerged for &[Rank] {
    fn part(self, part: Range<usize>) -> Self {
        self.get(part).unwrap_or_default()
    }

    #[inline]
    fn tokens(self, _vocabulary: &Vocabulary) -> impl ExactSizeIterator<Item = Rank> {
        self.iter().copied()
    }

    #[inline]
    fn pairs(self, vocabulary: &Vocabulary) -> impl Iterator<Item = Rank> {
        let rest = self.get(1..).unwrap_or_default();
        let pairs = self.iter().zip(rest);
        pairs.map(|(left, right)| vocabulary.merge_of(*left, *right))
    }
}

/// The two tokens that merging leaves of `piece`; nothing if it leaves more or fewer.
pub fn halves(vocabulary: &Vocabulary, piece: &[u8]) -> Option<(Rank, Rank)> {
    let (mut tokens, mut pairs) = (vec![NO_TOKEN; piece.len()], vec![NO_TOKEN; piece.len()]);
    set(vocabulary, Bytes(piece), &mut tokens, &mut pairs);
    match merge_in_rounds(vocabulary, &mut tokens, &mut pairs, &mut [], usize::MAX) {
        2 => Some((*tokens.first()?, *tokens.get(1)?)),
        _ => None,
    }
}

/// A merge at a place: its rank, then the place. The least is the one to be made.
type Step = i32;

/// So many places are told apart in a step.
const STEP_PLACES: Step = 1 << 8;

/// No merge, later than all.
const NO_STEP: Step = Step::MAX;

/// Merges one pair at a time. The next merge is the least of all steps, which compilers look for in several
/// places at once: for so few of them no heap is as fast. `PLACES` is a power of two, at most [`SHORT`] and more than the
/// number of bytes: the last place is that of no token.
fn count_short<const PLACES: usize>(vocabulary: &Vocabulary, piece: impl Unmerged) -> usize {
    const { assert!(PLACES.is_power_of_two() && PLACES <= SHORT && SHORT == STEP_PLACES as usize) };
    let mask = PLACES - 1;
    let step = |tokens: &[Rank; PLACES], left: usize, right: usize| {
        let (left_token, right_token) = (tokens[left & mask], tokens[right & mask]);
        if left_token == NO_TOKEN || right_token == NO_TOKEN {
            NO_STEP
        } else {
            as_step(vocabulary.merge_of(left_token, right_token), left)
        }
    };
    let mut tokens = [NO_TOKEN; PLACES];
    let mut steps = [NO_STEP; PLACES];
    let (mut previous, mut next) = ([0_u8; PLACES], [0_u8; PLACES]);
    for (place, token) in piece.tokens(vocabulary).enumerate().take(mask) {
        tokens[place] = token;
        previous[place] = (place.wrapping_sub(1) & mask) as u8;
        next[place] = (place + 1) as u8;
    }
    for (place, pair) in piece.pairs(vocabulary).enumerate().take(mask) {
        steps[place] = as_step(pair, place);
    }
    let mut left = piece.tokens(vocabulary).len().min(mask);
    next[left.saturating_sub(1)] = mask as u8;
    // Of whole lines, so that they are looked through without a rest.
    let used = left.next_multiple_of(16).min(PLACES);
    loop {
        let least = steps[..used].iter().copied().fold(NO_STEP, Step::min);
        if least == NO_STEP {
            return left;
        }
        let place = least as usize & mask;
        let gone = usize::from(next[place]);
        let after = usize::from(next[gone & mask]);
        let before = usize::from(previous[place]);
        tokens[place] = vocabulary.made_by((least / STEP_PLACES) as Rank);
        steps[gone & mask] = NO_STEP;
        next[place] = after as u8;
        previous[after & mask] = place as u8;
        steps[place] = step(&tokens, place, after);
        steps[before & mask] = step(&tokens, before, place);
        left -= 1;
    }
}

#[inline]
fn as_step(rank: Rank, place: usize) -> Step {
    if rank == NO_TOKEN {
        NO_STEP
    } else {
        rank.cast_signed() * STEP_PLACES + Step::from(place as u8)
    }
}

fn count_long(vocabulary: &Vocabulary, piece: impl Unmerged) -> usize {
    let length = piece.tokens(vocabulary).len();
    let (mut tokens, mut pairs) = (vec![NO_TOKEN; length], vec![NO_TOKEN; length]);
    set(vocabulary, piece, &mut tokens, &mut pairs);
    let left = merge_in_rounds(vocabulary, &mut tokens, &mut pairs, &mut [], ROUNDS);
    merge_by_heap(vocabulary, &tokens[..left], &pairs[..left]).1
}

/// Where the tokens of `piece` start in it.
fn starts(vocabulary: &Vocabulary, piece: impl Unmerged) -> Vec<u32> {
    let length = piece.tokens(vocabulary).len();
    let (mut tokens, mut pairs) = (vec![NO_TOKEN; length], vec![NO_TOKEN; length]);
    let mut starts: Vec<u32> = (0_u32..).take(length).collect();
    set(vocabulary, piece, &mut tokens, &mut pairs);
    let left = merge_in_rounds(vocabulary, &mut tokens, &mut pairs, &mut starts, ROUNDS);
    let (parts, _) = merge_by_heap(vocabulary, &tokens[..left], &pairs[..left]);
    let following = |index: &u32| parts.get(*index as usize).map(|part| part.next);
    let indexes = std::iter::successors(Some(0), following);
    let starts = indexes.map_while(|index| starts.get(..left)?.get(index as usize).copied());
    starts.collect()
}

/// The tokens before anything is merged, and what each makes with the next; the last one makes nothing.
#[inline]
fn set(vocabulary: &Vocabulary, piece: impl Unmerged, tokens: &mut [Rank], pairs: &mut [Rank]) {
    for (place, token) in tokens.iter_mut().zip(piece.tokens(vocabulary)) {
        *place = token;
    }
    for (place, pair) in pairs.iter_mut().zip(piece.pairs(vocabulary)) {
        *place = pair;
    }
}

/// In each round all pairs of the lowest rank are merged, from left to right; what is left moves to the
/// front, and its number is the result. That is the order of one merge at a time where no merge makes a
/// pair with a lower rank than its own. Where one can, and does, the round ends with it: what it made
/// comes first in the next. The slices are equally long; `starts`, where the tokens start, may be empty.
#[inline]
fn merge_in_rounds(
    vocabulary: &Vocabulary,
    tokens: &mut [Rank],
    pairs: &mut [Rank],
    starts: &mut [u32],
    rounds: usize,
) -> usize {
    let is_ordered = vocabulary.is_ordered();
    let mut left = tokens.len().min(pairs.len());
    for _ in 0..rounds {
        let lowest = pairs[..left].iter().copied().min().unwrap_or(NO_TOKEN);
        let first = pairs[..left].iter().position(|pair| *pair == lowest);
        let Some(first) = first.filter(|_| lowest != NO_TOKEN) else {
            break;
        };
        let made = vocabulary.made_by(lowest);
        let mut is_over = false;
        let (mut read, mut write) = (first, first);
        while read < left {
            if read < starts.len() {
                starts[write] = starts[read];
            }
            if pairs[read] == lowest && !is_over {
                tokens[write] = made;
                read += 2;
                if write > 0 {
                    pairs[write - 1] = vocabulary.merge_of(tokens[write - 1], made);
                    is_over = !is_ordered && pairs[write - 1] < lowest;
                }
                // What it makes with a next one that is merged itself is found then.
                let is_settled = read < left && (pairs[read] != lowest || !is_ordered);
                pairs[write] = if is_settled {
                    vocabulary.merge_of(made, tokens[read])
                } else {
                    NO_TOKEN
                };
                is_over |= !is_ordered && pairs[write] < lowest;
            } else {
                tokens[write] = tokens[read];
                pairs[write] = pairs[read];
                read += 1;
            }
            write += 1;
        }
        left = write;
    }
    left
}

/// One token of a long piece.
#[derive(Clone, Copy)]
struct Part {
    token: Rank,
    previous: u32,
    /// The index of the next part; the number of all for the last one.
    next: u32,
    /// What it makes with the next; nothing too when it is gone.
    pair: Rank,
}

/// Merges tokens one pair at a time. A pair that has changed since it was put on the heap is known by
/// its rank: the same rank at the same place is the same pair. Returns the parts, those that are gone included, and how many
/// are left.
fn merge_by_heap(vocabulary: &Vocabulary, tokens: &[Rank], pairs: &[Rank]) -> (Vec<Part>, usize) {
    let mut parts: Vec<Part> = (0_u32..)
        .zip(tokens.iter().zip(pairs))
        .map(|(index, (token, pair))| Part {
            token: *token,
            previous: index.wrapping_sub(1),
            next: index + 1,
            pair: *pair,
        })
        .collect();
    let waiting = (0_u32..).zip(pairs).filter(|(_, pair)| **pair != NO_TOKEN);
    let mut heap: BinaryHeap<_> = waiting.map(|(index, pair)| Reverse((*pair, index))).collect();
    let mut left = parts.len();
    while let Some(Reverse((rank, index))) = heap.pop() {
        let Some(part) = parts
            .get(index as usize)
            .copied()
            .filter(|part| part.pair == rank)
        else {
            continue;
        };
        let Some(gone) = parts.get_mut(part.next as usize) else {
            continue;
        };
        gone.pair = NO_TOKEN;
        let next = gone.next;
        left -= 1;
        let made = vocabulary.made_by(rank);
        let mut after = NO_TOKEN;
        if let Some(follower) = parts.get_mut(next as usize) {
            follower.previous = index;
            after = vocabulary.merge_of(made, follower.token);
        }
        let merged = Part {
            token: made,
            previous: part.previous,
            next,
            pair: after,
        };
        if let Some(part) = parts.get_mut(index as usize) {
            *part = merged;
        }
        if after != NO_TOKEN {
            heap.push(Reverse((after, index)));
        }
        if let Some(before) = parts.get_mut(part.previous as usize) {
            before.pair = vocabulary.merge_of(before.token, made);
            if before.pair != NO_TOKEN {
                heap.push(Reverse((before.pair, part.previous)));
            }
        }
    }
    (parts, left)
}
