//! The upload of a file that is being written: its full parts go to the store while it grows, and the object appears once all
//! parts are there.
//!
//! The file stays what the journal of the run speaks of, with its lengths. Where the system can, the parts that the store has
//! and the journal counts are taken out of it, so that it needs the disk of some parts only.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use object_store::ObjectStoreExt;
use object_store::multipart::PartId;
use object_store::path::Path as Key;
use tokio::task::JoinHandle;

use super::client::{self, Store};
use super::fault::StoreFault;
use super::location::{Location, Service};
use super::lookup::location;
use super::part_record::{PartRecord, path_of, remove_file};
use super::runtime;
use super::store_fault::fault;

/// Bytes of a part; the last one may have fewer. Some stores want all others to have the same size.
pub const PART: u64 = 16 * 1024 * 1024;

/// Maximum number of parts of an object.
const MOST_PARTS: usize = 10_000;

/// Maximum number of parts that are sent at once; each is in memory.
const AT_ONCE: usize = 2;

/// The upload of one file.
pub struct Upload {
    store: Arc<Store>,
    service: Service,
    key: Key,
    record: PartRecord,
    record_path: PathBuf,
    /// Parts on their way, in order.
    sent: VecDeque<JoinHandle<io::Result<String>>>,
    /// Bytes at the beginning of the file that are taken out of it.
    dropped: u64,
}

impl Upload {
    /// The upload of the first `length` bytes of `file`, and of what will be written after them. Parts that the store has of
    /// them are kept. An upload of which nothing is kept is aborted.
    ///
    /// # Errors
    ///
    /// The store cannot be used, or the record cannot be read.
    pub fn open(url: &Path, file: &Path, length: u64) -> io::Result<Self> {
        let location = location(url)?;
        Self::to(client::store(&location)?, &location, file, length, false)
    }

    fn to(store: Arc<Store>, location: &Location, file: &Path, length: u64, whole: bool) -> io::Result<Self> {
        let record_path = path_of(file);
        let found = PartRecord::read(&record_path)?;
        let mut upload = Self {
            store,
            service: location.service,
            key: client::key(location)?,
            record: PartRecord::default(),
            record_path,
            sent: VecDeque::new(),
            dropped: 0,
        };
        let Some(found) = found else {
            return Ok(upload);
        };
        upload.record = found;
        // Of a file that is whole, the last part has been sent too if the run was stopped after that.
        let kept = if whole {
            length.div_ceil(PART)
        } else {
            length / PART
        };
        let kept = usize::try_from(kept).unwrap_or(usize::MAX);
        if kept == 0 {
            upload.abort()?;
        } else if upload.record.parts.len() > kept {
            upload.record.parts.truncate(kept);
            upload.record.write(&upload.record_path)?;
        }
        Ok(upload)
    }

    /// Sends the parts that the first `length` bytes of the file have filled. They must be on the disk. Of a file that is
    /// `whole`, waits until the store has all of them.
    ///
    /// # Errors
    ///
    /// A part could not be sent, after all retries.
    pub fn advance(&mut self, file: &File, length: u64, whole: bool) -> io::Result<()> {
        let sent = self.send(file, length, whole);
        if sent.is_err() {
            // Those that follow it would take its place.
            for task in self.sent.drain(..) {
                task.abort();
            }
        }
        sent
    }

    fn send(&mut self, file: &File, length: u64, whole: bool) -> io::Result<()> {
        while self.sent.front().is_some_and(JoinHandle::is_finished) {
            self.receive()?;
        }
        while self.next_start() + PART <= length {
            if self.sent.len() >= AT_ONCE {
                self.receive()?;
            }
            let start = self.next_start();
            self.start(file, start, PART)?;
        }
        while whole && !self.sent.is_empty() {
            self.receive()?;
        }
        Ok(())
    }

    /// The position in the file of the next part to be sent.
    fn next_start(&self) -> u64 {
        (self.record.parts.len() + self.sent.len()) as u64 * PART
    }

    /// Sends a part.
    fn start(&mut self, mut file: &File, start: u64, length: u64) -> io::Result<()> {
        let number = self.record.parts.len() + self.sent.len();
        if number >= MOST_PARTS {
            let message = format!("stores take no object of more than {MOST_PARTS} parts of 16 MiB");
            let help = "start over with --force, and divide the output: compress it (.zst), take --shard K/N, or name a folder";
            return Err(StoreFault::io(ErrorKind::FileTooLarge, message, help));
        }
        let id = self.id()?;
        let mut bytes = vec![0; length as usize];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut bytes)?;
        let (store, service, key) = (Arc::clone(&self.store), self.service, self.key.clone());
        self.sent.push_back(runtime::start(async move {
            let part = store.parts.put_part(&key, &id, number, bytes.into()).await;
            part.map(|part| part.content_id)
                .map_err(|error| fault(service, &error))
        })?);
        Ok(())
    }

    /// The identifier of the upload, which is begun if it was not.
    fn id(&mut self) -> io::Result<String> {
        if let Some(id) = &self.record.id {
            return Ok(id.clone());
        }
        let id = runtime::wait(async {
            let begun = self.store.parts.create_multipart(&self.key).await;
            begun.map_err(|error| fault(self.service, &error))
        })?;
        self.record.id = Some(id.clone());
        self.record.write(&self.record_path)?;
        Ok(id)
    }

    /// Waits for the first part on its way, and records it.
    fn receive(&mut self) -> io::Result<()> {
        if let Some(task) = self.sent.pop_front() {
            self.record.parts.push(runtime::finish(task)?);
            self.record.write(&self.record_path)?;
        }
        Ok(())
    }

    /// Takes the parts out of the file that lie in its first `length` bytes and that the store has. A resumed run does not go
    /// back behind these bytes.
    pub fn committed(&mut self, file: &File, length: u64) {
        let end = (self.record.parts.len() as u64 * PART).min(length / PART * PART);
        if end > self.dropped {
            drop_bytes(file, self.dropped, end - self.dropped);
            self.dropped = end;
        }
    }

    /// Sends the rest of a file that is whole, and makes the object of its parts. A run that was killed here may have made it
    /// already: the store then knows no such upload, and has the object.
    fn complete(&mut self, file: &File, length: u64) -> io::Result<()> {
        match self.send_rest(file, length) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let head = runtime::wait(async {
                    let head = self.store.objects.head(&self.key).await;
                    head.map_err(|error| fault(self.service, &error))
                });
                if head.is_ok_and(|head| head.size == length) {
                    Ok(())
                } else {
                    Err(error)
                }
            }
            completed => completed,
        }
    }

    fn send_rest(&mut self, file: &File, length: u64) -> io::Result<()> {
        self.advance(file, length, true)?;
        let start = self.next_start();
        if start < length {
            self.start(file, start, length - start)?;
            self.receive()?;
        }
        let id = self.id()?;
        let parts = self.record.parts.iter();
        let parts: Vec<PartId> = parts
            .map(|part| PartId {
                content_id: part.clone(),
            })
            .collect();
        runtime::wait(async {
            let completed = self.store.parts.complete_multipart(&self.key, &id, parts).await;
            completed.map(|_| ()).map_err(|error| fault(self.service, &error))
        })
    }

    /// Gives the upload up: the store removes its parts.
    ///
    /// # Errors
    ///
    /// The record cannot be removed. An upload that the store does not know is no error.
    pub fn abort(&mut self) -> io::Result<()> {
        for task in self.sent.drain(..) {
            task.abort();
        }
        let record = std::mem::take(&mut self.record);
        if let Some(id) = record.id {
            // What cannot be aborted is removed by the bucket's lifecycle rule, if it has one.
            let _ = runtime::wait(async { Ok(self.store.parts.abort_multipart(&self.key, &id).await) });
        }
        remove_file(&self.record_path)
    }
}

/// Makes an object of the file at `path`, which is whole, and removes the file. Does nothing if an earlier part of the run has
/// done it.
pub(super) fn finish(url: &Path, path: &Path) -> io::Result<()> {
    let location = location(url)?;
    finish_to(client::store(&location)?, &location, path)
}

fn finish_to(store: Arc<Store>, location: &Location, path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut upload = Upload::to(store, location, path, length, true)?;
    if length <= PART && upload.record.id.is_none() {
        let mut bytes = Vec::new();
        (&file).read_to_end(&mut bytes)?;
        runtime::wait(async {
            let put = upload.store.objects.put(&upload.key, bytes.into()).await;
            put.map_err(|error| fault(upload.service, &error))
        })?;
    } else {
        upload.complete(&file, length)?;
    }
    // The record goes last: without it, parts that are taken out of the file would be sent as they are there.
    remove_file(path)?;
    remove_file(&upload.record_path)
}

/// Removes a half-written file, and gives up its upload.
pub fn discard(url: &Path, path: &Path) -> io::Result<()> {
    if path_of(path).exists() {
        Upload::open(url, path, 0)?;
    }
    remove_file(path)
}

#[cfg(target_os = "linux")]
fn drop_bytes(file: &File, start: u64, length: u64) {
    use rustix::fs::{FallocateFlags, fallocate};
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    // Where the file system has no holes, the file keeps them.
    let _ = fallocate(file, flags, start, length);
}

#[cfg(not(target_os = "linux"))]
fn drop_bytes(_file: &File, _start: u64, _length: u64) {}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use object_store::memory::InMemory;

    use super::*;

    fn memory() -> (Arc<Store>, Location) {
        let store = Arc::new(InMemory::new());
        let made = Store {
            objects: Arc::clone(&store) as Arc<dyn object_store::ObjectStore>,
            parts: store,
        };
        let location = Location::of(Path::new("s3://b/out.jsonl")).unwrap();
        (Arc::new(made), location)
    }

    fn content(length: u64) -> Vec<u8> {
        (0..length).map(|at| (at % 253) as u8).collect()
    }

    fn object(store: &Store) -> Option<Vec<u8>> {
        let got = runtime::wait(async {
            let got = store
                .objects
                .get(&Key::from("out.jsonl"))
                .await
                .map_err(io::Error::other)?;
            got.bytes().await.map_err(io::Error::other)
        });
        got.ok().map(|bytes| bytes.to_vec())
    }

    #[test]
    fn an_object_appears_when_it_is_whole_and_has_the_bytes_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.jsonl.partial");
        let (store, location) = memory();
        let bytes = content(2 * PART + 7);
        let mut file = File::create_new(&path).unwrap();
        file.write_all(&bytes).unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        let mut upload = Upload::to(Arc::clone(&store), &location, &path, 0, false).unwrap();
        upload.advance(&file, 2 * PART + 7, true).unwrap();
        upload.committed(&file, 2 * PART);
        assert_eq!((upload.record.parts.len(), object(&store)), (2, None));
        assert_eq!(file.metadata().unwrap().len(), 2 * PART + 7);
        drop(upload);
        finish_to(Arc::clone(&store), &location, &path).unwrap();
        assert_eq!(object(&store).unwrap(), bytes);
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn a_small_file_is_put_at_once_and_an_empty_one_too() {
        let folder = tempfile::tempdir().unwrap();
        for bytes in [content(9), Vec::new()] {
            let path = folder.path().join("out.jsonl.partial");
            std::fs::write(&path, &bytes).unwrap();
            let (store, location) = memory();
            finish_to(Arc::clone(&store), &location, &path).unwrap();
            assert_eq!(object(&store).unwrap(), bytes);
        }
    }

    #[test]
    fn the_last_part_is_not_sent_twice() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.jsonl.partial");
        let (store, location) = memory();
        std::fs::write(&path, content(PART + 7)).unwrap();
        let record = PartRecord {
            id: Some("gone".to_owned()),
            parts: vec!["one".to_owned(), "last".to_owned()],
        };
        record.write(&path_of(&path)).unwrap();
        let upload = Upload::to(Arc::clone(&store), &location, &path, PART + 7, true).unwrap();
        assert_eq!(upload.record, record);
        let upload = Upload::to(store, &location, &path, PART + 7, false).unwrap();
        assert_eq!(upload.record.parts, ["one"]);
    }

    #[test]
    fn a_run_that_goes_back_sends_the_parts_after_that_point_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.jsonl.partial");
        let (store, location) = memory();
        std::fs::write(&path, content(3 * PART)).unwrap();
        let file = File::open(&path).unwrap();
        let mut upload = Upload::to(Arc::clone(&store), &location, &path, 0, false).unwrap();
        upload.advance(&file, 3 * PART, true).unwrap();
        drop(upload);
        let upload = Upload::to(Arc::clone(&store), &location, &path, 2 * PART - 1, false).unwrap();
        assert_eq!(upload.record.parts.len(), 1);
        assert_eq!(PartRecord::read(&path_of(&path)).unwrap().unwrap(), upload.record);
        let upload = Upload::to(store, &location, &path, 0, false).unwrap();
        assert_eq!(upload.record, PartRecord::default());
        assert!(!path_of(&path).exists());
    }
}
