//! The one commit point: chunks go to the files in input order, and milestones to the journal once they are safe.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use super::journal::{Journal, Milestone};
use super::output::{ExistingFile, PartialFile};
use super::requests::RequestFiles;
use super::written::FinishedFiles;
use super::{disk, open};
use crate::metrics::{Columns, Totals, csv_header};
use crate::pipeline::pool::worker::Chunk;
use crate::pipeline::read::batch::{Position, ReadBatch};
use crate::pipeline::{Counters, Job, OutputFiles, RunError, Source};

/// The bytes of output, or the time, after which a milestone is due: a killed run repeats what came after.
const MILESTONE_BYTES: u64 = 4 * 1024 * 1024;
const MILESTONE_TIME: Duration = Duration::from_secs(1);

/// Maximum number of whole data files open until their milestone; fewer if the process may not open so many.
const MILESTONE_FILES: usize = 128;

/// Writes a run.
pub struct Writer<'r> {
    targets: &'r OutputFiles,
    counters: &'r Counters,
    /// `None` for stdout and dry runs, which cannot be resumed.
    journal: Option<Journal>,
    /// The data file being written; `None` between two of them, and in a dry run.
    data: Option<PartialFile>,
    /// Data files that are whole, but not yet synced.
    whole: Vec<PartialFile>,
    most_whole: usize,
    /// Sources whose data files are made.
    made: usize,
    metrics: Option<PartialFile>,
    rejects: Option<PartialFile>,
    /// The totals file: empty before the end, but held against other runs.
    summary: Option<PartialFile>,
    /// The requests that are still to be sent, if they are written.
    requests: Option<RequestFiles>,
    /// The current point of the run.
    milestone: Milestone,
    /// The last point that a resumed run could begin at: positions and lengths of one moment, between two batches.
    reached: Milestone,
    /// The last one that the journal has.
    committed: Milestone,
    committed_at: Instant,
    /// True if a file could not be opened, written or synced. A file system may forget what it failed to sync, so
    /// nothing is committed any more.
    failed: bool,
    dry_run: bool,
    sources: &'r [Source],
    leftover: ExistingFile,
    /// Totals of the rows written, those of a resumed run's first part included.
    pub totals: Totals,
}

impl<'r> Writer<'r> {
    /// Opens the files of a run, cut to the lengths of `milestone`. Every file that the run may need is opened: one
    /// that cannot be is an error before the first record is taken.
    pub fn open(
        job: &'r Job,
        counters: &'r Counters,
        journal: Option<Journal>,
        milestone: Milestone,
        totals: Totals,
    ) -> Result<Self, RunError> {
        let targets = &job.targets;
        let asks = job.asks.as_ref().filter(|_| !job.dry_run).map(|target| {
            RequestFiles::open(target, milestone.requests, job.leftover())
                .map_err(|error| RunError::output(&target.path, &error))
        });
        let mut writer = Self {
            requests: asks.transpose()?,
            targets,
            counters,
            journal,
            data: None,
            whole: Vec::new(),
            most_whole: disk::spare_files(2 * MILESTONE_FILES) / 2,
            made: 0,
            metrics: None,
            rejects: None,
            summary: None,
            sources: &job.sources,
            leftover: job.leftover(),
            milestone,
            reached: milestone,
            committed: milestone,
            committed_at: Instant::now(),
            failed: false,
            dry_run: job.dry_run,
            totals,
        };
        match writer.open_files(job.columns) {
            Ok(()) => Ok(writer),
            Err(error) => {
                let _ = writer.discard();
                Err(error)
            }
        }
    }

    fn open_files(&mut self, columns: Columns) -> Result<(), RunError> {
        let targets = self.targets;
        if let Some(path) = targets.metrics() {
            let mut metrics = open::side_file(targets, &path, self.milestone.metrics, self.leftover)?;
            if self.milestone.metrics == 0 {
                push(&mut metrics, &csv_header(columns))?;
            }
            self.metrics = Some(metrics);
        }
        self.rejects = Some(open::rejects(targets, self.milestone.rejects, self.leftover)?);
        if let Some(path) = targets.summary() {
            self.summary = Some(open::side_file(targets, &path, 0, self.leftover)?);
        }
        self.open_all_data()
    }

    /// Removes the files and the journal of a run that has written nothing; returns the writer of any other.
    pub fn discard(mut self) -> Option<Self> {
        if self.milestone != Milestone::default() {
            return Some(self);
        }
        let journal = self.journal.take();
        let _ = self.leave_nothing_but_rejects();
        if let Some(journal) = journal {
            let _ = journal.remove();
        }
        None
    }

    /// Makes the data files that are still to be written, with their folders. The first of them stays open.
    fn open_all_data(&mut self) -> Result<(), RunError> {
        if self.dry_run {
            return Ok(());
        }
        let left = self.milestone.source..self.targets.data.len();
        let left: Vec<usize> = left.filter(|source| self.is_written(*source)).collect();
        for source in &left {
            if Some(source) == left.first() {
                self.data = self.open_data(*source, self.milestone.data, self.leftover)?;
            } else if !self.targets.continues(*source) {
                self.open_data(*source, 0, self.leftover)?;
            }
            self.made = if self.targets.to_stdout { 0 } else { source + 1 };
        }
        Ok(())
    }

    /// Returns true if records of a source are written: those of others are another shard's.
    fn is_written(&self, source: usize) -> bool {
        matches!(self.targets.data.get(source), Some(target) if target.is_written)
    }

    fn open_data(
        &self,
        source: usize,
        length: u64,
        leftover: ExistingFile,
    ) -> Result<Option<PartialFile>, RunError> {
        let target = self.targets.data.get(source).filter(|_| !self.dry_run);
        let opened = target.map(|target| {
            if self.targets.to_stdout {
                return Ok(PartialFile::stdout(target.codec));
            }
            let source = self.sources.get(source).map(|source| source.path.as_path());
            open::data_file(self.targets, target, source, length, leftover)
        });
        opened.transpose()
    }

    /// Writes the results of a batch. If that fails half-way, none of them count.
    pub fn write(&mut self, batch: &ReadBatch, chunk: Chunk) -> Result<(), RunError> {
        let written = self.write_batch(batch, chunk).and_then(|()| self.commit_if_due());
        self.failed |= written.is_err();
        written
    }

    fn write_batch(&mut self, batch: &ReadBatch, chunk: Chunk) -> Result<(), RunError> {
        self.counters
            .add_written(chunk.bytes_read, chunk.records, &chunk.rows);
        self.milestone.taken += chunk.records;
        let Chunk {
            data,
            metrics,
            rejects,
            rows,
            summary_input_tokens,
            pending,
            ..
        } = chunk;
        let mut data = data.map_or(Cow::Borrowed(batch.bytes.as_slice()), Cow::Owned);
        if batch.in_array {
            let started = self.milestone.data_started;
            finish_array(data.to_mut(), batch.array_end.as_deref(), started);
        }
        for row in &rows {
            self.totals.add(row);
        }
        self.milestone.summary_input_tokens += summary_input_tokens;
        self.milestone.data_started |= !data.is_empty() && batch.in_array;
        if self.data.is_none() && self.is_written(batch.source) {
            self.data = self.open_data(batch.source, 0, ExistingFile::Reopen)?;
        }
        self.push_data(&data)?;
        if let Some(file) = &mut self.metrics {
            push(file, &metrics)?;
        }
        if let Some(file) = &mut self.rejects {
            push(file, &rejects)?;
        }
        if let Some(files) = &mut self.requests {
            for request in &pending {
                let pushed = files.push(request);
                pushed.map_err(|error| RunError::half_way("write", files.path(), &error))?;
            }
        }
        self.milestone.position = batch.next;
        if batch.last_of_source {
            self.end_source()?;
        }
        self.mark();
        Ok(())
    }

    fn push_data(&mut self, bytes: &[u8]) -> Result<(), RunError> {
        match &mut self.data {
            Some(file) if !bytes.is_empty() => {
                push(file, bytes)?;
                self.milestone.last_byte = file.last_byte();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Moves to the next source: to its own file or, if merged, to the same one.
    fn end_source(&mut self) -> Result<(), RunError> {
        let is_written = self.is_written(self.milestone.source);
        self.milestone.source += 1;
        self.milestone.position = Position::default();
        self.milestone.data_started = false;
        if self.targets.continues(self.milestone.source) {
            // A last line without its end must not run into the next file's first.
            if self.milestone.last_byte.is_some_and(|byte| byte != b'\n') {
                self.push_data(b"\n")?;
            }
            return Ok(());
        }
        self.milestone.last_byte = None;
        if let Some(mut file) = self.data.take_if(|_| is_written) {
            end(&mut file)?;
            self.whole.push(file);
        }
        Ok(())
    }

    /// Notes the point that the run has reached, unless it is in the middle of a compressed frame.
    fn mark(&mut self) {
        let length = |file: Option<&PartialFile>| file.map_or(Some(0), PartialFile::length);
        let Some(data) = length(self.data.as_ref()) else {
            return;
        };
        self.reached = Milestone {
            data,
            metrics: length(self.metrics.as_ref()).unwrap_or_default(),
            rejects: length(self.rejects.as_ref()).unwrap_or_default(),
            requests: self.requests.as_ref().map(RequestFiles::mark).unwrap_or_default(),
            ..self.milestone
        };
    }

    fn commit_if_due(&mut self) -> Result<(), RunError> {
        let data = self.data.iter().chain(&self.whole);
        let due = data.map(PartialFile::unsynced).sum::<u64>() >= MILESTONE_BYTES
            || self.whole.len() >= self.most_whole
            || self.committed_at.elapsed() >= MILESTONE_TIME;
        if due { self.commit() } else { Ok(()) }
    }

    /// Appends the point reached to the journal, once all that was written before is on the disk.
    fn commit(&mut self) -> Result<(), RunError> {
        if self.journal.is_none() || self.reached == self.committed {
            return Ok(());
        }
        self.sync()?;
        if let Some(journal) = &mut self.journal {
            journal
                .append(&self.reached)
                .map_err(|error| RunError::half_way("write", journal.path(), &error))?;
        }
        if let Some(data) = &mut self.data {
            data.committed(self.reached.data);
        }
        self.committed = self.reached;
        self.committed_at = Instant::now();
        Ok(())
    }

    fn sync(&mut self) -> Result<(), RunError> {
        if let Some(files) = &mut self.requests {
            let synced = files.sync();
            synced.map_err(|error| RunError::half_way("write", files.path(), &error))?;
        }
        let files = self.data.iter_mut().chain(&mut self.whole);
        let files = files.chain(&mut self.metrics).chain(&mut self.rejects);
        let files: Vec<&mut PartialFile> = files.collect();
        disk::at_once(files.into_iter(), |file| {
            file.sync().map_err(|error| file.fault(&error))
        })?;
        self.whole.clear();
        Ok(())
    }

    /// Commits all that can be: the run stops here. Returns true if it may be resumed.
    pub fn stop(mut self) -> Result<bool, RunError> {
        if self.journal.is_none() {
            self.leave_nothing_but_rejects()?;
            return Ok(false);
        }
        if !self.failed {
            self.commit()?;
        }
        Ok(true)
    }

    /// Removes the files of a run that cannot be resumed. Rejects are kept if the data has gone to stdout.
    fn leave_nothing_but_rejects(self) -> Result<(), RunError> {
        let keeps_rejects = self.targets.to_stdout;
        let made = self.targets.data.iter().take(self.made);
        for target in made.filter(|target| target.is_written) {
            disk::discard(&target.path, &self.targets.partial(&target.path));
        }
        for file in [self.data, self.metrics, self.summary].into_iter().flatten() {
            file.remove();
        }
        let Some(mut rejects) = self.rejects else {
            return Ok(());
        };
        end(&mut rejects)?;
        if keeps_rejects && rejects.length() > Some(0) {
            let path = self.targets.rejects();
            let named = disk::name_files([path.as_path()].into_iter(), |path| self.targets.partial(path));
            return named.map_err(|(path, error)| RunError::half_way("write", &path, &error));
        }
        rejects.remove();
        Ok(())
    }

    /// Ends all files and commits that they are whole.
    pub fn finish(mut self) -> Result<FinishedFiles, RunError> {
        let files = self.data.iter_mut().chain(&mut self.metrics);
        for file in files.chain(&mut self.rejects) {
            end(file)?;
        }
        self.milestone.complete = true;
        self.mark();
        if self.journal.is_some() {
            self.commit()?;
        } else {
            self.sync()?;
        }
        Ok(FinishedFiles {
            journal: self.journal,
            rejects: self.reached.rejects > 0,
            summary: self.summary,
            open: [self.data, self.metrics, self.rejects],
            totals: self.totals,
            milestone: self.reached,
        })
    }
}

fn push(file: &mut PartialFile, bytes: &[u8]) -> Result<(), RunError> {
    let pushed = file.push(bytes);
    pushed.map_err(|error| file.fault(&error))
}

fn end(file: &mut PartialFile) -> Result<(), RunError> {
    let ended = file.end();
    ended.map_err(|error| file.fault(&error))
}

/// Turns elements with a `,` before each into a part of an array: before the very first, the `,` becomes `[`.
fn finish_array(data: &mut Vec<u8>, end: Option<&[u8]>, started: bool) {
    match data.first_mut() {
        Some(first) if !started => *first = b'[',
        None if !started && end.is_some() => data.push(b'['),
        _ => {}
    }
    if let Some(space) = end {
        data.extend_from_slice(space);
        data.push(b']');
    }
}
