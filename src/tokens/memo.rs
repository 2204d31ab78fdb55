//! A cache of the costs of long texts, such as system prompts and lists of tools, which are often repeated.

use xxhash_rust::xxh3::xxh3_128;

/// 2^10 texts: 32 kB.
const BITS: u32 = 10;

/// Minimum bytes of a cached text: shorter ones are counted about as fast as they are looked up.
const SHORTEST: usize = 512;

/// The hash of a text, its length and its number of tokens; the length is zero in an empty entry.
#[derive(Clone, Copy, Default)]
struct MemoEntry {
    hash: u128,
    length: usize,
    tokens: usize,
}

/// Texts by a hash of 128 bits, one for each value of its upper bits.
pub struct Memo {
    entries: Vec<MemoEntry>,
}

impl Default for Memo {
    fn default() -> Self {
        Self {
            entries: vec![MemoEntry::default(); 1 << BITS],
        }
    }
}

impl Memo {
    /// The number of tokens of `text`; calls `count` if it is not cached.
    #[inline]
    pub fn get(&mut self, text: &str, count: impl FnOnce() -> usize) -> usize {
        if text.len() < SHORTEST {
            return count();
        }
        let hash = xxh3_128(text.as_bytes());
        let length = text.len();
        let Some(entry) = self.entries.get_mut((hash >> (u128::BITS - BITS)) as usize) else {
            return count();
        };
        if entry.hash != hash || entry.length != length {
            let tokens = count();
            *entry = MemoEntry { hash, length, tokens };
        }
        entry.tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_counted_once_and_a_short_one_each_time() {
        let mut memo = Memo::default();
        let (long, short) = ("a".repeat(SHORTEST), "a".repeat(SHORTEST - 1));
        assert_eq!(memo.get(&long, || 7), 7);
        assert_eq!(memo.get(&long, || panic!("counted twice")), 7);
        assert_eq!(memo.get(&short, || 1), 1);
        assert_eq!(memo.get(&short, || 2), 2);
    }

    #[test]
    fn texts_that_push_one_another_out_keep_their_own_costs() {
        let mut memo = Memo::default();
        let texts: Vec<String> = (0..5000).map(|number| format!("{number:600}")).collect();
        for _ in 0..2 {
            for (number, text) in texts.iter().enumerate() {
                assert_eq!(memo.get(text, || number), number);
            }
        }
    }
}
