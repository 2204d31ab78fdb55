//! Printing a command's answer to stdout.

use std::io::{self, ErrorKind, Write};

use super::errors::CliError;

/// Prints the text. A reader that has gone away (`| head`) has what it wanted.
pub fn print(text: &[u8]) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(CliError::stopped(format!(
            "cannot write to standard output: {error}"
        ))),
        _ => Ok(()),
    }
}
