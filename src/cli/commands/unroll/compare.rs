//! `trajfit unroll --dry-run` with several triggers: each replayed, and nothing written but a table.

use std::path::PathBuf;

use crate::cli::errors::CliError;
use crate::cli::exit::ExitStatus;
use crate::cli::flags::compress_options::CompressOptions;
use crate::cli::flags::inputs::is_dash;
use crate::cli::runs::{execute, running, summarizer};
use crate::cli::terminal::stdout;
use crate::config::OutputPath;
use crate::fit::UnrollSettings;
use crate::metrics::{AgentPrices, Columns};
use crate::pipeline::RunError;
use crate::report::{TriggerFigures, trigger_table};

/// The path for files that are not wanted.
const NOWHERE: &str = "/dev/null";

/// Replays all trajectories with each trigger, and prints the figures of each.
pub fn run(
    options: &CompressOptions,
    settings: &UnrollSettings,
    triggers: &[f64],
    prices: Option<AgentPrices>,
) -> Result<ExitStatus, CliError> {
    if options.inputs.iter().any(|input| is_dash(input)) {
        return Err(CliError::usage("standard input can be read for one trigger only")
            .with_help("name a file, or one trigger"));
    }
    let mut options = options.clone();
    options.output = Some(PathBuf::from("-"));
    options.config.metrics.file = OutputPath::Off;
    options.config.metrics.summary_file = None;
    options.config.output.rejects_file = Some(NOWHERE.to_owned());
    let counter = running::tokenizer(&options.config)?;
    let mut figures = Vec::with_capacity(triggers.len());
    for trigger in triggers {
        let mut job = execute::job(&options)?;
        job.columns = Columns::Segments;
        let kept = summarizer::CacheUse {
            beside: None,
            dry_run: true,
            warns: !options.quiet,
        };
        let chosen = summarizer::chosen(&options.config, kept, &counter)?;
        let mut worker = execute::worker(&options.config, &job.sources, &chosen)?;
        worker.unroll = Some(UnrollSettings {
            trigger: *trigger,
            ..settings.clone()
        });
        let (_, ended) = execute::ended(&options, job, worker, chosen)?;
        let report = match ended {
            Ok(report) => report,
            Err(RunError::OutputClosed) => return Ok(ExitStatus::Done),
            Err(error) => return Err(running::cli_error(error)),
        };
        let sums = report.totals.unroll;
        figures.push(TriggerFigures {
            trigger: *trigger,
            over_limit: report.totals.sums.still_over_limit,
            cost: prices.map(|prices| prices.cost(&sums)),
            sums,
        });
    }
    stdout::print(trigger_table(&figures).as_bytes())?;
    Ok(ExitStatus::Done)
}
