//! Compressing one record at a time, for programs that use the library.

use std::borrow::Cow;
use std::sync::Arc;

use crate::fit::{FitSettings, Fitter, Stop};
use crate::metrics::Row;
use crate::summarize::Summarizer;
use crate::summarize::extractive::Extractive;
use crate::tokens::{self, TokenCounter, TokenizerError};
use crate::trajectory::{self, ParseError};

/// Fits records into a token budget, one at a time; shared by as many threads as there are.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use trajfit::Compressor;
///
/// let compressor = Compressor::builder().tokenizer("o200k_base")?.target(500).build()?;
/// let output = "src/parser.rs: a line of output that nobody reads again\\n".repeat(60);
/// let line = format!(
///     r#"{{"conversations": [
///         {{"from": "human", "value": "Why does src/parser.rs fail?"}},
///         {{"from": "gpt", "value": "I look at it."}},
///         {{"from": "gpt", "value": "First the log."}},
///         {{"from": "tool", "value": "{output}"}},
///         {{"from": "gpt", "value": "Now the file."}},
///         {{"from": "tool", "value": "{output}"}},
///         {{"from": "gpt", "value": "Nothing yet."}},
///         {{"from": "human", "value": "Go on."}},
///         {{"from": "gpt", "value": "It fails at the end of the input."}},
///         {{"from": "human", "value": "Thanks."}},
///         {{"from": "gpt", "value": "You are welcome."}}
///     ]}}"#
/// );
/// let compression = compressor.compress(&line)?;
/// assert!(compression.row.was_compressed);
/// assert!(compression.row.compressed_tokens <= 500);
/// assert!(compression.line.contains("[CONTEXT SUMMARY]:"));
/// assert_eq!(compression.reason(), "");
/// # Ok(())
/// # }
/// ```
pub struct Compressor {
    fitter: Fitter,
}

/// The settings of a [`Compressor`]; the defaults are those of the command line.
#[must_use]
pub struct CompressorBuilder {
    counter: Option<Arc<dyn TokenCounter>>,
    summarizer: Arc<dyn Summarizer>,
    target: usize,
    summary: Option<usize>,
    last_turns: Option<usize>,
}

/// A record after compression.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Compression<'a> {
    /// The record's new line; the line as given if the record is unchanged.
    pub line: Cow<'a, str>,
    /// Its row of the metrics; the columns `source`, `line` and `duration_ms` are not set.
    pub row: Row,
}

/// The error of [`CompressorBuilder::build`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No tokenizer was set.
    #[error("no tokenizer: call `tokenizer` or `counter` first")]
    NoTokenizer,
    /// The summarizer is not ready.
    #[error("{message}; {help}")]
    Summarizer {
        /// The reason.
        message: String,
        /// The remedy.
        help: String,
    },
}

/// The error of [`Compressor::compress`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompressError {
    /// The line holds no trajectory.
    #[error(transparent)]
    Unreadable(#[from] ParseError),
    /// The summarizer has stopped, for this record and all later ones.
    #[error("{message}; {help}")]
    Stopped {
        /// The reason.
        message: String,
        /// The remedy.
        help: String,
    },
}

impl Compressor {
    /// Returns a builder with the defaults of the command line: 15,250 tokens, the embedded summarizer, no tokenizer yet.
    pub fn builder() -> CompressorBuilder {
        CompressorBuilder {
            counter: None,
            summarizer: Arc::new(Extractive::default()),
            target: FitSettings::default().target_max_tokens,
            summary: None,
            last_turns: None,
        }
    }

    /// Compresses one record: the text of a JSON object that holds `conversations` or `messages`. Blocks the thread
    /// while the summarizer waits.
    ///
    /// # Errors
    ///
    /// The line holds no trajectory, or the summarizer has stopped.
    pub fn compress<'a>(&self, line: &'a str) -> Result<Compression<'a>, CompressError> {
        pollster::block_on(self.compress_async(line))
    }

    /// Compresses one record as [`compress`](Self::compress) does, without blocking the thread while a summarizer waits.
    ///
    /// # Errors
    ///
    /// The line holds no trajectory, or the summarizer has stopped.
    pub async fn compress_async<'a>(&self, line: &'a str) -> Result<Compression<'a>, CompressError> {
        trajectory::parse(line.as_bytes(), None)?;
        let fitted = self.fitter.fit(line.as_bytes()).await;
        if let Some(Stop::Run { message, help }) = fitted.stop {
            return Err(CompressError::Stopped { message, help });
        }
        Ok(Compression {
            line: fitted.text.map_or(Cow::Borrowed(line), Cow::Owned),
            row: fitted.row,
        })
    }
}

impl CompressorBuilder {
    /// Sets the tokenizer by name: a built-in encoding (`o200k_base`, `cl100k_base`), the path of a `tokenizer.json` or
    /// of a folder that holds one, or `hf:OWNER/NAME`.
    ///
    /// # Errors
    ///
    /// There is no such tokenizer, or it cannot be loaded.
    pub fn tokenizer(self, name: &str) -> Result<Self, TokenizerError> {
        Ok(self.counter(tokens::load(name)?))
    }

    /// Sets the tokenizer to one that is loaded already.
    pub fn counter(mut self, counter: Arc<dyn TokenCounter>) -> Self {
        self.counter = Some(counter);
        self
    }

    /// Sets the budget: the tokens that a trajectory may cost after compression.
    pub fn target(mut self, tokens: usize) -> Self {
        self.target = tokens;
        self
    }

    /// Sets the tokens that a summary should cost; by default 750, or a quarter of a smaller budget.
    pub fn summary_target(mut self, tokens: usize) -> Self {
        self.summary = Some(tokens);
        self
    }

    /// Sets the number of turns at the end that are never summarized.
    pub fn last_turns(mut self, turns: usize) -> Self {
        self.last_turns = Some(turns);
        self
    }

    /// Sets the summarizer, in place of the embedded one, which takes over where this one fails.
    pub fn summarizer(mut self, summarizer: Arc<dyn Summarizer>) -> Self {
        self.summarizer = summarizer;
        self
    }

    /// Builds the compressor.
    ///
    /// # Errors
    ///
    /// No tokenizer was set, or the summarizer is not ready.
    pub fn build(self) -> Result<Compressor, BuildError> {
        let counter = self.counter.ok_or(BuildError::NoTokenizer)?;
        self.summarizer
            .prepare()
            .map_err(|not_ready| BuildError::Summarizer {
                message: not_ready.message,
                help: not_ready.help,
            })?;
        let mut settings = FitSettings::with_budget(self.target, self.summary);
        if let Some(turns) = self.last_turns {
            settings.protection.last_n_turns = turns;
        }
        Ok(Compressor {
            fitter: Fitter {
                settings,
                counter,
                template: None,
                summarizer: self.summarizer,
                fallback: Arc::new(Extractive::default()),
            },
        })
    }
}

impl Compression<'_> {
    /// The code of the reason why the result differs from what was asked for; empty if it does not. `row.reason_detail`
    /// holds the details.
    pub fn reason(&self) -> &str {
        &self.row.reason
    }
}
