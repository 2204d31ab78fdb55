//! `trajfit unroll --dry-run` with several triggers: each replayed, and nothing written but a table.

use std::path::PathBuf;

use crate::cli::flags::compress_options::CompressOptions;
use crate::cli::flags::inputs::is_dash;
use crate::cli::runs::{execute, running, summarizer};
use crate::cli::terminal::stdout;
use crate::cli::{CliError, ExitStatus};
use crate::fit::UnrollSettings;
use crate::metrics::{AgentPrices, Columns};
use crate::pipeline::{NamedFiles, RunError};
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
    options.settings.files.metrics = false;
    options.settings.files.named = NamedFiles {
        rejects: Some(PathBuf::from(NOWHERE)),
        ..NamedFiles::default()
    };
    let counter = running::tokenizer(&options.settings)?;
    let mut figures = Vec::with_capacity(triggers.len());
    for trigger in triggers {
        let mut job = execute::job(&options)?;
        job.columns = Columns::Segments;
        let chosen = summarizer::chosen(&options, None, &counter)?;
        let mut worker = execute::worker(&options.settings, &job.sources, &chosen)?;
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
