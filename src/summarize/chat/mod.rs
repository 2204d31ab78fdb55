//! Summaries by a language model that is asked over HTTP.
//!
//! ```text
//!  turns ─► prompt ─► answers (asked before?) ─► client ─► api ─► server
//!    ▲     (pieces)                                ▲                 │
//!    │                                             │   retry ◄── answer
//!    └── too long: shorter pieces                  └── again, otherwise, or not at all
//! ```
//!
//! Pure functions (`api`, `answer`, `retry`, `length`) and state machines without a clock (`dialect`, and those of
//! `pace`) decide. `online` has the connections and the clock. A `transport` is HTTP or files.

pub(crate) mod answer;
pub mod api;
mod asking;
pub(crate) mod dialect;
mod estimate;
mod in_files;
mod keep;
pub(crate) mod online;
pub(crate) mod pace;
mod place;
pub(super) mod question;
pub(super) mod run_end;
pub mod settings;
mod shared;
mod transport;

use std::sync::{Arc, OnceLock};

use futures_util::future::BoxFuture;

use super::answers::{AnswerStore, InMemory};
use super::asking::SharedAnswers;
use super::batch::BatchAnswers;
use super::prompt::Prompter;
use super::spend::Spend;
use super::{Estimate, NotReady, PendingRequest, Summarizer, Summary, SummaryError, SummaryRequest, Usage};
use crate::compress::Reason;
use crate::tokens::TokenCounter;
use asking::{Spent, SummaryTask};
use in_files::InFiles;
use online::Online;
use question::{ChatError, ChatModel};
pub use settings::{ApiKey, ChatSettings};
use shared::Shared;
use transport::Transport;

/// Asks a language model for summaries.
pub struct ChatSummarizer {
    shared: Shared,
    model: Arc<ChatModel>,
    fallback: Option<Arc<ChatModel>>,
}

impl ChatSummarizer {
    /// A summarizer with connections of its own; none is opened yet, and no store either. `counter` counts tokens that
    /// a server does not report.
    ///
    /// # Errors
    ///
    /// If the settings are wrong, or the system refuses.
    pub fn new(
        settings: ChatSettings,
        store: Arc<dyn AnswerStore>,
        spend: Arc<Spend>,
        counter: Arc<dyn TokenCounter>,
    ) -> Result<Self, String> {
        let online = Online::new(&settings, Arc::clone(&store), Arc::clone(&spend), counter)?;
        Self::by(Box::new(online), Arc::new(settings), store, spend)
    }

    /// A summarizer without connections: it takes answers from batch files, and makes pending requests of the others.
    /// Prompts, keys and the handling of answers are the same. Answers in files count before those in the store.
    ///
    /// # Errors
    ///
    /// If the settings are wrong.
    pub fn in_files(
        settings: ChatSettings,
        cache: Arc<dyn AnswerStore>,
        spend: Arc<Spend>,
        postbox: BatchAnswers,
    ) -> Result<Self, String> {
        let settings = Arc::new(settings);
        let store: Arc<dyn AnswerStore> = Arc::new(InMemory::default());
        let in_files = InFiles {
            postbox,
            cache,
            store: Arc::clone(&store),
            settings: Arc::clone(&settings),
            spend: Arc::clone(&spend),
        };
        Self::by(Box::new(in_files), settings, store, spend)
    }

    fn by(
        transport: Box<dyn Transport>,
        settings: Arc<ChatSettings>,
        store: Arc<dyn AnswerStore>,
        spend: Arc<Spend>,
    ) -> Result<Self, String> {
        let model = |name: &str, is_fallback: bool| {
            Arc::new(ChatModel {
                name: name.to_owned(),
                is_fallback,
                dialect: dialect::Dialect::default(),
            })
        };
        Ok(Self {
            model: model(&settings.model, false),
            fallback: settings.fallback_model.as_deref().map(|name| model(name, true)),
            shared: Shared {
                prompter: Prompter::new(&settings.prompt)?,
                answers: SharedAnswers::new(store),
                transport,
                spend,
                settings,
                control_tokens: OnceLock::new(),
            },
        })
    }

    /// The version of the wording of its prompts.
    pub fn prompt_version(&self) -> &str {
        self.shared.prompter.version()
    }

    async fn summary(&self, request: SummaryRequest<'_>) -> Result<Summary, SummaryError> {
        let mut taken = Spent::default();
        let mut asking = SummaryTask {
            summarizer: &self.shared,
            request,
            model: &self.model,
            taken: &mut taken,
            pending: None,
        };
        let first = match asking.summary().await {
            Ok(text) => {
                let pending = asking.pending.take();
                let why = pending.as_ref().map(|request| request.why.clone());
                return Ok(summary(text, &taken, why, pending));
            }
            Err(trouble) => trouble,
        };
        let (Some(fallback), ChatError::Failed(failure) | ChatError::TooLong(failure, _)) =
            (&self.fallback, &first)
        else {
            return Err(error(first, taken.usage));
        };
        let mut asking = SummaryTask {
            summarizer: &self.shared,
            request,
            model: fallback,
            taken: &mut taken,
            pending: None,
        };
        match asking.summary().await {
            Ok(text) => {
                let pending = asking.pending.take();
                let why = format!("{}; written by {}", failure.detail, fallback.name);
                Ok(summary(
                    text,
                    &taken,
                    Some(Reason::with(failure.name, why)),
                    pending,
                ))
            }
            Err(trouble) => Err(error(trouble, taken.usage)),
        }
    }
}

impl Summarizer for ChatSummarizer {
    fn name(&self) -> &'static str {
        self.shared.transport.name()
    }

    fn summarize<'a>(&'a self, request: SummaryRequest<'a>) -> BoxFuture<'a, Result<Summary, SummaryError>> {
        Box::pin(self.summary(request))
    }

    fn prepare(&self) -> Result<(), NotReady> {
        self.shared.transport.lasting().open()
    }

    fn finish(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            self.shared.transport.finish().await;
            self.shared.transport.lasting().close();
        })
    }

    fn estimate(&self, request: &SummaryRequest<'_>) -> Estimate {
        let mut taken = Spent::default();
        let asking = SummaryTask {
            summarizer: &self.shared,
            request: *request,
            model: &self.model,
            taken: &mut taken,
            pending: None,
        };
        asking.estimate()
    }
}

fn summary(
    text: String,
    taken: &Spent,
    instead_of: Option<Reason>,
    pending: Option<Box<PendingRequest>>,
) -> Summary {
    Summary {
        text,
        usage: taken.usage,
        redactions: taken.redactions,
        instead_of,
        verbatim: false,
        pending,
    }
}

fn error(trouble: ChatError, usage: Usage) -> SummaryError {
    match trouble {
        ChatError::Failed(failure) | ChatError::TooLong(failure, _) => SummaryError::Failed {
            name: failure.name,
            detail: failure.detail,
            usage,
        },
        ChatError::Pending(request) => SummaryError::Pending { request, usage },
        ChatError::Ended(end) => SummaryError::EndRun {
            message: end.message,
            help: end.help,
            usage,
        },
    }
}
