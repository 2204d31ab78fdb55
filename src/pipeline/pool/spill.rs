//! Spill files: bytes set aside on disk while earlier results are waited for. They are private and have no name.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::Arc;

use crate::files::{self, Access};

/// Bytes of one spill file: a file is closed, and its disk space freed, once all its bytes were read back.
const FILE_BYTES: u64 = 64 * 1024 * 1024;

/// A store of bytes on disk.
#[derive(Debug)]
pub struct Spill {
    path: PathBuf,
    file: Option<Arc<File>>,
    length: u64,
}

/// Bytes on disk. The space of a file is freed once all its bytes are dropped.
#[derive(Debug)]
pub struct Spilled {
    file: Arc<File>,
    at: u64,
    length: usize,
}

impl Spill {
    /// A store whose files have the name `path` only until they are open. None is created yet.
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            file: None,
            length: 0,
        }
    }

    /// Writes these parts one after another.
    pub fn put<'b>(&mut self, parts: impl Iterator<Item = &'b [u8]>) -> io::Result<Spilled> {
        let file = match self.file.take().filter(|_| self.length < FILE_BYTES) {
            Some(file) => file,
            None => self.new_file()?,
        };
        let at = self.length;
        (&*file).seek(SeekFrom::Start(at))?;
        let mut length = 0;
        for part in parts {
            (&*file).write_all(part)?;
            length += part.len();
        }
        self.length += length as u64;
        self.file = Some(Arc::clone(&file));
        Ok(Spilled { file, at, length })
    }

    fn new_file(&mut self) -> io::Result<Arc<File>> {
        // A file that still has its name was left by a process that was killed before it could remove it.
        let _ = files::remove_leftover(&self.path);
        let file = files::create_new(&self.path, Access::Private)?;
        std::fs::remove_file(&self.path)?;
        self.length = 0;
        Ok(Arc::new(file))
    }
}

impl Spilled {
    /// Reads the bytes back.
    pub fn read(self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; self.length];
        let mut file = &*self.file;
        file.seek(SeekFrom::Start(self.at))?;
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_and_no_name_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let mut spill = Spill::new(folder.path().join("out.spill"));
        let first = spill.put([b"one".as_slice(), b"", b"two"].into_iter()).unwrap();
        let second = spill.put([b"three".as_slice()].into_iter()).unwrap();
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
        assert_eq!(second.read().unwrap(), b"three");
        assert_eq!(first.read().unwrap(), b"onetwo");
    }

    #[test]
    fn a_full_file_is_followed_by_another_and_goes_with_what_is_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut spill = Spill::new(folder.path().join("out.spill"));
        let first = spill.put([b"one".as_slice()].into_iter()).unwrap();
        let file = Arc::downgrade(&first.file);
        spill.length = FILE_BYTES;
        let second = spill.put([b"two".as_slice()].into_iter()).unwrap();
        assert_eq!(second.at, 0);
        assert_eq!(first.read().unwrap(), b"one");
        assert!(file.upgrade().is_none());
        assert_eq!(second.read().unwrap(), b"two");
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_may_read_it() {
        use std::os::unix::fs::MetadataExt as _;
        let folder = tempfile::tempdir().unwrap();
        let mut spill = Spill::new(folder.path().join("out.spill"));
        let spilled = spill.put([b"one".as_slice()].into_iter()).unwrap();
        let metadata = spilled.file.metadata().unwrap();
        assert_eq!((metadata.mode() & 0o777, metadata.nlink()), (0o600, 0));
    }
}
