//! Removes answers from a cache, least recently used first.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use super::clock::{now, stored};
use super::file::{self, CacheAccess};
use super::file_name::{FILE, files};
use super::{CacheError, stats};

/// Estimated bytes of an answer beside its text.
const ENTRY: i64 = 200;

/// Maximum number of passes that shrink the file to the size asked for.
const ROUNDS: usize = 6;

/// The answers to remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prune {
    /// Answers not used for this long.
    OlderThan(Duration),
    /// As many as needed to make the file at most this many bytes.
    MaxSize(u64),
    /// All answers.
    All,
}

/// The result of pruning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Number of answers removed; `None` if the file was damaged, so that the number is not known.
    pub removed: Option<u64>,
    /// Number of answers left.
    pub left: u64,
    /// Bytes on disk before.
    pub bytes_before: u64,
    /// Bytes on disk now.
    pub bytes: u64,
}

/// Prunes the cache in that folder; `None` if there is none. Other processes may use it at the same time.
///
/// # Errors
///
/// It could not be read or written. A damaged file is not an error if all answers are to be removed.
pub fn prune(folder: &Path, what: Prune) -> Result<Option<Pruned>, CacheError> {
    let bytes_before = stats::bytes(folder);
    let connection = match file::open(folder, CacheAccess::Prune) {
        Ok(Some(connection)) => connection,
        Ok(None) => return Ok(None),
        Err(CacheError::Damaged { .. }) if what == Prune::All => {
            remove(folder)?;
            return Ok(Some(Pruned {
                bytes_before,
                ..Pruned::default()
            }));
        }
        Err(error) => return Err(error),
    };
    let path = folder.join(FILE);
    let counted = || -> rusqlite::Result<(u64, u64)> {
        let before = count(&connection)?;
        match what {
            Prune::OlderThan(age) => {
                let oldest = now().saturating_sub(stored(age.as_secs()));
                connection.execute("DELETE FROM answers WHERE used < ?1", [oldest])?;
                shrink(&connection)?;
            }
            Prune::All => {
                connection.execute("DELETE FROM answers", [])?;
                shrink(&connection)?;
            }
            Prune::MaxSize(most) => to_size(&connection, most)?,
        }
        Ok((before, count(&connection)?))
    };
    let (before, left) = counted().map_err(|error| CacheError::of(&path, &error))?;
    drop(connection);
    Ok(Some(Pruned {
        removed: Some(before.saturating_sub(left)),
        left,
        bytes_before,
        bytes: stats::bytes(folder),
    }))
}

fn count(connection: &Connection) -> rusqlite::Result<u64> {
    connection.query_row("SELECT count(*) FROM answers", [], |row| {
        row.get(0).map(i64::cast_unsigned)
    })
}

fn to_size(connection: &Connection, most: u64) -> rusqlite::Result<()> {
    let mut room = stored(most);
    for _ in 0..ROUNDS {
        if size(connection)? <= most {
            return Ok(());
        }
        connection.execute(
            "DELETE FROM answers WHERE id IN (SELECT id FROM (
               SELECT id, sum(octet_length(text) + ?1) OVER (ORDER BY used DESC, id DESC) AS bytes FROM answers
             ) WHERE bytes > ?2)",
            [ENTRY, room],
        )?;
        shrink(connection)?;
        room = room / 10 * 9;
    }
    Ok(())
}

fn size(connection: &Connection) -> rusqlite::Result<u64> {
    let number =
        |pragma| connection.pragma_query_value(None, pragma, |row| row.get(0).map(i64::cast_unsigned));
    Ok(number("page_count")? * number("page_size")?)
}

/// Returns free space to the file system.
fn shrink(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("VACUUM")?;
    // While others read, the log is not emptied; the next one to do this empties it.
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
}

fn remove(folder: &Path) -> Result<(), CacheError> {
    for path in files(folder) {
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(CacheError::cannot("remove", &path, &error));
            }
            _ => {}
        }
    }
    Ok(())
}
