//! Joins the files of runs that each took a part of the records, as if one run had written them.

mod belong;
mod finished_run;
mod joined_files;
mod whole;

use std::path::PathBuf;
use std::time::Duration;

use super::run::totals_file::{self, Timing};
use super::run::unroll_summary::RunFacts;
use super::write::journal::RunIdentity;
use super::write::requests::RequestProgress;
use super::{RunError, RunReport};
use crate::metrics::{Columns, Totals};
use crate::settings::SettingValues;
use finished_run::FinishedRun;
use joined_files::JoinedFiles;

/// The runs to join, and the place for the result.
#[derive(Debug, Clone)]
pub struct Merge {
    /// The metrics of the runs, or their outputs.
    pub runs: Vec<PathBuf>,
    /// The output: a file, or a directory if the runs wrote directories.
    pub output: PathBuf,
    /// True if metrics, totals and rejects are joined, and the data is left where it is.
    pub reports_only: bool,
    /// True if existing files are overwritten.
    pub force: bool,
    /// The folder on this machine for files that become objects.
    pub state: PathBuf,
}

/// The result of a merge.
#[derive(Debug)]
pub struct MergedRuns {
    /// The report of all runs together; its time and bytes are the sums of theirs.
    pub report: RunReport,
    /// The columns of the rows.
    pub columns: Columns,
    /// The settings that all runs have.
    pub settings: SettingValues,
    /// True if the runs were dry runs.
    pub dry_run: bool,
    /// True if they counted by estimates.
    pub is_estimate: bool,
    /// The cost of all summaries, in US dollars, if it is known.
    pub cost: Option<f64>,
}

impl Merge {
    /// Joins the files. Nothing is written unless all of the runs belong together.
    pub fn run(&self) -> Result<MergedRuns, RunError> {
        let runs: Result<Vec<FinishedRun>, RunError> =
            self.runs.iter().map(|path| FinishedRun::read(path)).collect();
        let runs = belong::in_order(runs?)?;
        let mut totals = Totals::default();
        for run in &runs {
            run.add_rows(&mut totals)?;
        }
        let Some(first) = runs.first() else {
            return Err(belong::nothing());
        };
        let files = JoinedFiles::of(&self.output, &runs, self.reports_only, self.force, &self.state)?;
        let mut merged = merged(first, &runs, totals);
        let identity = identity(first, &runs, &files);
        let timing = Timing::of(merged.report.elapsed, merged.report.bytes_read);
        let facts = RunFacts {
            dry_run: merged.dry_run,
            is_estimate: merged.is_estimate,
            count: totals_file::count_of(&merged.settings),
            summary_input_tokens: merged.report.summary_input_tokens,
            summarization_cost: merged.cost,
            tokenizer_note: merged.report.tokenizer_note.as_deref(),
            timing,
        };
        let summary = totals_file::to_json(&identity, &merged.report.totals, merged.columns, facts);
        let mut summary = summary.map_err(|error| RunError::cannot_go_on(error.to_string()))?;
        summary.push(b'\n');
        let written = files.write(merged.columns, &summary, self.force);
        merged.report.files = written.map_err(half_way)?;
        Ok(merged)
    }
}

/// The error of a merge that could not go on: unlike a run, it begins anew.
fn half_way(error: RunError) -> RunError {
    match error {
        RunError::CannotGoOn { message, .. } => RunError::CannotGoOn {
            message,
            help: "mend that, then merge again, with --force if some files have their names: the shards are as they were"
                .to_owned(),
        },
        other => other,
    }
}

/// The runs as one, without its files.
fn merged(first: &FinishedRun, runs: &[FinishedRun], totals: Totals) -> MergedRuns {
    let facts = || runs.iter().map(|run| &run.totals);
    let mut notes: Vec<&str> = facts().filter_map(|run| run.tokenizer_note.as_deref()).collect();
    notes.dedup();
    let costs: Vec<f64> = facts().filter_map(|run| run.summarization_cost).collect();
    MergedRuns {
        report: RunReport {
            totals,
            elapsed: facts().map(|run| duration(run.timing)).sum(),
            bytes_read: facts().map(|run| run.timing.bytes_read).sum(),
            summary_input_tokens: facts().map(|run| run.summary_input_tokens).sum(),
            requests: RequestProgress::default(),
            files: Vec::new(),
            tokenizer_note: (!notes.is_empty()).then(|| notes.join("; ")),
            already_finished: false,
            resumed: false,
        },
        columns: first.columns,
        settings: first.settings(),
        dry_run: first.totals.dry_run,
        is_estimate: first.totals.is_estimate,
        cost: (!costs.is_empty()).then(|| (costs.iter().sum::<f64>() * 1e4).round() / 1e4),
    }
}

fn duration(timing: Timing) -> Duration {
    Duration::try_from_secs_f64(timing.seconds).unwrap_or_default()
}

/// The identity of the run that would have written the joined files.
fn identity(first: &FinishedRun, runs: &[FinishedRun], files: &JoinedFiles) -> RunIdentity {
    let of_runs = runs.iter().flat_map(|run| run.totals.run.outputs.iter().cloned());
    let data = files.data_files();
    // Shards know the inputs of all shards.
    let readers = if first.shard.is_some() { 1 } else { runs.len() };
    let readers = runs.iter().take(readers);
    let sources = readers.flat_map(|run| run.totals.run.sources.iter().cloned());
    RunIdentity {
        configuration: first.settings_of_merged(files.metrics()),
        sources: sources.collect(),
        outputs: if data.is_empty() { of_runs.collect() } else { data },
        ..first.totals.run.clone()
    }
}
