//! Byte-pair merging of one piece, counting what is left.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::vocabulary::{NO_TOKEN, Rank, Vocabulary};

/// Pieces up to this many bytes are merged in rounds, longer ones by a heap.
const SHORT: usize = 256;

/// The number of tokens of `piece`: the pair of the lowest rank is merged, the leftmost of equals,
/// until no two neighbours make a token.
pub fn count(vocabulary: &Vocabulary, piece: &[u8]) -> usize {
    let by_rounds = match piece.len() {
        ..=16 => count_short::<18>(vocabulary, piece),
        17..=64 => count_short::<66>(vocabulary, piece),
        65..=SHORT => count_short::<{ SHORT + 2 }>(vocabulary, piece),
        _ => None,
    };
    by_rounds.unwrap_or_else(|| count_long(vocabulary, piece))
}

/// In each round all pairs of the lowest rank are merged, from left to right. That is the right order
/// as long as no merge makes a pair with a lower rank than its own; a vocabulary that was learned has
/// no such pair, since a token is learned after its parts. If there is one all the same, the result is
/// nothing. `PLACES` is at least two more than the bytes of the piece.
#[inline]
fn count_short<const PLACES: usize>(vocabulary: &Vocabulary, piece: &[u8]) -> Option<usize> {
    // The tokens, and what each makes with the next; the last one makes nothing.
    let mut tokens = [NO_TOKEN; PLACES];
    let mut pairs = [NO_TOKEN; PLACES];
    let mut left = piece.len();
    for (token, byte) in tokens.iter_mut().zip(piece) {
        *token = vocabulary.of_byte(*byte);
    }
    for (pair, both) in pairs.iter_mut().zip(piece.windows(2)) {
        if let [first, second] = both {
            *pair = vocabulary.of_byte_pair(*first, *second);
        }
    }
    loop {
        let lowest = pairs.get(..left)?.iter().copied().min()?;
        if lowest == NO_TOKEN {
            return Some(left);
        }
        let mut read = pairs.iter().position(|pair| *pair == lowest)?;
        let mut write = read;
        while read < left {
            if *pairs.get(read)? == lowest {
                *tokens.get_mut(write)? = lowest;
                read += 2;
                if let Some(before) = write.checked_sub(1) {
                    let pair = vocabulary.merged(*tokens.get(before)?, lowest);
                    *pairs.get_mut(before)? = pair;
                    if pair < lowest {
                        return None;
                    }
                }
                // What it makes with a next one that is merged itself is found then.
                let is_settled = read < left && *pairs.get(read)? != lowest;
                let pair = if is_settled {
                    vocabulary.merged(lowest, *tokens.get(read)?)
                } else {
                    NO_TOKEN
                };
                *pairs.get_mut(write)? = pair;
                if pair < lowest {
                    return None;
                }
            } else {
                *tokens.get_mut(write)? = *tokens.get(read)?;
                *pairs.get_mut(write)? = *pairs.get(read)?;
                read += 1;
            }
            write += 1;
        }
        left = write;
    }
}

/// One token of a long piece, at the index of its first byte.
#[derive(Clone, Copy)]
struct Part {
    token: Rank,
    previous: u32,
    /// Where the next part starts; the length of the piece for the last one.
    next: u32,
    /// What it makes with the next; nothing too when it is gone.
    pair: Rank,
}

/// The same with a heap of pairs. A pair that has changed since it was put there is known by its rank:
/// the same rank at the same place is the same token.
fn count_long(vocabulary: &Vocabulary, piece: &[u8]) -> usize {
    let Ok(length) = u32::try_from(piece.len()) else {
        // Beyond 4 GiB positions have no room: halves are counted apart.
        let (left, right) = piece.split_at(piece.len() / 2);
        return count(vocabulary, left) + count(vocabulary, right);
    };
    let mut parts = Vec::with_capacity(piece.len());
    let mut pairs = Vec::with_capacity(piece.len());
    for (index, byte) in (0..length).zip(piece) {
        let next = piece.get(index as usize + 1);
        let pair = next.map_or(NO_TOKEN, |next| vocabulary.of_byte_pair(*byte, *next));
        if pair != NO_TOKEN {
            pairs.push(Reverse((pair, index)));
        }
        let token = vocabulary.of_byte(*byte);
        parts.push(Part {
            token,
            previous: index.wrapping_sub(1),
            next: index + 1,
            pair,
        });
    }
    let mut heap = BinaryHeap::from(pairs);
    let mut left = piece.len();
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
        let mut after = NO_TOKEN;
        if let Some(follower) = parts.get_mut(next as usize) {
            follower.previous = index;
            after = vocabulary.merged(rank, follower.token);
        }
        let merged = Part {
            token: rank,
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
            before.pair = vocabulary.merged(before.token, rank);
            if before.pair != NO_TOKEN {
                heap.push(Reverse((before.pair, part.previous)));
            }
        }
    }
    left
}
