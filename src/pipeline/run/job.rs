//! The settings of a run, and the report that it returns.

use std::path::PathBuf;
use std::time::Duration;

use crate::metrics::{Columns, Prices, Sums, Totals};
use crate::pipeline::paths::file_names::appended;
use crate::pipeline::write::output::ExistingFile;
use crate::pipeline::write::requests::RequestProgress;
use crate::pipeline::{OutputFiles, RequestFileSet, Sample, Source};
use crate::settings::SettingValues;

/// The settings of a run, except those by which records are fitted.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct Job {
    /// Inputs, in order.
    pub sources: Vec<Source>,
    /// The files that it writes.
    pub targets: OutputFiles,
    /// The settings that determine the output, by key.
    pub settings: SettingValues,
    /// True if no data is written: records are planned and counted.
    pub dry_run: bool,
    /// True if the counts of a dry run are estimates, since it does not request the summaries.
    pub is_estimate: bool,
    /// Maximum number of records to take.
    pub limit: Option<u64>,
    /// The share of the records to take.
    pub sample: Sample,
    /// Maximum bytes of a record.
    pub max_record_bytes: u64,
    /// True if an unfinished run is continued.
    pub resume: bool,
    /// True if outputs are overwritten.
    pub force: bool,
    /// Threads of the worker pool.
    pub jobs: usize,
    /// Maximum network requests in flight: as many additional records wait for their answer.
    pub requests: usize,
    /// The prices of the summarizer's tokens, if known.
    pub prices: Option<Prices>,
    /// True if the metrics are kept.
    pub metrics: bool,
    /// The columns of the metrics.
    pub columns: Columns,
    /// True if cells of the metrics are safe for spreadsheets.
    pub csv_safe: bool,
    /// The files for requests that have to be answered first, if there are such files.
    pub asks: Option<RequestFileSet>,
}

/// The report of a run.
#[derive(Debug)]
pub struct RunReport {
    /// Sums over all rows, those of a resumed run's first part included.
    pub totals: Totals,
    /// Time of this run.
    pub elapsed: Duration,
    /// Decompressed bytes that this run read.
    pub bytes_read: u64,
    /// Tokens that summarizers read, or in a dry run would read.
    pub summary_input_tokens: u64,
    /// The requests that are still to be sent.
    pub requests: RequestProgress,
    /// The files that were written.
    pub files: Vec<PathBuf>,
    /// The tokenizer's note on its counts, if any.
    pub tokenizer_note: Option<String>,
    /// True if there was nothing to do: the run had finished before.
    pub already_finished: bool,
    /// True if it continued an unfinished run.
    pub resumed: bool,
}

/// The ending of the file of results that wait for an earlier one.
const SPILL: &str = ".spill";

impl Job {
    /// Returns true if a stopped run can be resumed.
    pub fn is_resumable(&self) -> bool {
        !self.dry_run && self.targets.resumable()
    }

    /// The file for results that do not fit into memory: beside the output, or in the temporary directory.
    pub fn spill_file(&self) -> PathBuf {
        match self.targets.data.first() {
            Some(target) if self.is_resumable() => appended(&self.targets.local(&target.path), SPILL),
            _ => std::env::temp_dir().join(format!("trajfit-{}{SPILL}", std::process::id())),
        }
    }

    /// The treatment of half-written files that exist when the run begins.
    pub fn leftover(&self) -> ExistingFile {
        if self.resume || self.force {
            ExistingFile::Take
        } else {
            ExistingFile::Refuse
        }
    }

    /// The cost of the summarizer's tokens, in US dollars with four decimals; `None` if prices are not known.
    pub fn cost(&self, sums: &Sums) -> Option<f64> {
        let cost = self.prices?.cost(sums.tokens());
        Some((cost * 1e4).round() / 1e4)
    }
}

impl RunReport {
    /// The report of a job whose run had finished before.
    pub fn already_finished(job: &Job, totals: Totals) -> Self {
        Self {
            totals,
            elapsed: Duration::ZERO,
            bytes_read: 0,
            summary_input_tokens: 0,
            requests: RequestProgress::default(),
            files: job
                .targets
                .data_files()
                .into_iter()
                .map(|target| target.path.clone())
                .collect(),
            tokenizer_note: None,
            already_finished: true,
            resumed: false,
        }
    }
}
