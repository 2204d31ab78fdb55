//! One request over HTTP: the connections, the headers, and the response.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

use crate::http;
use crate::summarize::chat::answer::retry::TransportError;
use crate::summarize::chat::pace::limits::{self, Left};
use crate::summarize::chat::{ApiKey, ChatSettings};
use crate::summarize::redact::redact;

/// Bytes of a response that are read; no summary is nearly as long.
const MAX_RESPONSE: usize = 8 * 1024 * 1024;

/// Bytes of the shortest key removed from errors: shorter ones are words.
const SHORTEST: usize = 8;

/// The connection to one server.
pub struct Wire {
    http: reqwest::Client,
    url: String,
    headers: HeaderMap,
    key: Option<ApiKey>,
    confidential: Confidential,
    timeout: Duration,
}

/// A response, whatever its status.
pub struct HttpReply {
    /// The status.
    pub status: u16,
    /// The pause that the server asks for.
    pub retry_after: Option<Duration>,
    /// The amounts left of its limits.
    pub left: Vec<Left>,
    /// The body, as it came.
    pub body: Vec<u8>,
}

impl Wire {
    /// A connection to the server of the settings, not opened yet.
    ///
    /// # Errors
    ///
    /// If the settings are wrong, or the system refuses.
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
    pub fn key(&self) -> Option<&ApiKey> {
        self.key.as_ref()
    }

    /// Sends a body, and reads the response.
    pub async fn post(&self, body: Vec<u8>) -> Result<HttpReply, (TransportError, String)> {
        let wrong = |error| self.wrong(error);
        let request = self
            .http
            .post(&self.url)
            .headers(self.headers.clone())
            .timeout(self.timeout)
            .body(body);
        let mut response = request.send().await.map_err(wrong)?;
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let headers = response.headers();
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let retry_after = limits::wish(header, since_1970);
        let left = limits::left(header, since_1970);
        let status = response.status().as_u16();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(wrong)? {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_RESPONSE {
                return Err((TransportError::Decoding, "the answer does not end".to_owned()));
            }
        }
        Ok(HttpReply {
            status,
            retry_after,
            left,
            body,
        })
    }

    /// The body of an error without the key, if the server repeats it.
    pub fn error_body(&self, body: &[u8]) -> Vec<u8> {
        self.confidential.taken_out(body)
    }

    fn wrong(&self, error: reqwest::Error) -> (TransportError, String) {
        if error.is_timeout() {
            let detail = format!("no answer within {} s", self.timeout.as_secs_f64());
            return (TransportError::Timeout, detail);
        }
        let kind = if error.is_decode() || error.is_body() {
            TransportError::Decoding
        } else {
            TransportError::Connection
        };
        (kind, http::causes(&error.without_url()))
    }
}

/// Texts for the server alone, which must not appear in reported errors: the key, and headers and fields that are as
/// good as one. Answers are not searched: a key is a word there.
pub struct Confidential(Vec<String>);

impl Confidential {
    /// The confidential texts of a connection.
    pub fn of(settings: &ChatSettings) -> Self {
        let key = settings.key.iter().map(|key| key.value.as_str());
        let headers = settings.headers.iter().filter(|(name, _)| is_confidential(name));
        // Of `Bearer KEY` a server may repeat the key alone.
        let headers = headers.filter_map(|(_, value)| value.split_whitespace().last());
        let mut fields = Vec::new();
        confidential_fields(&settings.body, &mut fields);
        let fields = fields.into_iter().chain(in_address(&settings.base_url));
        let secrets = key
            .chain(headers)
            .chain(fields)
            .filter(|secret| secret.len() >= SHORTEST);
        let mut secrets: Vec<String> = secrets
            .flat_map(|secret| [secret.to_owned(), secret.replace('/', "\\/")])
            .collect();
        secrets.sort_unstable_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets.dedup();
        Self(secrets)
    }

    /// The text of an error without them, where they stand as whole words.
    pub fn taken_out(&self, error: &[u8]) -> Vec<u8> {
        let mut error = error.to_owned();
        for secret in &self.0 {
            let mut rest = error.as_slice();
            let mut cleaned = Vec::new();
            let mut from = 0;
            while let Some(at) = memchr::memmem::find(rest.get(from..).unwrap_or_default(), secret.as_bytes())
            {
                let (before, after) = rest.split_at(from + at);
                let after = after.get(secret.len()..).unwrap_or_default();
                if goes_on_before(before) || after.first().is_some_and(|byte| is_of_word(*byte)) {
                    from += at + 1;
                    continue;
                }
                cleaned.extend_from_slice(before);
                cleaned.extend_from_slice(b"[REDACTED:api-key]");
                (rest, from) = (after, 0);
            }
            cleaned.extend_from_slice(rest);
            error = cleaned;
        }
        error
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns true if `text` ends inside a word. Escapes (`\n`, `\u000a`, `%20`) end a word, though they look like one.
fn goes_on_before(text: &[u8]) -> bool {
    let Some((last, before)) = text.split_last() else {
        return false;
    };
    let is_hex = |length: usize, lead: &[u8]| {
        let start = text.len().saturating_sub(length);
        let (before, digits) = text.split_at(start);
        before.ends_with(lead) && digits.iter().all(u8::is_ascii_hexdigit)
    };
    let is_escape = before.last() == Some(&b'\\') || is_hex(4, b"\\u") || is_hex(2, b"%");
    is_of_word(*last) && !is_escape
}

/// The texts of a body's fields that are as good as a key.
fn confidential_fields<'s>(fields: &'s Map<String, Value>, found: &mut Vec<&'s str>) {
    for (name, value) in fields {
        match value {
            Value::String(text) if is_confidential(name) => found.push(text),
            Value::Object(fields) => confidential_fields(fields, found),
            _ => {}
        }
    }
}

/// Parts of an address that are as good as a key: values of its query by their names, parts of its path by their form.
fn in_address(url: &str) -> impl Iterator<Item = &str> {
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let fields = query.split('&').filter_map(|field| field.split_once('='));
    let values = fields.filter_map(|(name, value)| is_confidential(name).then_some(value));
    // After the host; names of models and deployments have no capitals.
    let parts = path.split('/').skip(3).filter(|part| {
        let has = |is: fn(&u8) -> bool| part.as_bytes().iter().any(is);
        has(u8::is_ascii_digit) && (has(u8::is_ascii_uppercase) || part.len() >= 20 && !part.contains('-'))
    });
    values.chain(parts)
}

/// Returns true if a header or a field gives access.
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
/// If the settings are wrong.
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
        let wrong = || {
            let name = shown(name);
            format!("summarization.headers: {name} is no header, or its value none")
        };
        let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| wrong())?;
        value.set_sensitive(is_confidential(name));
        headers.insert(parsed, value);
    }
    Ok(headers)
}

/// The part of a header's name that may be shown: a name with other characters may hold its value as well.
fn shown(name: &str) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    match name.find(|c: char| !is_name(c)) {
        Some(end) => format!("{}…", name.get(..end).unwrap_or_default()),
        None => redact(name).0.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_that_is_all_in_its_name_is_not_said() {
        assert_eq!(shown("X-Api-Key: q7RtZ2mVx9LpK4wN"), "X-Api-Key…");
        assert_eq!(shown("X-Api-Key=q7RtZ2mVx9LpK4wN"), "X-Api-Key…");
        assert_eq!(shown("X-Title"), "X-Title");
    }

    #[test]
    fn a_key_is_taken_out_of_errors_as_a_whole_word_and_short_ones_stay() {
        let confidential = Confidential(vec!["s3cr3t-k3y".to_owned()]);
        let cleaned = |text: &str| String::from_utf8(confidential.taken_out(text.as_bytes())).unwrap();
        for around in [
            "{}",
            "key {}.",
            "Bearer {}",
            "\"{}\"",
            r"key:\n{}\n",
            r"\u0022{}\u0022",
            "?key=%20{}%20",
        ] {
            let text = around.replace("{}", "s3cr3t-k3y");
            let expected = around.replace("{}", "[REDACTED:api-key]");
            assert_eq!(cleaned(&text), expected);
        }
        for word in ["xs3cr3t-k3y", "s3cr3t-k3y2", "s3cr3t_k3y"] {
            assert_eq!(cleaned(word), word);
        }
        assert_eq!(
            cleaned("as3cr3t-k3y s3cr3t-k3y s3cr3t-k3y"),
            "as3cr3t-k3y [REDACTED:api-key] [REDACTED:api-key]"
        );
    }
}
