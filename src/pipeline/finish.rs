//! How a run ends: totals written, then every file under its final name, the data last.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use super::RunError;
use super::counters::Counters;
use super::journal::{Journal, Milestone, RunIdentity};
use super::run::{Job, RunReport};
use super::start;
use super::targets::{PARTIAL, appended};
use super::writer::Writer;
use crate::metrics::{BothCounts, Sums, WorstGrounded, share_held};

/// Ends a run.
pub struct Finish<'r> {
    job: &'r Job,
    identity: &'r RunIdentity,
}

/// The totals file.
#[derive(Serialize)]
#[expect(clippy::struct_field_names, reason = "the names are the file's keys")]
struct Summary<'r> {
    program: &'static str,
    version: &'static str,
    dry_run: bool,
    records_by_status: &'r BTreeMap<&'static str, u64>,
    reasons: BTreeMap<&'r str, u64>,
    #[serde(flatten)]
    sums: &'r Sums,
    mean_compression_ratio: Option<f64>,
    median_compression_ratio: Option<f64>,
    /// The part held of the identifiers that later turns rely on; 1 where there are none.
    anchors_held_share: f64,
    worst_grounded: &'r WorstGrounded,
    original_token_percentiles: BTreeMap<&'static str, u64>,
    compressed_token_percentiles: BTreeMap<&'static str, u64>,
    both_counts: Option<&'r BothCounts>,
    rendered_to_values_before: Option<f64>,
    rendered_to_values_after: Option<f64>,
    summary_input_tokens: u64,
    /// What the tokens of the summarizer cost, in US dollars; in a dry run, what they would cost about.
    summarization_cost: Option<f64>,
    tokenizer_note: Option<&'r str>,
    timing: Timing,
    configuration: BTreeMap<&'r str, &'r str>,
    run: &'r RunIdentity,
}

/// How long this run took; of a resumed one, its last part.
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
        let (journal, rejects, totals, milestone) = writer.finish()?;
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
        self.name_files(journal, &mut report, rejects)?;
        Ok(report)
    }

    /// Gives final names to the files of a run that was stopped just before that.
    pub fn after_complete(
        &self,
        journal: Option<Journal>,
        milestone: &Milestone,
        elapsed: Duration,
    ) -> Result<RunReport, RunError> {
        let metrics = appended(&self.job.targets.metrics(), PARTIAL);
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
        // Once the metrics have their name, the totals have theirs: they go first.
        if metrics.exists() {
            self.name_files(journal, &mut report, milestone.rejects > 0)?;
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
    ) -> Result<(), RunError> {
        let targets = &self.job.targets;
        let name = |path: PathBuf, files: &mut Vec<PathBuf>| -> Result<(), RunError> {
            rename(&path).map_err(|error| RunError::half_way("write", &path, &error))?;
            files.push(path);
            Ok(())
        };
        let mut side_files = Vec::new();
        if targets.to_stdout {
            if rejects {
                name(targets.rejects(), &mut side_files)?;
            }
            self.name_requests(report, &mut side_files)?;
            report.files = side_files;
            return Ok(());
        }
        self.write_summary(report)?;
        let mut request_files = Vec::new();
        self.name_requests(report, &mut request_files)?;
        if rejects {
            name(targets.rejects(), &mut side_files)?;
        } else {
            // An earlier run's, which --force has given up.
            let _ = std::fs::remove_file(targets.rejects());
        }
        name(targets.summary(), &mut side_files)?;
        if self.job.metrics {
            name(targets.metrics(), &mut side_files)?;
        } else {
            let _ = std::fs::remove_file(appended(&targets.metrics(), PARTIAL));
        }
        side_files.reverse();
        side_files.extend(request_files);
        if !self.job.dry_run {
            self.name_data(journal, report)?;
        }
        report.files.extend(side_files);
        Ok(())
    }

    /// Names the files of what is still to be asked, where such are written.
    fn name_requests(&self, report: &RunReport, files: &mut Vec<PathBuf>) -> Result<(), RunError> {
        let Some(target) = &self.job.asks else {
            return Ok(());
        };
        let named = target.name_files(report.requests.files);
        files.extend(named.map_err(|error| RunError::half_way("write", &target.path, &error))?);
        Ok(())
    }

    fn name_data(&self, journal: Option<Journal>, report: &mut RunReport) -> Result<(), RunError> {
        for target in self.job.targets.data_files() {
            rename(&target.path).map_err(|error| RunError::half_way("write", &target.path, &error))?;
            report.files.push(target.path.clone());
        }
        if let Some(journal) = journal {
            let checkpoint = self.job.targets.checkpoint();
            journal
                .remove()
                .map_err(|error| RunError::half_way("remove", &checkpoint, &error))?;
        }
        Ok(())
    }

    fn write_summary(&self, report: &RunReport) -> Result<(), RunError> {
        let totals = &report.totals;
        let (before, after) = totals.percentiles();
        let seconds = report.elapsed.as_secs_f64();
        let summary = Summary {
            program: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
            dry_run: self.job.dry_run,
            records_by_status: &totals.by_status,
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
            timing: Timing {
                seconds: (seconds * 1e3).round() / 1e3,
                bytes_read: report.bytes_read,
                megabytes_per_second: (report.bytes_read as f64 / 1e6 / seconds.max(1e-9) * 10.0).round()
                    / 10.0,
            },
            configuration: self
                .job
                .settings
                .iter()
                .map(|(key, value)| (key.as_str(), value.as_str()))
                .collect(),
            run: self.identity,
        };
        let path = appended(&self.job.targets.summary(), PARTIAL);
        let write = || -> io::Result<()> {
            let mut json = serde_json::to_vec_pretty(&summary)?;
            json.push(b'\n');
            std::fs::write(&path, json)?;
            File::open(&path)?.sync_all()
        };
        write().map_err(|error| RunError::half_way("write", &path, &error))
    }
}

/// Gives a file its final name, for good. A run stopped here before may have done that already.
pub fn rename(path: &Path) -> io::Result<()> {
    let partial = appended(path, PARTIAL);
    if !partial.exists() && path.exists() {
        return Ok(());
    }
    std::fs::rename(partial, path)?;
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    // Some systems cannot sync a folder; the rename itself has succeeded.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}
