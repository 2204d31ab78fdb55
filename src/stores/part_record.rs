//! The record of an upload that is under way: what a run needs to go on with it after it was killed.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The ending of its name, after that of the file that is uploaded.
const ENDING: &str = ".upload";

/// The upload of a file.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartRecord {
    /// The identifier that the store gave to the upload; `None` before its first part.
    pub id: Option<String>,
    /// The identifiers of the parts that the store has, in order.
    pub parts: Vec<String>,
}

/// The path of the record of a file.
pub fn path_of(file: &Path) -> PathBuf {
    let mut path = file.as_os_str().to_owned();
    path.push(ENDING);
    PathBuf::from(path)
}

impl PartRecord {
    /// The record at `path`; `None` if there is none.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is none.
    pub fn read(path: &Path) -> io::Result<Option<Self>> {
        match fs::read(path) {
            Ok(text) => Ok(Some(serde_json::from_slice(&text)?)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Replaces the record at `path`; it is on the disk when this returns.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let next = path_of(path);
        let mut file = File::create(&next)?;
        file.write_all(&serde_json::to_vec(self)?)?;
        file.sync_data()?;
        fs::rename(&next, path)?;
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            // Some systems cannot sync a folder.
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        Ok(())
    }
}

/// Removes a file, if it exists.
pub fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
