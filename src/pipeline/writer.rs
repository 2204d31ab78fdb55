//! The one commit point: chunks go to the files in input order, and milestones to the journal once they are safe.

use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::RunError;
use super::batch::Batch;
use super::counters::Counters;
use super::journal::{Journal, Milestone};
use super::output::{Codec, PartialFile};
use super::requests::RequestFiles;
use super::run::Job;
use super::targets::{PARTIAL, Targets, appended};
use super::worker::Chunk;
use crate::metrics::{Status, Totals, csv_header};

/// A milestone is due after so many bytes of output, or so much time: what a killed run does again.
const MILESTONE_BYTES: u64 = 4 * 1024 * 1024;
const MILESTONE_TIME: Duration = Duration::from_secs(1);

/// Writes a run.
pub struct Writer<'r> {
    targets: &'r Targets,
    counters: &'r Counters,
    /// `None` for stdout and dry runs, which cannot be resumed.
    journal: Option<Journal>,
    /// The data file being written; `None` in a dry run.
    data: Option<PartialFile>,
    metrics: Option<PartialFile>,
    rejects: Option<PartialFile>,
    /// What is still to be asked, where that is written.
    requests: Option<RequestFiles>,
    milestone: Milestone,
    committed_data: u64,
    committed_at: Instant,
    dry_run: bool,
    /// Totals of the rows written, those of a resumed run's first part included.
    pub totals: Totals,
}

impl<'r> Writer<'r> {
    /// Opens the files of a run, cut back to where `milestone` says they were safe.
    pub fn open(
        job: &'r Job,
        counters: &'r Counters,
        journal: Option<Journal>,
        milestone: Milestone,
        totals: Totals,
    ) -> Result<Self, RunError> {
        let targets = &job.targets;
        let asks = job.asks.as_ref().filter(|_| !job.dry_run).map(|target| {
            RequestFiles::open(target, milestone.requests)
                .map_err(|error| RunError::output(&target.path, &error))
        });
        let mut writer = Self {
            requests: asks.transpose()?,
            targets,
            counters,
            journal,
            data: None,
            metrics: None,
            rejects: None,
            committed_data: milestone.data,
            committed_at: Instant::now(),
            milestone,
            dry_run: job.dry_run,
            totals,
        };
        if !targets.to_stdout {
            let mut metrics = open(&targets.metrics(), Codec::Plain, writer.milestone.metrics)?;
            if writer.milestone.metrics == 0 {
                let path = metrics.path().to_owned();
                metrics
                    .push(&csv_header())
                    .map_err(|error| RunError::half_way("write", &path, &error))?;
            }
            writer.metrics = Some(metrics);
        }
        if writer.milestone.rejects > 0 {
            writer.rejects = Some(open(&targets.rejects(), Codec::Plain, writer.milestone.rejects)?);
        } else {
            // Left by a run that was started over.
            let _ = std::fs::remove_file(appended(&targets.rejects(), PARTIAL));
        }
        writer.open_data(writer.milestone.source, writer.milestone.data)?;
        Ok(writer)
    }

    fn open_data(&mut self, source: usize, length: u64) -> Result<(), RunError> {
        let Some(target) = self.targets.data.get(source).filter(|_| !self.dry_run) else {
            return Ok(());
        };
        self.data = Some(if self.targets.to_stdout {
            PartialFile::stdout(target.codec)
        } else {
            if let Some(folder) = target
                .path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty())
            {
                std::fs::create_dir_all(folder).map_err(|error| RunError::output(folder, &error))?;
            }
            open(&target.path, target.codec, length)?
        });
        Ok(())
    }

    /// Writes what a batch became.
    pub fn write(&mut self, batch: &Batch, chunk: Chunk) -> Result<(), RunError> {
        self.count(batch, &chunk);
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
        self.milestone.taken += rows.len() as u64;
        self.milestone.data_started |= !data.is_empty() && batch.in_array;
        self.push_data(&data)?;
        if let Some(file) = &mut self.metrics {
            push(file, &metrics)?;
        }
        if !rejects.is_empty() {
            if self.rejects.is_none() {
                self.rejects = Some(open(&self.targets.rejects(), Codec::Plain, 0)?);
            }
            if let Some(file) = &mut self.rejects {
                push(file, &rejects)?;
            }
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
        self.commit_if_due()
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

    fn count(&self, batch: &Batch, chunk: &Chunk) {
        let of = |status| chunk.rows.iter().filter(|row| row.status == status).count() as u64;
        Counters::add(&self.counters.bytes_done, batch.bytes.len() as u64);
        Counters::add(&self.counters.records, chunk.rows.len() as u64);
        Counters::add(&self.counters.compressed, of(Status::Compressed));
        Counters::add(&self.counters.rejected, of(Status::Rejected));
        let over = chunk.rows.iter().filter(|row| row.still_over_limit).count();
        Counters::add(&self.counters.over_limit, over as u64);
    }

    /// Goes on to the next source: to its own file, or, merged, to the same one.
    fn end_source(&mut self) -> Result<(), RunError> {
        let ended = self.milestone.source;
        let (this, next) = (self.targets.data.get(ended), self.targets.data.get(ended + 1));
        let same_file = next.is_some() && this.map(|target| &target.path) == next.map(|target| &target.path);
        self.milestone.source += 1;
        self.milestone.position = super::batch::Position::default();
        self.milestone.data_started = false;
        if same_file {
            // A last line without its end must not run into the next file's first.
            if self.milestone.last_byte.is_some_and(|byte| byte != b'\n') {
                self.push_data(b"\n")?;
            }
            return Ok(());
        }
        if let Some(file) = &mut self.data {
            let path = file.path().to_owned();
            file.end_frame()
                .and_then(|()| file.sync())
                .map_err(|error| RunError::half_way("write", &path, &error))?;
        }
        self.milestone.last_byte = None;
        if next.is_some() {
            self.open_data(ended + 1, 0)?;
            self.committed_data = 0;
            self.commit()?;
        }
        Ok(())
    }

    fn commit_if_due(&mut self) -> Result<(), RunError> {
        if self.committed_at.elapsed() >= MILESTONE_TIME
            && let Some(file) = &mut self.data
        {
            let path = file.path().to_owned();
            file.end_plain_frame()
                .map_err(|error| RunError::half_way("write", &path, &error))?;
        }
        let Some(file) = &self.data else {
            return Ok(());
        };
        let new_bytes = file.written().saturating_sub(self.committed_data);
        let due = new_bytes >= MILESTONE_BYTES || self.committed_at.elapsed() >= MILESTONE_TIME;
        if due && file.at_frame_end() && self.journal.is_some() {
            self.commit()
        } else {
            Ok(())
        }
    }

    /// Makes everything written so far safe, and notes it. Compressed data must be at a frame's end.
    fn commit(&mut self) -> Result<(), RunError> {
        if self.journal.is_some() {
            self.sync_requests()?;
        }
        let Some(journal) = &mut self.journal else {
            return Ok(());
        };
        for file in [&mut self.metrics, &mut self.rejects].into_iter().flatten() {
            let path = file.path().to_owned();
            file.end_frame()
                .and_then(|()| file.sync())
                .map_err(|error| RunError::half_way("write", &path, &error))?;
        }
        if let Some(file) = &self.data {
            file.sync()
                .map_err(|error| RunError::half_way("write", file.path(), &error))?;
            self.milestone.data = file.written();
            self.committed_data = file.written();
        }
        self.milestone.metrics = self.metrics.as_ref().map_or(0, PartialFile::written);
        self.milestone.rejects = self.rejects.as_ref().map_or(0, PartialFile::written);
        journal
            .append(&self.milestone)
            .map_err(|error| RunError::half_way("write", &self.targets.checkpoint(), &error))?;
        self.committed_at = Instant::now();
        Ok(())
    }

    fn sync_requests(&mut self) -> Result<(), RunError> {
        if let Some(files) = &mut self.requests {
            let synced = files.sync();
            self.milestone.requests =
                synced.map_err(|error| RunError::half_way("write", files.path(), &error))?;
        }
        Ok(())
    }

    /// Makes safe what can be: the run stops here, and may be resumed.
    pub fn stop(mut self) -> Result<bool, RunError> {
        if let Some(file) = &mut self.data {
            let path = file.path().to_owned();
            file.end_plain_frame()
                .map_err(|error| RunError::half_way("write", &path, &error))?;
        }
        if self.data.as_ref().is_some_and(PartialFile::at_frame_end) {
            self.commit()?;
        }
        Ok(self.journal.is_some())
    }

    /// Ends all files and notes that they are whole. Returns the journal and whether there are rejects.
    pub fn finish(mut self) -> Result<(Option<Journal>, bool, Totals, Milestone), RunError> {
        for file in [&mut self.data, &mut self.metrics, &mut self.rejects]
            .into_iter()
            .flatten()
        {
            let path = file.path().to_owned();
            file.end_frame()
                .and_then(|()| file.sync())
                .map_err(|error| RunError::half_way("write", &path, &error))?;
        }
        self.sync_requests()?;
        self.milestone.complete = true;
        self.commit()?;
        Ok((self.journal, self.rejects.is_some(), self.totals, self.milestone))
    }
}

fn open(path: &Path, codec: Codec, length: u64) -> Result<PartialFile, RunError> {
    let partial = appended(path, PARTIAL);
    PartialFile::open(&partial, codec, length).map_err(|error| {
        if error.kind() == io::ErrorKind::InvalidData {
            RunError::usage(
                format!("cannot resume: {} is {error}", partial.display()),
                "start over with --force",
            )
        } else {
            RunError::output(&partial, &error)
        }
    })
}

fn push(file: &mut PartialFile, bytes: &[u8]) -> Result<(), RunError> {
    let path = file.path().to_owned();
    file.push(bytes)
        .map_err(|error| RunError::half_way("write", &path, &error))
}

/// Turns elements with a `,` before each into a stretch of an array: the first element of all opens it with `[`.
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
