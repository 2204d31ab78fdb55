//! One request over HTTP: the connections, the headers, and what comes back, whatever it is.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::retry::{self, Transport};
use super::settings::{ChatSettings, Key};
use crate::http;

/// Bytes of a response that are read; no summary is nearly as long.
const MAX_RESPONSE: usize = 8 * 1024 * 1024;

/// The way to one server.
pub struct Wire {
    http: reqwest::Client,
    url: String,
    headers: HeaderMap,
    key: Option<Key>,
    confidential: Confidential,
    timeout: Duration,
}

/// A response, whatever its status.
pub struct Reply {
    /// The status.
    pub status: u16,
    /// How long the server wants to be left alone.
    pub retry_after: Option<Duration>,
    /// The body, without what was sent in confidence.
    pub body: Vec<u8>,
}

impl Wire {
    /// The way to the server that the settings name. No connection is opened yet.
    ///
    /// # Errors
    ///
    /// What is wrong with the settings, or with the system.
    pub fn new(settings: &ChatSettings) -> Result<Self, String> {
        let url = settings.api.url(&settings.base_url);
        Ok(Self {
            http: http::client(&url)?,
            url,
            headers: headers(settings)?,
            key: settings.key.clone(),
            confidential: Confidential::of(settings),
            timeout: settings.timeout,
        })
    }

    /// The address of requests.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The key that is sent along.
    pub fn key(&self) -> Option<&Key> {
        self.key.as_ref()
    }

    /// Sends a body, and reads what comes back.
    pub async fn post(&self, body: Vec<u8>) -> Result<Reply, (Transport, String)> {
        let wrong = |error| self.wrong(error);
        let request = self
            .http
            .post(&self.url)
            .headers(self.headers.clone())
            .timeout(self.timeout)
            .body(body);
        let mut response = request.send().await.map_err(wrong)?;
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let retry_after = response.headers().get("retry-after");
        let retry_after =
            retry_after.and_then(|header| retry::retry_after(header.to_str().ok()?, since_1970));
        let status = response.status().as_u16();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(wrong)? {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_RESPONSE {
                return Err((Transport::Decoding, "the answer does not end".to_owned()));
            }
        }
        Ok(Reply {
            status,
            retry_after,
            body: self.confidential.taken_out(body),
        })
    }

    fn wrong(&self, error: reqwest::Error) -> (Transport, String) {
        if error.is_timeout() {
            let detail = format!("no answer within {} s", self.timeout.as_secs_f64());
            return (Transport::Timeout, detail);
        }
        let kind = if error.is_decode() || error.is_body() {
            Transport::Decoding
        } else {
            Transport::Connection
        };
        (kind, http::causes(&error.without_url()))
    }
}

/// What goes to the server alone, and must not come back in what it says: the key, and headers that are as good as one.
pub struct Confidential(Vec<String>);

impl Confidential {
    /// That of a connection.
    pub fn of(settings: &ChatSettings) -> Self {
        let key = settings.key.iter().map(|key| key.value.as_str());
        let headers = settings.headers.iter().filter(|(name, _)| is_confidential(name));
        // Of `Bearer KEY` a server may repeat the key alone.
        let headers = headers.filter_map(|(_, value)| value.split_whitespace().last());
        let secrets = key.chain(headers).filter(|secret| !secret.is_empty());
        let mut secrets: Vec<String> = secrets
            .flat_map(|secret| [secret.to_owned(), secret.replace('/', "\\/")])
            .collect();
        secrets.sort_unstable_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets.dedup();
        Self(secrets)
    }

    /// A body without it.
    pub fn taken_out(&self, body: Vec<u8>) -> Vec<u8> {
        let mut body = body;
        for secret in &self.0 {
            if memchr::memmem::find(&body, secret.as_bytes()).is_some() {
                let text = String::from_utf8_lossy(&body);
                body = text.replace(secret, "[REDACTED:api-key]").into_bytes();
            }
        }
        body
    }
}

/// Whether a header lets whoever has it in.
fn is_confidential(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [
        "auth",
        "key",
        "token",
        "secret",
        "cookie",
        "password",
        "credential",
    ]
    .iter()
    .any(|word| name.contains(word))
}

/// The headers of every request.
///
/// # Errors
///
/// What is wrong with the settings.
pub fn headers(settings: &ChatSettings) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    let key = settings.key.as_ref().map(|key| key.value.as_str());
    for (name, value) in settings.api.headers(key) {
        let value = HeaderValue::from_str(&value);
        let mut value = value.map_err(|_| "the key holds characters that no key has".to_owned())?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    for (name, value) in &settings.headers {
        let wrong = || format!("summarization.headers: {name} is no header, or its value none");
        let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| wrong())?;
        value.set_sensitive(is_confidential(name));
        headers.insert(parsed, value);
    }
    Ok(headers)
}
