//! `trajfit completions`: a completion script for a shell, on stdout.

use clap_complete::Shell;

use crate::cli::terminal::stdout;
use crate::cli::{CliError, ExitStatus};

/// Print a completion script for a shell.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  trajfit completions bash > ~/.local/share/bash-completion/completions/trajfit"
)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// Prints the script for the shell; `program` is the whole command line.
pub fn run(args: &CompletionsArgs, mut program: clap::Command) -> Result<ExitStatus, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, "trajfit", &mut script);
    stdout::print(&script)?;
    Ok(ExitStatus::Done)
}
