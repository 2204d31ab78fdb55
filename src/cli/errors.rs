//! Errors that end a command, as the user sees them: `error: …`, then `help: …`.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write};

use clap::Command;

use super::exit::ExitStatus;
use crate::config::ConfigError;
use crate::metrics::GroundedRecord;
use crate::report::figures::printable;

/// The error of a command that ended early, with advice and the exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CliError {
    /// The exit code.
    pub status: ExitStatus,
    /// The error, with the path or the flag it is about.
    pub message: String,
    /// The advice, naming the flag that helps.
    pub help: Option<String>,
}

impl CliError {
    /// The error for wrong usage: exit code 2.
    pub fn usage(message: impl Into<String>) -> Self {
        Self {
            status: ExitStatus::Usage,
            message: message.into(),
            help: None,
        }
    }

    /// Clap's error in the form of all errors: its message, then its tips, or the help that lists the flags.
    pub fn of_arguments(error: &clap::Error, command: &Command, arguments: &[OsString]) -> Self {
        let text = error.render().to_string();
        let (message, rest) = text.split_once("\n\n").unwrap_or((&text, ""));
        let tips = rest.lines().filter_map(|line| line.trim().strip_prefix("tip: "));
        let mut help = tips.collect::<Vec<_>>().join("; ");
        if help.is_empty() {
            help = format!("see {} --help", path(command, arguments));
        }
        Self::usage(message.trim_start_matches("error: ").trim_end()).with_help(help)
    }

    /// The error for a run that stopped: exit code 4.
    pub fn stopped(message: impl Into<String>) -> Self {
        Self {
            status: ExitStatus::Stopped,
            message: message.into(),
            help: None,
        }
    }

    /// The same error with advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Prints it to stderr and returns the exit code.
    pub fn report(&self) -> ExitStatus {
        // If stderr is closed, the text is lost.
        let _ = write!(io::stderr(), "{self}");
        self.status
    }
}

/// The names of the command that the arguments begin with: `trajfit batch run`.
fn path(mut command: &Command, arguments: &[OsString]) -> String {
    let mut path = command.get_name().to_owned();
    for argument in arguments.iter().skip(1) {
        if let Some(next) = command.find_subcommand(argument) {
            path = format!("{path} {}", next.get_name());
            command = next;
        }
    }
    path
}

/// Prints warnings to stderr, a line each.
pub fn warn(warnings: &[String]) {
    let mut stderr = io::stderr().lock();
    for warning in warnings {
        let _ = writeln!(stderr, "warning: {warning}");
    }
}

/// Prints a note that needs no action.
pub fn note(note: Option<&str>) {
    if let Some(note) = note {
        // If stderr is closed, the text is lost.
        let _ = writeln!(io::stderr().lock(), "{note}");
    }
}

/// Prints the error of a failed gate on grounding, and the records that lost most.
pub fn gate(message: &str, worst: &[GroundedRecord]) {
    let mut stderr = io::stderr().lock();
    let _ = writeln!(stderr, "error: {message}");
    for record in worst {
        let place = printable(&format!("{}:{}", record.source, record.line)).into_owned();
        let _ = writeln!(stderr, "  {place} holds {} of {}", record.held, record.needed);
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "error: {}", self.message)?;
        self.help
            .as_ref()
            .map_or(Ok(()), |help| writeln!(formatter, "help: {help}"))
    }
}

impl std::error::Error for CliError {}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        Self {
            status: ExitStatus::Usage,
            message: error.to_string(),
            help: error.help(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_arguments_look_like_all_others() {
        let limit = clap::arg!(--limit <N>).required(true);
        let command = Command::new("trajfit").subcommand(Command::new("count").arg(limit));
        let error = |arguments: &[&str]| {
            let arguments: Vec<OsString> = arguments.iter().map(Into::into).collect();
            let error = command.clone().try_get_matches_from(&arguments).unwrap_err();
            CliError::of_arguments(&error, &command, &arguments).to_string()
        };
        assert_eq!(
            error(&["trajfit", "count"]),
            "error: the following required arguments were not provided:\n  --limit <N>\nhelp: see trajfit count --help\n"
        );
        assert_eq!(
            error(&["trajfit", "count", "--limt", "5"]),
            "error: unexpected argument '--limt' found\nhelp: a similar argument exists: '--limit'\n"
        );
    }

    #[test]
    fn an_error_is_a_line_of_what_is_wrong_and_a_line_of_what_helps() {
        let error = CliError::stopped("cannot write out.jsonl: no space left").with_help("use --resume");
        assert_eq!(
            error.to_string(),
            "error: cannot write out.jsonl: no space left\nhelp: use --resume\n"
        );
    }
}
