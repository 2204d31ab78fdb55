//! Why a run through a Batch API ends early, in words that help; none of them holds a key.

use std::io;
use std::path::Path;

use crate::http::shown;
use crate::summarize::chat::Key;
use crate::summarize::failure::Failure;

/// What ends it. Everything that was submitted stays so: the same command goes on from there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// It was told to stop.
    #[error("interrupted")]
    Interrupted,
    /// It cannot go on.
    #[error("{message}")]
    Stopped {
        /// What happened.
        message: String,
        /// What to do.
        help: String,
        /// Whether it may be otherwise in a while by itself.
        passing: bool,
    },
}

/// What helps in any case.
pub const RUN_AGAIN: &str = "run the same command again: it goes on from there, and submits nothing twice";

impl BatchError {
    /// It cannot go on.
    pub fn stopped(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Stopped {
            message: message.into(),
            help: help.into(),
            passing: false,
        }
    }

    /// The vendor refuses.
    pub fn refused(url: &str, failure: &Failure, key: Option<&Key>) -> Self {
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

    /// The vendor does not answer, or nonsense.
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

    /// A file of the run.
    pub fn file(doing: &str, path: &Path, error: &io::Error) -> Self {
        Self::stopped(
            format!("cannot {doing} {}: {error}", path.display()),
            format!("mend that, then {RUN_AGAIN}"),
        )
    }
}
