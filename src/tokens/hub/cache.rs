//! The cache of Python's `huggingface_hub`.
//!
//! ```text
//! models--OWNER--NAME/
//!   blobs/ETAG                      the content of a file
//!   snapshots/COMMIT/FILE           a link to it
//!   refs/REVISION                   the commit that a branch or tag stands for
//!   .no_exist/COMMIT/FILE           the commit has no such file
//! ```
//!
//! A file that is being written has a temporary name until it is complete and on the disk, so that an incomplete file
//! is never used, and two programs may write at once.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use sha2::{Digest, Sha256};

use super::answer::ReceivedFile;
use super::{DownloadFailure, HubError, Repository};
use crate::tokens::hex::hex;

/// Bytes read at once.
const CHUNK: usize = 1 << 16;

/// The folder in which that ecosystem's tools keep their downloads.
pub struct HubCache {
    root: PathBuf,
}

impl HubCache {
    /// The cache in this folder.
    pub fn at(root: PathBuf) -> Self {
        Self { root }
    }

    fn folder(&self, repository: &Repository) -> PathBuf {
        let Repository { owner, name, .. } = repository;
        self.root.join(format!("models--{owner}--{name}"))
    }

    /// The repository at the commit of its revision, if the cache knows the commit.
    pub fn resolved(&self, repository: &Repository) -> Repository {
        let path = self.folder(repository).join("refs").join(&repository.revision);
        let commit = fs::read_to_string(path).map(|commit| commit.trim().to_owned());
        Repository {
            revision: commit.unwrap_or_else(|_| repository.revision.clone()),
            ..repository.clone()
        }
    }

    /// The folder of the revision's files, existing or not.
    pub fn snapshot(&self, repository: &Repository) -> PathBuf {
        let commit = self.resolved(repository).revision;
        self.folder(repository).join("snapshots").join(commit)
    }

    /// A file of the repository, if it is in the cache.
    pub fn find(&self, repository: &Repository, file: &str) -> Option<PathBuf> {
        Some(self.snapshot(repository).join(file)).filter(|path| path.exists())
    }

    /// Returns true if the cache records that the revision has no such file.
    pub fn is_absent(&self, repository: &Repository, file: &str) -> bool {
        let commit = self.resolved(repository).revision;
        self.folder(repository)
            .join(".no_exist")
            .join(commit)
            .join(file)
            .exists()
    }

    /// Records that a commit has no such file. A failure to write the record is ignored.
    pub fn mark_absent(&self, repository: &Repository, commit: &str, file: &str) {
        let path = self.folder(repository).join(".no_exist").join(commit).join(file);
        let _ = path
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| File::create(path));
    }

    /// Stores a file in the cache.
    pub fn store(
        &self,
        repository: &Repository,
        file: &str,
        received: &mut ReceivedFile,
    ) -> Result<PathBuf, DownloadFailure> {
        let failed = |error: io::Error| HubError::Cache(error.to_string());
        let folder = self.folder(repository);
        let blobs = folder.join("blobs");
        fs::create_dir_all(&blobs).map_err(failed)?;
        let blob = blobs.join(&received.etag);
        if !blob.exists() {
            let unfinished = unfinished(&blob);
            let written = write(&unfinished, received)
                .and_then(|()| fs::rename(&unfinished, &blob).map_err(|error| failed(error).into()));
            if written.is_err() {
                let _ = fs::remove_file(&unfinished);
            }
            written?;
        }
        let path = folder.join("snapshots").join(&received.commit).join(file);
        path.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
        link(&blob, &path, file).map_err(failed)?;
        if repository.revision != received.commit {
            let reference = folder.join("refs").join(&repository.revision);
            write_reference(&reference, &received.commit).map_err(failed)?;
        }
        Ok(path)
    }
}

/// A temporary name for a file: no other process, and no other file of this one, uses it.
fn unfinished(path: &Path) -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}-{number}.incomplete", process::id()));
    path.with_file_name(name)
}

/// Writes the received content, and checks that it is what was announced.
fn write(path: &Path, received: &mut ReceivedFile) -> Result<(), DownloadFailure> {
    let failed = |error: io::Error| HubError::Cache(error.to_string());
    let mut file = File::create(path).map_err(failed)?;
    let (mut sum, mut length) = (Sha256::new(), 0);
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = received.body.read(&mut chunk);
        let read =
            read.map_err(|error| DownloadFailure::Passing(HubError::Unreachable(error.to_string()), None))?;
        let Some(bytes) = chunk.get(..read).filter(|bytes| !bytes.is_empty()) else {
            break;
        };
        sum.update(bytes);
        length += bytes.len() as u64;
        file.write_all(bytes).map_err(failed)?;
    }
    if received.length.is_some_and(|announced| announced != length) {
        return Err(DownloadFailure::Passing(
            HubError::Damaged("its length is another"),
            None,
        ));
    }
    // The etag of large files is this SHA-256, that of small ones a git hash.
    if received.etag.len() == 64 && hex(&sum.finalize()) != received.etag.to_ascii_lowercase() {
        return Err(DownloadFailure::Passing(
            HubError::Damaged("its SHA-256 is another"),
            None,
        ));
    }
    file.sync_all().map_err(|error| failed(error).into())
}

/// Makes `path` a link to the blob, or a copy where links are not supported or not allowed.
fn link(blob: &Path, path: &Path, file: &str) -> io::Result<()> {
    if path.exists() {
        return Ok(());
    }
    #[cfg(unix)]
    {
        // From the folder of the file up to that of the repository.
        let ups = "../".repeat(2 + file.matches('/').count());
        let name = blob.file_name().unwrap_or_default();
        let linked = std::os::unix::fs::symlink(Path::new(&ups).join("blobs").join(name), path);
        if linked.is_ok() || path.exists() {
            return Ok(());
        }
    }
    let unfinished = unfinished(path);
    fs::copy(blob, &unfinished)?;
    fs::rename(unfinished, path)
}

fn write_reference(path: &Path, commit: &str) -> io::Result<()> {
    if fs::read_to_string(path).is_ok_and(|known| known == commit) {
        return Ok(());
    }
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    let unfinished = unfinished(path);
    fs::write(&unfinished, commit)?;
    fs::rename(unfinished, path)
}
