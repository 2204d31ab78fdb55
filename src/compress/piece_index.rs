//! Pieces of several texts, by their hashes: each gets a number once it stands in more than one of them.

use rustc_hash::FxHashMap;

/// The pieces of several texts, which are numbered.
#[derive(Debug, Default)]
pub struct PieceIndex {
    /// The place of each among those seen, by its hash.
    places: FxHashMap<u64, u32>,
    seen: Vec<Seen>,
    /// The number of those that stand in several texts.
    shared: u32,
}

/// The texts that a piece stands in.
#[derive(Debug)]
struct Seen {
    /// The text that it stands in first.
    first: u32,
    /// Its number once it stands in another one.
    number: Option<u32>,
    /// The text that it was counted in last.
    counted: Option<u32>,
}

impl PieceIndex {
    /// Returns no pieces, with room for the samples of texts of so many bytes.
    pub fn within(bytes: usize) -> Self {
        let mut pieces = Self::default();
        pieces.places.reserve(bytes / 8);
        pieces
    }

    /// Notes a piece of the text number `text`. Returns its place among those seen.
    #[inline]
    pub fn note(&mut self, piece: u64, text: u32) -> u32 {
        let next = self.seen.len() as u32;
        let place = *self.places.entry(piece).or_insert(next);
        match self.seen.get_mut(place as usize) {
            Some(seen) if seen.first != text && seen.number.is_none() => {
                seen.number = Some(self.shared);
                self.shared += 1;
            }
            Some(_) => {}
            None => self.seen.push(Seen {
                first: text,
                number: None,
                counted: None,
            }),
        }
        place
    }

    /// Counts the piece at a place in a text. Returns its number if it stands in several texts, and true if it was the last text
    /// to count it.
    #[inline]
    pub fn count(&mut self, place: u32, text: u32) -> Option<(Option<u32>, bool)> {
        let seen = self.seen.get_mut(place as usize)?;
        let is_repeated = seen.counted.replace(text) == Some(text);
        Some((seen.number, is_repeated))
    }

    /// Returns the number of pieces that stand in several texts.
    pub fn shared(&self) -> usize {
        self.shared as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_several_texts_are_numbered_and_counted_in_each() {
        let mut pieces = PieceIndex::within(0);
        let places: Vec<u32> = [(7, 0), (8, 0), (7, 0), (8, 1), (9, 1)]
            .iter()
            .map(|(piece, text)| pieces.note(*piece, *text))
            .collect();
        assert_eq!((places.as_slice(), pieces.shared()), (&[0, 1, 0, 1, 2][..], 1));
        let counts = [(1, 0), (1, 0), (1, 1), (0, 0), (5, 0)].map(|(place, text)| pieces.count(place, text));
        let shared = Some(0);
        assert_eq!(
            counts,
            [
                Some((shared, false)),
                Some((shared, true)),
                Some((shared, false)),
                Some((None, false)),
                None
            ]
        );
    }
}
