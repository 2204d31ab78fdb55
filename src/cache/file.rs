//! The database file of answers: creating, recognizing and opening it.

use std::path::Path;
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags, TransactionBehavior};

use super::file_name::FILE;
use super::{CacheError, claims};
use crate::files;

/// The application id that distinguishes the file from other programs' (`tjft`), and the version of its tables.
const APPLICATION: i64 = 0x746a_6674;
const VERSION: i64 = 1;

/// Time that one process waits while another writes. A write takes a fraction of a millisecond, pruning some seconds.
const BUSY: Duration = Duration::from_secs(20);

/// Attempts, and the pause between them, for locks that are refused at once instead of waited for.
const TRIES: u32 = 200;
const PAUSE: Duration = Duration::from_millis(20);

/// Maximum bytes of a file that is checked as a whole when it is opened, which takes up to 0.2 s.
const CHECKED: u64 = 128 * 1024 * 1024;

const TABLES: &str = "
CREATE TABLE answers (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    redactions INTEGER NOT NULL,
    model TEXT NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    created INTEGER NOT NULL,
    used INTEGER NOT NULL
) STRICT;
";

/// The purpose that a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheAccess {
    /// To store answers. The file is created if it does not exist.
    Keep,
    /// To look up answers. The file is neither created nor changed.
    Look,
    /// To remove answers. The file is not created.
    Prune,
}

/// Opens the file in that folder; `None` if it does not exist and is not to be created.
pub fn open(folder: &Path, access: CacheAccess) -> Result<Option<Connection>, CacheError> {
    let path = folder.join(FILE);
    if access == CacheAccess::Keep {
        files::create_private_folder(folder).map_err(|error| CacheError::cannot("make", folder, &error))?;
        // SQLite would make it readable for all. If it exists, or cannot be created, SQLite reports that if it matters.
        let _ = files::create_new(&path, files::Access::Private);
    } else if !path.exists() {
        return Ok(None);
    }
    match connect(&path, access) {
        Ok(connection) => Ok(connection),
        Err(Trouble::Known(error)) => Err(error),
        Err(Trouble::Sqlite(error)) => Err(CacheError::of(&path, &error)),
    }
}

enum Trouble {
    Known(CacheError),
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

fn connect(path: &Path, access: CacheAccess) -> Result<Option<Connection>, Trouble> {
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if access == CacheAccess::Keep {
        flags |= OpenFlags::SQLITE_OPEN_CREATE;
    }
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY)?;
    if access != CacheAccess::Look && connection.is_readonly(MAIN_DB)? {
        return Err(Trouble::Known(CacheError::ReadOnly {
            path: path.to_owned(),
        }));
    }
    if is_blank(&connection)? {
        if access != CacheAccess::Keep {
            return Ok(None);
        }
        make(&mut connection)?;
    }
    recognize(&connection, path).map_err(|error| match error {
        Trouble::Sqlite(error) => Trouble::Known(CacheError::of(path, &error)),
        known @ Trouble::Known(_) => known,
    })?;
    if access == CacheAccess::Look {
        connection.pragma_update(None, "query_only", true)?;
    } else {
        // A killed process loses no committed answer; a power loss may lose some (see `SYNC`).
        connection.pragma_update(None, "synchronous", "NORMAL")?;
    }
    check(&connection, path)?;
    if access == CacheAccess::Keep {
        // Without claims, two processes may request the same answer at once; nothing else is lost.
        let _ = claims::prepare(&connection);
    }
    Ok(Some(connection))
}

/// Returns true if the file is empty and has no other program's mark.
fn is_blank(connection: &Connection) -> rusqlite::Result<bool> {
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(tables == 0 && number(connection, "application_id")? == 0)
}

/// Creates the tables, unless another process has done so meanwhile.
fn make(connection: &mut Connection) -> rusqlite::Result<()> {
    // On a file system without shared memory, the journal mode stays another one: slower, but as safe.
    patiently(|| connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())))?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if is_blank(&transaction)? {
        transaction.execute_batch(TABLES)?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    transaction.commit()
}

fn recognize(connection: &Connection, path: &Path) -> Result<(), Trouble> {
    let path = path.to_owned();
    if number(connection, "application_id")? != APPLICATION {
        return Err(Trouble::Known(CacheError::Foreign { path }));
    }
    if number(connection, "user_version")? > VERSION {
        return Err(Trouble::Known(CacheError::Newer { path }));
    }
    connection.prepare("SELECT key, kind, text, redactions, model, prompt_tokens, completion_tokens, created, used FROM answers")?;
    Ok(())
}

/// Checks a file for damage, if it is not too large. In a larger one, damage is found when it is read.
fn check(connection: &Connection, path: &Path) -> Result<(), Trouble> {
    let size = path.metadata().map_or(0, |metadata| metadata.len());
    if size > CHECKED {
        return Ok(());
    }
    let found: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if found == "ok" {
        return Ok(());
    }
    Err(Trouble::Known(CacheError::Damaged {
        path: path.to_owned(),
        cause: found.lines().collect::<Vec<_>>().join(" "),
    }))
}

fn number(connection: &Connection, pragma: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, pragma, |row| row.get(0))
}

fn patiently(mut attempt: impl FnMut() -> rusqlite::Result<()>) -> rusqlite::Result<()> {
    for _ in 1..TRIES {
        match attempt() {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => thread::sleep(PAUSE),
            result => return result,
        }
    }
    attempt()
}
