//! The sources of records: files, directories and stdin, plain or compressed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::batch::{Part, WHOLE};
use super::foreign::{self, Foreign};
use crate::columns::{self, RowFile, RowFormat};
use crate::files::{self, Access};
use crate::pipeline::counters::CountingReader;
use crate::pipeline::{Counters, RunError};
use crate::standard_streams::StandardStream;

const READ_BUFFER: usize = 256 * 1024;
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
const ZSTD_MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// Endings of the data files of an input directory.
const LINES_EXTENSIONS: [&str; 3] = [".jsonl", ".ndjson", ".json"];
const COMPRESSED_EXTENSIONS: [&str; 2] = [".gz", ".zst"];
/// Endings of files that a run leaves beside data.
const SIDE_FILES: [&str; 3] = [".rejects.jsonl", ".summary.json", ".metrics.parquet"];

/// One input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The file; `-` is stdin.
    pub path: PathBuf,
    /// Its path below the input directory it was found in; its file name if it was named itself.
    pub relative: PathBuf,
    /// The records of it that are taken; `None` if another shard takes all of them.
    pub part: Option<Part>,
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

    /// The name that metrics and messages use.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Returns true if this is stdin.
    pub fn is_stdin(&self) -> bool {
        self.path == Path::new("-")
    }

    /// Its size on the disk, in bytes; `None` if it is no file but a stream.
    pub fn bytes(&self) -> Option<u64> {
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
        })
    }

    /// Returns true if its lines are not its bytes: it is compressed, or a file of rows. It must be a file.
    pub fn is_compressed(&self) -> io::Result<bool> {
        let (start, _) = peek(Box::new(File::open(&self.path)?))?;
        let is_rows = RowFormat::of_start(&start).is_some();
        Ok(is_rows || start.starts_with(GZIP_MAGIC) || start.starts_with(ZSTD_MAGIC))
    }

    /// The source as a file of rows; `None` if it is none, or none that this build reads.
    pub fn row_file(&self) -> Option<RowFile> {
        if !RowFormat::IS_BUILT || self.is_stdin() || !self.path.is_file() {
            return None;
        }
        // A file that cannot be read is reported when it is opened for its records.
        let (start, _) = peek(Box::new(File::open(&self.path).ok()?)).ok()?;
        RowFormat::of_start(&start).map(|kind| RowFile {
            path: self.path.clone(),
            kind,
        })
    }

    /// Opens it; compression, and rows that become lines, are detected by content, not by name.
    pub fn open(&self, counters: &Arc<Counters>) -> io::Result<Box<dyn BufRead + Send>> {
        if let Some(rows) = self.row_file() {
            let counters = Arc::clone(counters);
            let on_read = move |bytes| Counters::add(&counters.bytes_read, bytes);
            return columns::open(&rows, Arc::new(on_read));
        }
        let raw: Box<dyn Read + Send> = if self.is_stdin() {
            Box::new(io::stdin())
        } else {
            Box::new(File::open(&self.path)?)
        };
        let (start, raw) = peek(Box::new(CountingReader::new(raw, counters)))?;
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

/// The inputs that the paths given stand for: directories become the data files in them, in the order of their names.
pub fn sources(paths: &[PathBuf]) -> Result<Vec<Source>, RunError> {
    let mut sources: Vec<Source> = Vec::new();
    // The canonical path of each earlier file, with its input.
    let mut taken: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    for path in paths {
        let first = sources.len();
        if path.is_dir() {
            let before = sources.len();
            let mut files = Vec::new();
            data_files(path, &mut files, &mut BTreeSet::new())?;
            files.sort();
            for file in files {
                let relative = file.strip_prefix(path).unwrap_or(&file).to_path_buf();
                sources.push(Source {
                    path: file,
                    relative,
                    part: Some(WHOLE),
                });
            }
            if sources.len() == before {
                return Err(RunError::usage(
                    format!("no data in the directory {}", path.display()),
                    "data files end in .jsonl, .ndjson or .json, or in these with .gz or .zst, or in .parquet or .arrow",
                ));
            }
        } else {
            let relative = path.file_name().map_or_else(|| path.clone(), PathBuf::from);
            let source = Source {
                path: path.clone(),
                relative,
                part: Some(WHOLE),
            };
            let standard = if source.is_stdin() {
                Some(StandardStream::Input)
            } else {
                StandardStream::at(path)
            };
            standard
                .map_or(Ok(()), StandardStream::refuse_closed)
                .map_err(|error| RunError::input(path, &error))?;
            // A pipe that is opened and closed again would be broken for its writer.
            if !source.is_stdin() && path.metadata().map_or(true, |metadata| metadata.is_file()) {
                File::open(path).map_err(|error| RunError::input(path, &error))?;
            }
            sources.push(source);
        }
        for source in sources.iter().skip(first).filter(|source| source.path.is_file()) {
            // A file that cannot be opened or read is reported when its turn comes.
            let head = source
                .open(&Arc::default())
                .and_then(|mut reader| foreign::head(&mut reader));
            if let Some(foreign) = head.ok().as_deref().and_then(Foreign::recognized) {
                return Err(foreign.error(&source.name()));
            }
        }
        for source in sources.iter().skip(first).filter(|source| !source.is_stdin()) {
            let Ok(place) = source.path.canonicalize() else {
                continue;
            };
            if let Some(earlier) = taken.get(&place) {
                return Err(RunError::usage(
                    format!(
                        "{} is given twice, by {} and by {}",
                        source.path.display(),
                        earlier.display(),
                        path.display()
                    ),
                    "name every input once: a directory stands for all data files in it",
                ));
            }
        }
        let new = sources.iter().skip(first).filter(|source| !source.is_stdin());
        taken.extend(new.filter_map(|source| Some((source.path.canonicalize().ok()?, path.clone()))));
    }
    Ok(sources)
}

/// Adds the data files below a directory to `files`. Links may lead to a directory twice, or in a circle: each is
/// entered once. An entry that cannot be inspected is an error that names it: it may hold data.
fn data_files(
    directory: &Path,
    files: &mut Vec<PathBuf>,
    entered: &mut BTreeSet<PathBuf>,
) -> Result<(), RunError> {
    let unreadable = |error: io::Error| RunError::input(directory, &error);
    if !entered.insert(directory.canonicalize().map_err(unreadable)?) {
        return Ok(());
    }
    let entries = std::fs::read_dir(directory).map_err(unreadable)?;
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<_>>()
        .map_err(unreadable)?;
    paths.sort();
    for path in paths {
        if is_directory(&path)? {
            if !is_batch_folder(&path) {
                data_files(&path, files, entered)?;
            }
        } else if is_data(&path) {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns true if a path leads to a directory; a link to nothing, or to itself, does not.
fn is_directory(path: &Path) -> Result<bool, RunError> {
    match path.metadata() {
        Ok(metadata) => Ok(metadata.is_dir()),
        Err(error) if error.kind() != ErrorKind::PermissionDenied && path.is_symlink() => Ok(false),
        Err(error) => Err(RunError::input(path, &error)),
    }
}

/// Returns true if a run through a Batch API keeps its requests and answers there.
fn is_batch_folder(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "batch") && path.join("answers").is_dir()
}

fn is_data(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let side_file = SIDE_FILES.iter().any(|ending| name.ends_with(ending)) || is_requests(&name);
    let extension = split_data_extension(&name).1;
    let is_data = data_extensions().any(|data_extension| extension.starts_with(data_extension));
    !side_file && !name.starts_with('.') && is_data
}

fn data_extensions() -> impl Iterator<Item = &'static str> {
    LINES_EXTENSIONS.into_iter().chain(RowFormat::endings())
}

/// Returns true for the name of requests that a run left beside its data: `out.missing.jsonl`, `out.missing-2.jsonl`.
fn is_requests(name: &str) -> bool {
    let number = name
        .strip_suffix(".jsonl")
        .and_then(|stem| Some(stem.rsplit_once(".missing")?.1));
    number.is_some_and(|number| {
        let digits = number.strip_prefix('-');
        number.is_empty() || digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

/// A path without the ending of its compression.
pub fn without_compression(path: &Path) -> PathBuf {
    let is_compressed = path.extension().is_some_and(|extension| {
        let extension = format!(".{}", extension.to_string_lossy());
        COMPRESSED_EXTENSIONS.contains(&extension.as_str())
    });
    if is_compressed {
        path.with_extension("")
    } else {
        path.to_owned()
    }
}

/// A file name without its data extension, and that extension (`.jsonl.gz`); empty if it has none.
pub fn split_data_extension(name: &str) -> (&str, &str) {
    let uncompressed = COMPRESSED_EXTENSIONS
        .iter()
        .find_map(|extension| name.strip_suffix(extension))
        .unwrap_or(name);
    match data_extensions().find_map(|extension| uncompressed.strip_suffix(extension)) {
        Some(stem) if !stem.is_empty() => name.split_at(stem.len()),
        _ if uncompressed.len() < name.len() && !uncompressed.is_empty() => name.split_at(uncompressed.len()),
        _ => (name, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_extension_comes_off_whole() {
        assert_eq!(split_data_extension("out.jsonl"), ("out", ".jsonl"));
        assert_eq!(split_data_extension("a.b.jsonl.gz"), ("a.b", ".jsonl.gz"));
        assert_eq!(split_data_extension("out.parquet"), ("out", ".parquet"));
        assert_eq!(split_data_extension("out.zst"), ("out", ".zst"));
        assert_eq!(split_data_extension("OUTDIR"), ("OUTDIR", ""));
        assert_eq!(split_data_extension("v1.5"), ("v1.5", ""));
        assert_eq!(split_data_extension(".jsonl"), (".jsonl", ""));
    }

    #[test]
    fn files_that_runs_leave_beside_data_are_no_data() {
        for name in ["out.rejects.jsonl", "out.missing.jsonl", "out.missing-12.jsonl"] {
            assert!(!is_data(Path::new(name)), "{name}");
        }
        for name in [
            "out.jsonl",
            "missing.jsonl",
            "out.missing-x.jsonl",
            "out.missing5.jsonl",
        ] {
            assert!(is_data(Path::new(name)), "{name}");
        }
    }
}
