//! Errors of loading a tokenizer, with advice.

use std::io;
use std::path::PathBuf;

use super::encodings::BUILT_IN;
use super::hub::HubError;
use super::ranks;

/// The tokenizer could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenizerError {
    /// The name is not a built-in encoding, a path or a repository.
    #[error("unknown tokenizer `{name}`: built in are {}", BUILT_IN.join(" and "))]
    Unknown {
        /// The name as the user gave it.
        name: String,
        /// The most similar known tokenizer.
        meant: Option<&'static str>,
    },
    /// There is no file at the path.
    #[error("tokenizer file `{}` does not exist", path.display())]
    NoFile {
        /// The path as the user gave it.
        path: PathBuf,
    },
    /// The folder contains no tokenizer.
    #[error("folder `{}` holds no tokenizer.json and no rank file", path.display())]
    NoFileInFolder {
        /// The path as the user gave it.
        path: PathBuf,
    },
    /// The folder contains several rank files.
    #[error("folder `{}` holds several rank files: {}", path.display(), names.join(", "))]
    SeveralInFolder {
        /// The path as the user gave it.
        path: PathBuf,
        /// Their names, sorted.
        names: Vec<String>,
    },
    /// The name or revision of the repository is not valid.
    #[error("`{name}` is no repository: {reason}")]
    BadRepository {
        /// The name as the user gave it.
        name: String,
        /// The reason why it is not valid.
        reason: &'static str,
    },
    /// The repository, or this revision of it, is not in the cache, and must not be downloaded.
    #[error("tokenizer `{name}`: no tokenizer.json of revision `{revision}` in the local cache (looked for {}); {why}", wanted.display())]
    NotCached {
        /// The name as the user gave it.
        name: String,
        /// The branch, tag or commit.
        revision: String,
        /// The path of the missing file.
        wanted: PathBuf,
        /// The reason why it is not downloaded.
        why: String,
    },
    /// The repository is not in the cache, and could not be downloaded.
    #[error("tokenizer `{name}`: cannot download {url}: {source} (looked for {} first)", wanted.display())]
    Hub {
        /// The name as the user gave it.
        name: String,
        /// The URL of the file.
        url: String,
        /// The path of the missing file in the cache.
        wanted: PathBuf,
        /// The error of the hub.
        source: HubError,
    },
    /// The file could not be read.
    #[error("cannot read tokenizer file `{}`: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file is not a tokenizer that any engine can load.
    #[error("`{}` is not a usable tokenizer.json: {reason}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// The message of the engine.
        reason: String,
    },
    /// The file is not a rank file that the own engine can load.
    #[error("`{}` is not a usable rank file: {reason}", path.display())]
    BrokenRanks {
        /// The file.
        path: PathBuf,
        /// The reason why it cannot be loaded.
        reason: String,
    },
    /// The split pattern for the ranks is not known.
    #[error("the split pattern of rank file `{}` is not known", path.display())]
    UnknownRanks {
        /// The file.
        path: PathBuf,
    },
    /// There is no split pattern of this name.
    #[error("unknown split pattern `{pattern}` in `{name}`: known are {}", ranks::NAMES.join(", "))]
    UnknownPattern {
        /// The name as the user gave it.
        name: String,
        /// The text after the `#`.
        pattern: String,
    },
    /// A built-in encoding could not be set up.
    #[error("built-in tokenizer `{name}` cannot be set up: {reason}")]
    BuiltIn {
        /// The encoding.
        name: &'static str,
        /// The message of the error.
        reason: String,
    },
}

impl TokenizerError {
    /// Advice on how to solve the error.
    pub fn help(&self) -> String {
        match self {
            Self::Unknown { meant: Some(meant), .. } => format!(
                "did you mean `--tokenizer {meant}`? A path to a tokenizer.json, a folder that holds one, or \
                 hf:OWNER/NAME are possible too"
            ),
            Self::Unknown { meant: None, .. } => {
                "name the tokenizer of the model to be trained: `--tokenizer hf:OWNER/NAME`, or the path of a \
                 tokenizer.json or of a folder that holds one"
                    .to_owned()
            }
            Self::NoFile { .. } | Self::NoFileInFolder { .. } => {
                "give `--tokenizer` the path of a tokenizer.json or of a folder that holds one".to_owned()
            }
            Self::SeveralInFolder { path, names } => {
                let first = names.first().map(|name| path.join(name)).unwrap_or_default();
                format!(
                    "give `--tokenizer` the path of one of them: `{}`",
                    first.display()
                )
            }
            Self::BrokenRanks { .. } => {
                "download the file anew; a rank file has a line for each token: base64, a space, the rank"
                    .to_owned()
            }
            Self::UnknownRanks { path } => format!(
                "name it: `--tokenizer '{}#NAME'`, where NAME is one of {}",
                path.display(),
                ranks::NAMES.join(", ")
            ),
            Self::UnknownPattern { .. } => "name one of these after the `#`".to_owned(),
            Self::BadRepository { .. } => {
                "give `--tokenizer` a repository as hf:OWNER/NAME or hf:OWNER/NAME@REVISION".to_owned()
            }
            Self::NotCached { name, .. } => {
                let name = name.strip_prefix("hf:").unwrap_or(name);
                format!(
                    "download it: `--tokenizer hf:{name}` with a network and without HF_HUB_OFFLINE; or give the path of \
                     its tokenizer.json, or set HF_HOME or HF_HUB_CACHE to the cache that holds it"
                )
            }
            Self::Hub { source, .. } => source.help().to_owned(),
            Self::Read { .. } => "check the permissions, or give `--tokenizer` another file".to_owned(),
            Self::Broken { .. } => {
                "download the file anew, or give `--tokenizer` another one; it has to be the \
                tokenizer.json of a fast tokenizer"
                    .to_owned()
            }
            Self::BuiltIn { .. } => "give `--tokenizer` the path of a tokenizer.json instead".to_owned(),
        }
    }
}
