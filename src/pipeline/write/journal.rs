//! The checkpoint: an append-only journal of what is safely on disk, locked by the run that writes it.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::requests::RequestProgress;
use crate::files::{self, Access};
use crate::pipeline::read::batch::Position;
use crate::pipeline::read::source::SourceState;
use crate::settings::{self, SettingValues};
use crate::tokens::TokenizerIdentity;
use crate::tokens::chat_template::TemplateIdentity;

/// The identity of a run: only a run with the same one can resume it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunIdentity {
    /// Version of this program.
    pub version: String,
    /// Effective values of the settings that determine the output.
    pub configuration: SettingValues,
    /// The tokenizer.
    pub tokenizer: TokenizerIdentity,
    /// The chat template, if there is one.
    pub chat_template: Option<TemplateIdentity>,
    /// The inputs.
    pub sources: Vec<SourceState>,
    /// The data files.
    pub outputs: Vec<String>,
}

/// A point in a run: everything before it is on the disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Milestone {
    /// Index of the source being read.
    pub source: usize,
    /// The position in it at which reading continues.
    pub position: Position,
    /// Records taken so far, over all sources; what `--limit` counts.
    pub taken: u64,
    /// Length of the data file being written.
    pub data: u64,
    /// True if that is not empty.
    pub data_started: bool,
    /// Last byte of the data file.
    pub last_byte: Option<u8>,
    /// Length of the metrics.
    pub metrics: u64,
    /// Length of the rejects.
    pub rejects: u64,
    /// Progress of the files of requests that are still to be sent.
    #[serde(default)]
    pub requests: RequestProgress,
    /// Tokens that summarizers read.
    pub summary_input_tokens: u64,
    /// True if all is written, and only the final names are missing.
    pub complete: bool,
}

/// A journal open for writing, and locked.
pub struct Journal {
    path: PathBuf,
    file: File,
    /// Bytes up to the end of its last whole line.
    length: u64,
}

/// The first bytes of every journal.
const OPENING: &[u8] = b"{\"version\":";

/// The content of a journal on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalContent {
    /// The run that wrote it; `None` if another version of this program wrote it in another form.
    pub identity: Option<RunIdentity>,
    /// Its last milestone; `None` if it has none.
    pub milestone: Option<Milestone>,
}

impl Journal {
    /// Opens and locks the journal; `Ok(None)` if another run holds it.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        loop {
            let file = files::open_or_create(path, Access::Private)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
            // A run that has just finished may have removed the file between our opening and our locking it.
            if files::is_same_file(&file, path) {
                return Ok(Some(Self {
                    path: path.to_owned(),
                    file,
                    length: 0,
                }));
            }
        }
    }

    /// Reads its content; `None` if it has none yet. Entries are then appended after its last whole line. A file that
    /// is no journal is an error, and left as it is.
    pub fn read(&mut self) -> io::Result<Option<JournalContent>> {
        let mut text = Vec::new();
        self.file.seek(SeekFrom::Start(0))?;
        self.file.read_to_end(&mut text)?;
        if !text.starts_with(OPENING) && !OPENING.starts_with(&text) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "not a checkpoint"));
        }
        // A run killed while appending leaves half a line, which is cut off.
        let complete = text
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |end| end + 1);
        self.file.set_len(complete as u64)?;
        self.length = complete as u64;
        let lines = text.get(..complete).unwrap_or_default();
        let mut lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let Some(identity) = lines.next() else {
            return Ok(None);
        };
        let identity = serde_json::from_slice(identity).ok();
        let milestone = lines
            .filter_map(|line| serde_json::from_slice(line).ok())
            .next_back();
        Ok(Some(JournalContent { identity, milestone }))
    }

    /// Replaces its content by `identity`.
    pub fn start(&mut self, identity: &RunIdentity) -> io::Result<()> {
        self.clear()?;
        self.append(identity)
    }

    /// Empties it, so that it is only a lock.
    pub fn clear(&mut self) -> io::Result<()> {
        self.length = 0;
        self.file.set_len(0)
    }

    /// Appends an entry, which is on the disk when this returns.
    pub fn append(&mut self, entry: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        // Overwrites the rest of an append that failed half-way (a full disk).
        self.file.seek(SeekFrom::Start(self.length))?;
        self.file.write_all(&line)?;
        self.file.sync_data()?;
        self.length += line.len() as u64;
        Ok(())
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it: the run is done.
    pub fn remove(self) -> io::Result<()> {
        std::fs::remove_file(&self.path)
    }
}

impl RunIdentity {
    /// The differences between this run and another, a line each; empty if there are none.
    pub fn differences(&self, now: &Self) -> Vec<String> {
        let mut differences = settings::differences(&self.configuration, &now.configuration);
        let mut compare = |what: String, then: &str, now: &str| {
            if then != now {
                differences.push(format!("{what}: was {then}, is {now}"));
            }
        };
        compare("trajfit version".into(), &self.version, &now.version);
        compare("tokenizer".into(), &self.tokenizer.name, &now.tokenizer.name);
        compare(
            "tokenizer's SHA-256".into(),
            &self.tokenizer.sha256,
            &now.tokenizer.sha256,
        );
        let template = |identity: &Self| {
            let template = identity.chat_template.as_ref();
            template.map_or_else(|| "none".to_owned(), |template| template.sha256.clone())
        };
        compare("chat template".into(), &template(self), &template(now));
        let list = |sources: &[SourceState]| {
            sources
                .iter()
                .map(|source| source.path.clone())
                .collect::<Vec<_>>()
                .join(", ")
        };
        compare("inputs".into(), &list(&self.sources), &list(&now.sources));
        for (then, now) in self
            .sources
            .iter()
            .zip(&now.sources)
            .filter(|(then, now)| then.path == now.path)
        {
            let size = |source: &SourceState| format!("{} bytes", source.bytes);
            compare(format!("size of {}", now.path), &size(then), &size(now));
            compare(
                format!("time of change of {}", now.path),
                &then.modified.to_string(),
                &now.modified.to_string(),
            );
            let version = |source: &SourceState| source.etag.clone().unwrap_or_default();
            compare(format!("version of {}", now.path), &version(then), &version(now));
        }
        compare(
            "outputs".into(),
            &self.outputs.join(", "),
            &now.outputs.join(", "),
        );
        differences
    }
}
