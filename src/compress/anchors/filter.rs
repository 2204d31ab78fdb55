//! A Bloom-style filter over word endings: rejects most words that no pattern contains.

/// Number of bytes at the end of a word that are tested first.
const TAIL: usize = 4;

/// A set of words with false positives, and no false negatives.
pub(super) struct WordFilter {
    /// The length of the shortest word in bytes; 0 for an empty set.
    least: usize,
    /// Bit mask of the tail bytes that even the shortest word has.
    common: u32,
    /// One bit per hash of the last bytes of a word: most words of a text are rejected here.
    tails: Box<[u64; 256]>,
    /// One bit per signature (first byte, last byte, length) of a word.
    seen: Box<[u64; 256]>,
}

impl Default for WordFilter {
    fn default() -> Self {
        Self {
            least: 0,
            common: 0,
            tails: Box::new([0; 256]),
            seen: Box::new([0; 256]),
        }
    }
}

impl WordFilter {
    /// Replaces the set by these words, which must not be empty.
    pub fn fill<'w>(&mut self, words: impl Iterator<Item = &'w [u8]> + Clone) {
        self.tails.fill(0);
        self.seen.fill(0);
        self.least = words.clone().map(<[u8]>::len).min().unwrap_or(0);
        self.common = u32::MAX << (8 * (TAIL - self.least.clamp(1, TAIL)));
        for word in words {
            set(&mut self.seen, signature(word));
            let mut tail = [0; TAIL];
            for (to, from) in tail.iter_mut().rev().zip(word.iter().rev()) {
                *to = *from;
            }
            let hash = self.tail_hash(u32::from_le_bytes(tail));
            set(&mut self.tails, hash);
        }
    }

    /// Returns the length of the shortest word in bytes; 0 for an empty set.
    pub fn least(&self) -> usize {
        self.least
    }

    /// Returns true if a word of at least [`least`](Self::least) bytes with this tail of four bytes may be in the set.
    #[inline]
    pub fn may_end(&self, tail: u32) -> bool {
        is_set(&self.tails, self.tail_hash(tail))
    }

    /// Returns a 14-bit hash of the tail bytes that all words have.
    #[inline]
    fn tail_hash(&self, tail: u32) -> usize {
        ((tail & self.common).wrapping_mul(0x9e37_79b1) >> 18) as usize
    }

    /// Returns true if a word may be in the set.
    #[inline]
    pub fn may_be(&self, word: &[u8]) -> bool {
        is_set(&self.seen, signature(word))
    }
}

#[inline]
fn set(bits: &mut [u64; 256], bit: usize) {
    if let Some(cell) = bits.get_mut(bit >> 6) {
        *cell |= 1 << (bit & 63);
    }
}

#[inline]
fn is_set(bits: &[u64; 256], bit: usize) -> bool {
    bits.get(bit >> 6).is_some_and(|cell| cell >> (bit & 63) & 1 != 0)
}

/// Returns a 14-bit signature of a word, which rejects most words without hashing them.
fn signature(word: &[u8]) -> usize {
    let first = word.first().copied().unwrap_or(0) as usize;
    let last = word.last().copied().unwrap_or(0) as usize;
    ((first << 6) ^ (last << 2) ^ (word.len() << 5)) & 0x3fff
}
