//! Objects of web servers: ranges over HTTP where the server has them, and retries.

use std::future::Future;
use std::io::{self, ErrorKind, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use bytes::{Buf, Bytes};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use reqwest::header::{CONTENT_RANGE, ETAG, HeaderMap, LAST_MODIFIED, LOCATION, RANGE, RETRY_AFTER};
use reqwest::{Client, Response};

use super::fault::StoreFault;
use super::location::Service;
use super::object::{Object, Ranges, Whole};
use super::store_fault::{TRY_AGAIN, changed, cut};
use super::{credentials, runtime, shown};
use crate::http;

/// Maximum number of redirects followed.
const MOST_REDIRECTS: usize = 8;

/// Maximum number of attempts at a request.
const TRIES: u32 = 6;

/// The pause after the first failure; each later one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(250);

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
enum Failure {
    /// A failure that would repeat.
    Final(io::Error),
    /// A failure that may pass, with the pause that the server asks for.
    Passing(io::Error, Option<Duration>),
}

/// An answer, with the identifier that the first server gives to the content.
struct Answer {
    response: Response,
    etag: Option<String>,
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

    /// Asks for the first byte: its answer tells the size, the version, and if the server sends ranges.
    pub fn look(self: &Arc<Self>) -> io::Result<Object> {
        let answer = runtime::wait(self.retried(|| async {
            let answer = self.ask(Some(0..1)).await?;
            Ok(answer)
        }))?;
        let headers = answer.response.headers();
        let size = headers
            .get(CONTENT_RANGE)
            .and_then(|range| range.to_str().ok()?.rsplit_once('/')?.1.parse().ok());
        let modified = headers
            .get(LAST_MODIFIED)
            .and_then(|time| httpdate::parse_http_date(time.to_str().ok()?).ok());
        let modified = modified
            .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
            .map_or(0, |age| age.as_nanos());
        let status = answer.response.status().as_u16();
        let (bytes, has_ranges) = match (status, size) {
            (416, _) => (Some(0), true),
            (206, Some(size)) => (Some(size), true),
            (206, None) => (None, false),
            _ => (answer.response.content_length(), false),
        };
        let ranges = WebRanges {
            address: Arc::clone(self),
            etag: answer.etag.clone(),
        };
        Ok(Object {
            bytes,
            modified: u64::try_from(modified).unwrap_or(u64::MAX),
            etag: answer.etag,
            ranges: has_ranges.then(|| Arc::new(ranges) as Arc<dyn Ranges>),
            whole: (!has_ranges).then(|| Arc::clone(self) as Arc<dyn Whole>),
        })
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
    async fn ask(&self, range: Option<Range<u64>>) -> Result<Answer, Failure> {
        let mut url = reqwest::Url::parse(&self.url).map_err(|_| {
            let fault = StoreFault::io(ErrorKind::InvalidInput, "the address is not valid", "check it");
            Failure::Final(fault)
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
                200 | 206 | 416 => {
                    let own = || text(response.headers(), ETAG.as_str());
                    let etag = etag.or_else(own);
                    return Ok(Answer { response, etag });
                }
                301 | 302 | 303 | 307 | 308 => {
                    let next = headers
                        .get(LOCATION)
                        .and_then(|next| url.join(next.to_str().ok()?).ok());
                    url = next.ok_or_else(|| Failure::Final(io::Error::other("a redirect leads nowhere")))?;
                }
                status => return Err(self.refused(status, headers)),
            }
        }
        Err(Failure::Final(io::Error::other("it redirects without end")))
    }

    fn refused(&self, status: u16, headers: &HeaderMap) -> Failure {
        let fault = |kind, message: String, help: &str| StoreFault::io(kind, message, help);
        let help = credentials::help(self.service);
        match status {
            404 | 410 => Failure::Final(fault(
                ErrorKind::NotFound,
                format!("the server has no such file (HTTP {status})"),
                "check the address",
            )),
            401 | 403 => Failure::Final(fault(
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
                Failure::Passing(error, wish.map(Duration::from_secs))
            }
            _ => Failure::Final(fault(
                ErrorKind::Other,
                format!("the server answers with HTTP {status}"),
                "check the address",
            )),
        }
    }

    /// The first success, or the last failure.
    async fn retried<T, F: Future<Output = Result<T, Failure>>>(
        &self,
        attempt: impl Fn() -> F,
    ) -> io::Result<T> {
        let mut pause = FIRST_PAUSE;
        let mut left = TRIES;
        loop {
            left -= 1;
            match attempt().await {
                Ok(value) => return Ok(value),
                Err(Failure::Passing(_, wish)) if left > 0 => {
                    tokio::time::sleep(wish.unwrap_or(pause).min(LONGEST_PAUSE)).await;
                }
                Err(Failure::Final(error) | Failure::Passing(error, _)) => return Err(error),
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

fn unreachable(error: reqwest::Error) -> Failure {
    let message = format!("no answer: {}", http::causes(&error.without_url()));
    Failure::Passing(StoreFault::io(ErrorKind::Other, message, TRY_AGAIN), None)
}

/// Ranges of one version of an object of a web server.
struct WebRanges {
    address: Arc<Address>,
    etag: Option<String>,
}

impl Ranges for WebRanges {
    fn range(&self, range: Range<u64>) -> BoxFuture<'static, io::Result<Bytes>> {
        let (address, etag) = (Arc::clone(&self.address), self.etag.clone());
        async move {
            let length = range.end - range.start;
            let attempt = || async {
                let answer = address.ask(Some(range.clone())).await?;
                if etag.is_some() && answer.etag != etag {
                    return Err(Failure::Final(changed()));
                }
                if answer.response.status().as_u16() != 206 {
                    return Err(Failure::Passing(
                        io::Error::other("the server does not send the range"),
                        None,
                    ));
                }
                let bytes = answer.response.bytes().await.map_err(unreachable)?;
                if bytes.len() as u64 == length {
                    Ok(bytes)
                } else {
                    Err(Failure::Passing(cut(), None))
                }
            };
            address.retried(attempt).await
        }
        .boxed()
    }
}

/// Reads an object that its server only sends whole. A connection that breaks is made again, and what was read is skipped.
struct WholeReader {
    address: Arc<Address>,
    etag: Option<String>,
    length: Option<u64>,
    /// Bytes handed out.
    position: u64,
    response: Option<Response>,
    /// Bytes of the response that are still to be skipped.
    to_skip: u64,
    current: Bytes,
    failures: u32,
}

impl Whole for Address {
    fn reader(self: Arc<Self>, object: &Object) -> Box<dyn Read + Send> {
        Box::new(WholeReader {
            address: self,
            etag: object.etag.clone(),
            length: object.bytes,
            position: 0,
            response: None,
            to_skip: 0,
            current: Bytes::new(),
            failures: 0,
        })
    }
}

impl WholeReader {
    /// The response that is being read, or a new one.
    fn response(&mut self) -> io::Result<Response> {
        if let Some(response) = self.response.take() {
            return Ok(response);
        }
        let address = &self.address;
        let answer = runtime::wait(address.retried(|| address.ask(None)))?;
        if self.etag.is_some() && answer.etag != self.etag {
            return Err(changed());
        }
        self.to_skip = self.position;
        Ok(answer.response)
    }

    /// The next bytes; empty at the end.
    fn next(&mut self) -> io::Result<Bytes> {
        loop {
            let mut response = self.response()?;
            let chunk = runtime::wait(async { Ok(response.chunk().await) })?;
            let error = match chunk {
                Ok(Some(mut chunk)) => {
                    let skipped = self.to_skip.min(chunk.len() as u64);
                    chunk.advance(skipped as usize);
                    self.to_skip -= skipped;
                    self.position += chunk.len() as u64;
                    self.response = Some(response);
                    if chunk.is_empty() {
                        continue;
                    }
                    self.failures = 0;
                    return Ok(chunk);
                }
                Ok(None) if self.length.is_none_or(|length| self.position >= length) => {
                    return Ok(Bytes::new());
                }
                Ok(None) => cut(),
                Err(error) => {
                    let message = format!("no answer: {}", http::causes(&error.without_url()));
                    StoreFault::io(ErrorKind::Other, message, TRY_AGAIN)
                }
            };
            self.failures += 1;
            if self.failures >= TRIES {
                return Err(error);
            }
            std::thread::sleep(FIRST_PAUSE * self.failures);
        }
    }
}

impl Read for WholeReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.current.is_empty() {
            self.current = self.next()?;
        }
        let length = self.current.len().min(buffer.len());
        self.current
            .split_to(length)
            .copy_to_slice(buffer.get_mut(..length).unwrap_or_default());
        Ok(length)
    }
}
