//! `trajfit merge`: the files of several runs, joined as if one run had written them.

use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::Value;

use super::unroll;
use crate::cli::flags::inputs::{self, is_dash};
use crate::cli::runs::execute::{self, TableFacts};
use crate::cli::runs::running;
use crate::cli::settings::state_dir;
use crate::cli::{CliError, ExitStatus, errors};
use crate::config::OverLimit;
use crate::metrics::Columns;
use crate::names::Named;
use crate::pipeline::{Merge, MergedRuns};
use crate::report::{summary_table, unroll_table};
use crate::settings::SettingValues;

/// Join the results of a data set's shards: metrics, totals, rejects and data.
///
/// The rows come into one file in the order of the inputs, and totals and percentiles are computed from them anew, so they
/// are exact: those of one run over everything. A shard that is missing, there twice, or of other settings, inputs or
/// another tokenizer is an error, and nothing is written then. The exit code is that of one run: 1 with --over-limit fail
/// and a record over the budget, 3 if records were rejected or degraded.
///
/// Runs without --shard over different inputs are joined in the order given, with --reports-only.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct MergeArgs {
    /// Metrics, outputs or totals of finished runs: files or URLs; the other files are looked for beside the totals
    #[arg(value_name = "METRICS", required = true, value_parser = inputs::path())]
    runs: Vec<PathBuf>,
    /// File or directory to write; or a URL (s3://, gs://, az://)
    #[arg(short, long, value_name = "OUT", required = true, value_parser = inputs::path())]
    output: PathBuf,
    /// Join metrics, totals and rejects, and leave the data where it is
    #[arg(long)]
    reports_only: bool,
    /// Folder on this machine for runs whose output is in an object store: files until they are uploaded [default: ~/.local/state/trajfit]
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
    /// Overwrite an existing output, discard an unfinished one
    #[arg(long)]
    force: bool,
    /// Print errors only
    #[arg(short, long)]
    quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  trajfit compress runs.jsonl --shard 1/2 -o part-1.jsonl   on one machine
  trajfit compress runs.jsonl --shard 2/2 -o part-2.jsonl   on another
  trajfit merge part-*.metrics.csv -o out.jsonl             what one run would have written
  trajfit merge part-*.metrics.csv -o all --reports-only    all.metrics.csv and all.summary.json";

/// Runs the command.
pub fn run(args: &MergeArgs) -> Result<ExitStatus, CliError> {
    if is_dash(&args.output) {
        return Err(
            CliError::usage("several files cannot be written to standard output")
                .with_help("name a file or directory with -o"),
        );
    }
    let merge = Merge {
        runs: args.runs.clone(),
        output: args.output.clone(),
        reports_only: args.reports_only,
        force: args.force,
        state: args.state_dir.clone().unwrap_or_else(state_dir),
    };
    let merged = merge.run().map_err(running::cli_error)?;
    if !args.quiet {
        // If stderr is closed, the text is lost.
        let _ = io::stderr().write_all(table(&merged).as_bytes());
        if let Some(note) = &merged.report.tokenizer_note {
            errors::warn(std::slice::from_ref(note));
        }
    }
    let fails = text(&merged.settings, "compression.over_limit") == Some(OverLimit::Fail.name());
    Ok(execute::exit_status(&merged.report.totals, fails))
}

fn table(merged: &MergedRuns) -> String {
    let budget = merged.settings.get("compression.target_max_tokens");
    let facts = TableFacts {
        target_max_tokens: budget.and_then(Value::as_u64).unwrap_or_default(),
        is_rendered: text(&merged.settings, "compression.count") == Some("rendered"),
        dry_run: merged.dry_run,
        is_estimate: merged.is_estimate,
    };
    match merged.columns {
        Columns::Records => summary_table(&execute::figures(facts, &merged.report, merged.cost)),
        Columns::Segments => unroll_table(&unroll::figures(facts, &merged.report, merged.cost, None)),
    }
}

fn text<'s>(settings: &'s SettingValues, key: &str) -> Option<&'s str> {
    settings.get(key).and_then(Value::as_str)
}
