//! A file being written: plain or in compressed frames, under a `.partial` name until the run is done.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::files::{self, Access};
use crate::pipeline::RunError;
use crate::pipeline::paths::streams;
use crate::stores::{self, Upload};

/// Uncompressed bytes per frame, which are gathered before they are written. Frames end where batches end, so a resumed
/// run makes the same frames as an undisturbed one.
const FRAME_BYTES: usize = 4 * 1024 * 1024;

/// Plain bytes from which a chunk is written at once: gathering it would copy it once more.
const LARGE: usize = 64 * 1024;

/// Bytes of a file that are written before they are sent to a store.
const SENT_AT_ONCE: u64 = 64 * 1024 * 1024;

/// zstd's own default: about 300 MB/s.
const ZSTD_LEVEL: i32 = 3;

/// The compression of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    /// No compression.
    Plain,
    /// gzip members.
    Gzip,
    /// zstd frames.
    Zstd,
}

impl Codec {
    /// The compression by a file's ending.
    pub fn of_name(name: &str) -> Self {
        match name.rsplit('.').next() {
            Some("gz") => Self::Gzip,
            Some("zst") => Self::Zstd,
            _ => Self::Plain,
        }
    }

    fn frame(self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Self::Plain => Ok(bytes.to_vec()),
            Self::Zstd => zstd::bulk::compress(bytes, ZSTD_LEVEL),
            Self::Gzip => {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
                encoder.write_all(bytes)?;
                encoder.finish()
            }
        }
    }
}

/// The settings for opening a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenSettings {
    /// The permissions that it gets if it is created.
    pub access: Access,
    /// The treatment of an existing file.
    pub leftover: ExistingFile,
}

/// The treatment of a half-written file that exists when a run begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExistingFile {
    /// It is an error.
    Refuse,
    /// It is removed, or continued if its length is known.
    Take,
    /// It is continued: this run has made it.
    Reopen,
}

/// A file being written.
pub struct PartialFile {
    path: PathBuf,
    sink: Sink,
    codec: Codec,
    /// Bytes not yet in a frame.
    pending: Vec<u8>,
    /// Bytes in the file.
    written: u64,
    /// Of these, bytes that are known to be on the disk.
    synced: u64,
    /// The last byte given to it.
    last_byte: Option<u8>,
    /// True once it is whole.
    ended: bool,
    /// Its upload and URL, if it is to be an object.
    upload: Option<(Upload, PathBuf)>,
}

enum Sink {
    File(File),
    Stream(File),
    Stdout(io::Stdout),
}

impl PartialFile {
    /// Opens the file at `path`, cut to `length` bytes, or creates it if that is 0.
    pub fn open(path: &Path, codec: Codec, length: u64, opening: OpenSettings) -> io::Result<Self> {
        let file = if length > 0 || opening.leftover == ExistingFile::Reopen {
            match files::open_existing(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && length > 0 => {
                    return Err(too_short(length));
                }
                opened => opened?,
            }
        } else {
            if opening.leftover == ExistingFile::Take {
                files::remove_leftover(path)?;
            }
            files::create_new(path, opening.access).map_err(|error| taken(path, error))?
        };
        if file.metadata()?.len() < length {
            return Err(too_short(length));
        }
        file.set_len(length)?;
        Ok(Self::of(path, codec, Sink::File(file), length))
    }

    /// Opens a pipe, a device or an open file of this process: written as data comes, and never renamed.
    pub fn stream(path: &Path) -> io::Result<Self> {
        let file = streams::open(path)?;
        Ok(Self::of(path, Codec::Plain, Sink::Stream(file), 0))
    }

    fn of(path: &Path, codec: Codec, sink: Sink, written: u64) -> Self {
        Self {
            path: path.to_owned(),
            sink,
            codec,
            pending: Vec::new(),
            written,
            synced: written,
            last_byte: None,
            ended: false,
            upload: None,
        }
    }

    /// The same file, of which an object is to be made: its full parts are uploaded while it grows.
    pub fn uploaded_to(mut self, url: &Path) -> io::Result<Self> {
        self.upload = Some((Upload::open(url, &self.path, self.written)?, url.to_owned()));
        Ok(self)
    }

    /// Opens stdout.
    pub fn stdout(codec: Codec) -> Self {
        Self::of(Path::new("-"), codec, Sink::Stdout(io::stdout()), 0)
    }

    /// Removes it, if it is a file, and gives up its upload.
    pub fn remove(mut self) {
        if let Some((upload, _)) = &mut self.upload {
            let _ = upload.abort();
        }
        if matches!(self.sink, Sink::File(_)) {
            // The next run refuses a file that is left behind, and says how to continue.
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// The file itself, for bytes that are not given to [`push`](Self::push).
    pub fn as_file(&self) -> io::Result<&File> {
        match &self.sink {
            Sink::File(file) => Ok(file),
            Sink::Stream(_) | Sink::Stdout(_) => Err(io::ErrorKind::NotSeekable.into()),
        }
    }

    /// The error of the run for one in writing it: of the object, if the store is at fault, or of the file.
    pub fn fault(&self, error: &io::Error) -> RunError {
        let url = self.upload.as_ref().map(|(_, url)| url.as_path());
        let url = url.filter(|_| stores::help_of(error).is_some());
        RunError::half_way("write", url.unwrap_or(&self.path), error)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The last byte given to it since it was opened.
    pub fn last_byte(&self) -> Option<u8> {
        self.last_byte
    }

    /// Adds bytes. Full frames and large plain chunks are written to the file; a pipe gets plain data at once.
    pub fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.codec == Codec::Plain && bytes.len() >= LARGE {
            self.end_frame()?;
            self.write(bytes)?;
            self.last_byte = bytes.last().copied();
            return Ok(());
        }
        self.pending.extend_from_slice(bytes);
        self.last_byte = bytes.last().copied().or(self.last_byte);
        let to_pipe = !matches!(self.sink, Sink::File(_)) && self.codec == Codec::Plain;
        if to_pipe || self.pending.len() >= FRAME_BYTES {
            self.end_frame()
        } else {
            Ok(())
        }
    }

    /// Ends the frame, whatever its size.
    fn end_frame(&mut self) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let pending = std::mem::take(&mut self.pending);
        let written = match self.codec {
            Codec::Plain => self.write(&pending),
            codec => codec.frame(&pending).and_then(|frame| self.write(&frame)),
        };
        self.pending = pending;
        written?;
        self.pending.clear();
        Ok(())
    }

    /// Ends the file: writes its last frame, and frees the memory that frames are gathered in.
    pub fn end(&mut self) -> io::Result<()> {
        self.end_frame()?;
        self.pending = Vec::new();
        self.ended = true;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.sink {
            Sink::File(file) => {
                // A write that failed half-way (a full disk) may be repeated: it overwrites its rest.
                file.seek(SeekFrom::Start(self.written))?;
                file.write_all(bytes)?;
            }
            Sink::Stream(stream) => stream.write_all(bytes)?,
            Sink::Stdout(stdout) => stdout.write_all(bytes).and_then(|()| stdout.flush())?,
        }
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// The length of the file once all added bytes are written; `None` in the middle of a compressed frame, which ends
    /// only once more bytes are added.
    pub fn length(&self) -> Option<u64> {
        match self.codec {
            Codec::Plain => Some(self.written + self.pending.len() as u64),
            Codec::Gzip | Codec::Zstd => self.pending.is_empty().then_some(self.written),
        }
    }

    /// Bytes in the file that may not be on the disk.
    pub fn unsynced(&self) -> u64 {
        self.written.saturating_sub(self.synced)
    }

    /// Waits until the file's bytes are on the disk. Pending plain bytes are written first: they have no frames that a
    /// resumed run would have to reproduce.
    pub fn sync(&mut self) -> io::Result<()> {
        if self.codec == Codec::Plain {
            self.end_frame()?;
        }
        if let Sink::File(file) = &self.sink {
            file.sync_data()?;
            if let Some((upload, _)) = &mut self.upload {
                upload.advance(file, self.written, self.ended)?;
            }
        }
        self.synced = self.written;
        Ok(())
    }

    /// Sends what has been written to the store, once it is a good deal, and gives its room on the disk back. For files that no
    /// run goes on with.
    pub fn send_on(&mut self) -> io::Result<()> {
        if self.upload.is_none() || self.unsynced() < SENT_AT_ONCE {
            return Ok(());
        }
        self.sync()?;
        self.committed(self.written);
        Ok(())
    }

    /// Says that a resumed run would begin behind the first `length` bytes: of these, it keeps what is uploaded only.
    pub fn committed(&mut self, length: u64) {
        if let (Sink::File(file), Some((upload, _))) = (&self.sink, &mut self.upload) {
            upload.committed(file, length);
        }
    }
}

fn taken(path: &Path, error: io::Error) -> io::Error {
    if error.kind() != io::ErrorKind::AlreadyExists {
        return error;
    }
    if path.is_dir() {
        return io::ErrorKind::IsADirectory.into();
    }
    let message = format!(
        "{} is there already: another run writes it, or one that was killed left it",
        path.display()
    );
    io::Error::new(error.kind(), message)
}

fn too_short(length: u64) -> io::Error {
    let message = format!("shorter than the {length} bytes that the checkpoint knows of");
    io::Error::new(io::ErrorKind::InvalidData, message)
}
