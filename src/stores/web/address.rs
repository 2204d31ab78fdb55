//! Requests to a web server, with retries and redirects.

use std::future::Future;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{CONTENT_RANGE, ETAG, HeaderMap, LAST_MODIFIED, LOCATION, RANGE, RETRY_AFTER};
use reqwest::{Client, Response};

use super::content_range::ContentRange;
use crate::http;
use crate::stores::fault::StoreFault;
use crate::stores::location::Service;
use crate::stores::store_fault::TRY_AGAIN;
use crate::stores::{credentials, runtime, shown};

/// Maximum number of redirects followed.
const MOST_REDIRECTS: usize = 8;

/// Maximum number of attempts at a request.
pub const TRIES: u32 = 6;

/// The pause after the first failure; each later one is twice as long.
pub const FIRST_PAUSE: Duration = Duration::from_millis(250);

/// The longest pause that a server may ask for.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// The address of an object on a web server.
pub struct Address {
    client: Client,
    url: String,
    /// Sent to the server of the URL only, not to those that it redirects to.
    token: Option<String>,
    service: Service,
}

/// A failed attempt.
pub enum WebFailure {
    /// A failure that would repeat.
    Final(io::Error),
    /// A failure that may pass, with the pause that the server asks for.
    Passing(io::Error, Option<Duration>),
}

/// An answer, with the identifier that the first server gives to the content.
pub struct WebAnswer {
    pub response: Response,
    pub etag: Option<String>,
}

impl WebAnswer {
    /// What tells this version of the content from others: its identifier or, of a server that gives none, the time of its
    /// last change.
    pub fn version(&self) -> Option<String> {
        let etag = self
            .etag
            .as_deref()
            .map(|etag| etag.trim_start_matches("W/").to_owned());
        etag.or_else(|| text(self.response.headers(), LAST_MODIFIED.as_str()))
    }

    /// The range that it has; `None` if it does not say.
    pub fn range(&self) -> Option<ContentRange> {
        ContentRange::of(&text(self.response.headers(), CONTENT_RANGE.as_str())?)
    }
}

impl Address {
    /// The address of a path that stands for a web address.
    pub fn of_web(path: &Path) -> io::Result<Arc<Self>> {
        Self::of(shown::whole(path), None, Service::Web)
    }

    /// An address.
    pub fn of(url: String, token: Option<String>, service: Service) -> io::Result<Arc<Self>> {
        let client = http::transfer_client(&url).map_err(io::Error::other)?;
        Ok(Arc::new(Self {
            client,
            url,
            token,
            service,
        }))
    }

    /// The text of a small answer, and the address of the page after it.
    pub fn page(&self) -> io::Result<(String, Option<String>)> {
        runtime::wait(self.retried(|| async {
            let answer = self.ask(None).await?;
            let next = next_page(answer.response.headers());
            let text = answer.response.text().await.map_err(unreachable)?;
            Ok((text, next))
        }))
    }

    /// Sends a request, and follows redirects.
    pub async fn ask(&self, range: Option<Range<u64>>) -> Result<WebAnswer, WebFailure> {
        let mut url = reqwest::Url::parse(&self.url).map_err(|_| {
            let fault = StoreFault::io(ErrorKind::InvalidInput, "the address is not valid", "check it");
            WebFailure::Final(fault)
        })?;
        let home = url.origin();
        let mut etag = None;
        for _ in 0..=MOST_REDIRECTS {
            let is_at_home = url.origin() == home;
            let mut request = self.client.get(url.clone());
            if let Some(token) = self.token.as_ref().filter(|_| is_at_home) {
                request = request.bearer_auth(token);
            }
            if let Some(range) = &range {
                request = request.header(RANGE, format!("bytes={}-{}", range.start, range.end - 1));
            }
            let response = request.send().await.map_err(unreachable)?;
            let headers = response.headers();
            if let Some(linked) = text(headers, "x-linked-etag").filter(|_| is_at_home) {
                etag = Some(linked);
            }
            match response.status().as_u16() {
                status @ (200 | 206 | 416) if range.is_some() || status == 200 => {
                    let own = || text(response.headers(), ETAG.as_str());
                    let etag = etag.or_else(own);
                    return Ok(WebAnswer { response, etag });
                }
                301 | 302 | 303 | 307 | 308 => {
                    let next = headers
                        .get(LOCATION)
                        .and_then(|next| url.join(next.to_str().ok()?).ok());
                    let next = next.filter(|next| matches!(next.scheme(), "http" | "https"));
                    url = next.ok_or_else(|| misled("a redirect leads nowhere"))?;
                }
                status => return Err(self.refused(status, headers)),
            }
        }
        Err(misled("it redirects without end"))
    }

    fn refused(&self, status: u16, headers: &HeaderMap) -> WebFailure {
        let fault = |kind, message: String, help: &str| StoreFault::io(kind, message, help);
        let help = credentials::help(self.service);
        match status {
            404 | 410 => WebFailure::Final(fault(
                ErrorKind::NotFound,
                format!("the server has no such file (HTTP {status})"),
                "check the address",
            )),
            401 | 403 => WebFailure::Final(fault(
                ErrorKind::PermissionDenied,
                format!("access is denied (HTTP {status})"),
                help,
            )),
            408 | 429 | 500..=599 => {
                let wish = text(headers, RETRY_AFTER.as_str()).and_then(|wish| wish.parse().ok());
                let error = fault(
                    ErrorKind::Other,
                    format!("the server answers with HTTP {status}"),
                    TRY_AGAIN,
                );
                WebFailure::Passing(error, wish.map(Duration::from_secs))
            }
            _ => WebFailure::Final(fault(
                ErrorKind::Other,
                format!("the server answers with HTTP {status}"),
                "check the address",
            )),
        }
    }

    /// The first success, or the last failure.
    pub async fn retried<T, F: Future<Output = Result<T, WebFailure>>>(
        &self,
        attempt: impl Fn() -> F,
    ) -> io::Result<T> {
        let mut pause = FIRST_PAUSE;
        let mut left = TRIES;
        loop {
            left -= 1;
            match attempt().await {
                Ok(value) => return Ok(value),
                Err(WebFailure::Passing(_, wish)) if left > 0 => {
                    tokio::time::sleep(wish.unwrap_or(pause).min(LONGEST_PAUSE)).await;
                }
                Err(WebFailure::Final(error) | WebFailure::Passing(error, _)) => return Err(error),
            }
            pause *= 2;
        }
    }
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    Some(headers.get(name)?.to_str().ok()?.trim().to_owned())
}

/// The address of the next page, from a header as in `<URL>; rel="next"`.
fn next_page(headers: &HeaderMap) -> Option<String> {
    let links = text(headers, "link")?;
    let next = links.split(',').find(|link| link.contains("rel=\"next\""))?;
    Some(next.split_once('<')?.1.split_once('>')?.0.to_owned())
}

/// The failure of a server that sends requests astray.
fn misled(message: &str) -> WebFailure {
    WebFailure::Final(StoreFault::io(ErrorKind::Other, message, "check the address"))
}

pub fn unreachable(error: reqwest::Error) -> WebFailure {
    let message = format!("no answer: {}", http::causes(&error.without_url()));
    WebFailure::Passing(StoreFault::io(ErrorKind::Other, message, TRY_AGAIN), None)
}
