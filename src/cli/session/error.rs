//! Errors of a session, by what their reader can do about them.

use crate::cli::runs::running;
use crate::cli::{CliError, ExitStatus};
use crate::config::ConfigError;
use crate::pipeline::RunError;

/// An error that ends a session, or cannot begin one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct SessionError {
    /// Its kind.
    pub kind: SessionErrorKind,
    /// The error.
    pub message: String,
    /// The remedy, naming the flag of the command line that helps.
    pub help: Option<String>,
}

/// The kind of a [`SessionError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionErrorKind {
    /// A setting, a file or a tokenizer that is named is wrong: exit code 2 of the program.
    Usage,
    /// It cannot go on: exit code 4 of the program.
    Stopped,
}

impl SessionError {
    pub(super) fn threads(error: &rayon::ThreadPoolBuildError) -> Self {
        Self {
            kind: SessionErrorKind::Stopped,
            message: format!("cannot start threads: {error}"),
            help: Some("set jobs to a smaller number".to_owned()),
        }
    }
}

impl From<CliError> for SessionError {
    fn from(error: CliError) -> Self {
        Self {
            kind: if error.status == ExitStatus::Usage {
                SessionErrorKind::Usage
            } else {
                SessionErrorKind::Stopped
            },
            message: error.message,
            help: error.help,
        }
    }
}

impl From<ConfigError> for SessionError {
    fn from(error: ConfigError) -> Self {
        CliError::from(error).into()
    }
}

impl From<RunError> for SessionError {
    fn from(error: RunError) -> Self {
        running::cli_error(error).into()
    }
}
