//! Takes answers out of a cache, those first that were not used for the longest time.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use super::clock::{now, stored};
use super::file::{self, Access};
use super::file_name::{FILE, files};
use super::{CacheError, stats};

/// Bytes that an answer takes besides its text, about.
const ENTRY: i64 = 200;

/// Times that the file is made smaller where it came out larger than was asked for.
const ROUNDS: usize = 6;

/// Which answers go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prune {
    /// Those not used for so long.
    OlderThan(Duration),
    /// As many as make the file no larger than that.
    MaxSize(u64),
    /// All.
    All,
}

/// What came of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Answers taken out; `None` where the file was damaged, and nobody knows.
    pub removed: Option<u64>,
    /// Answers left.
    pub left: u64,
    /// Bytes on disk before.
    pub bytes_before: u64,
    /// Bytes on disk now.
    pub bytes: u64,
}

/// Prunes the cache in that folder; `None` where there is none. Other processes may go on using it.
///
/// # Errors
///
/// Why it cannot be read or written. A damaged file is removed where all is to go.
pub fn prune(folder: &Path, what: Prune) -> Result<Option<Pruned>, CacheError> {
    let bytes_before = stats::bytes(folder);
    let connection = match file::open(folder, Access::Prune) {
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

/// Gives the room that was freed back to the disk.
fn shrink(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("VACUUM")?;
    // Where others read at this moment, the log is emptied by the next one.
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
