//! Errors of the answer cache, with advice.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// The cache cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CacheError {
    /// The file is damaged.
    #[error("the cache {} is damaged: {cause}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The damage found.
        cause: String,
    },
    /// The file belongs to another program.
    #[error("{} is no cache of answers", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file was written by a later version.
    #[error("a later version of trajfit wrote the cache {}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
    },
    /// The file is read-only.
    #[error("the cache {} may be read only, so that nothing could be kept in it", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// An operation failed.
    #[error("cannot {doing} the cache {}: {cause}", path.display())]
    Cannot {
        /// The operation.
        doing: &'static str,
        /// The file, or its folder.
        path: PathBuf,
        /// The error of the operating system.
        cause: String,
    },
}

impl CacheError {
    /// An operation that the operating system refused.
    pub fn cannot(doing: &'static str, path: &Path, error: &io::Error) -> Self {
        Self::Cannot {
            doing,
            path: path.to_owned(),
            cause: error.to_string(),
        }
    }

    /// The error of the database for a file.
    pub fn of(path: &Path, error: &rusqlite::Error) -> Self {
        let path = path.to_owned();
        let cause = cause(error);
        match error.sqlite_error_code() {
            // `Unknown` is the code for a missing table or column.
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

    /// Advice, for a run that would use the cache.
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

/// The database's error message, in one line.
pub fn cause(error: &rusqlite::Error) -> String {
    let text = match error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
        other => other.to_string(),
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
