//! The end of a run: writes the totals, then gives every file its final name, the data last.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use super::job::{Job, RunReport};
use super::start;
use super::unroll_summary::{RunFacts, UnrollSummary};
use crate::metrics::{BothCounts, Columns, Sums, WorstGrounded, share_held};
use crate::pipeline::paths::file_names::appended;
use crate::pipeline::paths::streams::is_stream;
use crate::pipeline::paths::targets::PARTIAL;
use crate::pipeline::write::disk::{self, DiskError};
use crate::pipeline::write::journal::{Journal, Milestone, RunIdentity};
use crate::pipeline::write::output::{ExistingFile, PartialFile};
use crate::pipeline::write::writer::Writer;
use crate::pipeline::write::written::FinishedFiles;
use crate::pipeline::{Codec, Counters, RunError};

/// The schema of the totals file, which `docs/json.md` describes.
const SCHEMA: &str = "trajfit.summary/1";

/// Ends a run.
pub struct Finish<'r> {
    job: &'r Job,
    identity: &'r RunIdentity,
}

/// The totals file.
#[derive(Serialize)]
struct TotalsFile<'r> {
    schema: &'static str,
    program: &'static str,
    #[serde(flatten)]
    run: &'r RunIdentity,
    dry_run: bool,
    /// True if tokens after compression are estimates: in a dry run that requests no summaries.
    is_estimate: bool,
    /// The unit of all sums of tokens of records: `values` or `rendered`.
    count: &'r str,
    records_by_status: &'r BTreeMap<&'static str, u64>,
    records_by_format: &'r BTreeMap<String, u64>,
    records_by_placement: &'r BTreeMap<String, u64>,
    reasons: BTreeMap<&'r str, u64>,
    #[serde(flatten)]
    sums: &'r Sums,
    mean_compression_ratio: Option<f64>,
    median_compression_ratio: Option<f64>,
    /// The share kept of the identifiers that later turns rely on; 1 if there are none.
    anchors_held_share: f64,
    worst_grounded: &'r WorstGrounded,
    original_token_percentiles: BTreeMap<&'static str, u64>,
    compressed_token_percentiles: BTreeMap<&'static str, u64>,
    both_counts: Option<&'r BothCounts>,
    rendered_to_values_before: Option<f64>,
    rendered_to_values_after: Option<f64>,
    summary_input_tokens: u64,
    /// The cost of the summarizer's tokens, in US dollars; in a dry run, an estimate.
    summarization_cost: Option<f64>,
    tokenizer_note: Option<&'r str>,
    timing: Timing,
}

/// The duration of this run; of a resumed one, of its last part.
#[derive(Serialize)]
struct Timing {
    seconds: f64,
    bytes_read: u64,
    megabytes_per_second: f64,
}

impl<'r> Finish<'r> {
    /// The end of this job's run.
    pub fn new(job: &'r Job, identity: &'r RunIdentity) -> Self {
        Self { job, identity }
    }

    /// Ends a run that has written everything.
    pub fn after_run(
        &self,
        writer: Writer<'_>,
        elapsed: Duration,
        counters: &Counters,
        tokenizer_note: Option<String>,
        resumed: bool,
    ) -> Result<RunReport, RunError> {
        let FinishedFiles {
            journal,
            rejects,
            summary,
            totals,
            milestone,
            // Held until they have their names, so that no other run takes them.
            open: _held,
        } = writer.finish()?;
        let bytes_read = Counters::get(&counters.bytes_done);
        let mut report = RunReport {
            totals,
            elapsed,
            bytes_read,
            summary_input_tokens: milestone.summary_input_tokens,
            requests: milestone.requests,
            files: Vec::new(),
            tokenizer_note,
            already_finished: false,
            resumed,
        };
        self.name_files(journal, &mut report, rejects, summary)?;
        Ok(report)
    }

    /// Gives final names to the files of a run that was stopped just before that.
    pub fn after_complete(
        &self,
        journal: Option<Journal>,
        milestone: &Milestone,
        elapsed: Duration,
    ) -> Result<RunReport, RunError> {
        let metrics = self.job.targets.metrics();
        let mut report = RunReport {
            totals: start::totals_so_far(self.job, milestone)?,
            elapsed,
            bytes_read: 0,
            summary_input_tokens: milestone.summary_input_tokens,
            requests: milestone.requests,
            files: Vec::new(),
            tokenizer_note: None,
            already_finished: false,
            resumed: true,
        };
        // The totals are named before the metrics: once the metrics have their name, so have they.
        if metrics.is_some_and(|path| appended(&path, PARTIAL).exists()) {
            self.name_files(journal, &mut report, milestone.rejects > 0, None)?;
        } else {
            self.name_data(journal, &mut report)?;
        }
        Ok(report)
    }

    fn name_files(
        &self,
        journal: Option<Journal>,
        report: &mut RunReport,
        rejects: bool,
        summary: Option<PartialFile>,
    ) -> Result<(), RunError> {
        let targets = &self.job.targets;
        let _held = self.write_summary(report, summary)?;
        let mut request_files = Vec::new();
        self.name_requests(report, &mut request_files)?;
        let mut side_files = Vec::new();
        if rejects {
            side_files.push(targets.rejects());
        } else if !is_stream(&targets.rejects()) {
            disk::remove(&appended(&targets.rejects(), PARTIAL)).map_err(fault)?;
            // The file of an earlier run, which --force replaces.
            disk::remove(&targets.rejects()).map_err(fault)?;
        }
        side_files.extend(targets.summary());
        let metrics = targets.metrics();
        side_files.extend(metrics.clone().filter(|_| self.job.metrics));
        side_files.retain(|path| !is_stream(path));
        name(&side_files)?;
        if let Some(unwanted) = metrics.filter(|path| !self.job.metrics && !is_stream(path)) {
            disk::remove(&appended(&unwanted, PARTIAL)).map_err(fault)?;
        }
        side_files.reverse();
        side_files.extend(request_files);
        report.files.extend(side_files);
        if !self.job.dry_run {
            self.name_data(journal, report)?;
        }
        Ok(())
    }

    /// Names the files of requests that are still to be sent, if such are written.
    fn name_requests(&self, report: &RunReport, files: &mut Vec<PathBuf>) -> Result<(), RunError> {
        let Some(target) = &self.job.asks else {
            return Ok(());
        };
        let named = target.name_files(report.requests.files);
        files.extend(named.map_err(|error| RunError::half_way("write", &target.path, &error))?);
        Ok(())
    }

    fn name_data(&self, journal: Option<Journal>, report: &mut RunReport) -> Result<(), RunError> {
        let data = self.job.targets.data_files().into_iter();
        let data: Vec<PathBuf> = data.map(|target| target.path.clone()).collect();
        name(&data)?;
        report.files.extend(data);
        if let Some(journal) = journal {
            let checkpoint = self.job.targets.checkpoint();
            journal
                .remove()
                .map_err(|error| RunError::half_way("remove", &checkpoint, &error))?;
        }
        Ok(())
    }

    /// Writes the totals, and returns their file.
    fn write_summary(
        &self,
        report: &RunReport,
        file: Option<PartialFile>,
    ) -> Result<Option<PartialFile>, RunError> {
        let Some(path) = self.job.targets.summary() else {
            return Ok(None);
        };
        let seconds = report.elapsed.as_secs_f64();
        let timing = Timing {
            seconds: (seconds * 1e3).round() / 1e3,
            bytes_read: report.bytes_read,
            megabytes_per_second: (report.bytes_read as f64 / 1e6 / seconds.max(1e-9) * 10.0).round() / 10.0,
        };
        let write = || -> io::Result<PartialFile> {
            let mut json = self.summary(report, timing)?;
            json.push(b'\n');
            let mut file = if let Some(file) = file {
                file
            } else {
                let opening = self.job.targets.opening(&path, ExistingFile::Take);
                PartialFile::open(&appended(&path, PARTIAL), Codec::Plain, 0, opening)?
            };
            file.push(&json)?;
            file.end()?;
            file.sync()?;
            Ok(file)
        };
        write()
            .map(Some)
            .map_err(|error| RunError::half_way("write", &path, &error))
    }

    /// The totals as JSON.
    fn summary(&self, report: &RunReport, timing: Timing) -> serde_json::Result<Vec<u8>> {
        let totals = &report.totals;
        let count = self.job.settings.get("compression.count");
        let count = count.and_then(Value::as_str).unwrap_or("values");
        if self.job.columns == Columns::Segments {
            let facts = RunFacts {
                dry_run: self.job.dry_run,
                is_estimate: self.job.is_estimate,
                count,
                summary_input_tokens: report.summary_input_tokens,
                summarization_cost: self.job.cost(&totals.sums),
                tokenizer_note: report.tokenizer_note.as_deref(),
                timing,
            };
            return serde_json::to_vec_pretty(&UnrollSummary::of(self.identity, totals, facts));
        }
        let (before, after) = totals.percentiles();
        let summary = TotalsFile {
            schema: SCHEMA,
            program: env!("CARGO_PKG_NAME"),
            run: self.identity,
            dry_run: self.job.dry_run,
            is_estimate: self.job.is_estimate,
            count,
            records_by_status: &totals.by_status,
            records_by_format: &totals.by_format,
            records_by_placement: &totals.by_placement,
            reasons: totals.reasons(),
            sums: &totals.sums,
            mean_compression_ratio: totals.mean_ratio().map(|ratio| (ratio * 1e4).round() / 1e4),
            median_compression_ratio: totals.median_ratio(),
            anchors_held_share: share_held(totals.sums.anchors_needed, totals.sums.anchors_held),
            worst_grounded: &totals.worst_grounded,
            original_token_percentiles: before,
            compressed_token_percentiles: after,
            both_counts: totals.both_counts.is_any().then_some(&totals.both_counts),
            rendered_to_values_before: totals.both_counts.rendered_to_values_before(),
            rendered_to_values_after: totals.both_counts.rendered_to_values_after(),
            summary_input_tokens: report.summary_input_tokens,
            summarization_cost: self.job.cost(&totals.sums),
            tokenizer_note: report.tokenizer_note.as_deref(),
            timing,
        };
        serde_json::to_vec_pretty(&summary)
    }
}

fn name(paths: &[PathBuf]) -> Result<(), RunError> {
    disk::name_files(paths.iter().map(PathBuf::as_path)).map_err(fault)
}

fn fault((path, error): DiskError) -> RunError {
    RunError::half_way("write", &path, &error)
}
