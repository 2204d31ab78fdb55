//! The names of a cache's files.

use std::path::{Path, PathBuf};

/// The name of the database file.
pub const FILE: &str = "answers.sqlite";

/// The paths of all files of a cache.
pub fn files(folder: &Path) -> [PathBuf; 3] {
    ["", "-wal", "-shm"].map(|ending| folder.join(format!("{FILE}{ending}")))
}
