//! Tokens of requests to a language model, and their prices.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// Prices of the models of a run, in US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prices {
    /// The price of tokens read.
    pub prompt: f64,
    /// The price of tokens written.
    pub completion: f64,
    /// The price of tokens that the fallback model reads.
    pub fallback_prompt: f64,
    /// The price of tokens that it writes.
    pub fallback_completion: f64,
}

/// Tokens that were read and written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// Tokens read.
    #[serde(rename = "prompt_tokens")]
    pub prompt: u64,
    /// Tokens written.
    #[serde(rename = "completion_tokens")]
    pub completion: u64,
    /// Of the tokens read, those of the fallback model.
    #[serde(rename = "fallback_prompt_tokens", default)]
    pub fallback_prompt: u64,
    /// Of the tokens written, those of the fallback model.
    #[serde(rename = "fallback_completion_tokens", default)]
    pub fallback_completion: u64,
}

/// Requests that are to be sent, or were, and their tokens; those written are estimated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestTotals {
    /// Number of requests.
    pub requests: u64,
    /// Their tokens.
    #[serde(flatten)]
    pub tokens: Tokens,
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        self.prompt += other.prompt;
        self.completion += other.completion;
        self.fallback_prompt += other.fallback_prompt;
        self.fallback_completion += other.fallback_completion;
    }
}

impl AddAssign for RequestTotals {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.tokens += other.tokens;
    }
}

impl Tokens {
    /// The tokens of one request.
    pub fn of(prompt: u64, completion: u64, by_fallback: bool) -> Self {
        let of_fallback = |tokens| if by_fallback { tokens } else { 0 };
        Self {
            prompt,
            completion,
            fallback_prompt: of_fallback(prompt),
            fallback_completion: of_fallback(completion),
        }
    }
}

impl Prices {
    /// The cost of these tokens, in US dollars.
    pub fn cost(self, tokens: Tokens) -> f64 {
        let first = |all: u64, of_fallback: u64| all.saturating_sub(of_fallback) as f64;
        let cost = first(tokens.prompt, tokens.fallback_prompt) * self.prompt
            + first(tokens.completion, tokens.fallback_completion) * self.completion
            + tokens.fallback_prompt as f64 * self.fallback_prompt
            + tokens.fallback_completion as f64 * self.fallback_completion;
        cost / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_model_costs_what_it_costs() {
        let prices = Prices {
            prompt: 1.0,
            completion: 10.0,
            fallback_prompt: 100.0,
            fallback_completion: 1000.0,
        };
        let cost = |tokens| (prices.cost(tokens) * 1e6).round() as u64;
        assert_eq!(cost(Tokens::of(3, 2, false)), 23);
        assert_eq!(cost(Tokens::of(3, 2, true)), 2300);
    }
}
