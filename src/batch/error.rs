//! Errors that end a run through a Batch API, with advice; none of them contains a key.

use std::io;
use std::path::Path;

use crate::http::shown;
use crate::summarize::chat::ApiKey;
use crate::summarize::failure::Failure;

/// The reason why the run ended. Submitted batches stay submitted: the same command continues with them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// The user stopped it.
    #[error("interrupted")]
    Interrupted,
    /// It cannot continue.
    #[error("{message}")]
    Stopped {
        /// The error.
        message: String,
        /// Advice.
        help: String,
        /// The error may be temporary.
        passing: bool,
    },
}

/// Advice for every error.
pub const RUN_AGAIN: &str = "run the same command again: it goes on from there, and submits nothing twice";

impl BatchError {
    /// The run cannot continue.
    pub fn stopped(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Stopped {
            message: message.into(),
            help: help.into(),
            passing: false,
        }
    }

    /// The vendor refuses the request.
    pub fn refused(url: &str, failure: &Failure, key: Option<&ApiKey>) -> Self {
        let help = match failure.name {
            "summary_http_401" | "summary_http_402" | "summary_http_403" => key.map_or_else(
                || {
                    "no key was sent: put it into an environment variable and name that by --api-key-env"
                        .to_owned()
                },
                |key| format!("check the key in {}", key.variable),
            ),
            _ => "check --base-url, --api and --model".to_owned(),
        };
        Self::stopped(
            format!(
                "{} refuses ({}): {}",
                shown(url),
                failure.name.replace("summary_", ""),
                failure.detail
            ),
            format!("{help}; then {RUN_AGAIN}"),
        )
    }

    /// The vendor does not answer, or the answer cannot be read.
    pub fn failed(url: &str, failure: &Failure) -> Self {
        Self::Stopped {
            message: format!(
                "{} fails ({}): {}",
                shown(url),
                failure.name.replace("summary_", ""),
                failure.detail
            ),
            help: format!("check --base-url, or wait; then {RUN_AGAIN}"),
            passing: true,
        }
    }

    /// A file of the run could not be read or written.
    pub fn file(doing: &str, path: &Path, error: &io::Error) -> Self {
        Self::stopped(
            format!("cannot {doing} {}: {error}", path.display()),
            format!("mend that, then {RUN_AGAIN}"),
        )
    }
}
