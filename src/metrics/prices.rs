//! What the tokens of a language model cost.

/// Prices of a model, in US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prices {
    /// Of tokens read.
    pub prompt: f64,
    /// Of tokens written.
    pub completion: f64,
}

impl Prices {
    /// What so many tokens cost, in US dollars.
    pub fn cost(self, prompt_tokens: u64, completion_tokens: u64) -> f64 {
        (prompt_tokens as f64 * self.prompt + completion_tokens as f64 * self.completion) / 1e6
    }
}
