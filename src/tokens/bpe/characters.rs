//! Merging characters, as `SentencePiece`'s tokenizers with byte fallback do: spaces are `▁`, and a character that is
//! not in the vocabulary costs its bytes.
//!
//! There is no split pattern: a whole text is one piece. But no merge joins two characters that are neighbours in no
//! token, so a text is cut between these; the pieces are short and often repeated.

use rustc_hash::FxHashMap;

use super::cache::PieceCache;
use super::key::PieceKey;
use super::merge;
use super::vocabulary::{NO_TOKEN, Rank, Vocabulary};

/// The character that stands for a space.
pub const SPACE: char = '\u{2581}';

/// Index bits of the table of pairs that are not both ASCII: 512 kB, of which a large vocabulary sets a twentieth.
const PAIR_BITS: u32 = 22;

/// The characters of a vocabulary, and the pairs of them that are neighbours in its tokens.
pub struct Characters {
    ascii: [Rank; 128],
    others: FxHashMap<char, Rank>,
    /// For each ASCII character, the ASCII characters that follow it in some token, a bit for each.
    followed: [u128; 128],
    /// The other pairs, as bits by hash: a collision only makes a piece longer.
    pairs: Vec<u64>,
}

impl Characters {
    /// Builds the table from the characters that are tokens, with their tokens, and all strings of the vocabulary.
    /// `None` if no token stands for a space.
    pub fn new<'a>(
        characters: impl Iterator<Item = (char, Rank)>,
        strings: impl Iterator<Item = &'a str>,
    ) -> Option<Self> {
        let mut new = Self {
            ascii: [NO_TOKEN; 128],
            others: FxHashMap::default(),
            followed: [0; 128],
            pairs: vec![0; 1 << (PAIR_BITS - 6)],
        };
        for (character, token) in characters {
            match new.ascii.get_mut(character as usize) {
                Some(place) => *place = token,
                None => {
                    new.others.insert(character, token);
                }
            }
        }
        let space = *new.others.get(&SPACE)?;
        *new.ascii.get_mut(usize::from(b' '))? = space;
        for string in strings {
            let mut before = None;
            for character in string.chars() {
                if let Some(before) = before {
                    new.join(before, character);
                }
                before = Some(character);
            }
        }
        Some(new)
    }

    /// The number of tokens of `text`.
    pub fn count(&self, text: &str, vocabulary: &Vocabulary, cache: &mut PieceCache) -> usize {
        let bytes = text.as_bytes();
        let mut tokens = 0;
        let mut start = 0;
        while start < bytes.len() {
            let end = self.piece_end(text, start);
            let piece = text.get(start..end).unwrap_or_default();
            tokens += match (end - start, PieceKey::new(bytes, start, end - start)) {
                // A character that is a token, or one byte.
                (1, _) => 1,
                (_, Some(key)) => cache.get(key, || self.count_piece(piece, vocabulary)),
                (_, None) => cache.get_long(piece.as_bytes(), || self.count_piece(piece, vocabulary)),
            };
            start = end;
        }
        tokens
    }

    /// The end of the piece that starts at `start`: before the second character of the first pair that no token has.
    #[inline]
    fn piece_end(&self, text: &str, start: usize) -> usize {
        let bytes = text.as_bytes();
        let character_at = |at: usize| match bytes.get(at) {
            Some(byte) if byte.is_ascii() => Some(char::from(*byte)),
            Some(_) => text.get(at..).and_then(|rest| rest.chars().next()),
            None => None,
        };
        let Some(mut left) = character_at(start) else {
            return bytes.len();
        };
        let mut at = start + left.len_utf8();
        while let Some(right) = character_at(at) {
            if !self.joins(left, right) {
                return at;
            }
            left = right;
            at += right.len_utf8();
        }
        bytes.len()
    }

    fn count_piece(&self, piece: &str, vocabulary: &Vocabulary) -> usize {
        let mut symbols = Vec::with_capacity(piece.len());
        let mut tokens = 0;
        for character in piece.chars() {
            let token = match self.ascii.get(character as usize) {
                Some(token) => *token,
                None => self.others.get(&character).copied().unwrap_or(NO_TOKEN),
            };
            if token == NO_TOKEN {
                // Its bytes, which never merge.
                tokens += merge::count_tokens(vocabulary, &symbols) + character.len_utf8();
                symbols.clear();
            } else {
                symbols.push(token);
            }
        }
        tokens + merge::count_tokens(vocabulary, &symbols)
    }

    fn join(&mut self, left: char, right: char) {
        let (left, right) = (plain(left), plain(right));
        match self.followed.get_mut(left as usize) {
            Some(followers) if right.is_ascii() => *followers |= 1 << right as u32,
            _ => {
                let (word, bit) = place(left, right);
                if let Some(word) = self.pairs.get_mut(word) {
                    *word |= bit;
                }
            }
        }
    }

    #[inline]
    fn joins(&self, left: char, right: char) -> bool {
        let (left, right) = (plain(left), plain(right));
        match self.followed.get(left as usize) {
            Some(followers) if right.is_ascii() => followers >> (right as u32) & 1 == 1,
            _ => {
                let (word, bit) = place(left, right);
                self.pairs.get(word).is_some_and(|word| word & bit != 0)
            }
        }
    }
}

/// The character itself, or a space for [`SPACE`].
#[inline]
fn plain(character: char) -> char {
    if character == SPACE { ' ' } else { character }
}

/// The word of a pair in the table, and its bit in the word.
#[inline]
fn place(left: char, right: char) -> (usize, u64) {
    let pair = u64::from(left as u32) << 32 | u64::from(right as u32);
    let index = pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - PAIR_BITS);
    ((index >> 6) as usize, 1 << (index & 63))
}
