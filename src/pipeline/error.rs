//! Errors that end a run, by what the user can do about them.

use std::io;
use std::path::Path;

use super::paths::streams::is_stream;
use crate::stores;

/// An error that ends a run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Wrong usage: nothing was started.
    #[error("{message}")]
    Usage {
        /// The error.
        message: String,
        /// The remedy.
        help: String,
    },
    /// Something outside stopped the run; it can be resumed.
    #[error("{message}")]
    CannotGoOn {
        /// The error, with path and cause.
        message: String,
        /// The remedy.
        help: String,
    },
    /// A signal ended the run.
    #[error("interrupted")]
    Interrupted {
        /// True if there is a checkpoint to resume from.
        resumable: bool,
    },
    /// The reader of stdout has closed it.
    #[error("the output was closed")]
    OutputClosed,
}

const RESUME: &str = "mend that, then run the same command with --resume: nothing that was done is lost";

impl RunError {
    /// The error for wrong usage.
    pub fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Usage {
            message: message.into(),
            help: help.into(),
        }
    }

    /// The error for a run that stopped half-way.
    pub fn cannot_go_on(message: impl Into<String>) -> Self {
        Self::CannotGoOn {
            message: message.into(),
            help: RESUME.to_owned(),
        }
    }

    /// The error for an input that cannot be opened: nothing was started.
    pub fn input(path: &Path, error: &io::Error) -> Self {
        let usual = match error.kind() {
            io::ErrorKind::NotConnected => "open it where the program is started, or name a file",
            _ => "check the path and its permissions",
        };
        let help = stores::help_of(error).unwrap_or(usual);
        let shown = path.display().to_string();
        let place = if shown == "-" { "standard input" } else { &shown };
        Self::usage(format!("cannot read {place}: {error}"), help)
    }

    /// The error for an output that cannot be created: nothing was started.
    pub fn output(path: &Path, error: &io::Error) -> Self {
        let help = match error.kind() {
            io::ErrorKind::AlreadyExists => "remove it, or start over with --force",
            io::ErrorKind::NotConnected => "open it where the program is started, or name a file",
            io::ErrorKind::IsADirectory => "move the directory away, or name another output",
            io::ErrorKind::ResourceBusy => "wait for the other run to end, or name another output",
            _ => "check that the folder exists and is writable, or name another place with -o",
        };
        let help = stores::help_of(error).unwrap_or(help);
        let message = format!("cannot write {}: {error}", path.display());
        Self::CannotGoOn {
            message,
            help: help.to_owned(),
        }
    }

    /// The error for a file of the run that failed half-way.
    pub fn half_way(doing: &str, path: &Path, error: &io::Error) -> Self {
        let is_stdout = path == Path::new("-");
        if is_stdout && error.kind() == io::ErrorKind::BrokenPipe {
            return Self::OutputClosed;
        }
        if is_stdout || is_stream(path) {
            let shown = path.to_string_lossy();
            let place = if is_stdout { "standard output" } else { &shown };
            let message = format!("cannot {doing} {place}: {error}");
            return Self::CannotGoOn {
                message,
                help: "make room where it goes to, and run it again".to_owned(),
            };
        }
        let message = format!("cannot {doing} {}: {error}", path.display());
        match stores::help_of(error) {
            None => Self::cannot_go_on(message),
            Some(help) if help.contains("--force") || help.contains("--resume") => Self::CannotGoOn {
                message,
                help: help.to_owned(),
            },
            Some(help) => Self::CannotGoOn {
                message,
                help: format!(
                    "{help}; then run the same command with --resume: nothing that was done is lost"
                ),
            },
        }
    }
}
