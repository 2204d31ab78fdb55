//! The check of URLs of outputs, before anything is asked of a store.

use std::path::Path;

use crate::pipeline::RunError;
use crate::stores::{self, Location};

/// Refuses a URL at which nothing can be written; a path that is no URL is not looked at.
pub fn check_writable(flag: &str, path: &Path) -> Result<(), RunError> {
    if !stores::is_url(path) {
        return Ok(());
    }
    if !stores::IS_BUILT {
        let message = format!(
            "cannot write {}: URLs are not read and written by this build",
            path.display()
        );
        return Err(RunError::usage(message, stores::NOT_BUILT));
    }
    let checked = Location::of(path).and_then(|location| location.check_writable());
    checked.map_err(|(message, help)| {
        RunError::usage(
            format!("cannot write {} ({flag}): {message}", path.display()),
            help,
        )
    })
}
