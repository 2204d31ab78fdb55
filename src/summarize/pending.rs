//! A request whose answer is still to come: what a summary waits for, and all that it takes to ask for it.

use super::answers::AnswerKey;
use crate::compress::Reason;

/// A request that nobody has answered yet, or not usably.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingRequest {
    /// What tells it from all others: the same question has the same key.
    pub key: AnswerKey,
    /// The line that asks for it, in the form of whoever is to answer, with its newline.
    pub line: Vec<u8>,
    /// Why there is no answer: it is missing, or what came instead of one.
    pub why: Reason,
    /// Tokens to be read.
    pub prompt_tokens: u64,
    /// Tokens to be written, about.
    pub completion_tokens: u64,
    /// Whether the fallback model is to answer it.
    pub by_fallback: bool,
}
