//! The command line: the only place that prints, and the one that knows exit codes.

mod args;
mod completions;
mod compress;
mod config_cmd;
mod errors;
mod exit;
mod key_flags;
mod progress;
mod stdout;
mod version;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};

pub use compress::{CompressArgs, CompressOptions};
pub use errors::CliError;
pub use exit::ExitStatus;
pub use progress::{Progress, ProgressCounters, ProgressStyle};

/// Runs the program and returns its exit code.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(usage) => {
            // Help and version come this way too. A closed pipe is no reason to complain.
            let _ = usage.print();
            return if usage.use_stderr() {
                ExitStatus::Usage
            } else {
                ExitStatus::Done
            }
            .into();
        }
    };
    let ended = match cli.command {
        Command::Compress(args) => compress::run(*args),
        Command::Config(args) => config_cmd::run(args),
        Command::Completions(args) => completions::run(&args),
    };
    ended.unwrap_or_else(|error| error.report()).into()
}
