//! Times and numbers as `SQLite` stores them.

use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since 1970.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| stored(since.as_secs()))
}

/// A number as `SQLite` stores it.
pub fn stored(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
