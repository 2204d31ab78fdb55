//! Runs open batches to their end: submits what the vendor's queue takes, waits, and downloads the answers. Every step
//! can be interrupted and repeated.

use std::path::PathBuf;
use std::time::Duration;

use super::BatchError;
use super::queue_backoff::QueueBackoff;
use super::state::{Batch, Folder, State};
use super::vendor::Vendor;
use crate::summarize::batch::job::{BatchJob, Phase};
use crate::summarize::batch::queue::{QueueFull, QueueLimits};

/// Maximum number of failed polls in a row; over a day some fail.
const FAILED_LOOKS: u32 = 10;

/// An event to report as it happens.
#[derive(Debug)]
pub enum BatchEvent<'e> {
    /// A file of requests is being uploaded.
    Uploading(&'e Batch),
    /// A batch was submitted.
    Submitted(&'e Batch),
    /// A batch that an earlier run submitted was found at the vendor.
    FoundAgain(&'e Batch),
    /// A batch waits: the vendor's queue is full.
    Full(&'e Batch, &'e QueueFull),
    /// A batch is too large for the queue, and is split into this many.
    Split(&'e Batch, usize),
    /// The only request of a batch is too large for the queue: it is asked in pieces.
    TooLarge(&'e Batch),
    /// The progress of a batch.
    Progress(&'e BatchJob),
    /// All batches were polled; the next poll is after this time.
    Waiting(Duration),
    /// A poll of a batch failed.
    Unseen(&'e BatchError),
    /// A batch has ended, and its answers are downloaded.
    Done(&'e BatchJob),
}

/// The result of polling a batch.
enum PollResult {
    Running,
    Ended(BatchJob),
    /// The vendor refused it, since its queue was full.
    Refused(QueueFull),
}

/// The open batches of a run.
pub struct Rounds<'r> {
    /// The folder of the run.
    pub folder: &'r Folder,
    /// The state of the run's batches.
    pub state: &'r mut State,
    /// The vendor.
    pub vendor: Vendor<'r>,
    /// The user's limit on batches in the vendor's queue.
    pub limit: QueueLimits,
    /// The time between two polls.
    pub interval: Duration,
    /// The callback for events.
    pub tell: &'r mut dyn FnMut(BatchEvent<'_>),
}

impl Rounds<'_> {
    /// Runs all open batches to their end.
    ///
    /// # Errors
    ///
    /// The run stopped early; completed steps are kept.
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
                    Ok(PollResult::Running) => failed_looks = 0,
                    Ok(PollResult::Ended(job)) => {
                        failed_looks = 0;
                        backoff.reset();
                        ended.push(job);
                    }
                    Ok(PollResult::Refused(full)) => self.full(at, &full, &mut backoff)?,
                    Err(error @ BatchError::Stopped { passing: true, .. }) if failed_looks < FAILED_LOOKS => {
                        failed_looks += 1;
                        (self.tell)(BatchEvent::Unseen(&error));
                    }
                    Err(error) => return Err(error),
                }
                at += 1;
            }
            if !self.state.is_open() {
                break;
            }
            // Batches that have ended have made room for others.
            if ended.len() == ended_before || !self.is_waiting() {
                (self.tell)(BatchEvent::Waiting(self.interval));
                self.vendor.wire.sleep(self.interval).await?;
            }
        }
        refuse_bad_ends(&ended)
    }

    /// Returns true if there are batches that are still to be submitted.
    fn is_waiting(&self) -> bool {
        let mut open = self.state.batches.iter().filter(|batch| !batch.done);
        open.any(|batch| batch.id.is_none())
    }

    /// Polls a batch, and downloads its answers if it has ended.
    async fn look(&mut self, at: usize) -> Result<PollResult, BatchError> {
        let id = self.batch(at).id.clone().unwrap_or_default();
        let job = self.vendor.status(&id).await?;
        if job.phase == Phase::Running {
            (self.tell)(BatchEvent::Progress(&job));
            return Ok(PollResult::Running);
        }
        if let Some(full) = job.full {
            // The vendor has not started it: it is submitted again unchanged.
            self.change(at, |batch| {
                batch.refused.extend(batch.id.take());
                batch.submitting = false;
            })?;
            return Ok(PollResult::Refused(full));
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
        // All its requests are answered now, or will be found missing.
        let _ = std::fs::remove_file(self.requests(at));
        (self.tell)(BatchEvent::Done(&job));
        Ok(PollResult::Ended(job))
    }

    /// The path of a batch's file of requests.
    pub fn requests(&self, at: usize) -> PathBuf {
        self.folder.path().join(&self.batch(at).file)
    }

    /// The batch at this index.
    pub fn batch(&self, at: usize) -> &Batch {
        static NONE: std::sync::LazyLock<Batch> = std::sync::LazyLock::new(Batch::default);
        self.state.batches.get(at).unwrap_or(&NONE)
    }

    /// Changes the state of a batch, and saves it.
    pub fn change(&mut self, at: usize, change: impl FnOnce(&mut Batch)) -> Result<(), BatchError> {
        self.state.batches.get_mut(at).map(change);
        self.save()
    }

    /// Saves the state.
    pub fn save(&self) -> Result<(), BatchError> {
        let saved = self.folder.save(self.state);
        saved.map_err(|error| BatchError::file("write", &self.folder.state(), &error))
    }
}

/// An id as a file name.
fn file_name(id: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    id.chars().map(|c| if safe(c) { c } else { '_' }).collect()
}

/// Fails if a batch ended early, for example by cancelling: it is not replaced unless the user runs the command again.
fn refuse_bad_ends(ended: &[BatchJob]) -> Result<(), BatchError> {
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
