//! Why a run ends before its end, by what the user can do about it.

use std::io;
use std::path::Path;

use super::streams::is_stream;

/// What ends a run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Wrong usage: nothing was started.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What to do.
        help: String,
    },
    /// Something outside stopped the run; it can be resumed.
    #[error("{message}")]
    CannotGoOn {
        /// What happened, with path and cause.
        message: String,
        /// What to do.
        help: String,
    },
    /// A signal; it can be resumed.
    #[error("interrupted")]
    Interrupted {
        /// Whether there is a checkpoint to resume from.
        resumable: bool,
    },
    /// Whoever read our stdout has gone.
    #[error("the output was closed")]
    OutputClosed,
}

const RESUME: &str = "mend that, then run the same command with --resume: nothing that was done is lost";

impl RunError {
    /// Wrong usage.
    pub fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Usage {
            message: message.into(),
            help: help.into(),
        }
    }

    /// A run that stopped half-way.
    pub fn cannot_go_on(message: impl Into<String>) -> Self {
        Self::CannotGoOn {
            message: message.into(),
            help: RESUME.to_owned(),
        }
    }

    /// An input that cannot be opened: nothing was started.
    pub fn input(path: &Path, error: &io::Error) -> Self {
        let help = match error.kind() {
            io::ErrorKind::NotConnected => "open it where the program is started, or name a file",
            _ => "check the path and its permissions",
        };
        let shown = path.display().to_string();
        let place = if shown == "-" { "standard input" } else { &shown };
        Self::usage(format!("cannot read {place}: {error}"), help)
    }

    /// An output that cannot be created: nothing was started.
    pub fn output(path: &Path, error: &io::Error) -> Self {
        let help = match error.kind() {
            io::ErrorKind::AlreadyExists => "remove it, or start over with --force",
            io::ErrorKind::NotConnected => "open it where the program is started, or name a file",
            io::ErrorKind::IsADirectory => "move the directory away, or name another output",
            io::ErrorKind::ResourceBusy => "wait for the other run to end, or name another output",
            _ => "check that the folder exists and is writable, or name another place with -o",
        };
        let message = format!("cannot write {}: {error}", path.display());
        Self::CannotGoOn {
            message,
            help: help.to_owned(),
        }
    }

    /// A file of the run that could not be written or read half-way.
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
        Self::cannot_go_on(format!("cannot {doing} {}: {error}", path.display()))
    }
}
