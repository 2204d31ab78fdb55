//! What every command that reads records checks about its inputs before it starts.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::errors::CliError;

/// Refuses inputs that are not there or given twice.
pub fn check(inputs: &[PathBuf]) -> Result<(), CliError> {
    for (index, input) in inputs.iter().enumerate() {
        if inputs.iter().take(index).any(|earlier| earlier == input) {
            return Err(
                CliError::usage(format!("the input {} is given twice", input.display()))
                    .with_help("name every input once"),
            );
        }
        if is_dash(input) {
            continue;
        }
        // What else may be wrong with a file shows when it is opened.
        if std::fs::metadata(input).is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            return Err(
                CliError::usage(format!("cannot read the input {}: no such file", input.display()))
                    .with_help("INPUT is a file, a directory, or - for standard input"),
            );
        }
    }
    Ok(())
}

/// Whether this means stdin, or stdout.
pub fn is_dash(path: &Path) -> bool {
    path.as_os_str() == OsStr::new("-")
}

/// The value of `--sample`.
pub fn percent(text: &str) -> Result<f64, String> {
    let number: f64 = text
        .trim_end_matches('%')
        .trim()
        .parse()
        .map_err(|_| "not a number".to_owned())?;
    if number > 0.0 && number <= 100.0 {
        Ok(number)
    } else {
        Err("not over 0 and at most 100".to_owned())
    }
}
