//! Tells most words of a text to be none of those looked for, by their ends.

/// Bytes at the end of a word that it is told by first.
const TAIL: usize = 4;

/// A set of words that holds a few others, too.
pub(super) struct Filter {
    /// The bytes of the shortest word; 0 where there is none.
    least: usize,
    /// The bits of a tail that all words have.
    common: u32,
    /// A bit per hash of the last bytes of the words: most words of a text end here.
    tails: Box<[u64; 256]>,
    /// A bit per (first byte, last byte, length) of the words.
    seen: Box<[u64; 256]>,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            least: 0,
            common: 0,
            tails: Box::new([0; 256]),
            seen: Box::new([0; 256]),
        }
    }
}

impl Filter {
    /// Makes it the set of these words, which are not empty.
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

    /// The bytes of the shortest word; 0 where there is none.
    pub fn least(&self) -> usize {
        self.least
    }

    /// Whether a word of at least [`least`](Self::least) bytes may be one of them, by its last four and what stands before it.
    #[inline]
    pub fn may_end(&self, tail: u32) -> bool {
        is_set(&self.tails, self.tail_hash(tail))
    }

    /// A 14-bit hash of as much of a word's tail as all words have.
    #[inline]
    fn tail_hash(&self, tail: u32) -> usize {
        ((tail & self.common).wrapping_mul(0x9e37_79b1) >> 18) as usize
    }

    /// Whether a word may be one of them.
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

/// A 14-bit signature of a word: enough to pass over most words without hashing them.
fn signature(word: &[u8]) -> usize {
    let first = word.first().copied().unwrap_or(0) as usize;
    let last = word.last().copied().unwrap_or(0) as usize;
    ((first << 6) ^ (last << 2) ^ (word.len() << 5)) & 0x3fff
}
