//! Joins caches: the answers that several workers kept, in one file.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, TransactionBehavior};

use super::CacheError;
use super::file::{self, CacheAccess};
use super::file_name::FILE;

/// The result of a merge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MergedCaches {
    /// Number of answers that were added.
    pub added: u64,
    /// Number of answers that were there before, or in several of the caches: the first of them is kept.
    pub known: u64,
    /// Number of answers now.
    pub answers: u64,
}

/// Adds the answers of the caches in the folders `from` to the one in `into`, which is created if it does not exist. Other
/// processes may use all of them at the same time. A merge that was stopped can be repeated.
///
/// # Errors
///
/// One of them is missing, or cannot be read or written. If one of `from` cannot be opened, nothing is written.
pub fn merge(from: &[PathBuf], into: &Path) -> Result<MergedCaches, CacheError> {
    let opened: Result<Vec<(PathBuf, Connection)>, CacheError> = from
        .iter()
        .map(|folder| {
            let path = folder.join(FILE);
            match file::open(folder, CacheAccess::Look)? {
                Some(connection) => Ok((path, connection)),
                None => Err(CacheError::cannot(
                    "find",
                    &path,
                    &std::io::ErrorKind::NotFound.into(),
                )),
            }
        })
        .collect();
    let opened = opened?;
    let path = into.join(FILE);
    let target = file::open(into, CacheAccess::Keep)?;
    let mut target =
        target.ok_or_else(|| CacheError::cannot("make", &path, &std::io::ErrorKind::NotFound.into()))?;
    // One wait for the disk at each end, instead of one for each answer.
    let mut merged = MergedCaches::default();
    for (from, source) in &opened {
        let (added, known) = add(source, &mut target).map_err(|error| match error {
            FailedMerge::Reading(error) => CacheError::of(from, &error),
            FailedMerge::Writing(error) => CacheError::of(&path, &error),
        })?;
        merged.added += added;
        merged.known += known;
    }
    let count = target.query_row("SELECT count(*) FROM answers", [], |row| {
        row.get(0).map(i64::cast_unsigned)
    });
    merged.answers = count.map_err(|error| CacheError::of(&path, &error))?;
    Ok(merged)
}

enum FailedMerge {
    Reading(rusqlite::Error),
    Writing(rusqlite::Error),
}

/// Adds the answers of one cache. Returns the numbers of those that were added, and of those that were there.
fn add(source: &Connection, target: &mut Connection) -> Result<(u64, u64), FailedMerge> {
    let transaction = target
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(FailedMerge::Writing)?;
    let (mut added, mut known) = (0, 0);
    {
        let mut answers = source
            .prepare(
                "SELECT key, kind, text, redactions, model, prompt_tokens, completion_tokens, created, used
                 FROM answers ORDER BY id",
            )
            .map_err(FailedMerge::Reading)?;
        let mut insert = transaction
            .prepare(
                "INSERT INTO answers
                   (key, kind, text, redactions, model, prompt_tokens, completion_tokens, created, used)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
                 ON CONFLICT (key) DO NOTHING",
            )
            .map_err(FailedMerge::Writing)?;
        let mut note_use = transaction
            .prepare("UPDATE answers SET used = max(used, ?2) WHERE key = ?1")
            .map_err(FailedMerge::Writing)?;
        let mut rows = answers.query([]).map_err(FailedMerge::Reading)?;
        while let Some(row) = rows.next().map_err(FailedMerge::Reading)? {
            let cells = (0..9).map(|column| row.get::<_, rusqlite::types::Value>(column));
            let cells: Vec<_> = cells
                .collect::<rusqlite::Result<_>>()
                .map_err(FailedMerge::Reading)?;
            let inserted = insert
                .execute(rusqlite::params_from_iter(&cells))
                .map_err(FailedMerge::Writing)?;
            if inserted > 0 {
                added += 1;
                continue;
            }
            known += 1;
            if let (Some(key), Some(used)) = (cells.first(), cells.last()) {
                note_use.execute([key, used]).map_err(FailedMerge::Writing)?;
            }
        }
    }
    transaction.commit().map_err(FailedMerge::Writing)?;
    Ok((added, known))
}
