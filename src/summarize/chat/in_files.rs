//! Questions put all at once in batch files.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::future::{self, BoxFuture};

use super::keep;
use super::question::{ChatError, Question};
use super::settings::ChatSettings;
use super::transport::{ReceivedAnswer, Transport};
use crate::summarize::Usage;
use crate::summarize::answers::{AnswerKey, AnswerKind, AnswerStore, KeptAnswer};
use crate::summarize::batch::BatchAnswers;
use crate::summarize::spend::Spend;

/// Answers questions from batch files, and from the answers of other runs.
pub struct InFiles {
    /// The responses in batch files.
    pub postbox: BatchAnswers,
    /// The answers of other runs.
    pub cache: Arc<dyn AnswerStore>,
    /// The answers of this run.
    pub store: Arc<dyn AnswerStore>,
    /// The settings of the requests.
    pub settings: Arc<ChatSettings>,
    /// The requests saved are counted here.
    pub spend: Arc<Spend>,
}

impl InFiles {
    fn received(&self, key: AnswerKey, question: &Question, wanted: usize) -> (ReceivedAnswer, Usage) {
        let mut asked = self.postbox.ask(&self.settings, key, question, wanted);
        let redaction = self.settings.prompt.redaction;
        let back = keep::kept(asked.result, &question.model.name, &asked.usage, redaction);
        let kept = match back {
            Ok(answer) => {
                // The user named these files: an answer of another run does not replace theirs.
                self.cache.put(&key, answer.clone());
                Ok(answer)
            }
            Err(ended @ ChatError::Ended(_)) => Err(ended),
            Err(trouble) => {
                let is_wanted =
                    |answer: &KeptAnswer| answer.kind != AnswerKind::Refused || !self.postbox.resend_failed;
                let answer = self.cache.get(&key).filter(is_wanted).ok_or(trouble);
                if answer.is_ok() {
                    asked.usage.cached += 1;
                    self.spend.cache_hits.fetch_add(1, Ordering::Relaxed);
                }
                answer
            }
        };
        (
            kept.map(|answer| (self.store.put(&key, answer), false)),
            asked.usage,
        )
    }
}

impl Transport for InFiles {
    fn name(&self) -> &'static str {
        "batch"
    }

    fn lasting(&self) -> &dyn AnswerStore {
        self.cache.as_ref()
    }

    fn counts_tokens(&self) -> bool {
        true
    }

    fn put(
        &self,
        key: AnswerKey,
        question: Question,
        wanted: usize,
    ) -> BoxFuture<'_, Result<(ReceivedAnswer, Usage), ChatError>> {
        Box::pin(future::ready(Ok(self.received(key, &question, wanted))))
    }

    fn finish(&self) -> BoxFuture<'_, ()> {
        Box::pin(future::ready(()))
    }
}
