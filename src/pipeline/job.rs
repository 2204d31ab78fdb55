//! A run as it is asked for, and the report that it returns.

use std::path::PathBuf;
use std::time::Duration;

use super::Targets;
use super::file_names::appended;
use super::output::Leftover;
use super::requests::{RequestMark, RequestTarget};
use super::sample::Sample;
use super::source::Source;
use crate::metrics::{Columns, Prices, Sums, Totals};
use crate::settings::Settings;

/// The settings of a run, besides what becomes of each record.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct Job {
    /// Inputs, in order.
    pub sources: Vec<Source>,
    /// The files that it writes.
    pub targets: Targets,
    /// The settings that decide what the output is, by key.
    pub settings: Settings,
    /// Plan and count, write the metrics, but no data.
    pub dry_run: bool,
    /// True if what a dry run counts are estimates, since it does not ask for the summaries.
    pub is_estimate: bool,
    /// Records to take, at most.
    pub limit: Option<u64>,
    /// Which records to take.
    pub sample: Sample,
    /// Bytes that a record may have.
    pub max_record_bytes: u64,
    /// Go on with an unfinished run.
    pub resume: bool,
    /// Start over, and overwrite.
    pub force: bool,
    /// Threads of the worker pool.
    pub jobs: usize,
    /// Requests over a network that may be in flight: so many records more wait for their answer.
    pub requests: usize,
    /// What tokens of the summarizer cost, where it is known.
    pub prices: Option<Prices>,
    /// True if the metrics are wanted.
    pub metrics: bool,
    /// Their columns.
    pub columns: Columns,
    /// True if their cells are safe for spreadsheets.
    pub csv_safe: bool,
    /// Where requests go that have to be answered first, where there are such.
    pub asks: Option<RequestTarget>,
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
    /// What is still to be asked.
    pub requests: RequestMark,
    /// The files that it left.
    pub files: Vec<PathBuf>,
    /// What the tokenizer has to say of its counts, if anything.
    pub tokenizer_note: Option<String>,
    /// True if there was nothing to do: the run had finished before.
    pub already_finished: bool,
    /// True if it went on with an unfinished run.
    pub resumed: bool,
}

/// The ending of the file of results that wait for an earlier one.
const SPILL: &str = ".spill";

impl Job {
    /// True if a stopped run can go on where it stopped.
    pub fn is_resumable(&self) -> bool {
        !self.dry_run && self.targets.resumable()
    }

    /// Where results wait that have no room in memory: beside the output, where the disk must have room anyway.
    pub fn spill_file(&self) -> PathBuf {
        match self.targets.data.first() {
            Some(target) if self.is_resumable() => appended(&target.path, SPILL),
            _ => std::env::temp_dir().join(format!("trajfit-{}{SPILL}", std::process::id())),
        }
    }

    /// What becomes of half-written files that are there when the run begins.
    pub fn leftover(&self) -> Leftover {
        if self.resume || self.force {
            Leftover::Take
        } else {
            Leftover::Refuse
        }
    }

    /// What so many tokens of the summarizer cost, in US dollars with four decimals; `None` where prices are not known.
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
            requests: RequestMark::default(),
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
