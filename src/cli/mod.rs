//! The command line: the only place that prints, and the one that knows exit codes.

mod args;
mod commands;
mod errors;
mod exit;
mod flags;
mod former;
mod runs;
mod session;
mod settings;
mod terminal;
mod version;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches};

use args::{Cli, Subcommands};
use terminal::color::Color;

pub use errors::CliError;
pub use exit::ExitStatus;
pub use session::{
    FittedRecord, Fitting, GatheredLines, Gathering, Session, SessionBuilder, SessionError, SessionErrorKind,
};

/// Runs the program and returns its exit code.
pub fn main() -> ExitCode {
    run(std::env::args_os()).into()
}

/// Runs the program with these arguments, the first of which is its name.
pub fn run(arguments: impl Iterator<Item = OsString>) -> ExitStatus {
    std::panic::set_hook(Box::new(report_panic));
    let arguments = former::translated(arguments);
    let command = Cli::command().color(Color::of(&arguments).into());
    let parsed = command.clone().try_get_matches_from(&arguments);
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        // Help and version come this way too. A closed pipe is no error.
        Err(usage) if !usage.use_stderr() => {
            let printed = terminal::stdout::written(|| usage.print()).map(|()| ExitStatus::Done);
            return printed.unwrap_or_else(|error| error.report());
        }
        Err(usage) if usage.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = usage.print();
            return ExitStatus::Usage;
        }
        Err(usage) => {
            return CliError::of_arguments(&usage, &command, &arguments).report();
        }
    };
    let ended = match cli.command {
        Subcommands::Compress(args) => commands::compress::run(*args),
        Subcommands::Unroll(args) => commands::unroll::run(*args),
        Subcommands::Restore(args) => commands::restore::run(args),
        Subcommands::Batch(args) => commands::batch::run(args),
        Subcommands::Count(args) => commands::count::run(*args),
        Subcommands::Check(args) => commands::check::run(*args),
        Subcommands::Lint(args) => commands::lint::run(&args),
        Subcommands::Merge(args) => commands::merge::run(&args),
        Subcommands::Cache(args) => commands::cache::run(&args),
        Subcommands::Explain(args) => commands::explain::run(*args),
        Subcommands::Show(args) => commands::show::run(*args, cli.color),
        Subcommands::Config(args) => commands::config::run(args),
        Subcommands::Completions(args) => commands::completions::run(&args, Cli::command()),
    };
    ended.unwrap_or_else(|error| error.report())
}

/// Reports a panic in a line, unless it is in a worker: there it is that record's failure and stands in its row.
fn report_panic(panic: &std::panic::PanicHookInfo<'_>) {
    let thread = std::thread::current();
    if thread
        .name()
        .is_some_and(|name| name.starts_with(crate::pipeline::WORKER_THREADS))
    {
        return;
    }
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    let message = panic.payload_as_str().unwrap_or("unknown");
    CliError::stopped(format!("internal error at {place}: {message}"))
        .with_help("please report this")
        .report();
}
