//! HTTP clients, all built alike: TLS by rustls, the system's certificates, no redirects.

use std::time::Duration;

pub use reqwest::Certificate;
pub use reqwest::blocking::{Client as WaitingClient, Response};
pub use reqwest::header::HeaderMap;

/// The longest time that connecting may take.
const CONNECT: Duration = Duration::from_secs(10);

/// Builds a client for `url`: pooled connections, no redirects, the proxies of the environment (none for this machine
/// itself). It trusts the system's certificates, a company's own included; if there are none at all, as in small
/// containers, those that Mozilla trusts.
///
/// # Errors
///
/// The system's message, if no client can be made.
pub fn client(url: &str) -> Result<reqwest::Client, String> {
    with_roots(|| builder(url), reqwest::ClientBuilder::build)
}

/// Builds a client that moves large bodies: as [`client`], and a server that sends nothing for so long is given up.
///
/// # Errors
///
/// The system's message, if no client can be made.
#[cfg(feature = "stores")]
pub fn transfer_client(url: &str) -> Result<reqwest::Client, String> {
    with_roots(
        || builder(url).read_timeout(SILENCE),
        reqwest::ClientBuilder::build,
    )
}

/// The longest time that a server may be silent while it answers a request of a store.
#[cfg(feature = "stores")]
const SILENCE: Duration = Duration::from_secs(30);

/// Builds a blocking client: each step of a request may take `timeout`. `certificates` replace the system's.
///
/// # Errors
///
/// The system's message, if no client can be made.
pub fn waiting_client(
    url: &str,
    timeout: Duration,
    certificates: Option<&[Certificate]>,
) -> Result<WaitingClient, String> {
    let build = |builder: reqwest::ClientBuilder| {
        let waiting: reqwest::blocking::ClientBuilder = builder.connect_timeout(timeout).into();
        waiting.timeout(timeout).build()
    };
    match certificates {
        Some(own) => build(builder(url).tls_certs_only(own.to_vec())).map_err(|error| causes(&error)),
        None => with_roots(|| builder(url), build),
    }
}

/// The settings that all clients share.
fn builder(url: &str) -> reqwest::ClientBuilder {
    // A provider that was installed before serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = reqwest::Client::builder()
        .user_agent(concat!("trajfit/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT)
        .redirect(reqwest::redirect::Policy::none());
    if is_local(url) {
        builder.no_proxy()
    } else {
        builder
    }
}

/// Builds a client with the system's certificates or, if it has none, with those that Mozilla trusts.
fn with_roots<C>(
    builder: impl Fn() -> reqwest::ClientBuilder,
    build: impl Fn(reqwest::ClientBuilder) -> reqwest::Result<C>,
) -> Result<C, String> {
    let built = build(builder()).or_else(|_| {
        let certificates = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter();
        let certificates = certificates.filter_map(|der| Certificate::from_der(der).ok());
        build(builder().tls_certs_only(certificates))
    });
    built.map_err(|error| causes(&error))
}

/// The message of an error, with those of its causes.
pub fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        if !text.contains(&message) {
            text.push_str(": ");
            text.push_str(&message);
        }
        cause = error.source();
    }
    text
}

/// An address as it may be shown: without user, password, values of its query, and parts of its path that may be keys.
pub fn shown(url: &str) -> String {
    let (scheme, rest) = url
        .split_once("://")
        .map_or(("", url), |(scheme, _)| url.split_at(scheme.len() + 3));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = if scheme.is_empty() && !is_plain(host) && !host.contains(['.', ':']) {
        HIDDEN
    } else {
        host
    };
    let path = rest.get(authority.len()..).unwrap_or_default();
    let end = path.find(['?', '#']).unwrap_or(path.len());
    let (path, query) = path.split_at(end);
    let path = path
        .split('/')
        .map(|part| if is_plain(part) { part } else { HIDDEN });
    let path = path.collect::<Vec<_>>().join("/");
    let query = if query.is_empty() { "" } else { "?…" };
    format!("{scheme}{host}{path}{query}")
}

/// The text in place of a hidden part of an address.
const HIDDEN: &str = "…";

/// Returns true if a part of a path is a word or a version, and so no key.
fn is_plain(part: &str) -> bool {
    let is_word = |part: &str| {
        part.bytes()
            .all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'_' | b'.'))
    };
    let is_version = |part: &str| {
        part.strip_prefix('v')
            .is_some_and(|rest| is_word(rest.trim_matches(|c: char| c.is_ascii_digit())) && rest.len() <= 8)
    };
    part.len() <= 24 && (is_word(part) || is_version(part))
}

fn is_local(url: &str) -> bool {
    let Ok(url) = reqwest::Url::parse(url) else {
        return false;
    };
    url.host_str().is_some_and(|host| {
        let host = host.trim_matches(['[', ']']);
        let address = host.parse::<std::net::IpAddr>();
        host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_known_by_its_names() {
        for url in [
            "http://localhost:8000/v1",
            "http://127.0.0.1/",
            "http://[::1]:80/x",
        ] {
            assert!(is_local(url), "{url}");
        }
        assert!(!is_local("https://localhost.example.com/") && !is_local("nonsense"));
    }

    #[test]
    fn an_address_is_told_without_user_and_password() {
        for (url, told) in [
            ("http://me:word@h:1/v1", "http://h:1/v1"),
            ("http://me:w@rd@h/v1?a@b", "http://h/v1?…"),
            (
                "https://h/openai/v1beta2/chat-completions",
                "https://h/openai/v1beta2/chat-completions",
            ),
            ("https://h/k/3Fq8Lz/v1/?api-version=1#x", "https://h/k/…/v1/?…"),
            ("http://h", "http://h"),
            ("localhost:8000/v1", "localhost:8000/v1"),
            ("nonsense", "nonsense"),
            ("sk-3Fq8LzZ81aQ", "…"),
        ] {
            assert_eq!(shown(url), told);
        }
    }

    #[test]
    fn a_client_can_be_made() {
        assert!(client("https://example.com").is_ok());
        let second = Duration::from_secs(1);
        assert!(waiting_client("https://example.com", second, None).is_ok());
        assert!(waiting_client("https://example.com", second, Some(&[])).is_ok());
    }
}
