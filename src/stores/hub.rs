//! Data sets of the Hugging Face hub: the addresses of their files, and the files of a folder.

use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;

use super::fault::StoreFault;
use super::location::{Location, Service};
use super::web::Address;
use crate::tokens::HubSettings;

/// The settings of the environment, unless it forbids downloads.
fn settings() -> io::Result<HubSettings> {
    let settings = HubSettings::of_environment();
    match settings.offline_by {
        None => Ok(settings),
        Some(variable) => Err(StoreFault::io(
            ErrorKind::PermissionDenied,
            format!("{variable} forbids to download it"),
            "unset it, or name a file that is on this machine",
        )),
    }
}

/// The address of a file of a data set.
pub fn address(location: &Location) -> io::Result<Arc<Address>> {
    let settings = settings()?;
    let (name, revision) = name_and_revision(location);
    let (endpoint, key) = (&settings.endpoint, escaped(&location.key));
    let url = format!("{endpoint}/datasets/{name}/resolve/{revision}/{key}");
    Address::of(url, settings.token, Service::Hub)
}

/// A file or folder of a data set.
#[derive(Deserialize)]
struct HubEntry {
    #[serde(rename = "type")]
    kind: String,
    path: String,
}

/// The files below a folder of a data set, in the order of their names.
pub fn list(location: &Location) -> io::Result<Vec<PathBuf>> {
    let settings = settings()?;
    let (name, revision) = name_and_revision(location);
    let key = escaped(location.key.trim_end_matches('/'));
    let mut page = Some(format!(
        "{}/api/datasets/{name}/tree/{revision}/{key}?recursive=true",
        settings.endpoint
    ));
    let mut paths = Vec::new();
    while let Some(url) = page {
        // A next page elsewhere would be sent the token.
        if !is_same_server(&url, &settings.endpoint) {
            return Err(io::Error::other("the hub's list leads to another server"));
        }
        let (text, next) = Address::of(url, settings.token.clone(), Service::Hub)?.page()?;
        let entries: Vec<HubEntry> = serde_json::from_str(&text)
            .map_err(|_| io::Error::other("the server does not answer as a hub does"))?;
        paths.extend(
            entries
                .into_iter()
                .filter(|entry| entry.kind == "file")
                .map(|entry| entry.path),
        );
        page = next;
    }
    paths.sort();
    Ok(paths.iter().map(|path| location.with_key(path).url()).collect())
}

/// Returns true if two addresses are of one server: `https://hub.example.net` begins as `https://hub.example` does, and is another.
fn is_same_server(one: &str, other: &str) -> bool {
    let origin = |url: &str| Some(reqwest::Url::parse(url).ok()?.origin());
    origin(one).is_some_and(|one| Some(one) == origin(other))
}

/// The name of a data set, and its revision as one part of a path.
fn name_and_revision(location: &Location) -> (&str, String) {
    let (name, revision) = location
        .bucket
        .split_once('@')
        .unwrap_or((&location.bucket, "main"));
    (name, revision.replace('/', "%2F"))
}

/// A path of a URL.
fn escaped(path: &str) -> String {
    let escape = |byte: u8| {
        if byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    path.bytes().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_to_one_server() {
        let hub = "https://hub.example";
        assert!(is_same_server("https://hub.example/api?cursor=a", hub));
        for other in [
            "https://hub.example.net/",
            "https://hub.example@h/",
            "http://hub.example/",
            "nonsense",
        ] {
            assert!(!is_same_server(other, hub), "{other}");
        }
    }

    #[test]
    fn a_path_is_escaped() {
        assert_eq!(escaped("a/b c%20#é.jsonl"), "a/b%20c%2520%23%C3%A9.jsonl");
    }
}
