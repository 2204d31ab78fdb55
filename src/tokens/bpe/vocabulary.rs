//! The tokens of an encoding, found by their bytes.

use super::key::{Key, hash_long};

/// How early a pair is merged: the lower, the earlier. It is the place of the token among the bytes
/// of all tokens, which lie in rank order; so it orders as the rank does without being stored.
pub type Priority = u32;

/// No token, later than all of them.
pub const NO_TOKEN: Priority = Priority::MAX;

/// A slot holds the token's place (21 bits), its length less one (7 bits) and 4 bits of its hash.
const PLACE_BITS: u32 = 21;
const LENGTH_BITS: u32 = 7;
const TAG_MASK: u64 = 15;
const EMPTY: u32 = u32::MAX;

/// An open-addressing hash table over the bytes of a rank file.
pub struct Vocabulary {
    /// All tokens end to end, in rank order.
    tokens: &'static [u8],
    slots: Vec<u32>,
    /// How far a hash is shifted down to make the index of a slot.
    shift: u32,
    /// The tokens of two bytes, by both bytes: every merge starts with them.
    pairs: Vec<Priority>,
    /// The length of the longest token in bytes.
    longest: usize,
}

impl Vocabulary {
    /// Reads the form that `assets/README.md` describes.
    pub fn new(file: &'static [u8]) -> Result<Self, String> {
        let broken = || "the built-in vocabulary is damaged".to_owned();
        let (number, rest) = file.split_first_chunk::<4>().ok_or_else(broken)?;
        let number = u32::from_le_bytes(*number) as usize;
        let (lengths, tokens) = rest.split_at_checked(number).ok_or_else(broken)?;
        if tokens.len() >= 1 << PLACE_BITS {
            return Err(broken());
        }
        // At most half of the slots are taken, so that a search that fails ends soon.
        let bits = (number * 2).next_power_of_two().ilog2().max(1);
        let mut vocabulary = Self {
            tokens,
            slots: vec![EMPTY; 1 << bits],
            shift: u64::BITS - bits,
            pairs: vec![NO_TOKEN; 1 << 16],
            longest: 0,
        };
        let mut place = 0;
        for length in lengths {
            let length = usize::from(*length);
            if length == 0 || length > 1 << LENGTH_BITS {
                return Err(broken());
            }
            vocabulary.insert(place, length).ok_or_else(broken)?;
            place += length;
        }
        if place != tokens.len() {
            return Err(broken());
        }
        Ok(vocabulary)
    }

    fn insert(&mut self, place: usize, length: usize) -> Option<()> {
        let token = self.tokens.get(place..place + length)?;
        if let [first, second] = token {
            *self.pairs.get_mut(pair_index(*first, *second))? = place as Priority;
        }
        self.longest = self.longest.max(length);
        let hash = Key::new(self.tokens, place, length).map_or_else(|| hash_long(token), Key::hash);
        let value = place as u32 | (length as u32 - 1) << PLACE_BITS | tag(hash);
        let mut index = (hash >> self.shift) as usize;
        loop {
            let slot = self.slots.get_mut(index)?;
            if *slot == EMPTY {
                *slot = value;
                return Some(());
            }
            index = (index + 1) & (self.slots.len() - 1);
        }
    }

    /// The priority of the token that is `bytes[start..end]`, or [`NO_TOKEN`].
    #[inline]
    pub fn find(&self, bytes: &[u8], start: usize, end: usize) -> Priority {
        let length = end.wrapping_sub(start);
        match Key::new(bytes, start, length) {
            Some(key) => self.find_key(key, key.hash(), length),
            None if length <= self.longest => bytes
                .get(start..end)
                .map_or(NO_TOKEN, |token| self.find_long(token)),
            None => NO_TOKEN,
        }
    }

    /// The priority of the token of `length` bytes whose key and hash are known, or [`NO_TOKEN`].
    #[inline]
    pub fn find_key(&self, key: Key, hash: u64, length: usize) -> Priority {
        self.search(hash, length, |place| {
            Key::new(self.tokens, place, length) == Some(key)
        })
    }

    fn find_long(&self, token: &[u8]) -> Priority {
        self.search(hash_long(token), token.len(), |place| {
            self.tokens.get(place..place + token.len()) == Some(token)
        })
    }

    #[inline]
    fn search(&self, hash: u64, length: usize, is_equal: impl Fn(usize) -> bool) -> Priority {
        let wanted = (length as u32).wrapping_sub(1) << PLACE_BITS | tag(hash);
        let mut index = (hash >> self.shift) as usize;
        while let Some(slot) = self.slots.get(index) {
            let place = slot & ((1 << PLACE_BITS) - 1);
            if slot ^ place == wanted && is_equal(place as usize) {
                return place;
            }
            if *slot == EMPTY {
                return NO_TOKEN;
            }
            index = (index + 1) & (self.slots.len() - 1);
        }
        NO_TOKEN
    }

    /// The priority of the token of these two bytes, or [`NO_TOKEN`].
    #[inline]
    pub fn find_pair(&self, first: u8, second: u8) -> Priority {
        self.pairs
            .get(pair_index(first, second))
            .copied()
            .unwrap_or(NO_TOKEN)
    }
}

fn pair_index(first: u8, second: u8) -> usize {
    usize::from(first) << 8 | usize::from(second)
}

fn tag(hash: u64) -> u32 {
    ((hash & TAG_MASK) as u32) << (PLACE_BITS + LENGTH_BITS)
}
