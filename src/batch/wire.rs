//! HTTP requests to a vendor of batches: small ones with retries, and whole files in both directions.

use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::future::{Either, select};
use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::Value;

use super::BatchError;
use super::body::FileBody;
use super::state;
use crate::http;
use crate::summarize::batch::RequestShape;
use crate::summarize::batch::queue::QueueFull;
use crate::summarize::chat::ChatSettings;
use crate::summarize::chat::answer::retry::{self, RetryVerdict, TransportError};
use crate::summarize::chat::online::wire::{self, Confidential};
use crate::summarize::chat::pace::limits;
use crate::summarize::failure::Failure;

/// Maximum bytes of an answer; lists of batches are the longest.
const MAX_ANSWER: usize = 16 * 1024 * 1024;

/// Minimum speed of a connection in bytes a second, for the timeout of an upload.
const SLOWEST: u64 = 100_000;

/// The time between two checks if the run is to stop.
const LOOK: Duration = Duration::from_millis(100);

/// A connection to a vendor.
pub struct BatchWire<'s> {
    http: reqwest::Client,
    headers: HeaderMap,
    confidential: Confidential,
    settings: &'s ChatSettings,
    stop: &'s AtomicBool,
}

/// The body of a request.
#[derive(Clone, Copy)]
pub enum Sent<'a> {
    /// No body.
    Nothing,
    /// A JSON value.
    Json(&'a Value),
    /// A file as a form.
    Form(&'a Path),
    /// The lines of a file as a list.
    List(&'a Path),
}

/// The reason why an attempt failed.
#[derive(Debug)]
pub enum SendError {
    /// The verdict on the failure, and true if the vendor may have received the request.
    Verdict(RetryVerdict, bool),
    /// The vendor's queue is full: nothing was received.
    Full(QueueFull),
    /// An error that no retry can solve.
    Ended(BatchError),
}

impl<'s> BatchWire<'s> {
    /// A connection to the vendor of these settings.
    ///
    /// # Errors
    ///
    /// The settings are not valid.
    pub fn new(settings: &'s ChatSettings, stop: &'s AtomicBool) -> Result<Self, String> {
        Ok(Self {
            http: http::client(&settings.base_url)?,
            headers: wire::headers(settings)?,
            confidential: Confidential::of(settings),
            settings,
            stop,
        })
    }

    /// Requests JSON, with retries.
    pub async fn get(&self, url: &str) -> Result<Value, BatchError> {
        let mut attempt = 0;
        loop {
            match self.once(Method::GET, url, Sent::Nothing).await {
                Ok(answer) => return Ok(answer),
                Err(unsent) => self.pause(url, unsent, &mut attempt).await?,
            }
        }
    }

    /// Sends a request, in one attempt.
    pub async fn once(&self, method: Method, url: &str, sent: Sent<'_>) -> Result<Value, SendError> {
        let request = self.request(method, url, sent).map_err(SendError::Ended)?;
        let answered = async {
            let response = request.send().await?;
            let (status, after) = (response.status().as_u16(), retry_after(&response));
            Ok::<_, reqwest::Error>((status, after, read(response).await?))
        };
        let answered = self.unless_stopped(answered).await.map_err(SendError::Ended)?;
        let (status, after, body) = match answered {
            Ok(answered) => answered,
            Err(error) => return Err(SendError::Verdict(wrong(&error), !error.is_connect())),
        };
        if !(200..300).contains(&status) {
            let error = self.confidential.taken_out(&body);
            let verdict = retry::after_status(status, after, &error, RequestShape::default(), "");
            let told = QueueFull::told(&String::from_utf8_lossy(&error)).filter(|_| status < 500);
            if let Some(full) = told {
                return Err(SendError::Full(QueueFull {
                    said: verdict.failure().detail.clone(),
                    wish: after,
                    ..full
                }));
            }
            return Err(SendError::Verdict(verdict, status >= 500));
        }
        serde_json::from_slice(&body).map_err(|error| {
            let failure = Failure::new("summary_invalid_json", &format!("the answer is no JSON: {error}"));
            SendError::Verdict(RetryVerdict::Retry(failure, None), true)
        })
    }

    /// Waits before the next attempt. Fails if there is to be none.
    pub async fn pause(&self, url: &str, unsent: SendError, attempt: &mut u32) -> Result<(), BatchError> {
        let (failure, wish) = match unsent {
            SendError::Ended(error) => return Err(error),
            SendError::Full(full) => (Failure::http(429, &full.said), full.wish),
            SendError::Verdict(
                RetryVerdict::Retry(failure, wish) | RetryVerdict::Refused(failure, wish),
                _,
            ) => (failure, wish),
            SendError::Verdict(verdict, _) => {
                return Err(BatchError::refused(
                    url,
                    verdict.failure(),
                    self.settings.key.as_ref(),
                ));
            }
        };
        *attempt += 1;
        if *attempt as usize > self.settings.max_retries {
            return Err(BatchError::failed(url, &failure));
        }
        let pause = retry::pause(*attempt, self.settings.retry_delay, u64::from(*attempt), wish);
        self.sleep(pause).await
    }

    /// Downloads a URL into a file, which appears once complete. Returns false if the URL has no content (any more).
    pub async fn download(&self, url: &str, path: &Path) -> Result<bool, BatchError> {
        let mut attempt = 0;
        loop {
            match self.download_once(url, path).await {
                Ok(()) => return Ok(true),
                Err(SendError::Verdict(RetryVerdict::Fail(failure), _))
                    if failure.name == "summary_http_404" =>
                {
                    return Ok(false);
                }
                Err(unsent) => self.pause(url, unsent, &mut attempt).await?,
            }
        }
    }

    async fn download_once(&self, url: &str, path: &Path) -> Result<(), SendError> {
        let mut partial = path.as_os_str().to_owned();
        partial.push(".partial");
        let partial = Path::new(&partial);
        let fault = |error| SendError::Ended(BatchError::file("write", path, &error));
        let broken = |error: reqwest::Error| SendError::Verdict(wrong(&error), false);
        // The whole may take long, but each part of it must arrive in time.
        let request = self.http.get(url).headers(self.headers.clone());
        let mut response = self.in_time(request.send()).await?.map_err(broken)?;
        let status = response.status().as_u16();
        if !(200..300).contains(&status) {
            let after = retry_after(&response);
            let body = self.in_time(read(response)).await?.map_err(broken)?;
            let verdict = retry::after_status(
                status,
                after,
                &self.confidential.taken_out(&body),
                RequestShape::default(),
                "",
            );
            return Err(SendError::Verdict(verdict, false));
        }
        let mut file = state::create(partial).map_err(fault)?;
        while let Some(chunk) = self.in_time(response.chunk()).await?.map_err(broken)? {
            file.write_all(&chunk).map_err(fault)?;
        }
        file.sync_all().map_err(fault)?;
        state::rename(partial, path).map_err(fault)
    }

    /// The vendor's error message, with the key taken out.
    pub fn error_text(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.confidential.taken_out(text.as_bytes())).into_owned()
    }

    /// Sleeps, or fails if the run is to stop.
    pub async fn sleep(&self, time: Duration) -> Result<(), BatchError> {
        self.unless_stopped(tokio::time::sleep(time)).await
    }

    fn request(&self, method: Method, url: &str, sent: Sent<'_>) -> Result<RequestBuilder, BatchError> {
        let request = self.http.request(method, url).headers(self.headers.clone());
        let timeout = self.settings.timeout;
        let in_file = |path: &Path, body: std::io::Result<FileBody>| {
            let fault = |error| BatchError::file("read", path, &error);
            let bytes = path.metadata().map_err(fault)?.len();
            let timeout = timeout + Duration::from_secs(bytes / SLOWEST);
            Ok((reqwest::Body::wrap(body.map_err(fault)?), timeout))
        };
        Ok(match sent {
            Sent::Nothing => request.timeout(timeout),
            Sent::Json(json) => request.timeout(timeout).body(json.to_string()),
            Sent::Form(path) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let form = FileBody::form(path, &[("purpose", "batch")], &name);
                let (body, timeout) = in_file(path, form)?;
                let kind = HeaderValue::from_str(&FileBody::form_type());
                let kind = kind.unwrap_or_else(|_| HeaderValue::from_static("multipart/form-data"));
                let mut headers = self.headers.clone();
                headers.insert("content-type", kind);
                let request = self.http.post(url).headers(headers);
                request.timeout(timeout).body(body)
            }
            Sent::List(path) => {
                let (body, timeout) = in_file(path, FileBody::list(path, "requests"))?;
                request.timeout(timeout).body(body)
            }
        })
    }

    async fn in_time<T>(&self, future: impl Future<Output = T>) -> Result<T, SendError> {
        let timed = tokio::time::timeout(self.settings.timeout, future);
        let timed = self.unless_stopped(timed).await.map_err(SendError::Ended)?;
        timed.map_err(|_| {
            let detail = format!("nothing came for {} s", self.settings.timeout.as_secs_f64());
            SendError::Verdict(retry::after_transport(TransportError::Timeout, &detail), false)
        })
    }

    async fn unless_stopped<T>(&self, future: impl Future<Output = T>) -> Result<T, BatchError> {
        let stopped = async {
            while !self.stop.load(Ordering::Relaxed) {
                tokio::time::sleep(LOOK).await;
            }
        };
        match select(std::pin::pin!(future), std::pin::pin!(stopped)).await {
            Either::Left((done, _)) => Ok(done),
            Either::Right(_) => Err(BatchError::Interrupted),
        }
    }
}

fn retry_after(response: &Response) -> Option<Duration> {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let headers = response.headers();
    limits::wish(|name| headers.get(name)?.to_str().ok(), since_1970)
}

/// The body, up to [`MAX_ANSWER`] bytes.
async fn read(mut response: Response) -> Result<Vec<u8>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_ANSWER {
            break;
        }
    }
    Ok(body)
}

fn wrong(error: &reqwest::Error) -> RetryVerdict {
    let kind = if error.is_timeout() {
        TransportError::Timeout
    } else if error.is_decode() || error.is_body() {
        TransportError::Decoding
    } else {
        TransportError::Connection
    };
    retry::after_transport(kind, &http::causes(error))
}
