//! Merging of long pieces: in rounds over the whole piece, then by a heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use crate::tokens::bpe::vocabulary::{NO_TOKEN, Rank, Vocabulary};

/// Maximum number of rounds for longer pieces: enough for long runs of a few characters. The rest is merged with a
/// heap, since each round scans the whole piece.
const ROUNDS: usize = 16;

/// Pieces of more bytes than this are merged a block at a time: merging takes up to 32 bytes of memory for each byte.
pub(super) const BLOCK: usize = 1 << 16;

/// A piece before merging: its initial tokens, and the merge of each with the next.
pub(super) trait Symbols: Copy {
    fn part(self, part: Range<usize>) -> Self;
    fn tokens(self, vocabulary: &Vocabulary) -> impl ExactSizeIterator<Item = Rank>;
    fn pairs(self, vocabulary: &Vocabulary) -> impl Iterator<Item = Rank>;
}

/// Bytes, with tables for their tokens and pairs.
#[derive(Clone, Copy)]
pub(super) struct PieceBytes<'p>(pub &'p [u8]);

impl Symbols for PieceBytes<'_> {
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

impl Symbols for &[Rank] {
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

pub(super) fn count_long(vocabulary: &Vocabulary, piece: impl Symbols) -> usize {
    let length = piece.tokens(vocabulary).len();
    let (mut tokens, mut pairs) = (vec![NO_TOKEN; length], vec![NO_TOKEN; length]);
    set(vocabulary, piece, &mut tokens, &mut pairs);
    let left = merge_in_rounds(vocabulary, &mut tokens, &mut pairs, &mut [], ROUNDS);
    merge_by_heap(vocabulary, &tokens[..left], &pairs[..left]).1
}

/// The offsets at which the tokens of `piece` start.
pub(super) fn starts(vocabulary: &Vocabulary, piece: impl Symbols) -> Vec<u32> {
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

/// Fills in the tokens before merging, and the rank of each one's merge with the next; [`NO_TOKEN`] for the last one.
#[inline]
pub(super) fn set(vocabulary: &Vocabulary, piece: impl Symbols, tokens: &mut [Rank], pairs: &mut [Rank]) {
    for (place, token) in tokens.iter_mut().zip(piece.tokens(vocabulary)) {
        *place = token;
    }
    for (place, pair) in pairs.iter_mut().zip(piece.pairs(vocabulary)) {
        *place = pair;
    }
}

/// Merges all pairs of the lowest rank in each round, from left to right; the remaining tokens move to the front, and
/// their number is returned. The order is that of one merge at a time as long as no merge makes a pair of a lower rank
/// than its own. If one does, the round ends with it, and that pair comes first in the next. The slices are equally
/// long; `starts`, the starts of the tokens, may be empty.
#[inline]
pub(super) fn merge_in_rounds(
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
                // If the next pair is merged too, the rank of this pair is looked up after that.
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
struct MergePart {
    token: Rank,
    previous: u32,
    /// The index of the next part; the number of parts for the last one.
    next: u32,
    /// The rank of its merge with the next; [`NO_TOKEN`] also if the part was merged into another.
    pair: Rank,
}

/// Merges tokens one pair at a time. A heap entry is outdated if its rank is not the current one at its place: the same
/// rank at the same place is the same pair. Returns the parts, merged ones included, and the number of those left.
fn merge_by_heap(vocabulary: &Vocabulary, tokens: &[Rank], pairs: &[Rank]) -> (Vec<MergePart>, usize) {
    let mut parts: Vec<MergePart> = (0_u32..)
        .zip(tokens.iter().zip(pairs))
        .map(|(index, (token, pair))| MergePart {
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
        let merged = MergePart {
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
