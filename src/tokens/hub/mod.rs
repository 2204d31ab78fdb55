//! Model repositories of the Hugging Face hub: their files, from the local cache or downloaded into it.
//!
//! The conventions are those of Python's `huggingface_hub`: its variables, its cache, its errors. Files in the cache
//! are used without a check for newer ones: a run gives the same result with and without a network.

mod answer;
mod cache;
mod error;
#[cfg_attr(not(feature = "hub"), path = "no_remote.rs")]
mod remote;
mod repository;
mod retry;
mod settings;

use std::path::PathBuf;
use std::sync::OnceLock;

use super::TokenizerError;
use answer::HubResponse;
use cache::HubCache;
use remote::Remote;
use retry::{DownloadFailure, retry};

pub use error::HubError;
pub use repository::Repository;
pub use settings::HubSettings;

/// The files that hold a tokenizer, in order of preference.
pub const FILES: [&str; 2] = ["tokenizer.json", RANKS];

const RANKS: &str = "tiktoken.model";
const CONFIG: &str = "tokenizer_config.json";

/// Files that belong to a tokenizer, if the repository has them: special tokens, chat templates.
const BESIDE: [&str; 5] = [
    CONFIG,
    "special_tokens_map.json",
    "chat_template.jinja",
    "chat_template.json",
    "additional_chat_templates/tool_use.jinja",
];

/// The local cache and the server.
pub struct Hub {
    settings: HubSettings,
    cache: HubCache,
    /// The server, set up at the first request.
    remote: OnceLock<Result<Remote, HubError>>,
}

impl Hub {
    /// The hub as set by environment variables.
    pub fn of_environment() -> Self {
        Self::new(HubSettings::of_environment())
    }

    /// A cache in this folder, without a server.
    #[cfg(test)]
    pub fn offline(root: PathBuf) -> Self {
        Self::new(HubSettings::offline(root))
    }

    fn new(settings: HubSettings) -> Self {
        let cache = HubCache::at(settings.cache.clone());
        Self {
            settings,
            cache,
            remote: OnceLock::new(),
        }
    }

    /// The tokenizer of a repository that `name` stands for, with all files that belong to it. It is downloaded only if
    /// `may_be`.
    ///
    /// # Errors
    ///
    /// It is not in the cache, and could not or must not be downloaded.
    pub fn tokenizer(
        &self,
        name: &str,
        repository: &Repository,
        may_be_downloaded: bool,
    ) -> Result<PathBuf, TokenizerError> {
        let known = FILES.map(|file| self.cache.find(repository, file));
        if let Some(found) = known.into_iter().flatten().next() {
            if may_be_downloaded && found.ends_with(RANKS) {
                // A rank file needs it to be complete.
                self.file(name, repository, CONFIG)?;
            }
            return Ok(found);
        }
        let missing = |why: &str| TokenizerError::NotCached {
            name: name.to_owned(),
            revision: repository.revision.clone(),
            wanted: self.cache.snapshot(repository).join("tokenizer.json"),
            why: why.to_owned(),
        };
        if !may_be_downloaded {
            return Err(missing("only `hf:` before a name downloads it"));
        }
        if let Some(variable) = self.settings.offline_by {
            return Err(missing(&format!("{variable} forbids to download it")));
        }
        for file in FILES {
            if let Some(found) = self.download(name, repository, file)? {
                for beside in BESIDE {
                    self.download(name, repository, beside)?;
                }
                return Ok(found);
            }
        }
        Err(self.error(name, repository, "tokenizer.json", HubError::NoTokenizer))
    }

    /// Completes the cache with the files that belong to the tokenizer of a repository, as far as the repository has
    /// them and they can be downloaded.
    pub fn fill(&self, name: &str, repository: &Repository) {
        for file in BESIDE {
            if self.file(name, repository, file).is_err() {
                // The next file would wait for the same server.
                return;
            }
        }
    }

    /// A file of a repository; `None` if the repository has none of that name, or it is not in the cache and downloads
    /// are forbidden.
    ///
    /// # Errors
    ///
    /// It could not be downloaded.
    pub fn file(
        &self,
        name: &str,
        repository: &Repository,
        file: &str,
    ) -> Result<Option<PathBuf>, TokenizerError> {
        let found = self.cache.find(repository, file);
        if found.is_some() || self.settings.offline_by.is_some() || self.cache.is_absent(repository, file) {
            return Ok(found);
        }
        // From the same commit as the other files.
        self.download(name, &self.cache.resolved(repository), file)
    }

    /// Downloads a file into the cache; `None` if the repository has none of that name.
    fn download(
        &self,
        name: &str,
        repository: &Repository,
        file: &str,
    ) -> Result<Option<PathBuf>, TokenizerError> {
        let remote = self.remote.get_or_init(|| Remote::new(&self.settings));
        let attempt = || match remote.as_ref().map_err(Clone::clone)?.ask(repository, file)? {
            HubResponse::Absent { commit } => {
                if let Some(commit) = commit {
                    self.cache.mark_absent(repository, &commit, file);
                }
                Ok(None)
            }
            HubResponse::Here(mut received) => self.cache.store(repository, file, &mut received).map(Some),
        };
        retry(attempt).map_err(|error| self.error(name, repository, file, error))
    }

    fn error(&self, name: &str, repository: &Repository, file: &str, source: HubError) -> TokenizerError {
        TokenizerError::Hub {
            name: name.to_owned(),
            url: repository.url(&self.settings.endpoint, file),
            wanted: self.cache.snapshot(repository).join(file),
            source,
        }
    }
}
