//! The functions of this module in a build without object stores: errors.
#![expect(clippy::unused_self, reason = "the other build uses it")]

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{NOT_BUILT, StoreFault};

fn not_built<T>() -> io::Result<T> {
    Err(StoreFault::io(
        io::ErrorKind::Unsupported,
        "URLs are not read and written by this build",
        NOT_BUILT,
    ))
}

/// An object: there are none.
pub struct Object {
    /// Its size in bytes.
    pub bytes: Option<u64>,
    /// The time of its last change.
    pub modified: u64,
    /// The identifier of its version.
    pub etag: Option<String>,
}

impl Object {
    /// Returns true if it can be read from any position.
    pub fn has_ranges(&self) -> bool {
        false
    }
}

/// A reader of an object: there are none.
pub enum ObjectReader {}

impl ObjectReader {
    /// Never called.
    pub fn of(_object: &Object) -> impl Read + use<> {
        io::empty()
    }
}

/// An object that is read at any position: there are none.
#[cfg(feature = "parquet")]
#[derive(Clone)]
pub struct RangeFile(());

#[cfg(feature = "parquet")]
impl RangeFile {
    /// None.
    pub fn of(_object: &Object) -> Option<Self> {
        None
    }

    /// Never called.
    pub fn length(&self) -> u64 {
        0
    }

    /// Never called.
    #[must_use]
    pub fn at(&self, _position: u64) -> Self {
        self.clone()
    }
}

#[cfg(feature = "parquet")]
impl Read for RangeFile {
    fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
        not_built()
    }
}

#[cfg(feature = "parquet")]
impl io::Seek for RangeFile {
    fn seek(&mut self, _to: io::SeekFrom) -> io::Result<u64> {
        not_built()
    }
}

/// An upload: there are none.
pub struct Upload;

impl Upload {
    /// Fails.
    pub fn open(_url: &Path, _file: &Path, _length: u64) -> io::Result<Self> {
        not_built()
    }

    /// Fails.
    pub fn advance(&mut self, _file: &File, _length: u64, _whole: bool) -> io::Result<()> {
        not_built()
    }

    /// Does nothing.
    pub fn committed(&mut self, _file: &File, _length: u64) {}

    /// Fails.
    pub fn abort(&mut self) -> io::Result<()> {
        not_built()
    }
}

/// Fails.
pub fn object(_url: &Path) -> io::Result<Arc<Object>> {
    not_built()
}

/// Fails.
pub fn found(_url: &Path) -> io::Result<Option<Vec<PathBuf>>> {
    not_built()
}

/// Fails if there are any.
pub fn exist(urls: &[PathBuf]) -> io::Result<Vec<bool>> {
    if urls.is_empty() {
        Ok(Vec::new())
    } else {
        not_built()
    }
}

/// Fails.
pub fn check_writable(_url: &Path) -> io::Result<()> {
    not_built()
}

/// Fails.
pub fn read(_url: &Path) -> io::Result<Vec<u8>> {
    not_built()
}

/// Fails.
pub fn remove(_url: &Path) -> io::Result<()> {
    not_built()
}

/// Fails.
pub fn publish(_url: &Path, _path: &Path) -> io::Result<()> {
    not_built()
}

/// Fails.
pub fn discard(_url: &Path, _path: &Path) -> io::Result<()> {
    not_built()
}
