//! The state of a run through a Batch API: a file that is replaced atomically, so that nothing is submitted twice.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::files::{self, Access};
use crate::metrics::RequestTotals;
use crate::settings::SettingValues;
use crate::summarize::batch::custom_id;
use crate::summarize::batch::queue::{Load, QueueLimits};

/// The version of the file format.
const VERSION: u32 = 2;

/// The state of the batches of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    version: u32,
    /// The settings that the open batches were made with.
    pub settings: SettingValues,
    /// Rounds begun since the output was last finished.
    pub rounds: u64,
    /// The requests submitted since then, and their tokens.
    pub spent: RequestTotals,
    /// The limits of the vendor's queue, as learned from its refusals.
    #[serde(default)]
    pub room: QueueLimits,
    /// Batches, in the order in which they were made.
    pub batches: Vec<Batch>,
}

/// One batch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// The name of its file of requests.
    pub file: String,
    /// The SHA-256 of that file.
    pub sha256: String,
    /// Number of requests.
    pub requests: u64,
    /// Prompt tokens, estimated.
    #[serde(default)]
    pub prompt_tokens: u64,
    /// Former ids, each refused because the vendor's queue was full, and never started.
    #[serde(default)]
    pub refused: Vec<String>,
    /// The id of the uploaded file, if the vendor takes uploads.
    pub upload: Option<String>,
    /// It may have been submitted; set just before the attempt.
    pub submitting: bool,
    /// The latest batch of the vendor before that attempt.
    pub newest_before: Option<String>,
    /// Its id at the vendor.
    pub id: Option<String>,
    /// All its available results are downloaded.
    pub done: bool,
    /// Its final status, in the vendor's word.
    pub ended: String,
}

/// The folder of a run, held by one process at a time.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// The lock, held while the file is open.
    _lock: File,
}

impl State {
    /// Returns true if there are batches that are not done.
    pub fn is_open(&self) -> bool {
        self.batches.iter().any(|batch| !batch.done)
    }

    /// Returns true if an open batch may have been submitted, so that it may cost something.
    pub fn has_submitted(&self) -> bool {
        let open = self.batches.iter().filter(|batch| !batch.done);
        open.into_iter()
            .any(|batch| batch.submitting || batch.id.is_some())
    }

    /// Removes batches that were never submitted: their requests will be collected again.
    pub fn drop_unsubmitted(&mut self) {
        self.batches
            .retain(|batch| batch.done || batch.submitting || batch.id.is_some());
    }

    /// Returns true if a batch of this state has or had this id.
    pub fn knows(&self, id: &str) -> bool {
        let is_of =
            |batch: &Batch| batch.id.as_deref() == Some(id) || batch.refused.iter().any(|old| old == id);
        self.batches.iter().any(is_of)
    }
}

impl Batch {
    /// The share that it takes of a vendor's queue.
    pub fn load(&self) -> Load {
        Load {
            tokens: self.prompt_tokens,
            requests: self.requests,
        }
    }

    /// The batch for a file of requests.
    pub fn of(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let (mut hash, mut requests) = (Sha256::new(), 0);
        let mut chunk = vec![0; 256 * 1024];
        loop {
            let length = file.read(&mut chunk)?;
            let Some(bytes) = chunk.get(..length).filter(|bytes| !bytes.is_empty()) else {
                break;
            };
            hash.update(bytes);
            requests += memchr::memchr_iter(b'\n', bytes).count() as u64;
        }
        let digest: [u8; 32] = hash.finalize().into();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Ok(Self {
            file: name.into_owned(),
            sha256: custom_id::hex(&digest),
            requests,
            ..Self::default()
        })
    }
}

impl Folder {
    /// Creates the folder if it does not exist, and locks it; `None` if another run holds the lock.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        files::create_private_folder(path)?;
        files::create_private_folder(&path.join("answers"))?;
        let lock = files::open_or_create(&path.join("lock"), Access::Private)?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(Self {
                path: path.to_owned(),
                _lock: lock,
            })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of answers.
    pub fn answers(&self) -> PathBuf {
        self.path.join("answers")
    }

    /// The first file of requests of a round.
    pub fn requests(&self, round: u64) -> PathBuf {
        self.path.join(format!("requests-{round}.jsonl"))
    }

    /// The path of the state file.
    pub fn state(&self) -> PathBuf {
        self.path.join("state.json")
    }

    /// Reads the state; a new one if there is none.
    pub fn load(&self) -> io::Result<State> {
        let text = match std::fs::read(self.state()) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(State {
                    version: VERSION,
                    ..State::default()
                });
            }
            Err(error) => return Err(error),
        };
        let state: State = serde_json::from_slice(&text)?;
        if state.version != VERSION {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "another version of trajfit wrote it",
            ));
        }
        Ok(state)
    }

    /// Writes the state; it is on the disk when this returns.
    pub fn save(&self, state: &State) -> io::Result<()> {
        let mut json = serde_json::to_vec_pretty(state)?;
        json.push(b'\n');
        write(&self.state(), &json)
    }
}

/// Writes a file of the folder atomically.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let partial = Path::new(&partial);
    let mut file = create(partial)?;
    file.write_all(content)?;
    file.sync_all()?;
    rename(partial, path)
}

/// The share of `whole` for this many of all bytes.
pub fn part_of(whole: u64, bytes: u64, all: u64) -> u64 {
    let part = u128::from(whole) * u128::from(bytes) / u128::from(all.max(1));
    u64::try_from(part).unwrap_or(whole)
}

/// Creates a file of the folder, in place of an incomplete one.
pub fn create(path: &Path) -> io::Result<File> {
    files::remove_leftover(path)?;
    files::create_new(path, Access::Private)
}

/// Renames a file to its final name, durably.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::rename(from, to)?;
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty());
    // Some systems cannot sync a folder; the rename itself has succeeded.
    let _ = File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_comes_back_as_it_was_kept_and_is_held_by_one() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open(&place.path().join("out.batch")).unwrap().unwrap();
        assert!(Folder::open(folder.path()).unwrap().is_none());
        let mut state = folder.load().unwrap();
        assert!(!state.is_open());
        std::fs::write(folder.requests(1), "{}\n{}\n{}\n").unwrap();
        state.batches.push(Batch::of(&folder.requests(1)).unwrap());
        assert_eq!(state.batches[0].requests, 3);
        assert!(state.is_open() && !state.has_submitted());
        folder.save(&state).unwrap();
        assert_eq!(folder.load().unwrap(), state);
        std::fs::write(folder.state(), "{\"version\": 9").unwrap();
        assert!(folder.load().is_err());
    }

    #[test]
    fn what_was_never_submitted_can_be_forgotten() {
        let mut state = State::default();
        for (submitting, id, done) in [
            (false, None, false),
            (true, None, false),
            (true, Some("b"), false),
            (true, Some("c"), true),
        ] {
            state.batches.push(Batch {
                submitting,
                id: id.map(str::to_owned),
                done,
                ..Batch::default()
            });
        }
        assert!(state.has_submitted() && state.knows("b") && !state.knows("x"));
        state.drop_unsubmitted();
        assert_eq!(state.batches.len(), 3);
    }
}
