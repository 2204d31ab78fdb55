//! Pieces that cost one token because they are in the vocabulary, whatever their merges.

use xxhash_rust::xxh3::xxh3_128;

use super::key::PieceKey;

/// No piece.
const EMPTY: u128 = 0;

/// A set of byte strings: those of up to 15 bytes as they are, longer ones by 124 bits of hash, assumed to be unique.
/// Strings that merges make anyway are included: finding them out takes longer than loading the rest.
#[derive(Default)]
pub struct WholePieces {
    /// A table with open addressing, at most two thirds full; empty if there are no strings.
    slots: Vec<u128>,
}

impl WholePieces {
    /// Builds the set from the strings, of which there are at most `most`.
    pub fn new(pieces: impl Iterator<Item = Box<[u8]>>, most: usize) -> Self {
        let mut whole = Self {
            slots: vec![EMPTY; (most.max(16) * 3 / 2).next_power_of_two()],
        };
        for piece in pieces.take(most).filter(|piece| !piece.is_empty()) {
            let (name, index) = name(&piece);
            if let Some(slot) = whole
                .place(name, index)
                .and_then(|place| whole.slots.get_mut(place))
            {
                *slot = name;
            }
        }
        whole
    }

    /// Returns true if the set contains this piece.
    #[inline]
    pub fn has(&self, piece: &[u8]) -> bool {
        if self.slots.is_empty() || piece.is_empty() {
            return false;
        }
        let (name, index) = name(piece);
        let place = self.place(name, index);
        place
            .and_then(|place| self.slots.get(place))
            .is_some_and(|slot| *slot == name)
    }

    /// The slot of a piece, or the free slot for it.
    #[inline]
    fn place(&self, name: u128, index: u64) -> Option<usize> {
        let mask = self.slots.len() - 1;
        let mut place = index as usize & mask;
        loop {
            let slot = *self.slots.get(place)?;
            if slot == name || slot == EMPTY {
                return Some(place);
            }
            place = (place + 1) & mask;
        }
    }
}

/// The key of a piece in the set, and a hash of it.
#[inline]
fn name(piece: &[u8]) -> (u128, u64) {
    if let Some(key) = PieceKey::new(piece, 0, piece.len()) {
        (key.0, key.hash())
    } else {
        let hash = xxh3_128(piece);
        // The upper four bits are clear in every key.
        (hash | 0xf << 124, hash as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_in_it_is_found() {
        let text = |number: usize| {
            let width = number % 40 + 1;
            format!("{number:<width$}").into_bytes()
        };
        let whole = WholePieces::new((0..5000).map(|number| text(number).into()), 5000);
        assert!((0..5000).all(|number| whole.has(&text(number))));
        assert!(!(5000..9000).any(|number| whole.has(&text(number))));
        assert!(!whole.has(b""));
        assert!(!WholePieces::default().has(b"a"));
    }
}
