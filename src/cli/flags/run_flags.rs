//! The flags that commands over whole data sets share: the configuration, the part of the records, how much is printed.

use std::path::PathBuf;

use super::compress_options::CompressOptions;
use super::inputs::percent;
use crate::cli::CliError;
use crate::cli::settings::Settings;
use crate::config::Resolved;
use crate::pipeline::Shard;

/// The part of the records that is read.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct PartFlags {
    /// Take the first N records only
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: Option<u64>,
    /// Take a random part of the records, in their order
    #[arg(long, value_name = "PERCENT", value_parser = percent, allow_negative_numbers = true)]
    pub sample: Option<f64>,
    /// Seed for --sample [default: 0]
    #[arg(long, value_name = "N", requires = "sample")]
    pub seed: Option<u64>,
    /// Take the K-th of N parts of the inputs that have the same number of bytes; trajfit merge joins the output of all N runs
    #[arg(long, value_name = "K/N", conflicts_with = "limit")]
    pub shard: Option<Shard>,
}

/// How much is printed.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct PrintFlags {
    /// Print errors only
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print progress as lines where there is no terminal
    #[arg(short, long)]
    pub verbose: bool,
}

/// How a run that writes a data set begins.
#[derive(Debug, Clone, clap::Args)]
pub struct RunFlags {
    /// Configuration file, YAML, TOML or JSON by its name
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Plan and count everything, write the metrics, but no data
    #[arg(long)]
    pub dry_run: bool,
    /// Continue a run that was stopped
    #[arg(long, conflicts_with_all = ["force", "dry_run"])]
    pub resume: bool,
    /// Overwrite an existing output, discard an unfinished one
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub part: PartFlags,
}

impl RunFlags {
    /// The run that these flags describe, with the configuration that they came to.
    pub fn options(
        &self,
        inputs: Vec<PathBuf>,
        output: Option<PathBuf>,
        resolved: Resolved,
        print: PrintFlags,
    ) -> Result<CompressOptions, CliError> {
        let options = CompressOptions {
            inputs,
            output,
            dry_run: self.dry_run,
            limit: self.part.limit,
            sample: self.part.sample,
            seed: self.part.seed.unwrap_or(0),
            shard: self.part.shard,
            resume: self.resume,
            force: self.force,
            settings: Settings::of(&resolved),
            warnings: resolved.all_warnings(),
            trainer_note: resolved.trainer_note,
            quiet: print.quiet,
            verbose: print.verbose,
        };
        options.checked()
    }
}
