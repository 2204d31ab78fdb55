//! The program's subcommands, and what its help says first.

use clap::{Parser, Subcommand};

use super::batch::BatchArgs;
use super::cache_cmd::CacheArgs;
use super::check::CheckArgs;
use super::completions::CompletionsArgs;
use super::compress::CompressArgs;
use super::config_cmd::ConfigArgs;
use super::count::CountArgs;
use super::explain::ExplainArgs;
use super::lint::LintArgs;
use super::show::ShowArgs;
use super::version;

/// Fit agent trajectories into a token budget.
///
/// A trajectory that is too long for the training context is made to fit by replacing a stretch of its middle by one
/// summary turn. Both ends are protected, everything else stays byte for byte, and what happened is reported.
#[derive(Debug, Parser)]
#[command(name = "trajfit", version, long_version = version::LONG, max_term_width = 100)]
#[command(after_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  trajfit compress runs.jsonl                        writes runs_compressed.jsonl beside it
  trajfit compress runs.jsonl -o out.jsonl --max-tokens 32000
  trajfit count runs.jsonl                           how many tokens the records have
  trajfit check runs_compressed.jsonl                exits with 1 if a record is over the budget
  trajfit lint runs.jsonl --trainer axolotl          what a trainer will do with each record
  trajfit explain runs.jsonl --line 7                what compress would do with a record, and why
  trajfit show runs.jsonl --line 7 --compressed out.jsonl
  trajfit config --config run.yaml                   shows every setting and where it comes from

Exit codes: 0 done, 1 a gate failed, 2 wrong usage or configuration, 3 done, but some records were
rejected or degraded, 4 could not go on (resumable), 130 interrupted (resumable)";

/// What to do. Each command's help is the first paragraph of its arguments' type.
#[derive(Debug, Subcommand)]
pub enum Command {
    Compress(Box<CompressArgs>),
    Batch(BatchArgs),
    Count(Box<CountArgs>),
    Check(Box<CheckArgs>),
    Lint(Box<LintArgs>),
    Explain(Box<ExplainArgs>),
    Show(Box<ShowArgs>),
    Config(ConfigArgs),
    Cache(CacheArgs),
    Completions(CompletionsArgs),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        super::Cli::command().debug_assert();
    }
}
