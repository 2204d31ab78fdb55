//! Files and objects that are there already: outputs of earlier runs, and inputs, which no run overwrites.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::file_names::{PARTIAL, appended};
use crate::pipeline::{RunError, Source};
use crate::stores::{self, ObjectReader};

/// Returns the first of the paths at which there is anything, even a dangling link.
pub fn first_taken<'p>(paths: &[&'p Path]) -> Result<Option<&'p Path>, RunError> {
    let (urls, files): (Vec<&Path>, Vec<&Path>) = paths.iter().partition(|path| stores::is_url(path));
    if let Some(file) = files.into_iter().find(|path| path.symlink_metadata().is_ok()) {
        return Ok(Some(file));
    }
    let owned: Vec<PathBuf> = urls.iter().map(|url| url.to_path_buf()).collect();
    let Some(first) = urls.first() else {
        return Ok(None);
    };
    let exist = stores::exist(&owned).map_err(|error| RunError::output(first, &error))?;
    Ok(urls
        .into_iter()
        .zip(exist)
        .find_map(|(url, exists)| exists.then_some(url)))
}

/// Returns true if a file or an object is at `path`.
pub fn exists(path: &Path) -> bool {
    if stores::is_url(path) {
        return stores::exist(&[path.to_owned()]).is_ok_and(|exist| exist.contains(&true));
    }
    path.exists()
}

/// The content of a file or an object.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    if stores::is_url(path) {
        return stores::read(path);
    }
    std::fs::read(path)
}

/// Opens a file or an object to read it from its beginning.
pub fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    Ok(if stores::is_url(path) {
        Box::new(ObjectReader::of(&*stores::object(path)?))
    } else {
        Box::new(File::open(path)?)
    })
}

/// Removes a file or an object, if it exists.
pub fn remove(path: &Path) -> io::Result<()> {
    if stores::is_url(path) {
        return stores::remove(path);
    }
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Refuses to write files that are inputs.
pub fn refuse_inputs(files: impl Iterator<Item = PathBuf>, sources: &[Source]) -> Result<(), RunError> {
    let path_of = |source: &Source| {
        let stdin = || PathBuf::from("/dev/stdin");
        if source.is_stdin() {
            stdin()
        } else {
            source.path.clone()
        }
    };
    let inputs: BTreeSet<FileId> = sources
        .iter()
        .map(path_of)
        // A device may be read and written at once.
        .filter(|path| path.is_file())
        .filter_map(|path| file_id(&path))
        .collect();
    let paths = sources.iter().map(|source| source.path.as_path());
    let urls: BTreeSet<&Path> = paths.filter(|path| stores::is_url(path)).collect();
    for file in files.flat_map(|file| [appended(&file, PARTIAL), file]) {
        if file_id(&file).is_some_and(|file| inputs.contains(&file)) || urls.contains(file.as_path()) {
            return Err(RunError::usage(
                format!("the output {} is an input", file.display()),
                "write to another place with -o; inputs are never changed",
            ));
        }
    }
    Ok(())
}

/// The identity of a file, whatever it is called.
#[cfg(unix)]
type FileId = (u64, u64);

#[cfg(unix)]
fn file_id(path: &Path) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    let metadata = path.metadata().ok()?;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
type FileId = PathBuf;

#[cfg(not(unix))]
fn file_id(path: &Path) -> Option<FileId> {
    path.canonicalize().ok()
}
