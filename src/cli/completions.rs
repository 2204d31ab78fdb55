//! `trajfit completions`: a completion script for a shell, on stdout.

use clap::CommandFactory;
use clap_complete::Shell;

use super::args::Cli;
use super::errors::CliError;
use super::exit::ExitStatus;
use super::stdout;

/// Print a completion script for a shell.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  trajfit completions bash > ~/.local/share/bash-completion/completions/trajfit"
)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// Runs the command.
pub fn run(args: &CompletionsArgs) -> Result<ExitStatus, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "trajfit", &mut script);
    stdout::print(&script)?;
    Ok(ExitStatus::Done)
}
