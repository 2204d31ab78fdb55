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
mod failure;
mod length;
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
use super::{Estimate, Summarizer, Summary, SummaryError, SummaryRequest, Usage};
use crate::compress::Reason;
use asking::Asking;
use client::{Client, Model, Trouble};
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
    /// A summarizer with connections of its own; none is opened yet.
    ///
    /// # Errors
    ///
    /// What is wrong with the settings, or with the system.
    pub fn new(
        settings: ChatSettings,
        store: Arc<dyn AnswerStore>,
        spend: Arc<Spend>,
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
            client: Arc::new(Client::new(&settings, Arc::clone(&spend))?),
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
        let mut usage = Usage::default();
        let mut asking = Asking {
            summarizer: self,
            request,
            model: &self.model,
            usage: &mut usage,
        };
        let first = match asking.summary().await {
            Ok(text) => {
                return Ok(Summary {
                    text,
                    usage,
                    ..Summary::default()
                });
            }
            Err(trouble) => trouble,
        };
        let (Some(fallback), Trouble::Failed(failure) | Trouble::TooLong(failure, _)) =
            (&self.fallback, &first)
        else {
            return Err(error(first, usage));
        };
        let mut asking = Asking {
            summarizer: self,
            request,
            model: fallback,
            usage: &mut usage,
        };
        match asking.summary().await {
            Ok(text) => Ok(Summary {
                text,
                usage,
                instead_of: Some(Reason::with(
                    failure.name,
                    format!("{}; written by {}", failure.detail, fallback.name),
                )),
                ..Summary::default()
            }),
            Err(trouble) => Err(error(trouble, usage)),
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

    fn estimate(&self, request: &SummaryRequest<'_>) -> Estimate {
        let mut usage = Usage::default();
        let asking = Asking {
            summarizer: self,
            request: *request,
            model: &self.model,
            usage: &mut usage,
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
