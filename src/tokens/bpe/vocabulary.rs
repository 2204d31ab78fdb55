//! The merges of an encoding: which two tokens make which.

/// The number of a token, which says as well how early it is made: the lower, the earlier.
pub type Rank = u32;

/// No token, later than all of them.
pub const NO_TOKEN: Rank = Rank::MAX;

/// Bits that a rank takes in a slot, so that two and their token fit into 64.
const RANK_BITS: u32 = 18;
const EMPTY: u64 = u64::MAX;
/// 2^20 bits, 128 kB.
const HASH_BITS: u32 = 20;

/// An open-addressing hash table from two tokens to the one they make. Every token of a vocabulary is
/// made by the merges of its own bytes, so nothing else is needed to know what a text costs.
pub struct Vocabulary {
    /// Left token, right token and the token they make, from the upper bits to the lower.
    slots: Vec<u64>,
    /// A bit for each hash that some pair has, by its upper bits: most pairs that make no token are
    /// known by it, in a fraction of the memory. It is worth a fifth of the time of long pieces.
    hashes: Vec<u64>,
    /// How far a hash is shifted down to make the index of a slot.
    shift: u32,
    /// The tokens of the single bytes.
    bytes: [Rank; 256],
    /// The tokens of two bytes, by both bytes: every piece starts with them.
    byte_pairs: Vec<Rank>,
}

impl Vocabulary {
    /// Reads the form that `assets/README.md` describes.
    pub fn new(file: &[u8]) -> Result<Self, String> {
        Self::read(file).ok_or_else(|| "the built-in vocabulary is damaged".to_owned())
    }

    fn read(file: &[u8]) -> Option<Self> {
        let (number, rest) = file.split_first_chunk::<4>()?;
        let number = u32::from_le_bytes(*number);
        let (bytes, pairs) = rest.split_first_chunk::<256>()?;
        if number > 1 << RANK_BITS || pairs.len() as u64 + 256 * 5 != u64::from(number) * 5 {
            return None;
        }
        // At most half of the slots are taken, so that a search that fails ends soon.
        let bits = (number * 2).next_power_of_two().ilog2();
        let mut vocabulary = Self {
            slots: vec![EMPTY; 1 << bits],
            hashes: vec![0; 1 << (HASH_BITS - 6)],
            shift: u64::BITS - bits,
            bytes: [NO_TOKEN; 256],
            byte_pairs: vec![NO_TOKEN; 1 << 16],
        };
        for (rank, byte) in (0..).zip(bytes) {
            *vocabulary.bytes.get_mut(usize::from(*byte))? = rank;
        }
        for (rank, pair) in (256..).zip(pairs.chunks_exact(5)) {
            let mut word = [0; 8];
            word.get_mut(..5)?.copy_from_slice(pair);
            let pair = u64::from_le_bytes(word);
            let (left, right) = ((pair & 0xf_ffff) as Rank, (pair >> 20) as Rank);
            // Merging in rounds relies on it.
            if left >= rank || right >= rank {
                return None;
            }
            vocabulary.insert(left, right, rank)?;
            if let (Some(left), Some(right)) = (bytes.get(left as usize), bytes.get(right as usize)) {
                *vocabulary.byte_pairs.get_mut(pair_index(*left, *right))? = rank;
            }
        }
        Some(vocabulary)
    }

    fn insert(&mut self, left: Rank, right: Rank, rank: Rank) -> Option<()> {
        let pair = both(left, right);
        let hash = hash(pair);
        *self.hashes.get_mut(hash_word(hash))? |= hash_bit(hash);
        let mut index = (hash >> self.shift) as usize;
        loop {
            let slot = self.slots.get_mut(index)?;
            if *slot == EMPTY {
                *slot = pair << RANK_BITS | u64::from(rank);
                return Some(());
            }
            index = (index + 1) & (self.slots.len() - 1);
        }
    }

    /// The token that two neighbours make, or [`NO_TOKEN`].
    #[inline]
    pub fn merged(&self, left: Rank, right: Rank) -> Rank {
        let pair = both(left, right);
        let hash = hash(pair);
        if self.hashes.get(hash_word(hash)).copied().unwrap_or_default() & hash_bit(hash) == 0 {
            return NO_TOKEN;
        }
        let mut index = (hash >> self.shift) as usize;
        while let Some(slot) = self.slots.get(index) {
            if slot >> RANK_BITS == pair {
                return (slot & ((1 << RANK_BITS) - 1)) as Rank;
            }
            if *slot == EMPTY {
                break;
            }
            index = (index + 1) & (self.slots.len() - 1);
        }
        NO_TOKEN
    }

    /// The token of a byte.
    #[inline]
    pub fn of_byte(&self, byte: u8) -> Rank {
        self.bytes[usize::from(byte)]
    }

    /// The token of two bytes, or [`NO_TOKEN`].
    #[inline]
    pub fn of_byte_pair(&self, left: u8, right: u8) -> Rank {
        self.byte_pairs
            .get(pair_index(left, right))
            .copied()
            .unwrap_or(NO_TOKEN)
    }
}

#[inline]
fn both(left: Rank, right: Rank) -> u64 {
    u64::from(left) << RANK_BITS | u64::from(right)
}

/// A product with the fraction bits of the golden ratio: its upper bits are the good ones.
#[inline]
fn hash(pair: u64) -> u64 {
    pair.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[inline]
fn hash_word(hash: u64) -> usize {
    (hash >> (u64::BITS - HASH_BITS + 6)) as usize
}

#[inline]
fn hash_bit(hash: u64) -> u64 {
    1 << ((hash >> (u64::BITS - HASH_BITS)) & 63)
}

#[inline]
fn pair_index(left: u8, right: u8) -> usize {
    usize::from(left) << 8 | usize::from(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_vocabulary_is_refused() {
        let file = include_bytes!("../../../assets/cl100k_base.ranks");
        assert!(Vocabulary::new(file).is_ok());
        for length in [0, 3, 4, 259, 260, 1000, file.len() - 1] {
            assert!(Vocabulary::new(&file[..length]).is_err(), "{length}");
        }
        let mut damaged = file.to_vec();
        damaged[262] = 0xff;
        assert!(Vocabulary::new(&damaged).is_err());
    }
}
