//! Printing a command's answer to stdout.

use std::io::{self, ErrorKind, Write};

use serde::Serialize;

use crate::cli::CliError;
use crate::report;
use crate::standard_streams::StandardStream;

/// Refuses to write to a standard output that is closed.
pub fn refuse_closed() -> Result<(), CliError> {
    StandardStream::Output
        .refuse_closed()
        .map_err(|error| failed(&error))
}

/// Prints the text.
pub fn print(text: &[u8]) -> Result<(), CliError> {
    written(|| io::stdout().lock().write_all(text))
}

/// Prints the result of a command, as JSON or as text.
pub fn print_result<T: Serialize>(
    result: &T,
    json: bool,
    text: impl FnOnce(&T) -> String,
) -> Result<(), CliError> {
    let answer = if json { report::json(result) } else { text(result) };
    print(answer.as_bytes())
}

/// Calls a function that writes to stdout. A reader that has closed the pipe (`| head`) is no error.
pub fn written(write: impl FnOnce() -> io::Result<()>) -> Result<(), CliError> {
    refuse_closed()?;
    match write().and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(failed(&error)),
        _ => Ok(()),
    }
}

fn failed(error: &io::Error) -> CliError {
    CliError::stopped(format!("cannot write to standard output: {error}"))
}
