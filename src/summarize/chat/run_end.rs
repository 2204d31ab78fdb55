//! Errors of a server or an account that end a run, with advice; none of them holds a key.

use super::answer::lasting::Lasting;
use super::settings::ApiKey;
use crate::http::shown;
use crate::summarize::failure::Failure;
use crate::summarize::run_end::{RESUME, RunEnd};

impl RunEnd {
    /// The server refuses the key, or what it may do.
    pub fn refused(url: &str, failure: &Failure, about: Option<Lasting>, key: Option<&ApiKey>) -> Self {
        match about {
            Some(Lasting::Model) => return Self::not_found(url, failure),
            Some(Lasting::Account) => return Self::unpaid(url, failure, key),
            None => {}
        }
        let refused = match failure.name {
            "summary_http_401" => "refuses the key (HTTP 401)",
            "summary_http_402" => return Self::unpaid(url, failure, key),
            _ => "does not allow this (HTTP 403)",
        };
        let key = match key {
            Some(key) => format!("check the key in {}", key.variable),
            None => "no key was sent: put it into an environment variable and name that by --api-key-env"
                .to_owned(),
        };
        Self {
            message: format!("{} {refused}{}", shown(url), said(failure)),
            help: format!("{key}; check --base-url and --model; {RESUME}"),
        }
    }

    /// The account has no credit, or may not spend more.
    fn unpaid(url: &str, failure: &Failure, key: Option<&ApiKey>) -> Self {
        let account = key.map_or("the account".to_owned(), |key| {
            format!("the account of the key in {}", key.variable)
        });
        Self {
            message: format!(
                "{} wants to be paid first, or the account has reached its limit{}",
                shown(url),
                said(failure)
            ),
            help: format!("look at credit and limits of {account}; check --base-url; {RESUME}"),
        }
    }

    /// The server refuses every request, a question of a few words too.
    pub fn refuses_all(url: &str, failure: &Failure, key: Option<&ApiKey>) -> Self {
        match failure.name {
            "summary_http_403" => return Self::refused(url, failure, None, key),
            "summary_http_404" => return Self::not_found(url, failure),
            _ => {}
        }
        Self {
            message: format!("{} refuses every request{}", shown(url), said(failure)),
            help: format!("check --base-url, --model, --body and --headers; {RESUME}"),
        }
    }

    /// The server accepts no requests, for longer than we wait.
    pub fn busy(url: &str, last: &str) -> Self {
        Self {
            message: format!("{} takes no requests for now: {last}", shown(url)),
            help: format!("wait until it does, or look at the limits of the account; {RESUME}"),
        }
    }

    /// Nothing is served at the address, or no such model.
    pub fn not_found(url: &str, failure: &Failure) -> Self {
        Self {
            message: format!(
                "{} is not there, or has no such model{}",
                shown(url),
                said(failure)
            ),
            help: format!("check --base-url and --model; {RESUME}"),
        }
    }

    /// The server has been down for too long.
    pub fn down(url: &str, last: &str) -> Self {
        Self {
            message: format!("{} does not answer any more: {last}", shown(url)),
            help: format!("check --base-url, or wait until the server is back; {RESUME}"),
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
