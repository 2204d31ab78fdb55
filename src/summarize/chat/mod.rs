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

pub(super) mod answer;
pub mod api;
mod asking;
mod breaker;
pub(super) mod client;
pub(crate) mod dialect;
pub(crate) mod failure;
mod length;
mod rate;
pub(crate) mod retry;
pub(super) mod run_end;
pub mod settings;
pub(crate) mod wire;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::runtime::Runtime;

use super::answers::{AnswerKey, AnswerStore, Answers};
use super::batch::Postbox;
use super::prompt::Prompter;
use super::spend::Spend;
use super::{Estimate, Summarizer, Summary, SummaryError, SummaryRequest, Usage};
use crate::compress::Reason;
use asking::Asking;
use client::{Asked, Client, Model, Question, Trouble};
pub use settings::{ChatSettings, Key};

/// Asks a language model for summaries.
pub struct ChatSummarizer {
    settings: ChatSettings,
    prompter: Prompter,
    way: Way,
    answers: Answers,
    model: Arc<Model>,
    fallback: Option<Arc<Model>>,
    spend: Arc<Spend>,
}

/// How questions reach the model.
enum Way {
    /// One by one over HTTP. Requests run in the runtime, everything else where the caller runs; `None` only while this is
    /// dropped.
    Online(Arc<Client>, Option<Runtime>),
    /// All at once in files: here are those answers that are back.
    InFiles(Postbox),
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
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("network")
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let client = Client::new(&settings, Arc::clone(&spend))?;
        Self::by(
            Way::Online(Arc::new(client), Some(runtime)),
            settings,
            store,
            spend,
        )
    }

    /// A summarizer that asks nobody: it takes its answers from those that are back, and says what has to be asked for the
    /// others. Prompts, keys and what is made of an answer are the same.
    ///
    /// # Errors
    ///
    /// What is wrong with the settings.
    pub fn in_files(
        settings: ChatSettings,
        store: Arc<dyn AnswerStore>,
        spend: Arc<Spend>,
        postbox: Postbox,
    ) -> Result<Self, String> {
        Self::by(Way::InFiles(postbox), settings, store, spend)
    }

    fn by(
        way: Way,
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
        Ok(Self {
            prompter: Prompter::new(&settings.prompt)?,
            way,
            answers: Answers::new(store),
            model: model(&settings.model),
            fallback: settings.fallback_model.as_deref().map(model),
            spend,
            settings,
        })
    }

    /// Whether the tokens of prompts matter to somebody.
    fn counts_tokens(&self) -> bool {
        matches!(self.way, Way::InFiles(_)) || self.settings.tpm.is_some() || self.spend.prices().is_some()
    }

    /// Puts a question to the model; `wanted` is about how many tokens the answer will have.
    async fn put(&self, key: AnswerKey, question: Question, wanted: usize) -> Result<Asked, Trouble> {
        let broken = || Trouble::Failed(failure::Failure::new("summary_internal", "the request was lost"));
        match &self.way {
            Way::InFiles(postbox) => Ok(postbox.ask(&self.settings, key, &question, wanted)),
            Way::Online(client, runtime) => {
                let client = Arc::clone(client);
                let runtime = runtime.as_ref().ok_or_else(broken)?;
                let asked = runtime.spawn(async move { client.ask(&question).await }).await;
                asked.map_err(|_| broken())
            }
        }
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
            pending: None,
        };
        let first = match asking.summary().await {
            Ok(text) => {
                let pending = asking.pending.take();
                return Ok(Summary {
                    text,
                    usage,
                    instead_of: pending.as_ref().map(|request| request.why.clone()),
                    pending,
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
            pending: None,
        };
        match asking.summary().await {
            Ok(text) => Ok(Summary {
                text,
                pending: asking.pending.take(),
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
        match self.way {
            Way::Online(..) => "chat",
            Way::InFiles(_) => "batch",
        }
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
            pending: None,
        };
        asking.estimate()
    }
}

impl Drop for ChatSummarizer {
    /// A request that hangs, or a name that is being looked up, is not waited for.
    fn drop(&mut self) {
        if let Way::Online(_, runtime) = &mut self.way
            && let Some(runtime) = runtime.take()
        {
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
        Trouble::Pending(request) => SummaryError::Pending { request, usage },
        Trouble::Ended(end) => SummaryError::EndRun {
            message: end.message,
            help: end.help,
            usage,
        },
    }
}
