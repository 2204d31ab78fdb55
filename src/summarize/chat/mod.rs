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
//! (`breaker`, `flow`, `rate`, `dialect`). `wire` has the connections, `client` the clock.

mod allowance;
pub(super) mod answer;
pub mod api;
mod asking;
mod breaker;
pub(super) mod client;
pub(crate) mod dialect;
pub(super) mod error_names;
mod estimate;
mod flow;
mod keep;
pub(crate) mod lasting;
pub(crate) mod limits;
mod place;
mod places;
mod probe;
pub(super) mod question;
mod rate;
pub(crate) mod retry;
pub(super) mod run_end;
pub mod settings;
pub(crate) mod wire;

use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use futures_util::future::BoxFuture;
use tokio::runtime::Runtime;

use super::answers::{AnswerKey, AnswerKind, AnswerStore, InMemory, KeptAnswer};
use super::asking::Answers;
use super::batch::Postbox;
use super::control_tokens::ControlTokens;
use super::failure::Failure;
use super::prompt::Prompter;
use super::spend::Spend;
use super::turn::Turns;
use super::{Estimate, NotReady, PendingRequest, Summarizer, Summary, SummaryError, SummaryRequest, Usage};
use crate::compress::Reason;
use crate::tokens::TokenCounter;
use asking::{Asking, Put, Taken};
use client::Client;
use question::{Model, Question, Trouble};
pub use settings::{ChatSettings, Key};

/// Threads that keep answers, one after another, and look up names: hundreds of answers may come at once.
const BLOCKING_THREADS: usize = 4;

/// Asks a language model for summaries.
pub struct ChatSummarizer {
    settings: ChatSettings,
    prompter: Prompter,
    way: Way,
    answers: Answers,
    turns: Turns,
    model: Arc<Model>,
    fallback: Option<Arc<Model>>,
    spend: Arc<Spend>,
    control_tokens: OnceLock<Arc<ControlTokens>>,
}

/// How questions reach the model.
enum Way {
    /// One by one over HTTP. Requests run in the runtime, everything else where the caller runs; `None` only while this is
    /// dropped.
    Online(Arc<Client>, Option<Runtime>),
    /// All at once in files: here are those answers that are back, and those that other runs were given.
    InFiles(Postbox, Arc<dyn AnswerStore>),
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
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(BLOCKING_THREADS)
            .thread_name("network")
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let client = Client::new(&settings, Arc::clone(&spend), counter)?;
        Self::by(
            Way::Online(Arc::new(client), Some(runtime)),
            settings,
            store,
            spend,
        )
    }

    /// A summarizer that asks nobody: it takes its answers from those that are back, and says what has to be asked for the
    /// others. Prompts, keys and what is made of an answer are the same. What is back counts before what is in the store.
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
        Self::by(
            Way::InFiles(postbox, store),
            settings,
            Arc::new(InMemory::default()),
            spend,
        )
    }

    fn by(
        way: Way,
        settings: ChatSettings,
        store: Arc<dyn AnswerStore>,
        spend: Arc<Spend>,
    ) -> Result<Self, String> {
        let model = |name: &str, is_fallback: bool| {
            Arc::new(Model {
                name: name.to_owned(),
                is_fallback,
                dialect: dialect::Dialect::default(),
            })
        };
        Ok(Self {
            prompter: Prompter::new(&settings.prompt)?,
            way,
            turns: Turns::new(Arc::clone(&store), settings.max_concurrent_requests),
            answers: Answers::new(store),
            model: model(&settings.model, false),
            fallback: settings.fallback_model.as_deref().map(|name| model(name, true)),
            spend,
            settings,
            control_tokens: OnceLock::new(),
        })
    }

    /// What must not be in a summary: control tokens of known templates, and those of the run's tokenizer.
    fn control_tokens(&self, counter: &dyn TokenCounter) -> Arc<ControlTokens> {
        let tokens = || Arc::new(ControlTokens::and(&counter.special_tokens()));
        Arc::clone(self.control_tokens.get_or_init(tokens))
    }

    /// Where answers outlive the run.
    fn lasting(&self) -> &Arc<dyn AnswerStore> {
        match &self.way {
            Way::Online(..) => self.answers.store(),
            Way::InFiles(_, cache) => cache,
        }
    }

    /// Whether the tokens of prompts matter to somebody.
    fn counts_tokens(&self) -> bool {
        matches!(self.way, Way::InFiles(..)) || self.settings.tpm.is_some() || self.spend.prices().is_some()
    }

    /// Puts a question to the model, and keeps the answer; `wanted` is about how many tokens it will have. What it took comes
    /// with it.
    async fn put(&self, key: AnswerKey, question: Question, wanted: usize) -> Result<(Put, Usage), Trouble> {
        let broken = || Trouble::Failed(Failure::new("summary_internal", "the request was lost"));
        let redaction = self.settings.prompt.redaction;
        match &self.way {
            Way::InFiles(postbox, cache) => {
                let mut asked = postbox.ask(&self.settings, key, &question, wanted);
                let back = keep::kept(asked.result, &question.model.name, &asked.usage, redaction);
                let kept = match back {
                    Ok(answer) => {
                        // These files are what was asked for: an answer that another run was given does not replace theirs.
                        cache.put(&key, answer.clone());
                        Ok(answer)
                    }
                    Err(ended @ Trouble::Ended(_)) => Err(ended),
                    Err(trouble) => {
                        let wanted = |answer: &KeptAnswer| {
                            answer.kind != AnswerKind::Refused || !postbox.resend_failed
                        };
                        let answer = cache.get(&key).filter(wanted).ok_or(trouble);
                        if answer.is_ok() {
                            asked.usage.cached += 1;
                            self.spend.cache_hits.fetch_add(1, Ordering::Relaxed);
                        }
                        answer
                    }
                };
                let store = self.answers.store();
                Ok((kept.map(|answer| (store.put(&key, answer), false)), asked.usage))
            }
            Way::Online(client, runtime) => {
                let runtime = runtime.as_ref().ok_or_else(broken)?;
                let client = Arc::clone(client);
                // Goes on to its end even where nobody waits for it any more: it is paid for.
                let turns = self.turns.clone();
                let task = runtime.spawn(asking::ask_and_keep(client, question, turns, key, redaction));
                task.await.map_err(|_| broken())
            }
        }
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
        match self.way {
            Way::Online(..) => "chat",
            Way::InFiles(..) => "batch",
        }
    }

    fn summarize<'a>(&'a self, request: SummaryRequest<'a>) -> BoxFuture<'a, Result<Summary, SummaryError>> {
        Box::pin(self.summary(request))
    }

    fn prepare(&self) -> Result<(), NotReady> {
        self.lasting().open()
    }

    fn finish(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            if let Way::Online(client, _) = &self.way {
                client.finish().await;
            }
            self.lasting().close();
        })
    }

    fn estimate(&self, request: &SummaryRequest<'_>) -> Estimate {
        let mut taken = Taken::default();
        let asking = Asking {
            summarizer: self,
            request: *request,
            model: &self.model,
            taken: &mut taken,
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

fn summary(
    text: String,
    taken: &Taken,
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
