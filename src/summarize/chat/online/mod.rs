//! Questions put one by one over HTTP.

mod client;
mod probe;
pub(crate) mod wire;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::runtime::Runtime;

use super::keep;
use super::question::{ChatError, Question};
use super::settings::ChatSettings;
use super::transport::{ReceivedAnswer, Transport};
use crate::summarize::Usage;
use crate::summarize::answers::{AnswerKey, AnswerStore};
use crate::summarize::failure::Failure;
use crate::summarize::spend::Spend;
use crate::summarize::turn::{Claimed, ProcessTurns};
use crate::tokens::TokenCounter;
use client::Client;

/// Threads that keep answers, one after another, and look up names: hundreds of answers may come at once.
const BLOCKING_THREADS: usize = 4;

/// A client with a runtime of its own: requests run there, everything else where the caller runs.
pub struct Online {
    client: Arc<Client>,
    /// `None` only while this is dropped.
    runtime: Option<Runtime>,
    turns: ProcessTurns,
    store: Arc<dyn AnswerStore>,
    redaction: bool,
    counts_tokens: bool,
}

impl Online {
    /// A client that has opened no connection yet.
    ///
    /// # Errors
    ///
    /// If the settings are wrong, or the system refuses.
    pub fn new(
        settings: &ChatSettings,
        store: Arc<dyn AnswerStore>,
        spend: Arc<Spend>,
        counter: Arc<dyn TokenCounter>,
    ) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(BLOCKING_THREADS)
            .thread_name("network")
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let counts_tokens = settings.tpm.is_some() || spend.prices().is_some();
        Ok(Self {
            client: Arc::new(Client::new(settings, spend, counter)?),
            runtime: Some(runtime),
            turns: ProcessTurns::new(Arc::clone(&store), settings.max_concurrent_requests),
            store,
            redaction: settings.prompt.redaction,
            counts_tokens,
        })
    }
}

impl Transport for Online {
    fn name(&self) -> &'static str {
        "chat"
    }

    fn lasting(&self) -> &dyn AnswerStore {
        self.store.as_ref()
    }

    fn counts_tokens(&self) -> bool {
        self.counts_tokens
    }

    fn put(
        &self,
        key: AnswerKey,
        question: Question,
        _wanted: usize,
    ) -> BoxFuture<'_, Result<(ReceivedAnswer, Usage), ChatError>> {
        Box::pin(async move {
            let lost = || ChatError::Failed(Failure::new("summary_internal", "the request was lost"));
            let runtime = self.runtime.as_ref().ok_or_else(lost)?;
            let client = Arc::clone(&self.client);
            // The task runs to its end even if nobody waits for it any more: it is paid for.
            let task = runtime.spawn(ask_and_keep(
                client,
                question,
                self.turns.clone(),
                key,
                self.redaction,
            ));
            task.await.map_err(|_| lost())
        })
    }

    fn finish(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.client.finish())
    }
}

impl Drop for Online {
    /// Does not wait for a request that hangs, or for a name lookup.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Asks, unless another process does, and keeps the answer before its place among the requests in flight is released.
async fn ask_and_keep(
    client: Arc<Client>,
    question: Question,
    turns: ProcessTurns,
    key: AnswerKey,
    redaction: bool,
) -> (ReceivedAnswer, Usage) {
    let claim = match turns.of(key).await {
        Claimed::Ours(claim) => claim,
        Claimed::Known(answer) => return (Ok((answer, true)), Usage::default()),
    };
    let asked = client.ask(&question).await;
    let usage = asked.usage;
    let answer = match keep::kept(asked.result, &question.model.name, &usage, redaction) {
        Ok(answer) => Ok((claim.keep(answer).await, false)),
        Err(trouble) => Err(trouble),
    };
    drop(asked.place);
    (answer, usage)
}
