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
pub mod named_files;
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
pub use crate::events::observation::summary_in;
pub(crate) use crate::events::observation::{request_in, spoken_in};
pub use crate::events::source::Context;
pub(crate) use crate::events::source::{answers_call, place_after};
pub use crate::events::stretch::Stretch;
pub(crate) use crate::events::written::forms::Forms;
use crate::metrics::Tokens;
use crate::tokens::TokenCounter;
pub use pending::PendingRequest;

/// A request for one summary.
#[derive(Clone, Copy)]
pub struct SummaryRequest<'a> {
    /// The turns to be replaced, in order; an earlier summary turn is not among them.
    pub turns: &'a Stretch<'a>,
    /// The secrets in them are redacted already.
    pub is_redacted: bool,
    /// The body of an earlier summary of this trajectory, to be updated by `turns`.
    pub previous: Option<&'a str>,
    /// The user's request that is still in progress where the stretch ends: stated before what was done.
    pub in_progress: Option<&'a str>,
    /// The requests in the kept turns around the stretch: they tell what matters in it.
    pub around: Around<'a>,
    /// A list of the files read and modified is added to the summary, which then need not name them.
    pub files_follow: bool,
    /// The identifiers that must be kept verbatim, most used first.
    pub anchors: &'a [Anchor],
    /// Text that stands before the stretch, and text that kept turns after it repeat.
    pub reuse: &'a Reuse,
    /// Tokens that the whole summary text may cost, its opening marker included.
    pub max_tokens: usize,
    /// Tokens that it should cost; language models keep to this even where there is room for more.
    pub target_tokens: usize,
    /// The user's tokenizer.
    pub counter: &'a dyn TokenCounter,
}

/// Requests in the turns that are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Around<'a> {
    /// The first request, in the turns before the stretch.
    pub task: Option<&'a str>,
    /// The first request in the turns after the stretch.
    pub asked_later: Option<&'a str>,
}

/// Requests and tokens that summaries took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Requests made over the network, failed ones included.
    pub api_calls: usize,
    /// Requests that failed.
    pub errors: usize,
    /// Tokens, as the endpoint reports them.
    pub tokens: Tokens,
    /// Kept answers that were used instead of a request.
    pub cached: usize,
}

/// Requests and tokens that a summary would take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Requests over the network.
    pub requests: usize,
    /// Prompt tokens.
    pub prompt_tokens: u64,
    /// Completion tokens, about.
    pub completion_tokens: u64,
    /// Kept answers that need no request.
    pub cached: usize,
}

/// The result of a summarizer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// The summary, opening marker included.
    pub text: String,
    /// Requests and tokens that it took.
    pub usage: Usage,
    /// Number of secrets replaced in the text sent to the summarizer and in its answer.
    pub redactions: usize,
    /// The reason why it is not the first choice: another model wrote it, or it was cut.
    pub instead_of: Option<Reason>,
    /// It is used verbatim: nothing is added but the marker, whatever it does not name.
    pub verbatim: bool,
    /// A pending request whose answer would have made it better.
    pub pending: Option<Box<PendingRequest>>,
}

/// Errors of a summarizer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SummaryError {
    /// Not even the shortest summary fits the tokens allowed.
    #[error("no summary fits in {max_tokens} tokens")]
    BudgetTooSmall {
        /// The tokens allowed.
        max_tokens: usize,
    },
    /// The model or program gave no usable answer, after all attempts.
    #[error("{name}: {detail}")]
    Failed {
        /// Name of the failure: stable, `snake_case`.
        name: &'static str,
        /// Details of this failure, without secrets.
        detail: String,
        /// Usage of the attempts.
        usage: Usage,
    },
    /// The summarizer asks to leave the record unchanged: nothing failed.
    #[error("{detail}")]
    Vetoed {
        /// The reason, in its words.
        detail: String,
        /// Requests and tokens that it took.
        usage: Usage,
    },
    /// The answer is pending: there can be a summary once it arrives.
    #[error("{}", request.why)]
    Pending {
        /// The request to be answered.
        request: Box<PendingRequest>,
        /// Usage of the attempts.
        usage: Usage,
    },
    /// No more summaries are possible: the run must end, and can be resumed.
    #[error("{message}")]
    EndRun {
        /// The error message.
        message: String,
        /// Advice for the user.
        help: String,
        /// Usage of the attempts.
        usage: Usage,
    },
}

/// The reason why a summarizer cannot start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotReady {
    /// The error message.
    pub message: String,
    /// Advice for the user.
    pub help: String,
}

impl Summary {
    /// A summary of that text, with no usage. The opening marker is added if the text lacks it.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }
}

impl SummaryError {
    /// The error as a reason of the metrics.
    pub fn reason(&self) -> Reason {
        match self {
            Self::Failed { name, detail, .. } => Reason::with(name, detail),
            Self::Vetoed { detail, .. } => Reason::with("summary_vetoed", detail),
            Self::Pending { request, .. } => request.why.clone(),
            other => Reason::with("summary_failed", other.to_string()),
        }
    }

    /// Requests and tokens spent in vain.
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

    /// The pending request, if the error is `Pending`.
    pub fn into_pending(self) -> Option<Box<PendingRequest>> {
        match self {
            Self::Pending { request, .. } => Some(request),
            _ => None,
        }
    }
}

impl Usage {
    /// Adds another usage.
    pub fn add(&mut self, other: &Self) {
        self.api_calls += other.api_calls;
        self.errors += other.errors;
        self.tokens += other.tokens;
        self.cached += other.cached;
    }
}

/// Turns a region into a summary. The result is checked, marked and grounded like any other summary.
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

    /// Returns true if it only quotes, and so names nothing that its turns do not.
    fn only_quotes(&self) -> bool {
        false
    }

    /// Summarizes the region. Network implementations wait here; the embedded one computes.
    fn summarize<'a>(&'a self, request: SummaryRequest<'a>) -> BoxFuture<'a, Result<Summary, SummaryError>>;

    /// Prepares for a run that is about to begin: what it needs on this machine is opened here, and nothing before.
    ///
    /// # Errors
    ///
    /// If it cannot begin.
    fn prepare(&self) -> Result<(), NotReady> {
        Ok(())
    }

    /// Shuts down when no more summaries are wanted: starts no new request, and waits for those that are in flight and
    /// will be paid for.
    fn finish(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Requests and tokens that a summary would take, besides kept answers; zero for summarizers on this machine.
    fn estimate(&self, _request: &SummaryRequest<'_>) -> Estimate {
        Estimate::default()
    }
}
