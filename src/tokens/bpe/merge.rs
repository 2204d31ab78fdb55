//! Byte-pair merging of one piece; returns the number of tokens left.

mod blocks;
mod long;

use long::{BLOCK, PieceBytes, Symbols, count_long, merge_in_rounds, set};

use super::vocabulary::{NO_TOKEN, Rank, Vocabulary};

/// Pieces of fewer bytes are merged in small arrays on the stack.
const SHORT: usize = 1 << 8;

/// The number of tokens of `piece`: the pair of the lowest rank is merged, the leftmost first, until no two neighbours
/// form a token.
pub fn count(vocabulary: &Vocabulary, piece: &[u8]) -> usize {
    match piece.len() {
        ..16 => count_short::<16>(vocabulary, PieceBytes(piece)),
        16..64 => count_short::<64>(vocabulary, PieceBytes(piece)),
        64..SHORT => count_short::<SHORT>(vocabulary, PieceBytes(piece)),
        SHORT..=BLOCK => count_long(vocabulary, PieceBytes(piece)),
        _ => blocks::count(vocabulary, PieceBytes(piece), BLOCK),
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

/// The two tokens that merging leaves of `piece`; `None` if it leaves more or fewer.
pub fn halves(vocabulary: &Vocabulary, piece: &[u8]) -> Option<(Rank, Rank)> {
    let (mut tokens, mut pairs) = (vec![NO_TOKEN; piece.len()], vec![NO_TOKEN; piece.len()]);
    set(vocabulary, PieceBytes(piece), &mut tokens, &mut pairs);
    match merge_in_rounds(vocabulary, &mut tokens, &mut pairs, &mut [], usize::MAX) {
        2 => Some((*tokens.first()?, *tokens.get(1)?)),
        _ => None,
    }
}

/// A merge at a place: its rank in the upper bits, then the place. The least is made first.
type PackedMerge = i32;

/// Number of places that a step can hold.
const STEP_PLACES: PackedMerge = 1 << 8;

/// No merge; it compares greater than all merges.
const NO_STEP: PackedMerge = PackedMerge::MAX;

/// Merges one pair at a time. The next merge is the minimum of all steps, a search that compilers vectorize: for so few
/// steps no heap is as fast. `PLACES` is a power of two, at most [`SHORT`] and more than the number of bytes: the last
/// place is that of no token.
fn count_short<const PLACES: usize>(vocabulary: &Vocabulary, piece: impl Symbols) -> usize {
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
    // A multiple of 16, so that the vectorized search has no remainder.
    let used = left.next_multiple_of(16).min(PLACES);
    loop {
        let least = steps[..used].iter().copied().fold(NO_STEP, PackedMerge::min);
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
fn as_step(rank: Rank, place: usize) -> PackedMerge {
    if rank == NO_TOKEN {
        NO_STEP
    } else {
        rank.cast_signed() * STEP_PLACES + PackedMerge::from(place as u8)
    }
}
