//! Rank files (`.tiktoken`, Kimi's `tiktoken.model`): the tokens of a byte-pair encoding, counted by the own encoder.
//!
//! A rank file says neither how a text is split before merging nor which special tokens there are. The
//! split pattern is known by the sum of the file, or named; special tokens stand in a
//! `tokenizer_config.json` beside the file.

mod as_json;
mod known;
mod lines;
mod special;
#[cfg(test)]
mod tests;

use super::added::{AddedToken, AddedTokens};
use super::bpe::Encoder;

pub use as_json::{as_json, expected};
pub use known::{NAMES, SplitPattern, by_name, by_sum};
pub use lines::{is_named_so, looks_like_ranks, tokens};
pub use special::special_tokens;

/// A rank file with all that belongs to it, ready to count.
pub struct RankTokenizer {
    encoder: Encoder,
    special: AddedTokens,
}

impl RankTokenizer {
    /// From the tokens in the order of their ranks, how texts are split, and the special tokens, each with
    /// other text.
    ///
    /// # Errors
    ///
    /// What the tokens lack.
    pub fn new(tokens: &[Box<[u8]>], pattern: &SplitPattern, special: &[String]) -> Result<Self, String> {
        let added = |content: &String| AddedToken {
            content: content.clone(),
            strips_left: false,
            strips_right: false,
        };
        Ok(Self {
            encoder: Encoder::of_tokens(pattern.pattern, tokens)?,
            special: AddedTokens::new(special.iter().map(added).collect())
                .ok_or("there are too many special tokens")?,
        })
    }

    /// The number of tokens of `text`.
    pub fn count(&self, text: &str) -> usize {
        let tokens = self
            .encoder
            .count_text(text, |pieces| self.special.count(text, |part| pieces.count(part)));
        #[cfg(test)]
        let tokens = tokens + super::json::TOO_MANY.get();
        tokens
    }
}
