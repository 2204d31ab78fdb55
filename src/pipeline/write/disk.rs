//! The disk: waits for many files at once, gives files their final names, and removes files.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::stores;

/// Maximum number of waits for the disk at once. A file system commits what many wait for together: 128 new files take
/// 0.5 s on ext4 one after another, and 12 ms at once.
const AT_ONCE: usize = 64;

/// The path that could not be written, and why.
pub type DiskError = (PathBuf, io::Error);

/// Calls `wait` for every item, on several threads. Returns the failure that is first in the order of the items.
pub fn at_once<T, E: Send>(
    items: impl ExactSizeIterator<Item = T> + Send,
    wait: impl Fn(T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let helpers = items.len().min(AT_ONCE).saturating_sub(1);
    let items = Mutex::new(items.enumerate());
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || -> Option<(usize, E)> {
        while let Some((index, item)) = next() {
            if let Err(error) = wait(item) {
                return Some((index, error));
            }
        }
        None
    };
    let first = thread::scope(|scope| {
        // If no more threads can be started, those that run do all the work.
        let helpers: Vec<_> = (0..helpers)
            .map_while(|_| thread::Builder::new().spawn_scoped(scope, work).ok())
            .collect();
        let own = work();
        let failures = helpers.into_iter().filter_map(|helper| helper.join().ok()?);
        failures.chain(own).min_by_key(|(index, _)| *index)
    });
    first.map_or(Ok(()), |(_, error)| Err(error))
}

/// Number of files that this process can still open, at most `most`.
pub fn spare_files(most: usize) -> usize {
    let files: Vec<File> = (0..most).map_while(|_| File::open(NOTHING).ok()).collect();
    files.len()
}

/// A file that always exists and can be opened any number of times.
const NOTHING: &str = if cfg!(windows) { "NUL" } else { "/dev/null" };

/// Gives files their final names, durably; objects are made of theirs. `partial` is the path of a file while it is written. A
/// run that was stopped here may have named some of them already.
pub fn name_files<'p>(
    paths: impl Iterator<Item = &'p Path>,
    partial: impl Fn(&Path) -> PathBuf + Sync,
) -> Result<(), DiskError> {
    let (urls, paths): (Vec<&Path>, Vec<&Path>) = paths.partition(|path| stores::is_url(path));
    upload(&urls, &partial)?;
    let mut folders = BTreeSet::new();
    for path in paths {
        match std::fs::rename(partial(path), path) {
            Err(error) if error.kind() != ErrorKind::NotFound || !path.exists() => {
                return Err((path.to_owned(), error));
            }
            _ => {}
        }
        folders.insert(folder_of(path));
    }
    at_once(folders.into_iter(), |folder| {
        sync_folder(folder).map_err(|error| (folder.to_owned(), error))
    })
}

/// Makes objects of files: small ones many at once, large ones after each other, whose parts are in memory.
fn upload(urls: &[&Path], partial: &(impl Fn(&Path) -> PathBuf + Sync)) -> Result<(), DiskError> {
    let is_small = |url: &&&Path| partial(url).metadata().is_ok_and(|file| file.len() <= SMALL);
    let (small, large): (Vec<&Path>, Vec<&Path>) = urls.iter().partition(is_small);
    let publish = |url: &Path| stores::publish(url, &partial(url)).map_err(|error| (url.to_owned(), error));
    at_once(small.into_iter(), publish)?;
    large.into_iter().try_for_each(publish)
}

/// Bytes of a file that is uploaded beside others.
const SMALL: u64 = 1024 * 1024;

/// Waits until the folder of a file knows its name.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    sync_folder(folder_of(path))
}

fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // Some systems cannot sync a folder, and some folders can be written but not read.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::PermissionDenied | ErrorKind::InvalidInput | ErrorKind::Unsupported
            ) =>
        {
            Ok(())
        }
        synced => synced,
    }
}

/// Removes the half-written file of a file or an object, which the next run refuses if it is left behind.
pub fn discard(path: &Path, partial: &Path) {
    let _ = if stores::is_url(path) {
        stores::discard(path, partial)
    } else {
        std::fs::remove_file(partial)
    };
}

/// Removes a file, if it exists.
pub fn remove(path: &Path) -> Result<(), DiskError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err((path.to_owned(), error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::paths::file_names::PARTIAL;
    use crate::pipeline::paths::file_names::appended;

    #[test]
    fn every_item_is_waited_for_and_the_first_failure_returned() {
        let mut items: Vec<u32> = (0..1000).collect();
        let doubled = at_once(items.iter_mut(), |item| {
            *item *= 2;
            Ok::<_, u32>(())
        });
        assert_eq!((doubled, items.iter().sum::<u32>()), (Ok(()), 999_000));
        let failed = at_once(
            items.iter(),
            |item| if item % 700 == 698 { Err(*item) } else { Ok(()) },
        );
        assert_eq!(failed, Err(698));
        assert_eq!(at_once([0; 0].iter(), |_| Err(())), Ok(()));
    }

    #[test]
    fn files_that_have_their_final_name_keep_it() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b, c] = ["a", "b", "c"].map(|name| folder.path().join(name));
        let partial = |path: &Path| appended(path, PARTIAL);
        std::fs::write(&a, "named before").unwrap();
        std::fs::write(appended(&b, PARTIAL), "new").unwrap();
        std::fs::write(&b, "old").unwrap();
        name_files([a.as_path(), b.as_path()].into_iter(), partial).unwrap();
        assert_eq!(std::fs::read(&b).unwrap(), b"new");
        let failed = name_files([a.as_path(), c.as_path()].into_iter(), partial).unwrap_err();
        assert_eq!(failed.0, c);
    }
}
