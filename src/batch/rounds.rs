//! Brings open batches to their end: submits what the vendor takes, waits, and takes the answers in, one safe step after
//! another.

use std::path::PathBuf;
use std::time::Duration;

use super::BatchError;
use super::queue_backoff::QueueBackoff;
use super::state::{Batch, Folder, State};
use super::vendor::Vendor;
use crate::summarize::batch::job::{Job, Phase};
use crate::summarize::batch::queue::{Full, Room};

/// Looks in a row that may fail before the run ends: some are lost in a day.
const FAILED_LOOKS: u32 = 10;

/// Something to tell while it happens.
#[derive(Debug)]
pub enum Event<'e> {
    /// A file of requests is being uploaded.
    Uploading(&'e Batch),
    /// A batch was submitted.
    Submitted(&'e Batch),
    /// A batch that an earlier run had submitted was found at the vendor's.
    FoundAgain(&'e Batch),
    /// A batch waits: the vendor's queue is full.
    Full(&'e Batch, &'e Full),
    /// A batch is too large for the queue, and becomes so many.
    Split(&'e Batch, usize),
    /// The one request of a batch is too large for the queue: it is asked for in pieces.
    TooLarge(&'e Batch),
    /// How far a batch is.
    Progress(&'e Job),
    /// It was looked at all batches; the next time is after this.
    Waiting(Duration),
    /// A look at a batch failed.
    Unseen(&'e BatchError),
    /// A batch is done, and its answers are here.
    Done(&'e Job),
}

/// What a look at a batch finds.
enum Seen {
    Running,
    Ended(Job),
    /// The vendor's queue was full.
    Refused(Full),
}

/// A run's batches.
pub struct Rounds<'r> {
    /// Where everything lies.
    pub folder: &'r Folder,
    /// What is known of them.
    pub state: &'r mut State,
    /// Who answers.
    pub vendor: Vendor<'r>,
    /// What the user allows in the vendor's queue.
    pub limit: Room,
    /// The time between two looks.
    pub interval: Duration,
    /// Whom it is told.
    pub tell: &'r mut dyn FnMut(Event<'_>),
}

impl Rounds<'_> {
    /// Brings all open batches to their end.
    ///
    /// # Errors
    ///
    /// Why they are not; what was done stays done.
    pub async fn finish(&mut self) -> Result<(), BatchError> {
        let mut ended = Vec::new();
        let mut failed_looks = 0;
        let mut backoff = QueueBackoff::default();
        loop {
            self.submit_all(&mut backoff).await?;
            backoff.count_look();
            let ended_before = ended.len();
            let mut at = 0;
            while at < self.state.batches.len() {
                let batch = self.batch(at);
                if batch.done || batch.id.is_none() {
                    at += 1;
                    continue;
                }
                match self.look(at).await {
                    Ok(Seen::Running) => failed_looks = 0,
                    Ok(Seen::Ended(job)) => {
                        failed_looks = 0;
                        backoff.reset();
                        ended.push(job);
                    }
                    Ok(Seen::Refused(full)) => self.full(at, &full, &mut backoff)?,
                    Err(error @ BatchError::Stopped { passing: true, .. }) if failed_looks < FAILED_LOOKS => {
                        failed_looks += 1;
                        (self.tell)(Event::Unseen(&error));
                    }
                    Err(error) => return Err(error),
                }
                at += 1;
            }
            if !self.state.is_open() {
                break;
            }
            // What has ended has made room for what waits.
            if ended.len() == ended_before || !self.is_waiting() {
                (self.tell)(Event::Waiting(self.interval));
                self.vendor.wire.sleep(self.interval).await?;
            }
        }
        refuse_bad_ends(&ended)
    }

    /// Whether there are batches that are still to be submitted.
    fn is_waiting(&self) -> bool {
        let mut open = self.state.batches.iter().filter(|batch| !batch.done);
        open.any(|batch| batch.id.is_none())
    }

    /// Looks how far a batch is, and takes its answers in where it is done.
    async fn look(&mut self, at: usize) -> Result<Seen, BatchError> {
        let id = self.batch(at).id.clone().unwrap_or_default();
        let job = self.vendor.status(&id).await?;
        if job.phase == Phase::Running {
            (self.tell)(Event::Progress(&job));
            return Ok(Seen::Running);
        }
        if let Some(full) = job.full {
            // Nothing of it was begun: it is submitted again, as what it is.
            self.change(at, |batch| {
                batch.refused.extend(batch.id.take());
                batch.submitting = false;
            })?;
            return Ok(Seen::Refused(full));
        }
        for (number, output) in job.outputs.iter().enumerate() {
            let kind = if number == 0 { "" } else { ".errors" };
            let name = format!("{}{kind}.jsonl", file_name(&id));
            let url = self.vendor.output(&job, output);
            self.vendor
                .wire
                .download(&url, &self.folder.answers().join(name))
                .await?;
        }
        let word = job.word.clone();
        self.change(at, |batch| {
            batch.done = true;
            batch.ended = word;
        })?;
        // Everything that it asked is answered here, or will be found to be missing.
        let _ = std::fs::remove_file(self.requests(at));
        (self.tell)(Event::Done(&job));
        Ok(Seen::Ended(job))
    }

    /// Where the requests of a batch are.
    pub fn requests(&self, at: usize) -> PathBuf {
        self.folder.path().join(&self.batch(at).file)
    }

    /// A batch.
    pub fn batch(&self, at: usize) -> &Batch {
        static NONE: std::sync::LazyLock<Batch> = std::sync::LazyLock::new(Batch::default);
        self.state.batches.get(at).unwrap_or(&NONE)
    }

    /// Changes what is known of a batch, and keeps that.
    pub fn change(&mut self, at: usize, change: impl FnOnce(&mut Batch)) -> Result<(), BatchError> {
        self.state.batches.get_mut(at).map(change);
        self.save()
    }

    /// Keeps what is known.
    pub fn save(&self) -> Result<(), BatchError> {
        let saved = self.folder.save(self.state);
        saved.map_err(|error| BatchError::file("write", &self.folder.state(), &error))
    }
}

/// An id as the name of a file.
fn file_name(id: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    id.chars().map(|c| if safe(c) { c } else { '_' }).collect()
}

/// Batches that ended otherwise than by being done are somebody's decision: nothing is submitted in their place unasked.
fn refuse_bad_ends(ended: &[Job]) -> Result<(), BatchError> {
    for job in ended {
        let problem = job.problem.as_deref().unwrap_or("it does not say why");
        match job.phase {
            Phase::Failed => {
                return Err(BatchError::stopped(
                    format!("the batch {} failed as a whole: {problem}", job.id),
                    "mend that, or wait where a limit is reached; then run the same command again: it submits anew",
                ));
            }
            Phase::Cancelled => {
                return Err(BatchError::stopped(
                    format!("the batch {} was cancelled", job.id),
                    "run the same command again to submit what was not answered",
                ));
            }
            Phase::Running | Phase::Ended | Phase::Expired => {}
        }
    }
    Ok(())
}
