//! `trajfit compress`: its flags, and the checks of them before a run starts.

use std::path::PathBuf;

use crate::cli::flags::compress_options::CompressOptions;
use crate::cli::flags::inputs;
use crate::cli::flags::key_flags::{KeyFlags, RunKeys};
use crate::cli::flags::run_flags::{PrintFlags, RunFlags};
use crate::cli::runs::execute;
use crate::cli::{CliError, ExitStatus, errors};
use crate::config::{ConfigKey, OverLimit, Sources};

/// Compress the trajectories that are over the budget, copy the others.
///
/// Input is JSON Lines or a JSON array, ShareGPT (conversations) or chat (messages), plain, gzip or Zstandard.
/// Beside OUT stand its metrics (.metrics.csv), its totals (.summary.json) and, where records were rejected, the
/// rejects (.rejects.jsonl); --metrics, --summary and --rejects name other places. A run to standard output writes
/// metrics and totals only where these flags name them, and rejects into the current directory.
///
/// Every flag from Counting on is a key of the configuration file as well, and an environment variable
/// (TRAJFIT_TARGET_MAX_TOKENS for --max-tokens): see trajfit config.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::doc_markdown, reason = "the text is help for a terminal")]
pub struct CompressArgs {
    /// Files, directories or URLs (s3://, gs://, az://, https://, hf://datasets/); - is standard input
    #[arg(value_name = "INPUT", value_parser = inputs::path(), required = true)]
    inputs: Vec<PathBuf>,
    /// File or directory to write; or a URL (s3://, gs://, az://); - is standard output [default: {stem}_compressed.jsonl beside the input]
    #[arg(short, long, value_name = "OUT", value_parser = inputs::path())]
    output: Option<PathBuf>,
    #[command(flatten)]
    run: RunFlags,
    /// Exit with 1 if a record is still over the budget: --over-limit fail
    #[arg(long, conflicts_with = "compression.over_limit")]
    fail_over_limit: bool,
    /// Neither read nor keep answers of language models on disk: --cache off
    #[arg(long, conflicts_with = "summarization.cache")]
    no_cache: bool,
    #[command(flatten)]
    print: PrintFlags,
    #[command(flatten)]
    keys: KeyFlags<RunKeys>,
}

const EXAMPLES: &str = "\
Examples:
  trajfit compress runs.jsonl -o out.jsonl           the built-in tokenizer and summarizer
  trajfit compress runs.jsonl --tokenizer qwen3/     the tokenizer of the model to be trained
  trajfit compress data/ -o fitted/ --max-tokens 32000
  trajfit compress runs.jsonl --dry-run --sample 5%  what would happen, on a twentieth
  trajfit compress runs.jsonl -o out.jsonl --resume  after an interruption
  zcat runs.jsonl.gz | trajfit compress - --rejects bad.jsonl --metrics rows.csv > out.jsonl";

/// Runs the command.
pub fn run(args: CompressArgs) -> Result<ExitStatus, CliError> {
    let options = CompressOptions::new(args)?;
    if !options.quiet {
        errors::warn(&options.warnings);
        errors::note(options.trainer_note.as_deref());
    }
    execute::execute(&options)
}

impl CompressOptions {
    /// Checks the flags as typed against each other and resolves the configuration.
    pub fn new(args: CompressArgs) -> Result<Self, CliError> {
        let mut sources: Sources = args.keys.into_sources(args.run.config.clone());
        let short = [
            (
                args.fail_over_limit,
                "compression.over_limit",
                OverLimit::Fail.to_string(),
            ),
            (args.no_cache, "summarization.cache", "off".to_owned()),
        ];
        for (_, path, value) in short.into_iter().filter(|(given, ..)| *given) {
            sources
                .flags
                .extend(ConfigKey::by_path(path).map(|key| (key, value)));
        }
        let resolved = sources.resolve()?;
        args.run.options(args.inputs, args.output, resolved, args.print)
    }
}

#[cfg(test)]
mod tests;
