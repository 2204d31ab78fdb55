//! The interface of all tokenizers: counts of texts, and the identity of the tokenizer.

/// Counts the tokens of a text as the Hugging Face `tokenizers` library's
/// `encode(text, add_special_tokens=false)` does, added tokens inside the text included.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::sync::Arc;
/// use trajfit::TokenCounter;
///
/// let counter: Arc<dyn TokenCounter> = trajfit::tokenizer::load("o200k_base")?;
/// assert_eq!(counter.count("hello world"), 2);
/// assert_eq!(counter.identity().name, "o200k_base");
/// # Ok(())
/// # }
/// ```
pub trait TokenCounter: Send + Sync {
    /// The number of tokens that `text` costs.
    fn count(&self, text: &str) -> usize;

    /// The identity of the tokenizer, for reports and for refusing to resume with another one.
    fn identity(&self) -> &TokenizerIdentity;

    /// Returns true if no token crosses a line end, unless white space or a slash follows it: then lines that were
    /// counted, each with its line end, need not be counted again.
    fn counts_by_line(&self) -> bool {
        false
    }

    /// The special tokens: control tokens such as beginnings, ends and roles.
    fn special_tokens(&self) -> Vec<String> {
        Vec::new()
    }

    /// A note about doubts in the counts, shown at the end of a run; none if there are no doubts.
    fn note(&self) -> Option<String> {
        None
    }
}

/// The identity of a tokenizer.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TokenizerIdentity {
    /// The name as the user gave it: `o200k_base`, a path.
    pub name: String,
    /// SHA-256 of the vocabulary file, in hex.
    pub sha256: String,
    /// The engine that counts, with its version.
    pub engine: String,
}
