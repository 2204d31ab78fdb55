//! Files of requests that are to be sent later: split at the limits of a file, each request written once.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::disk;
use super::output::{Codec, ExistingFile, OpenSettings, PartialFile};
use crate::files::{self, Access};
use crate::fit::PendingRequest;
use crate::metrics::{RequestTotals, Tokens};
use crate::pipeline::paths::file_names::{PARTIAL, appended};
use crate::pipeline::read::data_names::split_data_extension;

/// The files for requests, and the limits of each file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestFileSet {
    /// The first file; `requests.jsonl` is followed by `requests-2.jsonl`, and so on.
    pub path: PathBuf,
    /// Maximum number of requests in a file.
    pub max_requests: u64,
    /// Maximum bytes of a file; a request that is larger has a file of its own.
    pub max_bytes: u64,
}

/// The progress of the files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestProgress {
    /// Files begun.
    pub files: u64,
    /// Bytes in the last of them.
    length: u64,
    /// Requests in it.
    in_file: u64,
    /// Totals of all files.
    pub totals: RequestTotals,
}

/// The files being written, under `.partial` names.
pub struct RequestFiles {
    target: RequestFileSet,
    file: Option<PartialFile>,
    /// Hashes of the lines written: some records need the same request.
    written: FxHashSet<u128>,
    mark: RequestProgress,
    leftover: ExistingFile,
}

impl RequestFileSet {
    /// The name of a file, from 1.
    pub fn file(&self, number: u64) -> PathBuf {
        if number <= 1 {
            return self.path.clone();
        }
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let (stem, extension) = split_data_extension(&name);
        self.path.with_file_name(format!("{stem}-{number}{extension}"))
    }

    /// The files that exist, whichever run wrote them.
    pub fn existing(&self) -> Vec<PathBuf> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let entries = std::fs::read_dir(folder.unwrap_or(Path::new(".")))
            .into_iter()
            .flatten();
        let names = entries.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()));
        let mut numbers: Vec<u64> = names.filter_map(|name| self.number(&name)).collect();
        numbers.sort_unstable();
        numbers.into_iter().map(|number| self.file(number)).collect()
    }

    /// The number of a file by its name.
    fn number(&self, name: &str) -> Option<u64> {
        let first = self.path.file_name()?.to_string_lossy();
        if name == first {
            return Some(1);
        }
        let (stem, extension) = split_data_extension(&first);
        let number = name
            .strip_prefix(stem)?
            .strip_prefix('-')?
            .strip_suffix(extension)?;
        number.parse().ok().filter(|number| *number > 1)
    }

    /// Gives the first `files` files their final names, and removes the other existing ones, which an earlier run left.
    pub fn name_files(&self, files: u64) -> io::Result<Vec<PathBuf>> {
        let named: Vec<PathBuf> = (1..=files).map(|number| self.file(number)).collect();
        for stale in self
            .existing()
            .into_iter()
            .filter(|existing| !named.contains(existing))
        {
            std::fs::remove_file(stale)?;
        }
        disk::name_files(named.iter().map(PathBuf::as_path), |path| appended(path, PARTIAL))
            .map_err(|(_, error)| error)?;
        Ok(named)
    }
}

impl RequestFiles {
    /// Opens the files to continue at `mark`, from nothing if no file was begun.
    pub fn open(target: &RequestFileSet, mark: RequestProgress, leftover: ExistingFile) -> io::Result<Self> {
        let mut files = Self {
            target: target.clone(),
            file: None,
            written: FxHashSet::default(),
            mark,
            leftover,
        };
        for number in 1..=mark.files {
            let path = files.partial(number);
            let last = number == mark.files;
            let length = if last { mark.length } else { u64::MAX };
            files.read_back(&path, length)?;
            if last {
                files.file = Some(files.open_partial(number, length)?);
            }
        }
        if leftover == ExistingFile::Take {
            for number in mark.files + 1.. {
                // Left by a run that was started over.
                if std::fs::remove_file(files.partial(number)).is_err() {
                    break;
                }
            }
        }
        if mark.files == 0 {
            // A file that cannot be written is an error before any request is made.
            files.open_partial(1, 0)?.remove();
        }
        Ok(files)
    }

    fn open_partial(&self, number: u64, length: u64) -> io::Result<PartialFile> {
        // It holds whole conversations.
        let opening = OpenSettings {
            access: files::access_at(&self.target.file(number), Access::Private),
            leftover: self.leftover,
        };
        PartialFile::open(&self.partial(number), Codec::Plain, length, opening)
    }

    /// Stores the hashes of the lines of a file.
    fn read_back(&mut self, path: &Path, length: u64) -> io::Result<()> {
        let mut lines = BufReader::new(File::open(path)?.take(length));
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line)? > 0 {
            self.written.insert(xxh3_128(&line));
            line.clear();
        }
        Ok(())
    }

    /// Writes a request, unless it was written before.
    pub fn push(&mut self, request: &PendingRequest) -> io::Result<()> {
        if !self.written.insert(xxh3_128(&request.line)) {
            return Ok(());
        }
        let length = request.line.len() as u64;
        let full = self.mark.in_file >= self.target.max_requests
            || self.mark.length + length > self.target.max_bytes && self.mark.in_file > 0;
        if full || self.file.is_none() {
            self.sync()?;
            self.file = Some(self.open_partial(self.mark.files + 1, 0)?);
            self.mark = RequestProgress {
                files: self.mark.files + 1,
                length: 0,
                in_file: 0,
                totals: self.mark.totals,
            };
        }
        if let Some(file) = &mut self.file {
            file.push(&request.line)?;
        }
        self.mark.length += length;
        self.mark.in_file += 1;
        let (prompt, completion) = (request.prompt_tokens, request.completion_tokens);
        self.mark.totals += RequestTotals {
            requests: 1,
            tokens: Tokens::of(prompt, completion, request.by_fallback),
        };
        Ok(())
    }

    /// The progress of the files.
    pub fn mark(&self) -> RequestProgress {
        self.mark
    }

    /// Waits until all lines are on the disk. Returns the progress of the files.
    pub fn sync(&mut self) -> io::Result<RequestProgress> {
        if let Some(file) = &mut self.file {
            file.sync()?;
        }
        Ok(self.mark)
    }

    /// The path to name in errors about these files.
    pub fn path(&self) -> &Path {
        &self.target.path
    }

    fn partial(&self, number: u64) -> PathBuf {
        appended(&self.target.file(number), PARTIAL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compress::Reason;

    fn request(text: &str) -> PendingRequest {
        PendingRequest {
            key: crate::fit::AnswerKey::of(&[text]),
            line: format!("{text}\n").into_bytes(),
            why: Reason::plain("summary_missing"),
            prompt_tokens: 10,
            completion_tokens: 1,
            by_fallback: false,
        }
    }

    fn target(folder: &Path, max_requests: u64, max_bytes: u64) -> RequestFileSet {
        RequestFileSet {
            path: folder.join("out.missing.jsonl"),
            max_requests,
            max_bytes,
        }
    }

    fn names(paths: &[PathBuf]) -> Vec<String> {
        let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        paths.iter().map(name).collect()
    }

    #[test]
    fn files_are_split_at_both_limits_and_hold_each_request_once() {
        let folder = tempfile::tempdir().unwrap();
        let target = target(folder.path(), 3, 12);
        let mut files =
            RequestFiles::open(&target, RequestProgress::default(), ExistingFile::Refuse).unwrap();
        for text in [
            "a",
            "b",
            "a",
            "c",
            "d",
            "eeeeeeeeee",
            "a much too long one",
            "f",
            "b",
        ] {
            files.push(&request(text)).unwrap();
        }
        let mark = files.sync().unwrap();
        assert_eq!(
            (mark.files, mark.totals.requests, mark.totals.tokens.prompt),
            (5, 7, 70)
        );
        let named = target.name_files(mark.files).unwrap();
        let read = |path: &PathBuf| std::fs::read_to_string(path).unwrap();
        let texts: Vec<String> = named.iter().map(read).collect();
        assert_eq!(
            texts,
            ["a\nb\nc\n", "d\n", "eeeeeeeeee\n", "a much too long one\n", "f\n"]
        );
        assert_eq!(names(&named)[..2], ["out.missing.jsonl", "out.missing-2.jsonl"]);
    }

    #[test]
    fn what_was_written_after_the_mark_is_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let target = target(folder.path(), 2, 1000);
        let mut files =
            RequestFiles::open(&target, RequestProgress::default(), ExistingFile::Refuse).unwrap();
        for text in ["a", "b", "c"] {
            files.push(&request(text)).unwrap();
        }
        let mark = files.sync().unwrap();
        for text in ["d", "e", "f"] {
            files.push(&request(text)).unwrap();
        }
        files.sync().unwrap();
        drop(files);
        let mut files = RequestFiles::open(&target, mark, ExistingFile::Take).unwrap();
        for text in ["a", "c", "d", "e"] {
            files.push(&request(text)).unwrap();
        }
        let mark = files.sync().unwrap();
        let named = target.name_files(mark.files).unwrap();
        let texts: Vec<String> = named
            .iter()
            .map(|path| std::fs::read_to_string(path).unwrap())
            .collect();
        assert_eq!(texts, ["a\nb\n", "c\nd\n", "e\n"]);
        assert_eq!(mark.totals.requests, 5);
    }

    #[test]
    fn files_of_an_earlier_run_go_and_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let target = target(folder.path(), 1, 1000);
        let others = [
            "out.missing-x.jsonl",
            "out.missing-1.jsonl",
            "out.jsonl",
            "out.missing-2.json",
        ];
        for name in ["out.missing.jsonl", "out.missing-2.jsonl", "out.missing-7.jsonl"]
            .iter()
            .chain(&others)
        {
            std::fs::write(folder.path().join(name), "old").unwrap();
        }
        let existing = ["out.missing.jsonl", "out.missing-2.jsonl", "out.missing-7.jsonl"];
        assert_eq!(names(&target.existing()), existing);
        let mut files =
            RequestFiles::open(&target, RequestProgress::default(), ExistingFile::Refuse).unwrap();
        files.push(&request("a")).unwrap();
        let mark = files.sync().unwrap();
        target.name_files(mark.files).unwrap();
        assert_eq!(names(&target.existing()), ["out.missing.jsonl"]);
        assert!(others.iter().all(|name| folder.path().join(name).exists()));
        target.name_files(0).unwrap();
        assert!(target.existing().is_empty());
    }
}
