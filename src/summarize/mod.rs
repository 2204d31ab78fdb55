//! Turning a region into a summary: one trait, several implementations.

pub mod extractive;
pub mod grounding;
pub mod marker;
pub mod redact;

use futures_util::future::BoxFuture;

use crate::compress::anchors::Anchor;
use crate::tokens::TokenCounter;
use crate::trajectory::TurnView;

/// What a summarizer is asked for.
#[derive(Clone, Copy)]
pub struct SummaryRequest<'a> {
    /// The turns to be replaced, in order; an earlier summary turn is not among them.
    pub turns: &'a [TurnView<'a>],
    /// Whether the secrets in them were replaced already.
    pub is_redacted: bool,
    /// The body of an earlier summary of this trajectory, to be updated by `turns`.
    pub previous: Option<&'a str>,
    /// The identifiers that must be kept verbatim, most used first.
    pub anchors: &'a [Anchor],
    /// Tokens that the whole summary text may cost, its opening marker included.
    pub max_tokens: usize,
    /// The user's tokenizer.
    pub counter: &'a dyn TokenCounter,
}

/// What a summarizer gives back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// The summary, opening marker included.
    pub text: String,
    /// Requests made over the network.
    pub api_calls: usize,
    /// Requests that failed.
    pub errors: usize,
    /// Tokens that the endpoint says it read.
    pub prompt_tokens: usize,
    /// Tokens that the endpoint says it wrote.
    pub completion_tokens: usize,
    /// Whether it came from the cache of paid summaries.
    pub cached: bool,
    /// Secrets replaced before the text reached the summarizer, or in what came back.
    pub redactions: usize,
}

/// Why there is no summary.
#[derive(Debug, thiserror::Error)]
pub enum SummaryError {
    /// Not even the shortest summary fits the tokens allowed.
    #[error("no summary fits in {max_tokens} tokens")]
    BudgetTooSmall {
        /// The tokens allowed.
        max_tokens: usize,
    },
}

/// Turns a region into a summary.
pub trait Summarizer: Send + Sync {
    /// The name that metrics and messages use for it.
    fn name(&self) -> &'static str;

    /// Summarizes the region. Network implementations wait here; the embedded one computes.
    fn summarize<'a>(&'a self, request: SummaryRequest<'a>) -> BoxFuture<'a, Result<Summary, SummaryError>>;
}
