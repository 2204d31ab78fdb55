//! Claims on requests in flight, by process: two processes that need the same answer at the same time pay once.
//!
//! A claim is a row with its owner and an expiry time, which the owner extends while it lives. It never delays others
//! for long: the owner also holds a lock on a file, which ends when it is killed. If the owner is suspended, or files
//! cannot be locked, its claims end when they expire.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension};

use super::clock::now;
use super::file_name::FILE;
use crate::files;

/// Lifetime of a claim in seconds, and the interval at which its owner extends it.
const HOLDS: i64 = 60;
const RENEWED: Duration = Duration::from_secs(15);

/// Attempts to make an owner's file: before it is locked, another process may remove it as a leftover.
const TRIES: usize = 100;

/// The table of claims. An older version that shares the file ignores it.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS claims (
    key BLOB PRIMARY KEY,
    owner TEXT NOT NULL,
    until INTEGER NOT NULL
) STRICT, WITHOUT ROWID";

/// A process that holds claims; they end with it.
pub struct Owner {
    name: String,
    path: PathBuf,
    /// The lock, held while the file is open.
    _locked: File,
    /// Ends the renewal when it is dropped.
    _renewal: Sender<()>,
}

impl Owner {
    /// A new owner in that folder; `renew` is called with its name at intervals, on a thread of its own.
    pub fn new(folder: &Path, renew: impl Fn(&str) + Send + 'static) -> io::Result<Self> {
        let make = |path: &Path| files::create_new(path, files::Access::Private);
        let (name, path, locked) = new_file(folder, make)?;
        let (sender, receiver) = mpsc::channel::<()>();
        let renewed = name.clone();
        let renewal = move || {
            while receiver.recv_timeout(RENEWED) == Err(RecvTimeoutError::Timeout) {
                renew(&renewed);
            }
        };
        std::thread::Builder::new()
            .name("claims".to_owned())
            .spawn(renewal)?;
        Ok(Self {
            name,
            path,
            _locked: locked,
            _renewal: sender,
        })
    }

    /// The name of the owner in its claims.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // If it cannot be removed, it is a leftover without a lock.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Creates and locks an owner's file. Returns it with its path and the owner's name.
pub(super) fn new_file(
    folder: &Path,
    make: impl Fn(&Path) -> io::Result<File>,
) -> io::Result<(String, PathBuf, File)> {
    let attempt = || {
        let name = format!("{:016x}", RandomState::new().hash_one(std::process::id()));
        let path = lock_file(folder, &name);
        let locked = make(&path)?;
        Ok((name, path, locked))
    };
    let is_taken = |made: &io::Result<_>| {
        let error = made.as_ref().err().map(io::Error::kind);
        error == Some(io::ErrorKind::ResourceBusy)
    };
    let mut attempts = std::iter::repeat_with(attempt).take(TRIES);
    let made = attempts.find(|made| !is_taken(made));
    made.unwrap_or_else(|| Err(io::ErrorKind::ResourceBusy.into()))
}

/// Creates the table if it does not exist, and removes expired claims.
pub fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute(TABLE, [])?;
    connection.execute("DELETE FROM claims WHERE until < ?1", [now()])?;
    Ok(())
}

/// Claims the key for `owner`. Returns false if another process, or this one, has claimed it.
pub fn claim(connection: &Connection, folder: &Path, key: &[u8], owner: &str) -> rusqlite::Result<bool> {
    let mut find = connection.prepare_cached("SELECT owner, until FROM claims WHERE key = ?1")?;
    let found: Option<(String, i64)> = find
        .query_row([key], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let now = now();
    if let Some((other, until)) = found {
        // A clock that was set back must not make a claim last longer.
        let holds = (now..=now + HOLDS).contains(&until);
        if holds && (other == owner || lives(folder, &other)) {
            return Ok(false);
        }
        connection.execute(
            "DELETE FROM claims WHERE key = ?1 AND owner = ?2 AND until = ?3",
            (key, other, until),
        )?;
    }
    let mut insert = connection.prepare_cached(
        "INSERT INTO claims (key, owner, until) VALUES (?1, ?2, ?3) ON CONFLICT (key) DO NOTHING",
    )?;
    Ok(insert.execute((key, owner, now + HOLDS))? > 0)
}

/// Releases a claim.
pub fn release(connection: &Connection, key: &[u8], owner: &str) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached("DELETE FROM claims WHERE key = ?1 AND owner = ?2")?;
    statement.execute((key, owner)).map(|_| ())
}

/// Releases all claims of an owner.
pub fn release_all(connection: &Connection, owner: &str) -> rusqlite::Result<()> {
    connection
        .execute("DELETE FROM claims WHERE owner = ?1", [owner])
        .map(|_| ())
}

/// Extends an owner's claims.
pub fn renew(connection: &Connection, owner: &str) -> rusqlite::Result<()> {
    let until = now() + HOLDS;
    connection
        .execute("UPDATE claims SET until = ?1 WHERE owner = ?2", (until, owner))
        .map(|_| ())
}

/// Removes the files of owners that have ended.
pub fn remove_leftovers(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if let Some(owner) = name.to_str().and_then(owner_of) {
            lives(folder, owner);
        }
    }
}

/// Returns true if an owner holds the lock on its file; otherwise the file is removed.
fn lives(folder: &Path, owner: &str) -> bool {
    let path = lock_file(folder, owner);
    if !is_name(owner) || !path.exists() {
        return false;
    }
    // If the lock cannot be tested, the claim ends when it expires.
    files::remove_leftover(&path).is_err()
}

fn lock_file(folder: &Path, owner: &str) -> PathBuf {
    folder.join(format!("{FILE}-{owner}.lock"))
}

/// The owner of a lock file, by the file's name.
fn owner_of(name: &str) -> Option<&str> {
    let owner = name
        .strip_prefix(FILE)?
        .strip_prefix('-')?
        .strip_suffix(".lock")?;
    is_name(owner).then_some(owner)
}

fn is_name(owner: &str) -> bool {
    owner.len() == 16 && owner.bytes().all(|byte| byte.is_ascii_hexdigit())
}
