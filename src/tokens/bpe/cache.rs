//! The per-thread cache of piece costs.

use super::key::{PieceKey, hash_long};

/// 2^15 pairs of short pieces: 1 MB.
const SHORT_BITS: u32 = 15;
/// 2^13 long pieces: 512 kB, mostly untouched.
const LONG_BITS: u32 = 13;
/// Bytes of the longest piece that is cached: with its length and cost it fills a cache line.
const LONGEST: usize = 62;

/// Short pieces (up to 15 bytes) and their number of tokens, two for each hash, the newer first. An entry is the
/// piece's [`PieceKey`] with the number in the upper four bits: a piece has no more tokens than bytes. Zero means no
/// entry, since a piece is never empty. Long pieces have one entry for each hash: their bytes, their length and their
/// number of tokens.
pub struct PieceCache {
    short: Vec<[u128; 2]>,
    /// Each 64 bytes, in eights: so arrays of zeros cost nothing until they are used.
    long: Vec<[[u8; 8]; 8]>,
}

impl Default for PieceCache {
    fn default() -> Self {
        Self {
            short: vec![[0; 2]; 1 << SHORT_BITS],
            long: vec![[[0; 8]; 8]; 1 << LONG_BITS],
        }
    }
}

impl PieceCache {
    /// The number of tokens of the piece with this key; calls `count` if it is not cached.
    #[inline]
    pub fn get(&mut self, key: PieceKey, count: impl FnOnce() -> usize) -> usize {
        let index = (key.hash() >> (u64::BITS - SHORT_BITS)) as usize;
        let Some([newer, older]) = self.short.get_mut(index) else {
            return count();
        };
        if (*newer ^ key.0) << 4 == 0 {
            return (*newer >> 124) as usize;
        }
        if (*older ^ key.0) << 4 == 0 {
            return (*older >> 124) as usize;
        }
        let tokens = count();
        if tokens < 16 {
            *older = *newer;
            *newer = key.0 | (tokens as u128) << 124;
        }
        tokens
    }

    /// The number of tokens of a longer piece; calls `count` if it is not cached.
    pub fn get_long(&mut self, piece: &[u8], count: impl FnOnce() -> usize) -> usize {
        if piece.len() > LONGEST {
            return count();
        }
        let index = (hash_long(piece) >> (u64::BITS - LONG_BITS)) as usize;
        let entry = self.long.get_mut(index).map(|entry| entry.as_flattened_mut());
        let Some([bytes @ .., length, cost]) = entry else {
            return count();
        };
        if usize::from(*length) == piece.len() && bytes.starts_with(piece) {
            return usize::from(*cost);
        }
        let tokens = count();
        for (to, from) in bytes.iter_mut().zip(piece) {
            *to = *from;
        }
        *length = piece.len() as u8;
        *cost = tokens as u8;
        tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_counted_once_and_never_taken_for_another() {
        let mut cache = PieceCache::default();
        // More pieces than there are entries, so that they replace one another.
        let texts: Vec<String> = (0..200_000).map(|number| format!("{number:<16}")).collect();
        let cost = |number: usize| number % 16;
        for _ in 0..2 {
            for (number, text) in texts.iter().enumerate() {
                let key = PieceKey::new(text.as_bytes(), 0, 7).unwrap();
                assert_eq!(cache.get(key, || cost(number)), cost(number));
                assert_eq!(cache.get(key, || panic!("counted twice")), cost(number));
            }
        }
    }

    #[test]
    fn a_long_piece_is_known_by_all_its_bytes() {
        let mut cache = PieceCache::default();
        let texts: Vec<String> = (16..70).map(|length| "a".repeat(length)).collect();
        for (cost, text) in texts.iter().enumerate() {
            assert_eq!(cache.get_long(text.as_bytes(), || cost), cost);
        }
        let again = texts.iter().rposition(|text| text.len() == 62).unwrap();
        assert_eq!(
            cache.get_long(texts[again].as_bytes(), || panic!("counted twice")),
            again
        );
        assert_eq!(cache.get_long(texts[again + 1].as_bytes(), || 1), 1);
    }
}
