//! Paths that stand for a stream: pipes, devices, and the open files of this process.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use crate::standard_streams::StandardStream;

/// The paths at which systems show the open files of a process.
const OPEN_FILES: [&str; 4] = ["/dev/fd", "/dev/stdout", "/dev/stderr", "/proc"];

/// Returns true if the file at `path` takes bytes as they come, and cannot be replaced by another file.
pub fn is_stream(path: &Path) -> bool {
    OPEN_FILES.iter().any(|place| path.starts_with(place))
        || path
            .metadata()
            .is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Opens a stream. A regular file behind `/dev/fd/3` is appended to, from where it ends.
pub fn open(path: &Path) -> io::Result<File> {
    if let Some(stream) = StandardStream::at(path) {
        stream.refuse_closed()?;
    }
    match own(path) {
        Some(file) => file,
        None => OpenOptions::new().append(true).open(path),
    }
}

/// A second handle of stdout or stderr, which share their place in a file with this program's messages.
#[cfg(unix)]
fn own(path: &Path) -> Option<io::Result<File>> {
    use std::os::fd::AsFd;
    let cloned = match path.to_str()? {
        "/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1" => io::stdout().as_fd().try_clone_to_owned(),
        "/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2" => io::stderr().as_fd().try_clone_to_owned(),
        _ => return None,
    };
    Some(cloned.map(File::from))
}

#[cfg(not(unix))]
fn own(_path: &Path) -> Option<io::Result<File>> {
    None
}

/// Returns true if both paths lead to the same pipe or file. Devices, such as a terminal, may be shared.
#[cfg(unix)]
pub fn is_same(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let identity = |path: &Path| {
        let found = path.metadata().ok()?;
        (!found.file_type().is_char_device()).then(|| (found.dev(), found.ino()))
    };
    identity(one).is_some_and(|found| identity(other) == Some(found))
}

/// Returns true if both paths lead to the same pipe or file.
#[cfg(not(unix))]
pub fn is_same(one: &Path, other: &Path) -> bool {
    one == other
}
