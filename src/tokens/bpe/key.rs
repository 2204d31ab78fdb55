//! Short byte strings as one integer, so that each is hashed and compared in one step.

/// Up to 15 bytes, the first in the lowest byte, with their count in bits 120 to 123.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PieceKey(pub u128);

/// Masks of the bits that the bytes of a key may take, by length.
const BYTES: [u128; 16] = bytes();

const fn bytes() -> [u128; 16] {
    let mut table = [0; 16];
    let mut length = 0;
    while length < 16 {
        table[length] = (1 << (8 * length)) - 1;
        length += 1;
    }
    table
}

impl PieceKey {
    /// The key of the `length` bytes of `bytes` from `start`; `None` if they are more than 15 or out of range.
    #[inline]
    pub fn new(bytes: &[u8], start: usize, length: usize) -> Option<Self> {
        let mask = BYTES.get(length)?;
        let rest = bytes.get(start..)?;
        let loaded = if let Some(chunk) = rest.first_chunk::<16>() {
            *chunk
        } else {
            let mut chunk = [0; 16];
            chunk.get_mut(..length)?.copy_from_slice(rest.get(..length)?);
            chunk
        };
        Some(Self(u128::from_le_bytes(loaded) & mask | (length as u128) << 120))
    }

    /// A hash whose high and low bits are both well mixed.
    #[inline]
    pub fn hash(self) -> u64 {
        mix(self.0 as u64, (self.0 >> 64) as u64)
    }
}

/// The hash of a byte string of more than 15 bytes; it differs from that of a [`PieceKey`].
pub fn hash_long(bytes: &[u8]) -> u64 {
    let mut hash = bytes.len() as u64;
    // The last 16 bytes may overlap those hashed before: hashing some bytes twice does no harm.
    for chunk in bytes
        .chunks_exact(16)
        .filter_map(<[u8]>::first_chunk)
        .chain(bytes.last_chunk::<16>())
    {
        let word = u128::from_le_bytes(*chunk);
        hash = mix(word as u64 ^ hash, (word >> 64) as u64);
    }
    hash
}

/// Folds a product of 128 bits to 64; the constants are the fraction bits of the golden ratio and of e.
#[inline]
fn mix(low: u64, high: u64) -> u64 {
    let product = u128::from(low ^ 0x9e37_79b9_7f4a_7c15) * u128::from(high ^ 0xb7e1_5162_8aed_2a6b);
    (product as u64) ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_differ_where_the_bytes_or_their_number_differ() {
        let text = b"ab\0\0ab\0\0 and sixteen more";
        let key = |start, length| PieceKey::new(text, start, length).unwrap();
        assert!(key(0, 3) == key(4, 3));
        assert!(key(0, 3) != key(0, 4));
        assert!(key(0, 1) != key(1, 1));
    }

    #[test]
    fn keys_end_at_fifteen_bytes_and_at_the_end_of_the_text() {
        let text = b"0123456789abcdef";
        assert!(PieceKey::new(text, 0, 15).is_some());
        assert!(PieceKey::new(text, 0, 16).is_none());
        assert!(PieceKey::new(text, 14, 3).is_none());
        assert!(PieceKey::new(text, 17, 0).is_none());
        assert!(PieceKey::new(text, 14, 2) == PieceKey::new(b"ef, and sixteen more", 0, 2));
    }
}
