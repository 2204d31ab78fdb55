//! Errors that end a run, with advice; the run can be resumed.

use super::spend::LimitReached;

/// The last part of most advice.
pub const RESUME: &str = "then run the same command with --resume: nothing that was done is lost";

/// The end of a run, which can be resumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEnd {
    /// The error message.
    pub message: String,
    /// Advice for the user.
    pub help: String,
}

impl RunEnd {
    /// The run is over: no more answers are wanted.
    pub fn over() -> Self {
        Self {
            message: "the run has ended".to_owned(),
            help: RESUME.to_owned(),
        }
    }

    /// The responses can no longer be read.
    pub fn unreadable(why: &str) -> Self {
        Self {
            message: why.to_owned(),
            help: "check the files that --responses names, then run the same command again".to_owned(),
        }
    }

    /// A limit that the user set.
    pub fn limit(limit: LimitReached) -> Self {
        let (message, flag) = match limit {
            LimitReached::Requests(most) => (
                format!("the limit of {most} requests is reached"),
                "--max-requests",
            ),
            LimitReached::Cost(most) => (format!("the limit of ${most} is reached"), "--max-cost"),
        };
        Self {
            message,
            help: format!("raise {flag}, or leave it for another such part; {RESUME}"),
        }
    }
}
