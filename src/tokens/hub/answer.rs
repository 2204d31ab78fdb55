//! The answer of a hub about one file.

use std::io::Read;

/// The answer of the server for a file.
pub enum HubResponse {
    /// The repository has no file of that name at this commit.
    Absent {
        /// The commit, if the server sends it.
        commit: Option<String>,
    },
    /// The file, ready to be received.
    Here(ReceivedFile),
}

/// A file whose content has not been read yet.
pub struct ReceivedFile {
    /// The commit that the revision stands for.
    pub commit: String,
    /// The name of the content at the server, and in the cache.
    pub etag: String,
    /// The length in bytes, if the server sends it.
    pub length: Option<u64>,
    /// The content.
    pub body: Box<dyn Read>,
}
