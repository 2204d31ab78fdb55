//! `trajfit batch`: language models asked in batches, by files or through a Batch API.

mod apply;
mod collecting;
mod export;
mod flags;
mod keys;
mod run;
mod watch;

use clap::Subcommand;

use crate::cli::{CliError, ExitStatus};
use apply::ApplyArgs;
use export::ExportArgs;
use run::RunArgs;

/// Have a language model summarize at the price of batches.
///
/// A batch is a file of requests that is answered within a day, as a rule for half the price. What comes out is the
/// same as with compress --summarizer chat and the same answers. Long records may need several batches, one after
/// another: answers lead to new questions.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct BatchArgs {
    #[command(subcommand)]
    command: BatchCommand,
}

const EXAMPLES: &str = "\
Examples:
  trajfit batch export runs.jsonl -o requests.jsonl --model gpt-5-mini
  trajfit batch apply runs.jsonl --responses responses.jsonl -o out.jsonl --model gpt-5-mini
  trajfit batch run runs.jsonl -o out.jsonl --model gpt-5-mini       both, and what lies between";

#[derive(Debug, Subcommand)]
enum BatchCommand {
    Export(Box<ExportArgs>),
    Apply(Box<ApplyArgs>),
    Run(Box<RunArgs>),
}

/// Runs the command.
pub fn run(args: BatchArgs) -> Result<ExitStatus, CliError> {
    match args.command {
        BatchCommand::Export(args) => export::run(*args),
        BatchCommand::Apply(args) => apply::run(*args),
        BatchCommand::Run(args) => run::run(*args),
    }
}
