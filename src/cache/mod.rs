//! A cache of language models' answers on disk, so that each is paid once: one file shared by runs and processes.
//!
//! ```text
//!  summarize::answers ─► AnswerCache ─► file (SQLite, write-ahead log) ◄─► other processes
//!          │                 │              ▲
//!          └─► claims ───────┤              └── stats, prune, merge
//!        (who asks for what) └─► memory
//!                               (what the file does not take)
//! ```

mod claims;
#[cfg(test)]
mod claims_tests;
mod clock;
mod error;
mod file;
mod file_name;
mod merge;
mod prune;
mod stats;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension, Row, named_params};

use crate::names::Named;
use crate::summarize::NotReady;
use crate::summarize::answers::{AnswerKey, AnswerKind, AnswerStore, InMemory, KeptAnswer};
use claims::Owner;
use clock::{now, stored};
pub use error::CacheError;
pub use file::CacheAccess;
pub use file_name::FILE;
pub use merge::{MergedCaches, merge};
pub use prune::{Prune, Pruned, prune};
pub use stats::{ModelStats, Stats, stats};

/// Minimum time between two waits for the disk. A killed process loses no stored answer; a power loss may lose answers
/// stored within this time after the last wait. Waiting each time would cost most of the speed.
const SYNC: Duration = Duration::from_secs(1);

/// Resolution of the time of the last use, in seconds: coarse, so that lookups rarely write.
const USED: i64 = 24 * 60 * 60;

/// A cache of answers in a file.
pub struct AnswerCache {
    folder: PathBuf,
    access: CacheAccess,
    open: Arc<Mutex<Option<OpenCache>>>,
    claims: Mutex<Claims>,
    /// Answers that could not be stored in the file.
    rest: InMemory,
    has_failed: AtomicBool,
    warn: Box<dyn Fn(&str) + Send + Sync>,
}

/// The claims of this process in the file.
enum Claims {
    /// None so far.
    None,
    /// The owner of the claims made.
    Of(Owner),
    /// Claims are not possible in this file or folder, so others may request the same answers at the same time.
    GivenUp,
}

struct OpenCache {
    connection: Connection,
    /// The time of the last wait for the disk.
    synced: Option<Instant>,
}

impl AnswerCache {
    /// The cache in that folder, not opened yet. `warn` is called at the first error of the file.
    pub fn new(folder: PathBuf, access: CacheAccess, warn: Box<dyn Fn(&str) + Send + Sync>) -> Self {
        Self {
            folder,
            access,
            open: Arc::default(),
            claims: Mutex::new(Claims::None),
            rest: InMemory::default(),
            has_failed: AtomicBool::new(false),
            warn,
        }
    }

    /// Creates an owner of claims, if there is a file for them.
    fn owner(&self) -> Claims {
        if self.access != CacheAccess::Keep || lock(&self.open).is_none() {
            return Claims::GivenUp;
        }
        let open = Arc::clone(&self.open);
        let renew = move |owner: &str| {
            if let Some(open) = lock(&open).as_ref() {
                // If it fails, it is tried again before they expire.
                let _ = claims::renew(&open.connection, owner);
            }
        };
        Owner::new(&self.folder, renew).map_or(Claims::GivenUp, Claims::Of)
    }

    fn failed(&self, doing: &str, error: &rusqlite::Error, so: &str) {
        if !self.has_failed.swap(true, Ordering::Relaxed) {
            let file = self.folder.join(FILE);
            let cause = error::cause(error);
            (self.warn)(&format!(
                "cannot {doing} the cache {}: {cause}; {so}",
                file.display()
            ));
        }
    }
}

impl AnswerStore for AnswerCache {
    fn open(&self) -> Result<(), NotReady> {
        let connection = file::open(&self.folder, self.access).map_err(|error| NotReady {
            message: error.to_string(),
            help: error.help(),
        })?;
        if self.access == CacheAccess::Keep {
            claims::remove_leftovers(&self.folder);
        }
        *lock(&self.open) = connection.map(|connection| OpenCache {
            connection,
            synced: None,
        });
        Ok(())
    }

    fn get(&self, key: &AnswerKey) -> Option<KeptAnswer> {
        if self.has_failed.load(Ordering::Relaxed)
            && let Some(answer) = self.rest.get(key)
        {
            return Some(answer);
        }
        let open = lock(&self.open);
        let open = open.as_ref()?;
        match open.get(key, self.access == CacheAccess::Keep) {
            Ok(answer) => answer,
            Err(error) => {
                self.failed("read", &error, "what it holds may be asked for again");
                None
            }
        }
    }

    fn put(&self, key: &AnswerKey, answer: KeptAnswer) -> KeptAnswer {
        let written = lock(&self.open).as_mut().map(|open| open.put(key, &answer));
        match written {
            Some(Ok(None)) => answer,
            Some(Ok(Some(first))) => first,
            Some(Err(error)) => {
                self.failed("write", &error, "answers are kept for the time of this run only");
                self.rest.put(key, answer)
            }
            None => self.rest.put(key, answer),
        }
    }

    fn claim(&self, key: &AnswerKey) -> bool {
        let mut claims = lock(&self.claims);
        if matches!(*claims, Claims::None) {
            *claims = self.owner();
        }
        let Claims::Of(owner) = &*claims else {
            return true;
        };
        let open = lock(&self.open);
        let Some(open) = open.as_ref() else {
            return true;
        };
        let claimed = claims::claim(&open.connection, &self.folder, key.bytes(), owner.name());
        if claimed.is_err() {
            *claims = Claims::GivenUp;
        }
        claimed.unwrap_or(true)
    }

    fn release(&self, key: &AnswerKey) {
        let mut claims = lock(&self.claims);
        if let (Claims::Of(owner), Some(open)) = (&*claims, lock(&self.open).as_ref())
            && claims::release(&open.connection, key.bytes(), owner.name()).is_err()
        {
            *claims = Claims::GivenUp;
        }
    }

    fn close(&self) {
        let claims = std::mem::replace(&mut *lock(&self.claims), Claims::GivenUp);
        if let (Claims::Of(owner), Some(open)) = (&claims, lock(&self.open).as_ref()) {
            // If it fails, they end with the owner's file.
            let _ = claims::release_all(&open.connection, owner.name());
        }
        // The last one to close it writes the log back into the database and waits for the disk.
        drop(lock(&self.open).take());
    }
}

impl OpenCache {
    fn get(&self, key: &AnswerKey, note_use: bool) -> rusqlite::Result<Option<KeptAnswer>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id, used, kind, text, redactions, model, prompt_tokens, completion_tokens
             FROM answers WHERE key = ?1",
        )?;
        let found = statement
            .query_row([key.bytes()], |row| Ok((row.get(0)?, row.get(1)?, answer(row)?)))
            .optional()?;
        let Some((id, used, answer)): Option<(i64, i64, _)> = found else {
            return Ok(None);
        };
        let now = now();
        if note_use && now - used >= USED {
            // If it fails, nothing is lost: the answer only seems older than it is.
            let _ = self
                .connection
                .execute("UPDATE answers SET used = ?1 WHERE id = ?2", [now, id]);
        }
        Ok(answer)
    }

    /// Stores an answer. Returns the one stored before, if there was one.
    fn put(&mut self, key: &AnswerKey, answer: &KeptAnswer) -> rusqlite::Result<Option<KeptAnswer>> {
        let wait = self.synced.is_none_or(|synced| synced.elapsed() >= SYNC);
        if wait {
            // This also writes all earlier answers to the disk.
            self.connection.pragma_update(None, "synchronous", "FULL")?;
        }
        let inserted = self.insert(key, answer);
        if wait {
            self.synced = Some(Instant::now());
            self.connection.pragma_update(None, "synchronous", "NORMAL")?;
        }
        if inserted? { Ok(None) } else { self.get(key, false) }
    }

    fn insert(&self, key: &AnswerKey, answer: &KeptAnswer) -> rusqlite::Result<bool> {
        let mut statement = self.connection.prepare_cached(
            "INSERT INTO answers
               (key, kind, text, redactions, model, prompt_tokens, completion_tokens, created, used)
             VALUES
               (:key, :kind, :text, :redactions, :model, :prompt_tokens, :completion_tokens, :now, :now)
             ON CONFLICT (key) DO NOTHING",
        )?;
        let rows = statement.execute(named_params! {
            ":key": key.bytes(),
            ":kind": answer.kind.name(),
            ":text": answer.text,
            ":redactions": stored(answer.redactions as u64),
            ":model": answer.model,
            ":prompt_tokens": stored(answer.prompt_tokens),
            ":completion_tokens": stored(answer.completion_tokens),
            ":now": now(),
        })?;
        Ok(rows > 0)
    }
}

/// The answer in a row; `None` if this version does not know its kind.
fn answer(row: &Row<'_>) -> rusqlite::Result<Option<KeptAnswer>> {
    let kind: String = row.get("kind")?;
    let Some(kind) = AnswerKind::from_name(&kind) else {
        return Ok(None);
    };
    let count = |name: &str| row.get::<_, i64>(name).map(i64::cast_unsigned);
    Ok(Some(KeptAnswer {
        kind,
        text: row.get("text")?,
        redactions: count("redactions")? as usize,
        model: row.get("model")?,
        prompt_tokens: count("prompt_tokens")?,
        completion_tokens: count("completion_tokens")?,
    }))
}

/// Returns true if there is a cache in that folder.
pub fn is_in(folder: &Path) -> bool {
    folder.join(FILE).is_file()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
