//! The interface by which questions reach a model: HTTP and batch files implement it.

use futures_util::future::BoxFuture;

use super::question::{ChatError, Question};
use crate::summarize::Usage;
use crate::summarize::answers::{AnswerKey, AnswerStore, KeptAnswer};

/// An answer, with true if another process had it already.
pub type ReceivedAnswer = Result<(KeptAnswer, bool), ChatError>;

/// Brings questions to a model, and its answers into the store.
pub trait Transport: Send + Sync {
    /// The name of a summarizer that uses it.
    fn name(&self) -> &'static str;

    /// The store whose answers outlive the run.
    fn lasting(&self) -> &dyn AnswerStore;

    /// Returns true if it needs the tokens of every prompt.
    fn counts_tokens(&self) -> bool;

    /// Puts a question to the model, and keeps the answer; `wanted` is about how many tokens it will have. Returns the
    /// answer with its usage.
    fn put(
        &self,
        key: AnswerKey,
        question: Question,
        wanted: usize,
    ) -> BoxFuture<'_, Result<(ReceivedAnswer, Usage), ChatError>>;

    /// Sends nothing new, and waits until what is in flight is answered and kept.
    fn finish(&self) -> BoxFuture<'_, ()>;
}
