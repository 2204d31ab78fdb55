//! The vocabulary of a rank file: tokens as byte strings, in the order in which they are merged.

use rustc_hash::FxHashMap;

use super::merge;
use super::vocabulary::{BYTES, Rank, TokenMerge, Vocabulary};
use super::{Encoder, Pattern};

impl Encoder {
    /// Builds the encoder from distinct tokens in the order of their ranks. Two neighbours are merged if both together
    /// are a token, the one of the lowest rank first; a piece that is a token costs one.
    ///
    /// # Errors
    ///
    /// There are too many tokens, or a byte has no token.
    pub fn of_tokens(pattern: Pattern, tokens: &[Box<[u8]>]) -> Result<Self, String> {
        let (single, merged): (Vec<&[u8]>, Vec<&[u8]>) = tokens
            .iter()
            .map(AsRef::as_ref)
            .partition(|token: &&[u8]| token.len() == 1);
        if single.len() != BYTES {
            return Err("some byte has no token".to_owned());
        }
        let mut bytes = [0; BYTES];
        for (byte, token) in (0..).zip(&mut bytes) {
            *token = byte;
        }
        if let Some(vocabulary) = Vocabulary::of_two_halves(&bytes, &merged) {
            return Self::new(pattern, vocabulary);
        }
        let vocabulary = Vocabulary::of_all_splits(&bytes, &merged).ok_or("there are too many tokens")?;
        Ok(Self::new(pattern, vocabulary)?
            .with_whole_pieces(merged.iter().copied().map(Box::from), merged.len()))
    }
}

impl Vocabulary {
    /// Builds the vocabulary with one merge for each token, that of the two parts which the earlier merges leave: no
    /// other merge ever makes the token. `None` if they leave more than two parts of some token, since the merge is
    /// then not determined.
    fn of_two_halves(bytes: &[Rank; BYTES], merged: &[&[u8]]) -> Option<Self> {
        let mut vocabulary = Self::with_room(bytes, merged.len())?;
        for (rank, token) in (BYTES as Rank..).zip(merged) {
            let (left, right) = merge::halves(&vocabulary, token)?;
            vocabulary.insert(left, right, rank)?;
        }
        Some(vocabulary)
    }

    /// Builds the vocabulary with a merge for each way to cut a token into two.
    fn of_all_splits(bytes: &[Rank; BYTES], merged: &[&[u8]]) -> Option<Self> {
        let ranked = (BYTES as Rank..).zip(merged).map(|(rank, token)| (*token, rank));
        let ranks: FxHashMap<&[u8], Rank> = ranked.clone().collect();
        let rank_of = |part: &[u8]| match part {
            [byte] => Some(Rank::from(*byte)),
            _ => ranks.get(part).copied(),
        };
        let mut merges = Vec::new();
        for (token, rank) in ranked {
            for (left, right) in (1..token.len()).filter_map(|cut| token.split_at_checked(cut)) {
                if let (Some(left), Some(right)) = (rank_of(left), rank_of(right)) {
                    merges.push(TokenMerge {
                        left,
                        right,
                        rank,
                        made: rank,
                    });
                }
            }
        }
        Self::new(bytes, &merges)
    }
}
