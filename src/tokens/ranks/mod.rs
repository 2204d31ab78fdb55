//! Rank files (`.tiktoken`, Kimi's `tiktoken.model`): the tokens of a byte-pair encoding, counted by the own encoder.
//!
//! A rank file contains neither a split pattern nor special tokens. The split pattern is known by the SHA-256 of the
//! file, or is named by the user; special tokens are read from a `tokenizer_config.json` beside the file.

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

/// The tokenizer of a rank file, ready to count.
pub struct RankTokenizer {
    encoder: Encoder,
    special: AddedTokens,
}

impl RankTokenizer {
    /// Builds the tokenizer from the tokens in the order of their ranks, the split pattern, and the special tokens,
    /// which must be distinct.
    ///
    /// # Errors
    ///
    /// The tokens are not complete.
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
