//! The merges of a tokenizer: the two tokens of each, the token they make, and the order of the merges.

use std::borrow::Cow;

/// The position of a merge in the order of merges, counted from 256 (after the single bytes); the lowest is first.
/// Token numbers have the same type: a token that several merges make has the number of the first one.
pub type Rank = u32;

/// No token or no merge; it compares greater than all of them.
pub const NO_TOKEN: Rank = Rank::MAX;

/// Bits of a rank in a slot, so that two tokens and the rank of their merge fit into 64.
const RANK_BITS: u32 = 20;
const EMPTY: u64 = u64::MAX;
/// Number of byte values; the single bytes are the first tokens.
pub(super) const BYTES: usize = 256;

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

/// Numbers of that many bytes, little-endian: as they stand in the program, or built when a file is loaded.
pub(super) type Table<const SIZE: usize> = Cow<'static, [[u8; SIZE]]>;

/// An open-addressing hash table from two tokens to the rank of their merge. Every token that can occur in the result
/// is made by merges of its own bytes, so merges are all that counting needs.
pub struct Vocabulary {
    /// Left token, right token and the rank of their merge, from the upper bits to the lower.
    pub(super) slots: Table<8>,
    /// A bit for each hash that some pair has, by its upper bits: it rejects most pairs that do not merge, in a
    /// fraction of the memory. It saves a fifth of the time of long pieces.
    pub(super) hashes: Table<8>,
    /// Right shift of a hash to the index of a slot, and (`bit_shift`) to that of a bit.
    pub(super) shift: u32,
    pub(super) bit_shift: u32,
    /// The tokens of the single bytes.
    pub(super) bytes: [Rank; BYTES],
    /// The byte of each of these tokens.
    byte_of: [Option<u8>; BYTES],
    /// The ranks of the merges of two bytes, by both bytes: every piece starts with them.
    pub(super) byte_pairs: Table<4>,
    /// The token that each merge makes; empty if each makes the token of its own rank.
    made: Vec<Rank>,
    /// Every merge comes after all merges that make its parts.
    is_ordered: bool,
}

impl Vocabulary {
    /// A vocabulary whose tables stand in the program, as `ranks_asset.rs` lays them out; `None` if some part is missing. Nothing is
    /// read of it before it is looked up.
    pub fn laid_out(layout: &'static [u8]) -> Option<Self> {
        let (sizes, rest) = layout.split_first_chunk::<2>()?;
        let [slot_bits, hash_bits] = sizes.map(u32::from);
        let (bytes, rest) = table_at(rest, 8)?;
        let (byte_pairs, rest) = table_at(rest, 16)?;
        let (hashes, rest) = table_at(rest, hash_bits.checked_sub(6)?)?;
        let (slots, _) = table_at(rest, slot_bits)?;
        let mut tokens = [NO_TOKEN; BYTES];
        for (token, bytes) in tokens.iter_mut().zip(bytes.iter()) {
            *token = u32::from_le_bytes(*bytes);
        }
        Some(Self {
            slots,
            hashes,
            shift: u64::BITS - slot_bits,
            bit_shift: u64::BITS - hash_bits,
            bytes: tokens,
            byte_of: bytes_of(&tokens)?,
            byte_pairs,
            made: Vec::new(),
            is_ordered: true,
        })
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
        let slot_bits = (merges.max(32) * 3 / 2).next_power_of_two().ilog2();
        // At most a quarter of the bits is set: for 200,000 merges they take 128 kB.
        let hash_bits = (merges.max(32) * 4).next_power_of_two().ilog2();
        Some(Self {
            slots: vec![EMPTY.to_le_bytes(); 1 << slot_bits].into(),
            hashes: vec![[0; 8]; 1 << (hash_bits - 6)].into(),
            shift: u64::BITS - slot_bits,
            bit_shift: u64::BITS - hash_bits,
            bytes: *bytes,
            byte_of: bytes_of(bytes)?,
            byte_pairs: vec![NO_TOKEN.to_le_bytes(); BYTES * BYTES].into(),
            made: Vec::new(),
            is_ordered: true,
        })
    }

    /// Adds a merge, which makes the token of its own rank unless `made` says otherwise.
    pub(super) fn insert(&mut self, left: Rank, right: Rank, rank: Rank) -> Option<()> {
        let bytes = (self.byte_of.get(left as usize), self.byte_of.get(right as usize));
        if let (Some(Some(left)), Some(Some(right))) = bytes {
            let place = self.byte_pairs.to_mut().get_mut(pair_index(*left, *right))?;
            *place = rank.to_le_bytes();
        }
        let pair = both(left, right);
        let hash = hash(pair);
        let (word, bit) = self.bit(hash);
        let bits = self.hashes.to_mut().get_mut(word)?;
        *bits = (u64::from_le_bytes(*bits) | bit).to_le_bytes();
        let slots = self.slots.to_mut();
        let mut index = (hash >> self.shift) as usize;
        loop {
            let place = slots.get_mut(index)?;
            let slot = u64::from_le_bytes(*place);
            if slot == EMPTY || slot >> RANK_BITS == pair {
                *place = (pair << RANK_BITS | u64::from(rank)).to_le_bytes();
                return Some(());
            }
            index = (index + 1) & (slots.len() - 1);
        }
    }

    /// The rank of the merge of two neighbours, or [`NO_TOKEN`].
    #[inline]
    pub fn merge_of(&self, left: Rank, right: Rank) -> Rank {
        let pair = both(left, right);
        let hash = hash(pair);
        let (word, bit) = self.bit(hash);
        let bits = self.hashes.get(word).copied().unwrap_or_default();
        if u64::from_le_bytes(bits) & bit == 0 {
            return NO_TOKEN;
        }
        let slots = self.slots.as_ref();
        let mut index = (hash >> self.shift) as usize;
        while let Some(slot) = slots.get(index) {
            let slot = u64::from_le_bytes(*slot);
            if slot >> RANK_BITS == pair {
                return (slot & ((1 << RANK_BITS) - 1)) as Rank;
            }
            if slot == EMPTY {
                break;
            }
            index = (index + 1) & (slots.len() - 1);
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
        let rank = self.byte_pairs.get(pair_index(left, right));
        rank.map_or(NO_TOKEN, |rank| u32::from_le_bytes(*rank))
    }

    /// The word of a hash in `hashes`, and its bit in the word.
    #[inline]
    fn bit(&self, hash: u64) -> (usize, u64) {
        let index = hash >> self.bit_shift;
        ((index >> 6) as usize, 1 << (index & 63))
    }
}

/// The byte of each of the first tokens, which are 0 to 255 in any order; `None` if two bytes share one.
fn bytes_of(tokens: &[Rank; BYTES]) -> Option<[Option<u8>; BYTES]> {
    let mut byte_of = [None; BYTES];
    for (byte, token) in (0_u8..=255).zip(tokens) {
        let place = byte_of.get_mut(*token as usize)?;
        if place.replace(byte).is_some() {
            return None;
        }
    }
    Some(byte_of)
}

/// The numbers that a layout begins with, two to the power of `bits` of them, and the rest of it.
fn table_at<const SIZE: usize>(layout: &'static [u8], bits: u32) -> Option<(Table<SIZE>, &'static [u8])> {
    let (table, rest) = layout.split_at_checked(1_usize.checked_shl(bits)? * SIZE)?;
    Some((Cow::Borrowed(table.as_chunks().0), rest))
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
