//! `trajfit compress`: its flags, and the checks of them before a run starts.

use std::path::PathBuf;

use super::compress_options::CompressOptions;
use super::errors::{self, CliError};
use super::execute;
use super::exit::ExitStatus;
use super::inputs::percent;
use super::key_flags::{KeyFlags, RunKeys};
use crate::config::{Key, OverLimit, Sources};

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
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[expect(clippy::doc_markdown, reason = "the text is help for a terminal")]
pub struct CompressArgs {
    /// Files or directories; - is standard input
    #[arg(value_name = "INPUT", required = true)]
    inputs: Vec<PathBuf>,
    /// File or directory to write; - is standard output [default: {stem}_compressed.jsonl beside the input]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Configuration file, YAML, TOML or JSON by its name
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Plan and count everything, write the metrics, but no data
    #[arg(long)]
    dry_run: bool,
    /// Continue a run that was stopped
    #[arg(long, conflicts_with_all = ["force", "dry_run"])]
    resume: bool,
    /// Overwrite an existing output, discard an unfinished one
    #[arg(long)]
    force: bool,
    /// Take the first N records only
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,
    /// Take a random part of the records, in their order
    #[arg(long, value_name = "PERCENT", value_parser = percent, allow_negative_numbers = true)]
    sample: Option<f64>,
    /// Seed for --sample [default: 0]
    #[arg(long, value_name = "N", requires = "sample")]
    seed: Option<u64>,
    /// Exit with 1 if a record is still over the budget: --over-limit fail
    #[arg(long, conflicts_with = "compression.over_limit")]
    fail_over_limit: bool,
    /// Neither read nor keep answers of language models on disk: --cache off
    #[arg(long, conflicts_with = "summarization.cache")]
    no_cache: bool,
    /// Print errors only
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
    /// Print progress as lines where there is no terminal
    #[arg(short, long)]
    verbose: bool,
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
        let mut sources: Sources = args.keys.into_sources(args.config);
        let short = [
            (
                args.fail_over_limit,
                "compression.over_limit",
                OverLimit::Fail.to_string(),
            ),
            (args.no_cache, "summarization.cache", "off".to_owned()),
        ];
        for (_, path, value) in short.into_iter().filter(|(given, ..)| *given) {
            sources.flags.extend(Key::by_path(path).map(|key| (key, value)));
        }
        let resolved = sources.resolve()?;
        let options = Self {
            inputs: args.inputs,
            output: args.output,
            dry_run: args.dry_run,
            limit: args.limit,
            sample: args.sample,
            seed: args.seed.unwrap_or(0),
            resume: args.resume,
            force: args.force,
            warnings: resolved.all_warnings(),
            trainer_note: resolved.trainer_note,
            config: resolved.config,
            provenance: resolved.provenance,
            quiet: args.quiet,
            verbose: args.verbose,
        };
        options.checked()
    }
}

#[cfg(test)]
mod tests;
