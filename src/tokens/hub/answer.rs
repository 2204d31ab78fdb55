//! The answer of a hub about one file.

use std::io::Read;

/// What the server has to say of a file.
pub enum Answer {
    /// The repository, at this commit, has none of that name.
    Absent {
        /// The commit, if the server says it.
        commit: Option<String>,
    },
    /// Here it is.
    Here(Received),
}

/// A file that is about to come.
pub struct Received {
    /// The commit that the revision stands for.
    pub commit: String,
    /// What the server calls the content: its name in the cache.
    pub etag: String,
    /// How long it is, if the server says it.
    pub length: Option<u64>,
    /// The content.
    pub body: Box<dyn Read>,
}
