//! What can go wrong while a tokenizer is loaded, in words that help.

use std::io;
use std::path::PathBuf;

use super::load::BUILT_IN;

/// Why there is no tokenizer.
#[derive(Debug, thiserror::Error)]
pub enum TokenizerError {
    /// The name is no built-in encoding, no path and no repository.
    #[error("unknown tokenizer `{name}`: built in are {}", BUILT_IN.join(" and "))]
    Unknown {
        /// As the user gave it.
        name: String,
        /// The built-in encoding with the nearest name.
        nearest: &'static str,
    },
    /// Nothing is at the path.
    #[error("tokenizer file `{}` does not exist", path.display())]
    NoFile {
        /// The path as the user gave it.
        path: PathBuf,
    },
    /// The folder has no tokenizer in it.
    #[error("folder `{}` holds no tokenizer.json", path.display())]
    NoFileInFolder {
        /// The path as the user gave it.
        path: PathBuf,
    },
    /// The repository's name or revision cannot be one.
    #[error("`{name}` is no repository: {reason}")]
    BadRepository {
        /// As the user gave it.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The repository, or this revision of it, has never been downloaded.
    #[error("tokenizer `{name}`: no tokenizer.json of revision `{revision}` in the local cache (looked for {})", wanted.display())]
    NotCached {
        /// As the user gave it.
        name: String,
        /// The branch, tag or commit.
        revision: String,
        /// The file that would have been read.
        wanted: PathBuf,
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
            Self::Unknown { nearest, .. } => format!(
                "did you mean `--tokenizer {nearest}`? A path to a tokenizer.json, a folder that holds one, or \
                 hf:OWNER/NAME are possible too"
            ),
            Self::NoFile { .. } | Self::NoFileInFolder { .. } => {
                "give `--tokenizer` the path of a tokenizer.json or of a folder that holds one".to_owned()
            }
            Self::BadRepository { .. } => {
                "give `--tokenizer` a repository as hf:OWNER/NAME or hf:OWNER/NAME@REVISION".to_owned()
            }
            Self::NotCached { .. } => {
                "download the repository's tokenizer.json and give its path to `--tokenizer`, \
                or set HF_HOME or HF_HUB_CACHE to the cache that holds it"
                    .to_owned()
            }
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
