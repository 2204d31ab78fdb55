//! Errors of downloading a file.

/// An error of the hub, the connection or the cache.
#[derive(Debug, Clone, thiserror::Error)]
pub enum HubError {
    /// No answer: no network, no such host, a timeout or a broken connection.
    #[error("no answer: {0}")]
    Unreachable(String),
    /// The server requires a login or denies access.
    #[error("the server refuses it (HTTP {status}): the repository is gated, private or does not exist")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The request had a token.
        with_token: bool,
    },
    /// There is no such repository.
    #[error("there is no such repository")]
    NoRepository,
    /// The repository has no such branch, tag or commit.
    #[error("the repository has no such revision")]
    NoRevision,
    /// The repository has no file that a tokenizer can be loaded from.
    #[error("the repository holds no tokenizer.json and no tiktoken.model")]
    NoTokenizer,
    /// An unexpected HTTP status.
    #[error("the server answers with HTTP {0}")]
    Status(u16),
    /// The answer does not come from a hub.
    #[error("the server does not answer as a hub does: {0}")]
    NoHub(&'static str),
    /// The content is not what was announced.
    #[error("the download is damaged: {0}")]
    Damaged(&'static str),
    /// The cache could not be written.
    #[error("the cache cannot be written: {0}")]
    Cache(String),
    /// The certificates named by a variable could not be used.
    #[error("the certificates in `{0}` cannot be used")]
    Certificates(String),
}

impl HubError {
    /// Advice on how to solve the error.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Unreachable(_) => {
                "check the network and HF_ENDPOINT; without a network, download the file elsewhere and give its path \
                 to `--tokenizer`"
            }
            Self::Refused {
                with_token: false, ..
            } => {
                "if it is gated or private, set HF_TOKEN to a token of an account that may read it, or log in with \
                 `hf auth login`"
            }
            Self::Refused { with_token: true, .. } => {
                "check the name, and that the account of HF_TOKEN has been given access on the repository's page"
            }
            Self::NoRepository | Self::NoRevision => {
                "check the name: `--tokenizer hf:OWNER/NAME` or `hf:OWNER/NAME@REVISION`"
            }
            Self::NoTokenizer => {
                "only fast tokenizers (tokenizer.json) and rank files can be loaded; another repository of the same \
                 model may have one"
            }
            Self::Status(_) | Self::NoHub(_) | Self::Damaged(_) => "try again later, and check HF_ENDPOINT",
            Self::Cache(_) => "set HF_HOME or HF_HUB_CACHE to a folder that can be written",
            Self::Certificates(_) => {
                "REQUESTS_CA_BUNDLE and SSL_CERT_FILE name a file of certificates in PEM form"
            }
        }
    }
}
