//! The exit codes, by which the program reports the result of a run.

use std::process::ExitCode;

/// The result of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    /// Everything was done.
    Done = 0,
    /// A gate failed: `check`, or `--fail-over-limit`.
    GateFailed = 1,
    /// Wrong usage or configuration; nothing was done.
    Usage = 2,
    /// Done, but some records were rejected or degraded.
    Incomplete = 3,
    /// Could not go on (I/O, authentication); resumable.
    Stopped = 4,
    /// Interrupted; resumable.
    Interrupted = 130,
}

impl ExitStatus {
    /// The status of a gate.
    pub fn of_gate(passed: bool) -> Self {
        if passed { Self::Done } else { Self::GateFailed }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status as u8)
    }
}
