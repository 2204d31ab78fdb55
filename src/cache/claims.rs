//! What is being asked for at this moment, and by which process: so that two that ask the same at once pay once.
//!
//! A claim is a row with its owner and a time until which it holds, which the owner puts off while it lives. It never
//! holds others up for long: the owner also holds a locked file, and what is killed holds no lock; what is stopped, or
//! keeps its claims where files cannot be locked, loses them when their time is over.

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

/// How long a claim holds, in seconds, and how often its owner puts that off.
const HOLDS: i64 = 60;
const RENEWED: Duration = Duration::from_secs(15);

/// Tries to make an owner's file: before it is locked, another process may take it for one that was left behind.
const TRIES: usize = 100;

/// The table. An older version that shares the file does not look at it.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS claims (
    key BLOB PRIMARY KEY,
    owner TEXT NOT NULL,
    until INTEGER NOT NULL
) STRICT, WITHOUT ROWID";

/// A process that asks; its claims end with it.
pub struct Owner {
    name: String,
    path: PathBuf,
    /// Locked for as long as it is open.
    _locked: File,
    /// Ends the renewal when it is dropped.
    _renewal: Sender<()>,
}

impl Owner {
    /// A new owner in that folder; `renew` is called again and again with its name, on a thread of its own.
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

    /// What its claims are known by.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // Left behind, it is nobody's.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A new file that is locked, with its path and its owner's name.
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

/// Makes the table where it is missing, and forgets claims whose time is over.
pub fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute(TABLE, [])?;
    connection.execute("DELETE FROM claims WHERE until < ?1", [now()])?;
    Ok(())
}

/// Whether `owner` is the one to ask for that key now.
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

/// Gives a claim up.
pub fn release(connection: &Connection, key: &[u8], owner: &str) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached("DELETE FROM claims WHERE key = ?1 AND owner = ?2")?;
    statement.execute((key, owner)).map(|_| ())
}

/// Gives all claims of an owner up.
pub fn release_all(connection: &Connection, owner: &str) -> rusqlite::Result<()> {
    connection
        .execute("DELETE FROM claims WHERE owner = ?1", [owner])
        .map(|_| ())
}

/// Puts the end of an owner's claims off.
pub fn renew(connection: &Connection, owner: &str) -> rusqlite::Result<()> {
    let until = now() + HOLDS;
    connection
        .execute("UPDATE claims SET until = ?1 WHERE owner = ?2", (until, owner))
        .map(|_| ())
}

/// Removes the files of owners that are no more.
pub fn remove_leftovers(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if let Some(owner) = name.to_str().and_then(owner_of) {
            lives(folder, owner);
        }
    }
}

/// Whether an owner holds its file; if not, that is removed.
fn lives(folder: &Path, owner: &str) -> bool {
    let path = lock_file(folder, owner);
    if !is_name(owner) || !path.exists() {
        return false;
    }
    // What cannot be told is left to the claim's time.
    files::remove_leftover(&path).is_err()
}

fn lock_file(folder: &Path, owner: &str) -> PathBuf {
    folder.join(format!("{FILE}-{owner}.lock"))
}

/// The owner that a file of that name is of.
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
