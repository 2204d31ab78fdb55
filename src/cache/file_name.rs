//! The names of the files that a cache consists of.

use std::path::{Path, PathBuf};

/// The file's name in its folder.
pub const FILE: &str = "answers.sqlite";

/// The files that one cache consists of.
pub fn files(folder: &Path) -> [PathBuf; 3] {
    ["", "-wal", "-shm"].map(|ending| folder.join(format!("{FILE}{ending}")))
}
