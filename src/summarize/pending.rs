//! A request whose answer is pending, with all that is needed to send it.

use super::answers::AnswerKey;
use crate::compress::Reason;

/// A request that has no usable answer yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingRequest {
    /// The key of its answer: the same question has the same key.
    pub key: AnswerKey,
    /// The line of a batch file that asks for it, in the vendor's form, with its newline.
    pub line: Vec<u8>,
    /// The reason why there is no answer: it is missing, or it failed.
    pub why: Reason,
    /// Prompt tokens.
    pub prompt_tokens: u64,
    /// Completion tokens, about.
    pub completion_tokens: u64,
    /// The fallback model is to answer it.
    pub by_fallback: bool,
}
