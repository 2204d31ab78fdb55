//! Counters for tests, with counts that are easy to verify by hand.

use super::{TokenCounter, TokenizerIdentity};

/// A counter that calls its function.
pub struct WordCounter {
    identity: TokenizerIdentity,
    count: fn(&str) -> usize,
}

impl WordCounter {
    /// A counter of one token per word.
    pub fn new() -> Self {
        Self::counting(|text| text.split_whitespace().count())
    }

    /// A counter that returns the result of `count`.
    pub fn counting(count: fn(&str) -> usize) -> Self {
        let identity = TokenizerIdentity {
            name: "words".to_owned(),
            sha256: String::new(),
            engine: "test".to_owned(),
        };
        Self { identity, count }
    }
}

impl TokenCounter for WordCounter {
    fn count(&self, text: &str) -> usize {
        (self.count)(text)
    }

    fn identity(&self) -> &TokenizerIdentity {
        &self.identity
    }
}
