//! The end of a run: writes the totals, then gives every file its final name, the data last.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::job::{Job, RunReport};
use super::row_outputs;
use super::start;
use super::totals_file::{self, Timing};
use super::unroll_summary::RunFacts;
use crate::pipeline::paths::existing;
use crate::pipeline::paths::streams::is_stream;
use crate::pipeline::write::disk::{self, DiskError};
use crate::pipeline::write::journal::{Journal, Milestone, RunIdentity};
use crate::pipeline::write::output::{ExistingFile, PartialFile};
use crate::pipeline::write::writer::Writer;
use crate::pipeline::write::written::FinishedFiles;
use crate::pipeline::{Codec, Counters, OutputFiles, RunError};

/// Ends a run.
pub struct Finish<'r> {
    job: &'r Job,
    identity: &'r RunIdentity,
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
        if metrics.is_some_and(|path| self.job.targets.partial(&path).exists()) {
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
        row_outputs::convert_data(self.job)?;
        let _held = self.write_summary(report, summary)?;
        let mut request_files = Vec::new();
        self.name_requests(report, &mut request_files)?;
        let mut side_files = Vec::new();
        if rejects {
            side_files.push(targets.rejects());
        } else if !is_stream(&targets.rejects()) {
            disk::remove(&targets.partial(&targets.rejects())).map_err(fault)?;
            // The file of an earlier run, which --force replaces.
            remove(&targets.rejects())?;
        }
        side_files.extend(targets.summary());
        let metrics = targets.metrics();
        side_files.extend(metrics.clone().filter(|_| self.job.metrics));
        side_files.retain(|path| !is_stream(path));
        let (rows, lines): (Vec<PathBuf>, Vec<PathBuf>) = side_files
            .iter()
            .cloned()
            .partition(|path| row_outputs::is_metrics_of_rows(self.job, path));
        // Objects are made many at once, in any order: the metrics go after all others, which is what `after_complete` relies on.
        let (last, first): (Vec<PathBuf>, Vec<PathBuf>) =
            lines.into_iter().partition(|path| metrics.as_ref() == Some(path));
        name(targets, &first)?;
        name(targets, &last)?;
        if !rows.is_empty() {
            row_outputs::convert_metrics(self.job)?;
        }
        if let Some(unwanted) = metrics.filter(|path| !self.job.metrics && !is_stream(path)) {
            disk::remove(&targets.partial(&unwanted)).map_err(fault)?;
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
        name(&self.job.targets, &data)?;
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
        let write = || -> io::Result<PartialFile> {
            let mut json = self.summary(report)?;
            json.push(b'\n');
            let mut file = if let Some(file) = file {
                file
            } else {
                let opening = self.job.targets.opening(&path, ExistingFile::Take);
                PartialFile::open(&self.job.targets.partial(&path), Codec::Plain, 0, opening)?
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
    fn summary(&self, report: &RunReport) -> serde_json::Result<Vec<u8>> {
        let facts = RunFacts {
            dry_run: self.job.dry_run,
            is_estimate: self.job.is_estimate,
            count: totals_file::count_of(&self.job.settings),
            summary_input_tokens: report.summary_input_tokens,
            summarization_cost: self.job.cost(&report.totals.sums),
            tokenizer_note: report.tokenizer_note.as_deref(),
            timing: Timing::of(report.elapsed, report.bytes_read),
        };
        totals_file::to_json(self.identity, &report.totals, self.job.columns, facts)
    }
}

fn name(targets: &OutputFiles, paths: &[PathBuf]) -> Result<(), RunError> {
    disk::name_files(paths.iter().map(PathBuf::as_path), |path| targets.partial(path)).map_err(fault)
}

fn remove(path: &Path) -> Result<(), RunError> {
    existing::remove(path).map_err(|error| RunError::half_way("remove", path, &error))
}

fn fault((path, error): DiskError) -> RunError {
    RunError::half_way("write", &path, &error)
}
