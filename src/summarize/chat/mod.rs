//! Summaries by a language model that is asked over HTTP.
//!
//! ```text
//!  turns ─► prompt ─► answers (asked before?) ─► client ─► api ─► server
//!    ▲     (pieces)                                ▲                 │
//!    │                                             │   retry ◄── answer
//!    └── too long: shorter pieces                  └── again, otherwise, or not at all
//! ```
//!
//! What is decided is decided by pure functions (`api`, `answer`, `retry`, `length`) and by state machines without a clock
//! (`breaker`, `rate`, `dialect`). `wire` has the connections, `client` the clock.

mod answer;
pub mod api;
mod asking;
mod breaker;
mod client;
mod dialect;
mod estimate;
mod keep;
mod question;
mod rate;
mod retry;
mod run_end;
pub mod settings;
mod wire;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::runtime::Runtime;

use super::answers::{AnswerStore, Answers};
use super::prompt::Prompter;
use super::spend::Spend;
use super::{Estimate, NotReady, Summarizer, Summary, SummaryError, SummaryRequest, Usage};
use crate::compress::Reason;
use crate::tokens::TokenCounter;
use asking::{Asking, Taken};
use client::Client;
use question::{Model, Trouble};
pub use settings::{ChatSettings, Key};

/// Asks a language model for summaries.
pub struct ChatSummarizer {
    settings: ChatSettings,
    prompter: Prompter,
    client: Arc<Client>,
    answers: Answers,
    model: Arc<Model>,
    fallback: Option<Arc<Model>>,
    spend: Arc<Spend>,
    /// Requests run here, everything else where the caller runs. `None` only while this is dropped.
    runtime: Option<Runtime>,
}

impl ChatSummarizer {
    /// A summarizer with connections of its own; none is opened yet, and no store either. `counter` counts what a server
    /// does not.
    ///
    /// # Errors
    ///
    /// What is wrong with the settings, or with the system.
    pub fn new(
        settings: ChatSettings,
        store: Arc<dyn AnswerStore>,
        spend: Arc<Spend>,
        counter: Arc<dyn TokenCounter>,
    ) -> Result<Self, String> {
        let model = |name: &str| {
            Arc::new(Model {
                name: name.to_owned(),
                dialect: dialect::Dialect::default(),
            })
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("network")
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Self {
            prompter: Prompter::new(&settings.prompt)?,
            client: Arc::new(Client::new(&settings, Arc::clone(&spend), counter)?),
            answers: Answers::new(store),
            model: model(&settings.model),
            fallback: settings.fallback_model.as_deref().map(model),
            spend,
            runtime: Some(runtime),
            settings,
        })
    }

    /// What tells the wording of its prompts from another.
    pub fn prompt_version(&self) -> &str {
        self.prompter.version()
    }

    async fn summary(&self, request: SummaryRequest<'_>) -> Result<Summary, SummaryError> {
        let mut taken = Taken::default();
        let mut asking = Asking {
            summarizer: self,
            request,
            model: &self.model,
            taken: &mut taken,
        };
        let first = match asking.summary().await {
            Ok(text) => return Ok(summary(text, &taken, None)),
            Err(trouble) => trouble,
        };
        let (Some(fallback), Trouble::Failed(failure) | Trouble::TooLong(failure, _)) =
            (&self.fallback, &first)
        else {
            return Err(error(first, taken.usage));
        };
        let mut asking = Asking {
            summarizer: self,
            request,
            model: fallback,
            taken: &mut taken,
        };
        match asking.summary().await {
            Ok(text) => {
                let why = format!("{}; written by {}", failure.detail, fallback.name);
                Ok(summary(text, &taken, Some(Reason::with(failure.name, why))))
            }
            Err(trouble) => Err(error(trouble, taken.usage)),
        }
    }
}

impl Summarizer for ChatSummarizer {
    fn name(&self) -> &'static str {
        "chat"
    }

    fn summarize<'a>(&'a self, request: SummaryRequest<'a>) -> BoxFuture<'a, Result<Summary, SummaryError>> {
        Box::pin(self.summary(request))
    }

    fn prepare(&self) -> Result<(), NotReady> {
        self.answers.store().open()
    }

    fn finish(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            self.client.finish().await;
            self.answers.store().close();
        })
    }

    fn estimate(&self, request: &SummaryRequest<'_>) -> Estimate {
        let mut taken = Taken::default();
        let asking = Asking {
            summarizer: self,
            request: *request,
            model: &self.model,
            taken: &mut taken,
        };
        asking.estimate()
    }
}

impl Drop for ChatSummarizer {
    /// A request that hangs, or a name that is being looked up, is not waited for.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn summary(text: String, taken: &Taken, instead_of: Option<Reason>) -> Summary {
    Summary {
        text,
        usage: taken.usage,
        redactions: taken.redactions,
        instead_of,
        verbatim: false,
    }
}

fn error(trouble: Trouble, usage: Usage) -> SummaryError {
    match trouble {
        Trouble::Failed(failure) | Trouble::TooLong(failure, _) => SummaryError::Failed {
            name: failure.name,
            detail: failure.detail,
            usage,
        },
        Trouble::Ended(end) => SummaryError::EndRun {
            message: end.message,
            help: end.help,
            usage,
        },
    }
}
