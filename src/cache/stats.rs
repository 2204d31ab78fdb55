//! Statistics of a cache: the number of answers by model, and their age.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde::Serialize;

use super::CacheError;
use super::file::{self, CacheAccess};
use super::file_name::{FILE, files};

/// Statistics of a cache. Times are seconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// The file.
    pub file: PathBuf,
    /// Bytes on disk.
    pub bytes: u64,
    /// Number of answers.
    pub answers: u64,
    /// Time at which the oldest answer was received; `None` in an empty cache, as in the next two.
    pub oldest: Option<i64>,
    /// Time at which the newest answer was received.
    pub newest: Option<i64>,
    /// Time at which an answer was last used, to the day.
    pub last_used: Option<i64>,
    /// Statistics by model, the one with the most answers first.
    pub models: Vec<ModelStats>,
}

/// Statistics of one model's answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModelStats {
    /// The model.
    pub model: String,
    /// Number of answers.
    pub answers: u64,
    /// Bytes of their texts.
    pub text_bytes: u64,
    /// Prompt tokens of their requests.
    pub prompt_tokens: u64,
    /// Completion tokens.
    pub completion_tokens: u64,
}

/// The statistics of the cache in that folder; `None` if there is none.
///
/// # Errors
///
/// It could not be read.
pub fn stats(folder: &Path) -> Result<Option<Stats>, CacheError> {
    let Some(connection) = file::open(folder, CacheAccess::Look)? else {
        return Ok(None);
    };
    let path = folder.join(FILE);
    let read = read(&connection, folder).map_err(|error| CacheError::of(&path, &error));
    read.map(Some)
}

/// Bytes of all files of the cache in that folder.
pub fn bytes(folder: &Path) -> u64 {
    let size = |path: PathBuf| path.metadata().map_or(0, |metadata| metadata.len());
    files(folder).map(size).iter().sum()
}

fn read(connection: &Connection, folder: &Path) -> rusqlite::Result<Stats> {
    let mut statement = connection.prepare(
        "SELECT model, count(*), sum(octet_length(text)), sum(prompt_tokens), sum(completion_tokens)
         FROM answers GROUP BY model ORDER BY count(*) DESC, model",
    )?;
    let models = statement.query_map([], |row| {
        let count = |at| row.get::<_, i64>(at).map(i64::cast_unsigned);
        Ok(ModelStats {
            model: row.get(0)?,
            answers: count(1)?,
            text_bytes: count(2)?,
            prompt_tokens: count(3)?,
            completion_tokens: count(4)?,
        })
    })?;
    let models = models.collect::<rusqlite::Result<Vec<_>>>()?;
    let times = "SELECT min(created), max(created), max(used) FROM answers";
    let (oldest, newest, last_used) =
        connection.query_row(times, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    Ok(Stats {
        file: folder.join(FILE),
        bytes: bytes(folder),
        answers: models.iter().map(|model| model.answers).sum(),
        oldest,
        newest,
        last_used,
        models,
    })
}
