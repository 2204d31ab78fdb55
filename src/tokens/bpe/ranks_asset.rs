//! The vocabularies in `assets/`, laid out for the program when it is built.

use super::vocabulary::{BYTES, NO_TOKEN, Vocabulary};

impl Vocabulary {
    /// Reads the binary form described in `assets/README.md`; `None` if it is damaged.
    pub fn of_asset(file: &[u8]) -> Option<Self> {
        let (number, rest) = file.split_first_chunk::<4>()?;
        let number = u32::from_le_bytes(*number) as usize;
        let (bytes, pairs) = rest.split_first_chunk::<BYTES>()?;
        if pairs.len() + BYTES * 5 != number * 5 {
            return None;
        }
        let mut tokens = [NO_TOKEN; BYTES];
        for (rank, byte) in (0..).zip(bytes) {
            *tokens.get_mut(usize::from(*byte))? = rank;
        }
        let mut vocabulary = Self::with_room(&tokens, pairs.len() / 5)?;
        for (rank, pair) in (256..).zip(pairs.chunks_exact(5)) {
            let mut word = [0; 8];
            word.get_mut(..5)?.copy_from_slice(pair);
            let pair = u64::from_le_bytes(word);
            let (left, right) = ((pair & 0xf_ffff) as u32, (pair >> 20) as u32);
            // A merge makes the token of its own rank, and comes after those that make its parts.
            if left >= rank || right >= rank {
                return None;
            }
            vocabulary.insert(left, right, rank)?;
        }
        Some(vocabulary)
    }

    /// Its tables one after the other, as [`Vocabulary::laid_out`] takes them apart; each merge makes the token of its own rank.
    pub fn layout(&self) -> Vec<u8> {
        let mut layout = vec![(u64::BITS - self.shift) as u8, (u64::BITS - self.bit_shift) as u8];
        layout.extend(self.bytes.iter().flat_map(|token| token.to_le_bytes()));
        layout.extend(self.byte_pairs.as_flattened());
        layout.extend(self.hashes.as_flattened());
        layout.extend(self.slots.as_flattened());
        layout
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_vocabulary_is_refused() {
        let file = include_bytes!("../../../assets/cl100k_base.ranks");
        let whole = Vocabulary::of_asset(file).unwrap();
        let layout: &'static [u8] = whole.layout().leak();
        assert!(Vocabulary::laid_out(layout).is_some());
        assert!(Vocabulary::laid_out(&layout[..layout.len() - 1]).is_none());
        for length in [0, 3, 4, 259, 260, 1000, file.len() - 1] {
            assert!(Vocabulary::of_asset(&file[..length]).is_none(), "{length}");
        }
        let mut damaged = file.to_vec();
        damaged[262] = 0xff;
        assert!(Vocabulary::of_asset(&damaged).is_none());
    }
}
