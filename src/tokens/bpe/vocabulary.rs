//! The merges of a tokenizer: the two tokens of each, the token they make, and the order of the merges.

/// The position of a merge in the order of merges, counted from 256 (after the single bytes); the lowest is first.
/// Token numbers have the same type: a token that several merges make has the number of the first one.
pub type Rank = u32;

/// No token or no merge; it compares greater than all of them.
pub const NO_TOKEN: Rank = Rank::MAX;

/// Bits of a rank in a slot, so that two tokens and the rank of their merge fit into 64.
const RANK_BITS: u32 = 20;
const EMPTY: u64 = u64::MAX;
/// Number of byte values; the single bytes are the first tokens.
const BYTES: usize = 256;

/// A merge of two tokens, by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenMerge {
    /// The left token; [`NO_TOKEN`] here or in `right` for a merge that never happens.
    pub left: Rank,
    /// The right token.
    pub right: Rank,
    /// The position of the merge: the lowest is made first. Several merges that make one token may share it.
    pub rank: Rank,
    /// The token that they make.
    pub made: Rank,
}

/// An open-addressing hash table from two tokens to the rank of their merge. Every token that can occur in the result
/// is made by merges of its own bytes, so merges are all that counting needs.
pub struct Vocabulary {
    /// Left token, right token and the rank of their merge, from the upper bits to the lower.
    slots: Vec<u64>,
    /// A bit for each hash that some pair has, by its upper bits: it rejects most pairs that do not merge, in a
    /// fraction of the memory. It saves a fifth of the time of long pieces.
    hashes: Vec<u64>,
    /// Right shift of a hash to the index of a slot, and (`bit_shift`) to that of a bit.
    shift: u32,
    bit_shift: u32,
    /// The tokens of the single bytes.
    bytes: [Rank; BYTES],
    /// The byte of each of these tokens.
    byte_of: [Option<u8>; BYTES],
    /// The ranks of the merges of two bytes, by both bytes: every piece starts with them.
    byte_pairs: Vec<Rank>,
    /// The token that each merge makes; empty if each makes the token of its own rank.
    made: Vec<Rank>,
    /// Every merge comes after all merges that make its parts.
    is_ordered: bool,
}

impl Vocabulary {
    /// Reads the binary form described in `assets/README.md`.
    pub fn built_in(file: &[u8]) -> Result<Self, String> {
        Self::read(file).ok_or_else(|| "the built-in vocabulary is damaged".to_owned())
    }

    fn read(file: &[u8]) -> Option<Self> {
        let (number, rest) = file.split_first_chunk::<4>()?;
        let number = u32::from_le_bytes(*number);
        let (bytes, pairs) = rest.split_first_chunk::<BYTES>()?;
        if number > 1 << RANK_BITS || pairs.len() as u64 + 256 * 5 != u64::from(number) * 5 {
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
            let (left, right) = ((pair & 0xf_ffff) as Rank, (pair >> 20) as Rank);
            // A merge makes the token of its own rank, and comes after those that make its parts.
            if left >= rank || right >= rank {
                return None;
            }
            vocabulary.insert(left, right, rank)?;
        }
        Some(vocabulary)
    }

    /// Builds the table from the tokens of the bytes, which are 0 to 255 in any order, and the merges, with ranks from
    /// 256. A pair that occurs twice gets the later rank. `None` if there are too many merges or two bytes share a
    /// token.
    pub fn new(bytes: &[Rank; BYTES], merges: &[TokenMerge]) -> Option<Self> {
        let mut vocabulary = Self::with_room(bytes, merges.len())?;
        let happens = |merge: &&TokenMerge| merge.left != NO_TOKEN && merge.right != NO_TOKEN;
        let merges = || merges.iter().filter(happens);
        let highest = merges().map(|merge| merge.rank.max(merge.made)).max();
        let ranks = highest.map_or(BYTES, |highest| highest as usize + 1);
        // The last merge that makes each token.
        let mut last = vec![0; ranks];
        for merge in merges() {
            vocabulary.insert(merge.left, merge.right, merge.rank)?;
            if merge.made != merge.rank && vocabulary.made.is_empty() {
                vocabulary.made = (0..ranks as Rank).collect();
            }
            if let Some(made) = vocabulary.made.get_mut(merge.rank as usize) {
                *made = merge.made;
            }
            let last = last.get_mut(merge.made as usize)?;
            *last = merge.rank.max(*last);
        }
        let comes_after = |rank: Rank, token: Rank| last.get(token as usize).is_none_or(|last| *last < rank);
        vocabulary.is_ordered =
            merges().all(|merge| comes_after(merge.rank, merge.left) && comes_after(merge.rank, merge.right));
        Some(vocabulary)
    }

    /// A vocabulary without merges, with room for this many.
    pub(super) fn with_room(bytes: &[Rank; BYTES], merges: usize) -> Option<Self> {
        if BYTES + merges > 1 << RANK_BITS {
            return None;
        }
        // At most two thirds of the slots are used. Few lookups that get here find nothing, and the fewer the slots,
        // the more of them fit into the processor's caches.
        let bits = (merges.max(32) * 3 / 2).next_power_of_two().ilog2();
        // At most a quarter of the bits is set: for 200,000 merges they take 128 kB.
        let hash_bits = (merges.max(32) * 4).next_power_of_two().ilog2();
        let mut byte_of = [None; BYTES];
        for (byte, token) in (0_u8..=255).zip(bytes) {
            let place = byte_of.get_mut(*token as usize)?;
            if place.replace(byte).is_some() {
                return None;
            }
        }
        Some(Self {
            slots: vec![EMPTY; 1 << bits],
            hashes: vec![0; 1 << (hash_bits - 6)],
            shift: u64::BITS - bits,
            bit_shift: u64::BITS - hash_bits,
            bytes: *bytes,
            byte_of,
            byte_pairs: vec![NO_TOKEN; BYTES * BYTES],
            made: Vec::new(),
            is_ordered: true,
        })
    }

    /// Adds a merge, which makes the token of its own rank unless `made` says otherwise.
    pub(super) fn insert(&mut self, left: Rank, right: Rank, rank: Rank) -> Option<()> {
        let bytes = (self.byte_of.get(left as usize), self.byte_of.get(right as usize));
        if let (Some(Some(left)), Some(Some(right))) = bytes {
            *self.byte_pairs.get_mut(pair_index(*left, *right))? = rank;
        }
        let pair = both(left, right);
        let hash = hash(pair);
        let (word, bit) = self.bit(hash);
        *self.hashes.get_mut(word)? |= bit;
        let mut index = (hash >> self.shift) as usize;
        loop {
            let slot = self.slots.get_mut(index)?;
            if *slot == EMPTY || *slot >> RANK_BITS == pair {
                *slot = pair << RANK_BITS | u64::from(rank);
                return Some(());
            }
            index = (index + 1) & (self.slots.len() - 1);
        }
    }

    /// The rank of the merge of two neighbours, or [`NO_TOKEN`].
    #[inline]
    pub fn merge_of(&self, left: Rank, right: Rank) -> Rank {
        let pair = both(left, right);
        let hash = hash(pair);
        let (word, bit) = self.bit(hash);
        if self.hashes.get(word).copied().unwrap_or_default() & bit == 0 {
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

    /// The token that the merge of this rank makes.
    #[inline]
    pub fn made_by(&self, rank: Rank) -> Rank {
        self.made.get(rank as usize).copied().unwrap_or(rank)
    }

    /// Returns true if no merge can make a pair that has to be merged before it.
    #[inline]
    pub fn is_ordered(&self) -> bool {
        self.is_ordered
    }

    /// The token of a byte.
    #[inline]
    pub fn of_byte(&self, byte: u8) -> Rank {
        self.bytes[usize::from(byte)]
    }

    /// The rank of the merge of two bytes, or [`NO_TOKEN`].
    #[inline]
    pub fn of_byte_pair(&self, left: u8, right: u8) -> Rank {
        self.byte_pairs
            .get(pair_index(left, right))
            .copied()
            .unwrap_or(NO_TOKEN)
    }

    /// The word of a hash in `hashes`, and its bit in the word.
    #[inline]
    fn bit(&self, hash: u64) -> (usize, u64) {
        let index = hash >> self.bit_shift;
        ((index >> 6) as usize, 1 << (index & 63))
    }
}

#[inline]
fn both(left: Rank, right: Rank) -> u64 {
    u64::from(left) << RANK_BITS | u64::from(right)
}

/// A product with the fraction bits of the golden ratio: its upper bits are well mixed.
#[inline]
fn hash(pair: u64) -> u64 {
    pair.wrapping_mul(0x9e37_79b9_7f4a_7c15)
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
        assert!(Vocabulary::built_in(file).is_ok());
        for length in [0, 3, 4, 259, 260, 1000, file.len() - 1] {
            assert!(Vocabulary::built_in(&file[..length]).is_err(), "{length}");
        }
        let mut damaged = file.to_vec();
        damaged[262] = 0xff;
        assert!(Vocabulary::built_in(&damaged).is_err());
    }
}
