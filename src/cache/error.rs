//! Why the answers on disk cannot be had, in words that help.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Why a cache cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CacheError {
    /// It is a database no more.
    #[error("the cache {} is damaged: {cause}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        cause: String,
    },
    /// It is another program's.
    #[error("{} is no cache of answers", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A later version wrote it.
    #[error("a later version of trajfit wrote the cache {}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
    },
    /// It may be read only.
    #[error("the cache {} may be read only, so that nothing could be kept in it", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The system has something against it.
    #[error("cannot {doing} the cache {}: {cause}", path.display())]
    Cannot {
        /// What could not be done.
        doing: &'static str,
        /// The file, or its folder.
        path: PathBuf,
        /// What the system says.
        cause: String,
    },
}

impl CacheError {
    /// Something that the system would not do.
    pub fn cannot(doing: &'static str, path: &Path, error: &io::Error) -> Self {
        Self::Cannot {
            doing,
            path: path.to_owned(),
            cause: error.to_string(),
        }
    }

    /// What the database says of a file.
    pub fn of(path: &Path, error: &rusqlite::Error) -> Self {
        let path = path.to_owned();
        let cause = cause(error);
        match error.sqlite_error_code() {
            // Unknown to the wrapper is what names no table or column that is there.
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt | ErrorCode::Unknown) => {
                Self::Damaged { path, cause }
            }
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { path },
            _ => Self::Cannot {
                doing: "open",
                path,
                cause,
            },
        }
    }

    /// What to do, in a run that would use it.
    pub fn help(&self) -> String {
        let prune = |path: &Path| {
            let folder = path.parent().unwrap_or(path);
            format!("trajfit cache prune {} --all", folder.display())
        };
        match self {
            Self::Damaged { path, .. } => {
                format!("make it anew by {}, or go on without it by --no-cache", prune(path))
            }
            Self::Foreign { .. } => "name another folder with --cache, or none with --no-cache".to_owned(),
            Self::Newer { .. } => {
                "use that version, name another folder with --cache, or go on without by --no-cache".to_owned()
            }
            Self::ReadOnly { .. } | Self::Cannot { .. } => {
                "check that the folder is writable and on a local disk, name another with --cache, or go on without by --no-cache"
                    .to_owned()
            }
        }
    }
}

/// What the database says, in one line.
pub fn cause(error: &rusqlite::Error) -> String {
    let text = match error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
        other => other.to_string(),
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
