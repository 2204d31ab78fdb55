//! Merging a long piece block by block, exactly, in memory that does not depend on its length.
//!
//! Merging is local: no merge ever crosses the border between two stretches of a piece if none does when the last token
//! of the first and the first token of the second are merged alone. Tokens further away affect only when these merges
//! are made, not which ones. So a block may end at any such border.

use super::long::{BLOCK, Symbols, count_long, starts};
use crate::tokens::bpe::vocabulary::Vocabulary;

/// Tokens at the end of a block that the bytes after it may change; the next block begins with them.
const UNSETTLED: usize = 32;

/// Tokens before a block that may be merged again, if the first token of the block cannot stay beside them.
const REMEMBERED: usize = 64;

/// The number of tokens of `piece`, merged `block` bytes (or tokens) at a time.
pub(super) fn count(vocabulary: &Vocabulary, piece: impl Symbols, mut block: usize) -> usize {
    let length = piece.tokens(vocabulary).len();
    // Tokens before the block, and the starts of the last ones.
    let (mut counted, mut before) = (0, Vec::new());
    let mut from = 0;
    loop {
        let to = (from + block).min(length);
        let tokens = starts(vocabulary, piece.part(from..to));
        let after_first = tokens.get(1).map_or(to, |second| from + *second as usize);
        if let Some(last) = before.pop() {
            if !stay_apart(vocabulary, piece, [last, from, after_first]) {
                if before.is_empty() {
                    // No text is known that gets here.
                    return count_long(vocabulary, piece);
                }
                from = last;
                counted -= 1;
                continue;
            }
            before.push(last);
        }
        if to == length {
            return counted + tokens.len();
        }
        let settled = tokens.len().saturating_sub(UNSETTLED);
        let (Some(next), Some(kept)) = (tokens.get(settled), tokens.get(..settled)) else {
            return count_long(vocabulary, piece);
        };
        if settled == 0 {
            block += BLOCK;
            continue;
        }
        before.extend(kept.iter().map(|start| from + *start as usize));
        before.drain(..before.len().saturating_sub(REMEMBERED));
        counted += settled;
        from += *next as usize;
    }
}

/// Returns true if two tokens, given as start of the first, start of the second and its end, do not merge.
fn stay_apart(vocabulary: &Vocabulary, piece: impl Symbols, [first, second, end]: [usize; 3]) -> bool {
    let both = starts(vocabulary, piece.part(first..end));
    both.iter().any(|start| first + *start as usize == second)
}

#[cfg(test)]
mod tests {
    use super::super::long::{PieceBytes, Symbols, count_long};
    use super::*;
    use crate::tokens::bpe::vocabulary::{NO_TOKEN, Rank, TokenMerge};

    /// Numbers below a given one that look random, always the same ones.
    fn random(seed: u64) -> impl FnMut(u64) -> u64 {
        let mut state = seed;
        move |below| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        }
    }

    /// Texts of few letters: runs, periods of all lengths, and noise.
    fn texts() -> Vec<Vec<u8>> {
        let mut random = random(7);
        let mut texts = Vec::new();
        for letters in [1, 2, 3, 5, 26] {
            for period in [1, 2, 3, 7, 50, 5000] {
                let unit: Vec<u8> = (0..period).map(|_| b'a' + random(letters) as u8).collect();
                let mut text: Vec<u8> = unit
                    .iter()
                    .copied()
                    .cycle()
                    .take(if letters == 3 { 2500 } else { 5000 })
                    .collect();
                if period == 7 {
                    let at = 2000 + random(400) as usize;
                    text[at] = b'z';
                }
                texts.push(text);
            }
        }
        texts
    }

    fn check(vocabulary: &Vocabulary, piece: impl Symbols) {
        let whole = count_long(vocabulary, piece);
        for block in [40, 100, 1000] {
            assert_eq!(count(vocabulary, piece, block), whole, "blocks of {block}");
        }
    }

    #[test]
    fn blocks_cost_what_the_whole_piece_costs() {
        let file = include_bytes!("../../../../assets/o200k_base.ranks");
        let vocabulary = Vocabulary::of_asset(file).unwrap();
        for text in texts() {
            check(&vocabulary, PieceBytes(&text));
            let tokens: Vec<Rank> = PieceBytes(&text).tokens(&vocabulary).collect();
            check(&vocabulary, tokens.as_slice());
        }
    }

    #[test]
    fn so_they_do_where_merges_make_pairs_that_come_before_them() {
        let mut random = random(3);
        let mut bytes: [Rank; 256] = [NO_TOKEN; 256];
        for (token, place) in (0..).zip(&mut bytes) {
            *place = token;
        }
        for _ in 0..10 {
            // Tokens of `a` to `c`, and ranks in any order.
            let mut known = vec![97, 98, 99];
            let mut ranks: Vec<Rank> = (256..300).collect();
            for place in (1..ranks.len()).rev() {
                ranks.swap(place, random(place as u64 + 1) as usize);
            }
            let mut merges: Vec<TokenMerge> = Vec::new();
            for rank in ranks {
                let mut pick = || known[random(known.len() as u64) as usize];
                let (left, right) = (pick(), pick());
                if merges
                    .iter()
                    .any(|merge| (merge.left, merge.right) == (left, right))
                {
                    continue;
                }
                merges.push(TokenMerge {
                    left,
                    right,
                    rank,
                    made: rank,
                });
                known.push(rank);
            }
            let vocabulary = Vocabulary::new(&bytes, &merges).unwrap();
            for text in texts().into_iter().filter(|text| text.len() < 3000) {
                check(&vocabulary, PieceBytes(&text));
            }
        }
    }
}
