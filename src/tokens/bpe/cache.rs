//! What pieces cost that a thread has met before.

use super::key::Key;

/// 2^15 pieces, 512 kB: what the second-level cache of a core holds with room to spare.
const BITS: u32 = 15;

/// A direct-mapped cache from a piece of up to 15 bytes to its number of tokens. An entry is the
/// piece's [`Key`] with the number in the upper four bits: a piece has no more tokens than bytes.
/// Zero is no entry, since a piece is never empty.
pub struct Cache {
    entries: Vec<u128>,
}

impl Cache {
    /// An empty cache.
    pub fn new() -> Self {
        Self {
            entries: vec![0; 1 << BITS],
        }
    }

    /// The cost of the piece with this key and hash, from `count` if it is not known.
    #[inline]
    pub fn get(&mut self, key: Key, hash: u64, count: impl FnOnce() -> usize) -> usize {
        let Some(entry) = self.entries.get_mut((hash >> (u64::BITS - BITS)) as usize) else {
            return count();
        };
        if (*entry ^ key.0) << 4 == 0 {
            return (*entry >> 124) as usize;
        }
        let tokens = count();
        if tokens < 16 {
            *entry = key.0 | (tokens as u128) << 124;
        }
        tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_counted_once_and_never_taken_for_another() {
        let mut cache = Cache::new();
        let one = Key::new(b"one and sixteen more", 0, 3).unwrap();
        let two = Key::new(b"two and sixteen more", 0, 3).unwrap();
        assert_eq!(cache.get(one, 7, || 15), 15);
        assert_eq!(cache.get(one, 7, || panic!("counted twice")), 15);
        // The same hash, another piece.
        assert_eq!(cache.get(two, 7, || 2), 2);
        assert_eq!(cache.get(one, 7, || 15), 15);
    }
}
