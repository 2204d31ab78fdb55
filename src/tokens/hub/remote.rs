//! Requests for files to the server of the hub.

use std::fs;
use std::time::Duration;

use super::answer::{HubResponse, ReceivedFile};
use super::settings::HubSettings;
use super::{DownloadFailure, HubError, Repository};
use crate::http::{Certificate, HeaderMap, Response, WaitingClient, causes, waiting_client};

/// Maximum number of redirects followed.
const MOST_REDIRECTS: usize = 8;

/// The server named by the settings.
pub struct Remote {
    endpoint: String,
    token: Option<String>,
    client: WaitingClient,
}

impl Remote {
    /// Sets up a client with these settings; no connection is made yet.
    pub fn new(settings: &HubSettings) -> Result<Self, HubError> {
        let certificates = certificates(settings)?;
        // Redirects are followed here: the first responses have headers that the last one lacks.
        let client = waiting_client(&settings.endpoint, settings.timeout, certificates.as_deref());
        Ok(Self {
            endpoint: settings.endpoint.clone(),
            token: settings.token.clone(),
            client: client.map_err(HubError::Unreachable)?,
        })
    }

    /// Requests a file.
    pub fn ask(&self, repository: &Repository, file: &str) -> Result<HubResponse, DownloadFailure> {
        let mut url = repository.url(&self.endpoint, file);
        let home = origin(&url).to_owned();
        let mut known = KnownFile::default();
        for _ in 0..=MOST_REDIRECTS {
            let is_at_home = origin(&url) == home;
            let mut request = self.client.get(&url);
            // The token is not sent to other hosts that the hub redirects to.
            if let Some(token) = self.token.as_ref().filter(|_| is_at_home) {
                request = request.bearer_auth(token);
            }
            let response = request.send().map_err(|error| {
                let unreachable = HubError::Unreachable(causes(&error.without_url()));
                DownloadFailure::Passing(unreachable, None)
            })?;
            if is_at_home {
                known.learn(response.headers());
            }
            let status = response.status().as_u16();
            match status {
                200 => return Ok(HubResponse::Here(known.received(response)?)),
                301 | 302 | 303 | 307 | 308 => {
                    let next = header(response.headers(), "location");
                    let next = next.ok_or(HubError::NoHub("a redirect leads nowhere"))?;
                    url = if next.starts_with('/') {
                        format!("{}{next}", origin(&url))
                    } else {
                        next
                    };
                }
                404 if is_at_home => return known.not_found(response.headers()),
                401 | 403 if is_at_home => {
                    let with_token = self.token.is_some();
                    return Err(HubError::Refused { status, with_token }.into());
                }
                408 | 429 | 500..=599 => {
                    let seconds =
                        header(response.headers(), "retry-after").and_then(|wish| wish.parse().ok());
                    return Err(DownloadFailure::Passing(
                        HubError::Status(status),
                        seconds.map(Duration::from_secs),
                    ));
                }
                _ => return Err(HubError::Status(status).into()),
            }
        }
        Err(HubError::NoHub("it redirects without end").into())
    }
}

/// The data about a file in the hub's own responses; other servers that it redirects to may send different data.
#[derive(Default)]
struct KnownFile {
    commit: Option<String>,
    etag: Option<String>,
    length: Option<u64>,
}

impl KnownFile {
    fn learn(&mut self, headers: &HeaderMap) {
        let commit = header(headers, "x-repo-commit");
        self.commit = commit.or_else(|| self.commit.take());
        let etag = header(headers, "x-linked-etag").or_else(|| header(headers, "etag"));
        let plain = |etag: String| etag.trim_start_matches("W/").trim_matches('"').to_owned();
        self.etag = etag.map(plain).or_else(|| self.etag.take());
        let length = header(headers, "x-linked-size").and_then(|length| length.parse().ok());
        self.length = length.or(self.length);
    }

    fn received(self, response: Response) -> Result<ReceivedFile, HubError> {
        let is_name = |text: &String| {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
            !text.is_empty() && !text.starts_with('.') && text.len() <= 128 && text.bytes().all(is_plain)
        };
        // A login page or proxy answers with a web page for people; it must not get into the cache.
        if header(response.headers(), "content-type").is_some_and(|kind| kind.starts_with("text/html")) {
            return Err(HubError::NoHub("it answers with a web page"));
        }
        let said = header(response.headers(), "content-length").and_then(|length| length.parse().ok());
        Ok(ReceivedFile {
            commit: self
                .commit
                .filter(is_name)
                .ok_or(HubError::NoHub("it does not say the commit (X-Repo-Commit)"))?,
            etag: self
                .etag
                .filter(is_name)
                .ok_or(HubError::NoHub("it does not name the content (ETag)"))?,
            length: self.length.or(said),
            body: Box::new(response),
        })
    }

    fn not_found(self, headers: &HeaderMap) -> Result<HubResponse, DownloadFailure> {
        match header(headers, "x-error-code").as_deref() {
            Some("RepoNotFound") => Err(HubError::NoRepository.into()),
            Some("RevisionNotFound") => Err(HubError::NoRevision.into()),
            _ => Ok(HubResponse::Absent { commit: self.commit }),
        }
    }
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    Some(headers.get(name)?.to_str().ok()?.trim().to_owned())
}

/// Scheme, host and port of a URL.
fn origin(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    let rest = url.get(host..).unwrap_or_default();
    let end = rest.find('/').map_or(url.len(), |at| host + at);
    url.get(..end).unwrap_or_default()
}

/// The certificates in the file that a variable names, used in place of the system's.
fn certificates(settings: &HubSettings) -> Result<Option<Vec<Certificate>>, HubError> {
    let Some(path) = &settings.certificates else {
        return Ok(None);
    };
    let read = fs::read(path)
        .ok()
        .and_then(|bytes| Certificate::from_pem_bundle(&bytes).ok());
    let read = read.filter(|certificates| !certificates.is_empty());
    let error = || HubError::Certificates(path.display().to_string());
    Ok(Some(read.ok_or_else(error)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_origin_is_all_before_the_path() {
        assert_eq!(origin("http://h:1/a/b"), "http://h:1");
        assert_eq!(origin("https://h"), "https://h");
        assert_eq!(origin("nonsense"), "nonsense");
    }
}
