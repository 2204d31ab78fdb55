//! Fits agent trajectories into a token budget.
//!
//! A record whose trajectory costs more than the budget keeps its opening and its last turns; a summary turn, grounded
//! in what later turns rely on, replaces the turns between. [`Compressor`] does this to one record at a time:
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use trajfit::{Compressor, Status};
//!
//! let compressor = Compressor::builder().tokenizer("o200k_base")?.target(15_250).build()?;
//!
//! let line = r#"{"conversations": [{"from": "human", "value": "Hello"}, {"from": "gpt", "value": "Hi."}]}"#;
//! let compression = compressor.compress(line)?;
//! println!("{}", compression.line); // the record's new line; unchanged if it fits already
//! assert_eq!(compression.row.status, Status::UnderTarget); // its row of the metrics
//! assert_eq!(compression.reason(), ""); // the reason code; empty if the result is as asked for
//! # Ok(())
//! # }
//! ```
//!
//! - [`Compressor`] takes any [`TokenCounter`] and any [`Summarizer`].
//! - [`grounding::score`] compares a record with what any program made of it.
//! - [`session::Session`] fits many records at once, with the program's configuration.
//! - [`Record`] reads a line without copying or changing it.
//!
//! Features, all on by default: `cli` (the program and its runs over files; needs the others), `chat` (summaries by
//! language models, programs and batches), `cache` (their answers on disk), `hub` (downloads of tokenizers). Not on by
//! default: `parquet` (Parquet and Arrow files, read and written), `stores` (object stores), `jemalloc`. Without the default ones (`default-features = false`) there is no command line, no network and no database.
//!
//! The stages that a record passes in the program, and the module of each:
//!
//! ```text
//! pipeline ──► trajectory ─► tokens ─► compress::plan ─► summarize ─► trajectory::edit ─► compress::verify ─► pipeline
//! (batches     (turns)       (counts)  (region)          (summary)    (new line)          (invariants)        (bytes,
//!  of records)                                                                                                 metrics)
//!              └────────────────────── fit: one record, from bytes to bytes and a row ──────────────────┘
//! ```

#![forbid(unsafe_code)]
// Without the feature `cli`, some items of the modules are unused.
#![cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports))]

#[cfg(feature = "cli")]
mod batch;
#[cfg(feature = "cache")]
mod cache;
#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "cli")]
mod columns;
mod compress;
mod compressor;
#[cfg(feature = "cli")]
mod config;
mod events;
#[cfg(any(feature = "cli", feature = "cache"))]
mod files;
mod fit;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod internals;
mod knowledge;
mod metrics;
mod names;
#[cfg(feature = "cli")]
mod pipeline;
#[cfg(feature = "cli")]
mod report;
#[cfg(feature = "cli")]
mod settings;
#[cfg(feature = "cli")]
mod standard_streams;
#[cfg(feature = "cli")]
mod stores;
mod summarize;
mod tokens;
mod trainers;
mod trajectory;

/// The version of the library and of the program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

pub use compressor::{BuildError, CompressError, Compression, Compressor, CompressorBuilder};
pub use metrics::{Row, Status};
pub use summarizer::Summarizer;
pub use tokenizer::TokenCounter;
pub use trajectory::Record;

/// Exact token counts: loading a tokenizer, or implementing one.
pub mod tokenizer {
    pub use crate::tokens::{BUILT_IN, TokenCounter, TokenizerError, TokenizerIdentity, load};
}

/// Summaries of turns: the trait, its requests and its results.
pub mod summarizer {
    pub use crate::compress::Reason;
    pub use crate::compress::anchors::Anchor;
    pub use crate::compress::reuse::Reuse;
    pub use crate::metrics::Tokens;
    pub use crate::summarize::answers::AnswerKey;
    pub use crate::summarize::extractive::Extractive;
    pub use crate::summarize::{
        Around, Estimate, NotReady, PendingRequest, Stretch, Summarizer, Summary, SummaryError,
        SummaryRequest, Usage,
    };
}

/// Records read in place: their turns, and the text of these.
pub mod record {
    pub use crate::trajectory::{Format, ParseError, Record, Role, ToolCall, ToolResponse, Turn, TurnView};
}

/// Records of any source, fitted by the program's own configuration on all cores.
#[cfg(feature = "cli")]
pub mod session {
    pub use crate::cli::{
        FittedRecord, Fitting, GatheredLines, Gathering, Session, SessionBuilder, SessionError,
        SessionErrorKind,
    };
    #[cfg(feature = "parquet")]
    pub use crate::columns::{FittedRows, RowLines, TableRows};
    pub use crate::pipeline::Next;
}

/// Items that are public for fuzz targets only.
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing {
    pub use crate::tokens::chat_template::ChatTemplate;
}

/// Comparing a record with its compressed version.
pub mod grounding {
    pub use crate::compress::alignment::Origin;
    pub use crate::compress::anchors::{Needed, PairScore};
    pub use crate::fit::{UnreadablePair, score};
}
