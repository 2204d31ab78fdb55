//! Responses in files, indexed by the request that they answer; only their positions are kept in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustc_hash::FxHashMap;

use crate::summarize::answers::AnswerKey;
use crate::summarize::batch::response::{self, NoResponse, ResponseOutcome};
use crate::summarize::batch::{BatchResponse, DialectFix, Responses, custom_id};

/// Maximum bytes of a line; no response is nearly as long.
const LONGEST_LINE: u64 = 64 * 1024 * 1024;

/// Number of broken lines that are reported individually.
const TOLD: usize = 10;

const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
const ZSTD_MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// Files of responses, each read once and indexed.
#[derive(Debug, Default)]
pub struct ResponseFiles {
    files: Vec<PathBuf>,
    index: FxHashMap<AnswerKey, ResponseEntry>,
    /// The names of failures, which entries refer to by index.
    names: Vec<&'static str>,
    /// The totals of the files.
    pub found: ResponseTotals,
}

/// Totals of files of responses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResponseTotals {
    /// Number of files.
    pub files: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// Number of requests with an answer.
    pub answered: u64,
    /// Number of requests with a failure and no answer, by the name of the failure.
    pub failed: BTreeMap<&'static str, u64>,
    /// Number of these refused for their form: the next time they are written in another form.
    pub taught: u64,
    /// Number of these refused for their length: the next time they are shorter.
    pub too_long: u64,
    /// Number of responses whose ids are not from this program.
    pub foreign: u64,
    /// Number of lines that are requests instead of responses.
    pub requests: u64,
    /// Number of lines that cannot be read.
    pub broken: u64,
    /// The places and errors of the first of them.
    pub complaints: Vec<String>,
}

/// The position of a response, and what is known of it.
#[derive(Debug)]
struct ResponseEntry {
    offset: u64,
    length: u32,
    file: u32,
    /// The failure, as an index into their names; `None` for an answer.
    failure: Option<u8>,
    failures: u8,
    answers: u8,
    completion_limit: bool,
    no_temperature: bool,
    too_long: bool,
    /// The request was made in this run.
    asked: AtomicBool,
}

impl ResponseFiles {
    /// Reads files, and the `.jsonl` files of folders; compressed files are refused. Of several responses to one
    /// request, an answer takes precedence over a failure, else the last one, in the order of the paths.
    ///
    /// # Errors
    ///
    /// A file could not be read.
    pub fn open(paths: &[PathBuf]) -> Result<Self, String> {
        let mut files = Self::default();
        for path in files_of(paths)? {
            let wrong = |error: io::Error| format!("cannot read {}: {error}", path.display());
            files.read_through(&path).map_err(wrong)?;
        }
        for entry in files.index.values() {
            let name = entry
                .failure
                .and_then(|failure| files.names.get(failure as usize));
            match name {
                None => files.found.answered += 1,
                Some(name) => {
                    *files.found.failed.entry(name).or_default() += 1;
                    files.found.taught += u64::from(entry.completion_limit || entry.no_temperature);
                    files.found.too_long += u64::from(entry.too_long);
                }
            }
        }
        Ok(files)
    }

    /// Number of responses that no request looked up, though their ids are from this program.
    pub fn unasked(&self) -> u64 {
        let unasked = self
            .index
            .values()
            .filter(|entry| !entry.asked.load(Ordering::Relaxed));
        unasked.count() as u64
    }

    fn read_through(&mut self, path: &Path) -> io::Result<()> {
        let file = File::open(path)?;
        let mut reader = BufReader::with_capacity(256 * 1024, file);
        let start = reader.fill_buf()?;
        if start.starts_with(GZIP_MAGIC) || start.starts_with(ZSTD_MAGIC) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "it is compressed; unpack it first",
            ));
        }
        let index = self.files.len() as u32;
        self.files.push(path.to_owned());
        self.found.files += 1;
        let (mut offset, mut number) = (0, 0);
        let mut line = Vec::new();
        loop {
            line.clear();
            let length = reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? as u64;
            if length == 0 {
                break;
            }
            number += 1;
            if length == LONGEST_LINE && !line.ends_with(b"\n") {
                let rest = skip_line(&mut reader)?;
                self.broken(path, number, "too long for a response");
                offset += length + rest;
                continue;
            }
            let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line).trim_ascii();
            if !text.is_empty() {
                self.take(path, number, text, (index, offset, length as u32));
            }
            offset += length;
        }
        self.found.bytes += offset;
        Ok(())
    }

    fn take(&mut self, path: &Path, number: u64, text: &[u8], (file, offset, length): (u32, u64, u32)) {
        let response = match response::read(text) {
            Ok(response) => response,
            Err(NoResponse::Request) => {
                self.found.requests += 1;
                return;
            }
            Err(NoResponse::Broken(why)) => {
                self.broken(path, number, &why);
                return;
            }
        };
        let Some(key) = custom_id::key(&response.custom_id) else {
            self.found.foreign += 1;
            return;
        };
        let failure = match &response.outcome {
            ResponseOutcome::Answer(_) => None,
            ResponseOutcome::Failed(failed) => Some(self.failure(failed.name())),
        };
        let lesson = response.outcome.lesson();
        let too_long = response.outcome.is_too_long();
        let earlier = self.index.remove(&key);
        let failures = earlier.as_ref().map_or(0, |earlier| earlier.failures);
        let answers = earlier.as_ref().map_or(0, |earlier| earlier.answers);
        let taught = |taught: fn(&ResponseEntry) -> bool| earlier.as_ref().is_some_and(taught);
        let entry = ResponseEntry {
            offset,
            length,
            file,
            failure,
            failures: failures.saturating_add(u8::from(failure.is_some())),
            answers: answers.saturating_add(u8::from(failure.is_none())),
            completion_limit: lesson == Some(DialectFix::CompletionLimit)
                || taught(|entry| entry.completion_limit),
            no_temperature: lesson == Some(DialectFix::NoTemperature) || taught(|entry| entry.no_temperature),
            too_long,
            asked: AtomicBool::new(false),
        };
        let entry = match earlier {
            Some(answer) if answer.failure.is_none() && failure.is_some() => ResponseEntry {
                failures: entry.failures,
                ..answer
            },
            _ => entry,
        };
        self.index.insert(key, entry);
    }

    fn failure(&mut self, name: &'static str) -> u8 {
        let known = self.names.iter().position(|known| *known == name);
        let at = known.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        });
        // There are far fewer names.
        u8::try_from(at).unwrap_or(u8::MAX)
    }

    fn broken(&mut self, path: &Path, line: u64, why: &str) {
        self.found.broken += 1;
        if self.found.complaints.len() < TOLD {
            let place = format!("{}:{line}: {why}", path.display());
            self.found.complaints.push(place);
        }
    }

    fn line(&self, entry: &ResponseEntry) -> Result<Vec<u8>, String> {
        let path = self
            .files
            .get(entry.file as usize)
            .map_or(Path::new(""), PathBuf::as_path);
        let read = || -> io::Result<Vec<u8>> {
            let mut file = File::open(path)?;
            file.seek(SeekFrom::Start(entry.offset))?;
            let mut line = vec![0; entry.length as usize];
            file.read_exact(&mut line)?;
            Ok(line)
        };
        read().map_err(|error| format!("cannot read {}: {error}", path.display()))
    }
}

impl Responses for ResponseFiles {
    fn find(&self, key: &AnswerKey) -> Result<Option<BatchResponse>, String> {
        let Some(entry) = self.index.get(key) else {
            return Ok(None);
        };
        entry.asked.store(true, Ordering::Relaxed);
        let line = self.line(entry)?;
        let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line).trim_ascii();
        let Ok(response) = response::read(text) else {
            let path = self.files.get(entry.file as usize);
            let name = path.map_or_else(String::new, |path| path.display().to_string());
            return Err(format!("{name} has changed since it was read"));
        };
        let lessons = [
            (entry.completion_limit, DialectFix::CompletionLimit),
            (entry.no_temperature, DialectFix::NoTemperature),
        ];
        let taught = lessons.into_iter().filter(|(taught, _)| *taught);
        Ok(Some(BatchResponse {
            outcome: response.outcome,
            failures: entry.failures.into(),
            answers: entry.answers.into(),
            lessons: taught.map(|(_, lesson)| lesson).collect(),
        }))
    }
}

/// The files of these paths; those of a folder are sorted by name.
fn files_of(paths: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    let mut seen = BTreeSet::new();
    // A file named twice, or with its folder, must not count its failures twice.
    let mut is_new = |path: &Path| seen.insert(path.canonicalize().unwrap_or_else(|_| path.to_owned()));
    for path in paths {
        if !path.is_dir() {
            files.extend(is_new(path).then(|| path.clone()));
            continue;
        }
        let wrong = |error: io::Error| format!("cannot read {}: {error}", path.display());
        let entries = std::fs::read_dir(path).map_err(wrong)?;
        let mut in_folder = Vec::new();
        for entry in entries {
            let file = entry.map_err(wrong)?.path();
            // Compressed files are reported, not skipped.
            let ends = |path: &Path, end: &str| path.extension().is_some_and(|extension| extension == end);
            let is_packed = ends(&file, "gz") || ends(&file, "zst");
            let inner = if is_packed {
                file.with_extension("")
            } else {
                file.clone()
            };
            if file.is_file() && ends(&inner, "jsonl") {
                in_folder.push(file);
            }
        }
        in_folder.sort();
        in_folder.retain(|path| is_new(path));
        files.append(&mut in_folder);
    }
    Ok(files)
}

/// Skips to the end of the line without keeping it. Returns the number of bytes.
fn skip_line(reader: &mut impl BufRead) -> io::Result<u64> {
    let mut skipped = 0;
    loop {
        let buffer = reader.fill_buf()?;
        let end = memchr::memchr(b'\n', buffer);
        let length = end.map_or(buffer.len(), |end| end + 1);
        let done = end.is_some() || buffer.is_empty();
        reader.consume(length);
        skipped += length as u64;
        if done {
            return Ok(skipped);
        }
    }
}

#[cfg(test)]
mod tests;
