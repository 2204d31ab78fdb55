//! Byte-pair merging of one piece, counting what is left.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::vocabulary::{NO_TOKEN, Priority, Vocabulary};

/// Up to this many bytes the next pair is found by looking at all of them; beyond it by a heap.
const SHORT: usize = 64;

/// The number of tokens of `bytes[start..end]`, which is not a token itself: the earliest pair is
/// merged, the leftmost of equals, until no two neighbours make a token.
pub fn count(vocabulary: &Vocabulary, bytes: &[u8], start: usize, end: usize) -> usize {
    if end - start <= SHORT {
        count_short(vocabulary, bytes, start, end)
    } else {
        count_long(vocabulary, bytes, start, end)
    }
}

fn count_short(vocabulary: &Vocabulary, bytes: &[u8], start: usize, end: usize) -> usize {
    let Some(piece) = bytes.get(start..end) else {
        return 0;
    };
    // Part `i` is from `starts[i]` to `starts[i + 1]`; merging it with the next has `pairs[i]`.
    let mut starts = [0_u8; SHORT + 3];
    let mut pairs = [NO_TOKEN; SHORT + 3];
    for (index, part) in starts.iter_mut().enumerate() {
        *part = index.min(piece.len()) as u8;
    }
    for (pair, both) in pairs.iter_mut().zip(piece.windows(2)) {
        if let [first, second] = both {
            *pair = vocabulary.find_pair(*first, *second);
        }
    }
    let mut parts = piece.len();
    while let Some((index, _)) = earliest(pairs.get(..parts).unwrap_or_default()) {
        // The part after `index` goes, and all that follows moves up.
        starts.copy_within(index + 2..=parts, index + 1);
        pairs.copy_within(index + 2..=parts, index + 1);
        parts -= 1;
        let span = |index: usize| {
            if index + 2 > parts {
                return NO_TOKEN;
            }
            match (starts.get(index), starts.get(index + 2)) {
                (Some(from), Some(to)) => {
                    vocabulary.find(bytes, start + usize::from(*from), start + usize::from(*to))
                }
                _ => NO_TOKEN,
            }
        };
        let after = span(index);
        let before = index.checked_sub(1).map(|before| (before, span(before)));
        for (index, priority) in [(index, after)].into_iter().chain(before) {
            if let Some(pair) = pairs.get_mut(index) {
                *pair = priority;
            }
        }
    }
    parts
}

/// The leftmost of the lowest priorities and where it is, if there is one at all.
#[inline]
fn earliest(pairs: &[Priority]) -> Option<(usize, Priority)> {
    let mut best = (0, NO_TOKEN);
    for (index, priority) in pairs.iter().enumerate() {
        if *priority < best.1 {
            best = (index, *priority);
        }
    }
    (best.1 != NO_TOKEN).then_some(best)
}

/// One part of a long piece, at the index of its first byte.
#[derive(Clone, Copy)]
struct Part {
    previous: u32,
    /// Where the next part starts; the length of the piece for the last one.
    next: u32,
    /// The priority of merging it with the next; [`NO_TOKEN`] too when the part is gone.
    pair: Priority,
}

/// The same with a heap of pairs. A pair that has changed since it was put there is known by its
/// priority: the same priority is the same token, so the same bytes.
fn count_long(vocabulary: &Vocabulary, bytes: &[u8], start: usize, end: usize) -> usize {
    let Some(piece) = bytes.get(start..end) else {
        return 0;
    };
    let Ok(length) = u32::try_from(piece.len()) else {
        // Beyond 4 GiB positions have no room; halves of it are counted apart.
        let middle = start + piece.len() / 2;
        return count(vocabulary, bytes, start, middle) + count(vocabulary, bytes, middle, end);
    };
    let mut parts: Vec<Part> = (0..length)
        .map(|index| Part {
            previous: index.wrapping_sub(1),
            next: index + 1,
            pair: NO_TOKEN,
        })
        .collect();
    let mut first = Vec::with_capacity(piece.len());
    for ((index, part), both) in (0_u32..).zip(parts.iter_mut()).zip(piece.windows(2)) {
        if let [left, right] = both {
            part.pair = vocabulary.find_pair(*left, *right);
            if part.pair != NO_TOKEN {
                first.push(Reverse((part.pair, index)));
            }
        }
    }
    let mut heap = BinaryHeap::from(first);
    let mut left = piece.len();
    while let Some(Reverse((priority, index))) = heap.pop() {
        let Some(part) = parts
            .get(index as usize)
            .copied()
            .filter(|part| part.pair == priority)
        else {
            continue;
        };
        let Some(gone) = parts.get_mut(part.next as usize) else {
            continue;
        };
        gone.pair = NO_TOKEN;
        let next = gone.next;
        if let Some(after) = parts.get_mut(next as usize) {
            after.previous = index;
        }
        if let Some(part) = parts.get_mut(index as usize) {
            part.next = next;
        }
        left -= 1;
        for index in [index, part.previous] {
            let Some(part) = parts.get(index as usize) else {
                continue;
            };
            let Some(after) = parts.get(part.next as usize) else {
                // The last part has no pair any more.
                if let Some(part) = parts.get_mut(index as usize) {
                    part.pair = NO_TOKEN;
                }
                continue;
            };
            let pair = vocabulary.find(bytes, start + index as usize, start + after.next as usize);
            if pair != NO_TOKEN {
                heap.push(Reverse((pair, index)));
            }
            if let Some(part) = parts.get_mut(index as usize) {
                part.pair = pair;
            }
        }
    }
    left
}
