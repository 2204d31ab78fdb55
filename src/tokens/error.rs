//! What can go wrong while a tokenizer is loaded, in words that help.

use std::io;
use std::path::PathBuf;

use super::encodings::BUILT_IN;
use super::hub::HubError;
use super::ranks;

/// Why there is no tokenizer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenizerError {
    /// The name is no built-in encoding, no path and no repository.
    #[error("unknown tokenizer `{name}`: built in are {}", BUILT_IN.join(" and "))]
    Unknown {
        /// As the user gave it.
        name: String,
        /// The tokenizer that was probably meant.
        meant: Option<&'static str>,
    },
    /// Nothing is at the path.
    #[error("tokenizer file `{}` does not exist", path.display())]
    NoFile {
        /// The path as the user gave it.
        path: PathBuf,
    },
    /// The folder has no tokenizer in it.
    #[error("folder `{}` holds no tokenizer.json and no rank file", path.display())]
    NoFileInFolder {
        /// The path as the user gave it.
        path: PathBuf,
    },
    /// The folder has several rank files in it.
    #[error("folder `{}` holds several rank files: {}", path.display(), names.join(", "))]
    SeveralInFolder {
        /// The path as the user gave it.
        path: PathBuf,
        /// Their names, sorted.
        names: Vec<String>,
    },
    /// The repository's name or revision cannot be one.
    #[error("`{name}` is no repository: {reason}")]
    BadRepository {
        /// As the user gave it.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The repository, or this revision of it, is not in the cache, and not to be downloaded.
    #[error("tokenizer `{name}`: no tokenizer.json of revision `{revision}` in the local cache (looked for {}); {why}", wanted.display())]
    NotCached {
        /// As the user gave it.
        name: String,
        /// The branch, tag or commit.
        revision: String,
        /// The file that would have been read.
        wanted: PathBuf,
        /// Why it is not downloaded.
        why: String,
    },
    /// The repository is not in the cache, and cannot be downloaded.
    #[error("tokenizer `{name}`: cannot download {url}: {source} (looked for {} first)", wanted.display())]
    Hub {
        /// As the user gave it.
        name: String,
        /// Where it should be.
        url: String,
        /// Where it was looked for.
        wanted: PathBuf,
        /// Why.
        source: HubError,
    },
    /// The file is there but cannot be read.
    #[error("cannot read tokenizer file `{}`: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is no tokenizer that any engine here can load.
    #[error("`{}` is not a usable tokenizer.json: {reason}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What the engine says.
        reason: String,
    },
    /// The file is no rank file that the own engine can load.
    #[error("`{}` is not a usable rank file: {reason}", path.display())]
    BrokenRanks {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Nothing says which split pattern belongs to the ranks.
    #[error("the split pattern of rank file `{}` is not known", path.display())]
    UnknownRanks {
        /// The file.
        path: PathBuf,
    },
    /// There is no split pattern of this name.
    #[error("unknown split pattern `{pattern}` in `{name}`: known are {}", ranks::NAMES.join(", "))]
    UnknownPattern {
        /// As the user gave it.
        name: String,
        /// What stands after the `#`.
        pattern: String,
    },
    /// A built-in encoding could not be set up.
    #[error("built-in tokenizer `{name}` cannot be set up: {reason}")]
    BuiltIn {
        /// The encoding.
        name: &'static str,
        /// What failed.
        reason: String,
    },
}

impl TokenizerError {
    /// What the user can do about it.
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
