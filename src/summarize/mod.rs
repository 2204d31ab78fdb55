//! Turning a region into a summary: one trait, several implementations.

#[cfg(test)]
mod agreement_tests;
pub mod answers;
#[cfg(feature = "chat")]
mod asking;
#[cfg(feature = "chat")]
pub mod batch;
#[cfg(feature = "chat")]
pub mod chat;
#[cfg(feature = "chat")]
pub mod command;
pub(crate) mod control_tokens;
pub mod extractive;
#[cfg(feature = "chat")]
pub(crate) mod failure;
pub mod footer;
pub mod grounding;
pub mod in_context;
#[cfg(feature = "chat")]
pub(crate) mod judge;
mod length;
pub mod marker;
pub mod mask;
mod pending;
#[cfg(feature = "chat")]
pub mod prompt;
pub mod redact;
#[cfg(feature = "chat")]
mod run_end;
#[cfg(feature = "chat")]
pub mod spend;
#[cfg(feature = "chat")]
mod turn;

use futures_util::future::BoxFuture;

use crate::compress::Reason;
use crate::compress::anchors::Anchor;
use crate::compress::reuse::Reuse;
pub use crate::events::observation::{request_in, summary_in};
pub use crate::events::stretch::Stretch;
use crate::metrics::Tokens;
use crate::tokens::TokenCounter;
pub use pending::PendingRequest;

/// What a summarizer is asked for.
#[derive(Clone, Copy)]
pub struct SummaryRequest<'a> {
    /// The turns to be replaced, in order; an earlier summary turn is not among them.
    pub turns: &'a Stretch<'a>,
    /// Whether the secrets in them were replaced already.
    pub is_redacted: bool,
    /// The body of an earlier summary of this trajectory, to be updated by `turns`.
    pub previous: Option<&'a str>,
    /// What the person asked whose turn is still in progress where the stretch ends: told before what was done.
    pub in_progress: Option<&'a str>,
    /// What stands around the stretch and stays, as far as it tells what matters in it.
    pub around: Around<'a>,
    /// Whether a list of the files read and modified is added to the summary, which then need not tell them.
    pub files_follow: bool,
    /// The identifiers that must be kept verbatim, most used first.
    pub anchors: &'a [Anchor],
    /// Text that the kept turns around the stretch say and repeat.
    pub reuse: &'a Reuse,
    /// Tokens that the whole summary text may cost, its opening marker included.
    pub max_tokens: usize,
    /// Tokens that it should cost; language models keep to this even where there is room for more.
    pub target_tokens: usize,
    /// The user's tokenizer.
    pub counter: &'a dyn TokenCounter,
}

/// What is said in the turns that stay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Around<'a> {
    /// The first thing that was asked, in the turns before the stretch.
    pub task: Option<&'a str>,
    /// What is asked in the turns after the stretch.
    pub asked_later: Option<&'a str>,
}

/// What summaries took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Requests made over the network, failed ones included.
    pub api_calls: usize,
    /// Requests that failed.
    pub errors: usize,
    /// Tokens that the endpoint says it read.
    pub prompt_tokens: u64,
    /// Tokens that the endpoint says it wrote.
    pub completion_tokens: u64,
    /// Of those read, by the fallback model.
    pub fallback_prompt_tokens: u64,
    /// Of those written, by the fallback model.
    pub fallback_completion_tokens: u64,
    /// Answers that had been received before, and were not asked for again.
    pub cached: usize,
}

/// What a summary would take, before it is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Requests over the network.
    pub requests: usize,
    /// Tokens to be read.
    pub prompt_tokens: u64,
    /// Tokens to be written, about.
    pub completion_tokens: u64,
    /// Answers that are there already.
    pub cached: usize,
}

/// What a summarizer gives back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// The summary, opening marker included.
    pub text: String,
    /// What it took.
    pub usage: Usage,
    /// Secrets replaced before the text reached the summarizer, or in what came back.
    pub redactions: usize,
    /// Why it is not the one that was asked for first: another model wrote it, or it was cut.
    pub instead_of: Option<Reason>,
    /// Whether it is to be taken as it is: nothing is added to it but the marker, whatever it does not name.
    pub verbatim: bool,
    /// A request whose answer would have made it better, and is still to come.
    pub pending: Option<Box<PendingRequest>>,
}

/// Why there is no summary.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SummaryError {
    /// Not even the shortest summary fits the tokens allowed.
    #[error("no summary fits in {max_tokens} tokens")]
    BudgetTooSmall {
        /// The tokens allowed.
        max_tokens: usize,
    },
    /// Whoever was asked did not answer, or not usably, after everything that was to be tried.
    #[error("{name}: {detail}")]
    Failed {
        /// What went wrong: stable, `snake_case`.
        name: &'static str,
        /// What makes this case particular, without secrets.
        detail: String,
        /// What the attempts took.
        usage: Usage,
    },
    /// Whoever was asked wants the record left as it is: nothing failed.
    #[error("{detail}")]
    Vetoed {
        /// Why, in their words.
        detail: String,
        /// What it took.
        usage: Usage,
    },
    /// The answer is still to come: once it is there, there can be a summary.
    #[error("{}", request.why)]
    Pending {
        /// What has to be answered.
        request: Box<PendingRequest>,
        /// What the attempts took.
        usage: Usage,
    },
    /// No summary can be had any more: the run must end, and can be resumed.
    #[error("{message}")]
    EndRun {
        /// What happened.
        message: String,
        /// What to do.
        help: String,
        /// What the attempts took.
        usage: Usage,
    },
}

/// Why a summarizer cannot begin, in words that help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotReady {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl Summary {
    /// A summary that took nothing: its text, to which the opening marker is added where it lacks it.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }
}

impl SummaryError {
    /// It as a reason of the metrics.
    pub fn reason(&self) -> Reason {
        match self {
            Self::Failed { name, detail, .. } => Reason::with(name, detail),
            Self::Vetoed { detail, .. } => Reason::with("summary_vetoed", detail),
            Self::Pending { request, .. } => request.why.clone(),
            other => Reason::with("summary_failed", other.to_string()),
        }
    }

    /// What was spent in vain.
    pub fn usage(&self) -> Usage {
        match self {
            Self::BudgetTooSmall { .. } => Usage {
                errors: 1,
                ..Usage::default()
            },
            Self::Failed { usage, .. }
            | Self::Vetoed { usage, .. }
            | Self::Pending { usage, .. }
            | Self::EndRun { usage, .. } => *usage,
        }
    }

    /// The request that has to be answered first, where that is all there is to it.
    pub fn into_pending(self) -> Option<Box<PendingRequest>> {
        match self {
            Self::Pending { request, .. } => Some(request),
            _ => None,
        }
    }
}

impl Usage {
    /// Adds the tokens of one request.
    pub fn took(&mut self, tokens: Tokens) {
        self.prompt_tokens += tokens.prompt;
        self.completion_tokens += tokens.completion;
        self.fallback_prompt_tokens += tokens.fallback_prompt;
        self.fallback_completion_tokens += tokens.fallback_completion;
    }

    /// Adds what something else took.
    pub fn add(&mut self, other: &Self) {
        self.api_calls += other.api_calls;
        self.errors += other.errors;
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
        self.fallback_prompt_tokens += other.fallback_prompt_tokens;
        self.fallback_completion_tokens += other.fallback_completion_tokens;
        self.cached += other.cached;
    }
}

/// Turns a region into a summary. What it gives back is checked, marked and grounded as any other summary is.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::future::ready;
/// use std::pin::Pin;
/// use std::sync::Arc;
///
/// use trajfit::summarizer::{Summarizer, Summary, SummaryError, SummaryRequest};
///
/// struct CountsTurns;
///
/// impl Summarizer for CountsTurns {
///     fn name(&self) -> &'static str {
///         "counts-turns"
///     }
///
///     fn summarize<'a>(
///         &'a self,
///         request: SummaryRequest<'a>,
///     ) -> Pin<Box<dyn Future<Output = Result<Summary, SummaryError>> + Send + 'a>> {
///         let text = format!("{} turns stood here.", request.turns.len());
///         Box::pin(ready(Ok(Summary::new(text))))
///     }
/// }
///
/// let builder = trajfit::Compressor::builder().tokenizer("o200k_base")?;
/// let compressor = builder.summarizer(Arc::new(CountsTurns)).build()?;
/// # let _ = compressor;
/// # Ok(())
/// # }
/// ```
pub trait Summarizer: Send + Sync {
    /// The name that metrics and messages use for it.
    fn name(&self) -> &'static str;

    /// Whether it only quotes, so that it can name nothing that its turns do not.
    fn only_quotes(&self) -> bool {
        false
    }

    /// Summarizes the region. Network implementations wait here; the embedded one computes.
    fn summarize<'a>(&'a self, request: SummaryRequest<'a>) -> BoxFuture<'a, Result<Summary, SummaryError>>;

    /// Gets ready for a run that is about to begin: what it needs on this machine is opened here, and nothing before.
    ///
    /// # Errors
    ///
    /// Why it cannot begin.
    fn prepare(&self) -> Result<(), NotReady> {
        Ok(())
    }

    /// Ends its work, when no more summaries are wanted: asks for nothing new, and waits for what is under way and will be
    /// paid for.
    fn finish(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// What it would take over the network, besides what was received before; nothing for those that stay on this machine.
    fn estimate(&self, _request: &SummaryRequest<'_>) -> Estimate {
        Estimate::default()
    }
}
