//! A file being written: plain or in compressed frames, under a `.partial` name until the run is done.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Uncompressed bytes a frame; also what is gathered before anything is written. Frames end where batches end, so a
/// resumed run makes the same frames as an undisturbed one.
const FRAME_BYTES: usize = 4 * 1024 * 1024;

/// So many plain bytes at once are written as they are: gathering them would copy them once more.
const LARGE: usize = 64 * 1024;

/// zstd's own default: about 300 MB/s.
const ZSTD_LEVEL: i32 = 3;

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    /// Not at all.
    Plain,
    /// gzip members.
    Gzip,
    /// zstd frames.
    Zstd,
}

impl Codec {
    /// What a file's name asks for.
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

/// A file being written.
pub struct PartialFile {
    path: PathBuf,
    sink: Sink,
    codec: Codec,
    /// Bytes not yet in a frame.
    pending: Vec<u8>,
    /// Bytes in the file.
    written: u64,
    /// The last byte given to it.
    last_byte: Option<u8>,
}

enum Sink {
    File(File),
    Stdout(io::Stdout),
}

impl PartialFile {
    /// Opens `path`, cut back or grown from nothing to `length` bytes.
    pub fn open(path: &Path, codec: Codec, length: u64) -> io::Result<Self> {
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)?;
        if file.metadata()?.len() < length {
            let message = format!("shorter than the {length} bytes that the checkpoint knows of");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        file.set_len(length)?;
        file.seek(SeekFrom::Start(length))?;
        let sink = Sink::File(file);
        Ok(Self {
            path: path.to_owned(),
            sink,
            codec,
            pending: Vec::new(),
            written: length,
            last_byte: None,
        })
    }

    /// Stdout.
    pub fn stdout(codec: Codec) -> Self {
        let sink = Sink::Stdout(io::stdout());
        Self {
            path: PathBuf::from("-"),
            sink,
            codec,
            pending: Vec::new(),
            written: 0,
            last_byte: None,
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes in the file.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// The last byte given to it since it was opened.
    pub fn last_byte(&self) -> Option<u8> {
        self.last_byte
    }

    /// Takes bytes; a full frame goes to the file, and so do many plain bytes at once. Who reads a pipe gets plain data as
    /// it comes.
    pub fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.codec == Codec::Plain && bytes.len() >= LARGE {
            self.end_frame()?;
            self.write(bytes)?;
            self.last_byte = bytes.last().copied();
            return Ok(());
        }
        self.pending.extend_from_slice(bytes);
        self.last_byte = bytes.last().copied().or(self.last_byte);
        let to_pipe = matches!(self.sink, Sink::Stdout(_)) && self.codec == Codec::Plain;
        if to_pipe || self.pending.len() >= FRAME_BYTES {
            self.end_frame()
        } else {
            Ok(())
        }
    }

    /// Ends the frame, whatever its size.
    pub fn end_frame(&mut self) -> io::Result<()> {
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

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.sink {
            Sink::File(file) => {
                // A write that failed half-way (a full disk) may be tried again: over what it left.
                file.seek(SeekFrom::Start(self.written))?;
                file.write_all(bytes)?;
            }
            Sink::Stdout(stdout) => stdout.write_all(bytes).and_then(|()| stdout.flush())?,
        }
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// Whether everything taken is in the file; what can be waited for without ending a frame early.
    pub fn at_frame_end(&self) -> bool {
        self.pending.is_empty()
    }

    /// Ends a plain file's frame: plain bytes have no frames that a resumed run would have to make again.
    pub fn end_plain_frame(&mut self) -> io::Result<()> {
        if self.codec == Codec::Plain {
            self.end_frame()
        } else {
            Ok(())
        }
    }

    /// Waits until the file's bytes are on the disk.
    pub fn sync(&self) -> io::Result<()> {
        match &self.sink {
            Sink::File(file) => file.sync_data(),
            Sink::Stdout(_) => Ok(()),
        }
    }
}
