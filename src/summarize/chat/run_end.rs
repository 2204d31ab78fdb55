//! Why a run ends that could go on otherwise, in words that help; none of them holds a key.

use super::failure::Failure;
use super::settings::Key;
use crate::summarize::spend::LimitReached;

/// The end of a run, which can be resumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEnd {
    /// What happened.
    pub message: String,
    /// What to do.
    pub help: String,
}

const RESUME: &str = "then run the same command with --resume: nothing that was done is lost";

impl RunEnd {
    /// The server refuses the key, or what it may do.
    pub fn refused(url: &str, failure: &Failure, key: Option<&Key>) -> Self {
        let refused = match failure.name {
            "summary_http_401" => "refuses the key (HTTP 401)",
            "summary_http_402" => "wants to be paid first (HTTP 402)",
            _ => "does not allow this (HTTP 403)",
        };
        let key = match key {
            Some(key) => format!("check the key in {}", key.variable),
            None => "no key was sent: put it into an environment variable and name that by --api-key-env"
                .to_owned(),
        };
        Self {
            message: format!("{url} {refused}{}", said(failure)),
            help: format!("{key}; check --base-url and --model; {RESUME}"),
        }
    }

    /// Nothing is served at the address, or no such model.
    pub fn not_found(url: &str, failure: &Failure) -> Self {
        Self {
            message: format!(
                "{url} is not there, or has no such model (HTTP 404){}",
                said(failure)
            ),
            help: format!("check --base-url and --model; {RESUME}"),
        }
    }

    /// The server has been down for too long.
    pub fn down(url: &str, last: &str) -> Self {
        Self {
            message: format!("{url} does not answer any more: {last}"),
            help: format!("check --base-url, or wait until the server is back; {RESUME}"),
        }
    }

    /// Responses that cannot be read any more.
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

fn said(failure: &Failure) -> String {
    if failure.detail.is_empty() {
        String::new()
    } else {
        format!(": {}", failure.detail)
    }
}
