//! One source of records: a file, an object or stdin, plain or compressed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::batch::{ByteRange, WHOLE};
use crate::columns::{self, RowFile, RowFormat};
use crate::files::{self, Access};
use crate::pipeline::counters::CountingReader;
use crate::pipeline::{Counters, RunError};
use crate::stores::{self, Object, ObjectReader};

const READ_BUFFER: usize = 256 * 1024;
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
const ZSTD_MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// One input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The file, or the URL of an object; `-` is stdin.
    pub path: PathBuf,
    /// Its path below the input directory it was found in; its file name if it was named itself.
    pub relative: PathBuf,
    /// The records of it that are taken; `None` if another shard takes all of them.
    pub part: Option<ByteRange>,
}

/// The state of an input, which shows if it changed between two runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceState {
    /// The path as given.
    pub path: String,
    /// Size in bytes; 0 for stdin.
    pub bytes: u64,
    /// Time of change, in nanoseconds since 1970; 0 for stdin.
    pub modified: u64,
    /// The version of an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
}

impl Source {
    /// All records of one file.
    pub fn of_file(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            relative: path.to_owned(),
            part: Some(WHOLE),
        }
    }

    /// A file or object that was found below the input `path`.
    pub fn below(path: &Path, found: PathBuf) -> Self {
        Self {
            relative: found.strip_prefix(path).unwrap_or(&found).to_path_buf(),
            path: found,
            part: Some(WHOLE),
        }
    }

    /// The object that it is; `None` if it is none.
    fn object(&self) -> Option<io::Result<Arc<Object>>> {
        stores::is_url(&self.path).then(|| stores::object(&self.path))
    }

    /// The name that metrics and messages use.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Returns true if this is stdin.
    pub fn is_stdin(&self) -> bool {
        self.path == Path::new("-")
    }

    /// Its size on the disk or in its store, in bytes; `None` if it is a stream.
    pub fn bytes(&self) -> Option<u64> {
        if let Some(object) = self.object() {
            return object.ok()?.bytes;
        }
        let metadata = (!self.is_stdin())
            .then(|| std::fs::metadata(&self.path).ok())
            .flatten()?;
        metadata.is_file().then_some(metadata.len())
    }

    /// Upper limit of the bytes on the disk that a run reads of it; `None` if it is no file but a stream.
    pub fn bytes_to_read(&self) -> Option<u64> {
        match &self.part {
            None => Some(0),
            // A boundary in a compressed file counts decompressed bytes, and those are more.
            Some(part) => self.bytes().map(|bytes| bytes.min(part.end)),
        }
    }

    /// The permissions of files made from it.
    pub fn access(&self) -> Access {
        let path = if self.is_stdin() {
            Path::new("/dev/stdin")
        } else {
            &self.path
        };
        files::access_like(path)
    }

    /// Its state now.
    pub fn state(&self) -> Result<SourceState, RunError> {
        if self.is_stdin() {
            return Ok(SourceState {
                path: self.name(),
                bytes: 0,
                modified: 0,
                etag: None,
            });
        }
        if let Some(object) = self.object() {
            let object = object.map_err(|error| RunError::input(&self.path, &error))?;
            return Ok(SourceState {
                path: self.name(),
                bytes: object.bytes.unwrap_or_default(),
                modified: object.modified,
                etag: object.etag.clone(),
            });
        }
        let metadata = std::fs::metadata(&self.path).map_err(|error| RunError::input(&self.path, &error))?;
        let modified = metadata
            .modified()
            .ok()
            .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified = modified.map_or(0, |age| u64::try_from(age.as_nanos()).unwrap_or(u64::MAX));
        Ok(SourceState {
            path: self.name(),
            bytes: metadata.len(),
            modified,
            etag: None,
        })
    }

    /// Returns true if its lines are not its bytes: it is compressed, or a file of rows. It must be no stream.
    pub fn is_compressed(&self) -> io::Result<bool> {
        let (start, _) = peek(self.raw()?)?;
        let is_rows = RowFormat::of_start(&start).is_some();
        Ok(is_rows || start.starts_with(GZIP_MAGIC) || start.starts_with(ZSTD_MAGIC))
    }

    /// The source as a file of rows; `None` if it is none, or none that this build reads.
    pub fn row_file(&self) -> Option<RowFile> {
        let has_ranges = || match self.object() {
            Some(object) => object.is_ok_and(|object| object.has_ranges()),
            None => self.path.is_file(),
        };
        if !RowFormat::IS_BUILT || self.is_stdin() || !has_ranges() {
            return None;
        }
        // What cannot be read is reported when it is opened for its records.
        let (start, _) = peek(self.raw().ok()?).ok()?;
        RowFormat::of_start(&start).map(|kind| RowFile {
            path: self.path.clone(),
            kind,
        })
    }

    /// Its bytes as they are stored.
    fn raw(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self.object() {
            Some(object) => Box::new(ObjectReader::of(&*object?)),
            None if self.is_stdin() => Box::new(io::stdin()),
            None => Box::new(File::open(&self.path)?),
        })
    }

    /// Opens it; compression, and rows that become lines, are detected by content, not by name.
    pub fn open(&self, counters: &Arc<Counters>) -> io::Result<Box<dyn BufRead + Send>> {
        if let Some(rows) = self.row_file() {
            let counters = Arc::clone(counters);
            let on_read = move |bytes| Counters::add(&counters.bytes_read, bytes);
            return columns::open(&rows, Arc::new(on_read));
        }
        let (start, raw) = peek(Box::new(CountingReader::new(self.raw()?, counters)))?;
        if RowFormat::IS_BUILT && RowFormat::of_start(&start) == Some(RowFormat::ArrowStream) {
            return columns::open_stream(Box::new(raw));
        }
        let raw = BufReader::with_capacity(READ_BUFFER, raw);
        Ok(if start.starts_with(GZIP_MAGIC) {
            Box::new(BufReader::with_capacity(
                READ_BUFFER,
                flate2::bufread::MultiGzDecoder::new(raw),
            ))
        } else if start.starts_with(ZSTD_MAGIC) {
            Box::new(BufReader::with_capacity(
                READ_BUFFER,
                zstd::Decoder::with_buffer(raw)?,
            ))
        } else {
            Box::new(raw)
        })
    }
}

/// The first bytes of a reader, with a reader that still has them. A pipe may hand them over one at a time.
fn peek(mut reader: Box<dyn Read + Send>) -> io::Result<(Vec<u8>, impl Read + Send)> {
    let mut start = Vec::new();
    reader
        .by_ref()
        .take(RowFormat::START_BYTES as u64)
        .read_to_end(&mut start)?;
    Ok((start.clone(), io::Cursor::new(start).chain(reader)))
}
