//! Settings of the hub, from the environment variables that Python's `huggingface_hub` reads.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The default server.
const ENDPOINT: &str = "https://huggingface.co";

/// Timeout of a connection and of each read, if `HF_HUB_DOWNLOAD_TIMEOUT` is not set.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Settings of downloads.
#[derive(Debug, PartialEq, Eq)]
pub struct HubSettings {
    /// The folder of the cache.
    pub cache: PathBuf,
    /// The server, without a slash at its end.
    pub endpoint: String,
    /// The access token.
    pub token: Option<String>,
    /// The variable that forbids downloads.
    pub offline_by: Option<&'static str>,
    /// Timeout of a connection and of each read.
    pub timeout: Duration,
    /// The certificates to trust instead of Mozilla's.
    pub certificates: Option<PathBuf>,
}

impl HubSettings {
    /// The settings of the environment.
    pub fn of_environment() -> Self {
        Self::of(|name| env::var_os(name), env::home_dir().as_deref())
    }

    /// Settings for a cache without downloads.
    #[cfg(test)]
    pub fn offline(cache: PathBuf) -> Self {
        Self {
            cache,
            offline_by: Some("HF_HUB_OFFLINE"),
            ..Self::of(|_| None, None)
        }
    }

    /// The settings of these variables. An empty variable counts as unset.
    pub fn of(variable: impl Fn(&str) -> Option<OsString>, user: Option<&Path>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let text = |name: &str| set(name).and_then(|value| value.into_string().ok());
        let path = |name: &str| {
            let path = PathBuf::from(set(name)?);
            match (path.strip_prefix("~"), user) {
                (Ok(below), Some(user)) => Some(user.join(below)),
                _ => Some(path),
            }
        };
        let is_on = |name: &str| {
            let value = text(name).unwrap_or_default().to_ascii_uppercase();
            matches!(value.as_str(), "1" | "ON" | "YES" | "TRUE")
        };
        let caches = || path("XDG_CACHE_HOME").or_else(|| user.map(|user| user.join(".cache")));
        let home = path("HF_HOME").or_else(|| caches().map(|caches| caches.join("huggingface")));
        let cache = path("HF_HUB_CACHE")
            .or_else(|| path("HUGGINGFACE_HUB_CACHE"))
            .or_else(|| home.as_ref().map(|home| home.join("hub")));
        let token_file = path("HF_TOKEN_PATH").or_else(|| home.as_ref().map(|home| home.join("token")));
        let token = text("HF_TOKEN")
            .or_else(|| text("HUGGING_FACE_HUB_TOKEN"))
            .or_else(|| read_token(&token_file?))
            .map(|token| token.trim().to_owned())
            .filter(|token| !token.is_empty() && !is_on("HF_HUB_DISABLE_IMPLICIT_TOKEN"));
        let seconds = text("HF_HUB_DOWNLOAD_TIMEOUT").and_then(|seconds| seconds.trim().parse().ok());
        let endpoint = text("HF_ENDPOINT").unwrap_or_else(|| ENDPOINT.to_owned());
        Self {
            cache: cache.unwrap_or_default(),
            endpoint: endpoint.trim_end_matches('/').to_owned(),
            token,
            offline_by: ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"]
                .into_iter()
                .find(|name| is_on(name)),
            timeout: seconds.map_or(TIMEOUT, Duration::from_secs),
            certificates: path("REQUESTS_CA_BUNDLE").or_else(|| path("SSL_CERT_FILE")),
        }
    }
}

fn read_token(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> HubSettings {
        let find = |name: &str| variables.iter().find(|(known, _)| *known == name);
        HubSettings::of(
            |name| find(name).map(|(_, value)| OsString::from(value)),
            Some(Path::new("/home/me")),
        )
    }

    #[test]
    fn the_cache_is_where_the_first_variable_says() {
        let cache = |variables| of(variables).cache;
        assert_eq!(cache(&[]), Path::new("/home/me/.cache/huggingface/hub"));
        assert_eq!(
            cache(&[("XDG_CACHE_HOME", "/x")]),
            Path::new("/x/huggingface/hub")
        );
        assert_eq!(
            cache(&[("HF_HOME", "~/hf"), ("XDG_CACHE_HOME", "/x")]),
            Path::new("/home/me/hf/hub")
        );
        assert_eq!(
            cache(&[("HF_HUB_CACHE", "/c"), ("HF_HOME", "/hf")]),
            Path::new("/c")
        );
        assert_eq!(
            cache(&[("HUGGINGFACE_HUB_CACHE", "/d"), ("HF_HUB_CACHE", "")]),
            Path::new("/d")
        );
    }

    #[test]
    fn a_token_comes_from_a_variable_or_a_file_unless_it_is_not_to_be_sent() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_str().unwrap();
        fs::write(folder.path().join("token"), " of-file\n").unwrap();
        fs::write(folder.path().join("other"), "of-other").unwrap();
        let other = format!("{home}/other");
        let token = |variables: &[(&str, &str)]| of(variables).token;
        assert_eq!(token(&[]), None);
        assert_eq!(token(&[("HF_HOME", home)]).as_deref(), Some("of-file"));
        assert_eq!(
            token(&[("HF_HOME", home), ("HF_TOKEN_PATH", &other)]).as_deref(),
            Some("of-other")
        );
        assert_eq!(
            token(&[("HF_HOME", home), ("HF_TOKEN", "of-variable\n")]).as_deref(),
            Some("of-variable")
        );
        assert_eq!(
            token(&[("HUGGING_FACE_HUB_TOKEN", "old")]).as_deref(),
            Some("old")
        );
        assert_eq!(
            token(&[("HF_TOKEN", "x"), ("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")]),
            None
        );
    }

    #[test]
    fn server_offline_and_timeout_are_read_as_python_reads_them() {
        let plain = of(&[]);
        assert_eq!(plain.endpoint, "https://huggingface.co");
        assert_eq!((plain.offline_by, plain.timeout), (None, TIMEOUT));
        let set = of(&[
            ("HF_ENDPOINT", "http://127.0.0.1:8080/"),
            ("HF_HUB_OFFLINE", "yes"),
            ("HF_HUB_DOWNLOAD_TIMEOUT", "3"),
        ]);
        assert_eq!(set.endpoint, "http://127.0.0.1:8080");
        assert_eq!(set.offline_by, Some("HF_HUB_OFFLINE"));
        assert_eq!(set.timeout, Duration::from_secs(3));
        assert_eq!(of(&[("HF_HUB_OFFLINE", "0")]).offline_by, None);
        assert_eq!(
            of(&[("TRANSFORMERS_OFFLINE", "True")]).offline_by,
            Some("TRANSFORMERS_OFFLINE")
        );
    }
}
