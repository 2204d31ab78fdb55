//! Brings open batches to their end: uploads, submits once, waits, and takes the answers in, one safe step after another.

use std::path::PathBuf;
use std::time::Duration;

use super::BatchError;
use super::error::RUN_AGAIN;
use super::state::{Batch, Folder, State};
use super::vendor::Vendor;
use super::wire::Unsent;
use crate::summarize::batch::job::{Job, Phase};
use crate::summarize::chat::retry::Verdict;

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
    /// How far a batch is.
    Progress(&'e Job),
    /// It was looked at all batches; the next time is after this.
    Waiting(Duration),
    /// A look at a batch failed.
    Unseen(&'e BatchError),
    /// A batch is done, and its answers are here.
    Done(&'e Batch, &'e Job),
}

/// A run's batches.
pub struct Rounds<'r> {
    /// Where everything lies.
    pub folder: &'r Folder,
    /// What is known of them.
    pub state: &'r mut State,
    /// Who answers.
    pub vendor: Vendor<'r>,
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
        for at in 0..self.state.batches.len() {
            if self.batch(at).id.is_none() && !self.batch(at).done {
                self.submit(at).await?;
            }
        }
        let mut ended = Vec::new();
        let mut failed_looks = 0;
        loop {
            for at in 0..self.state.batches.len() {
                if self.batch(at).done {
                    continue;
                }
                match self.look(at).await {
                    Ok(None) => failed_looks = 0,
                    Ok(Some(job)) => {
                        failed_looks = 0;
                        ended.push(job);
                    }
                    Err(error @ BatchError::Stopped { passing: true, .. }) if failed_looks < FAILED_LOOKS => {
                        failed_looks += 1;
                        (self.tell)(Event::Unseen(&error));
                    }
                    Err(error) => return Err(error),
                }
            }
            if !self.state.is_open() {
                break;
            }
            (self.tell)(Event::Waiting(self.interval));
            self.vendor.wire.sleep(self.interval).await?;
        }
        refuse_bad_ends(&ended)
    }

    /// Submits a batch once, whatever happened before.
    async fn submit(&mut self, at: usize) -> Result<(), BatchError> {
        if self.vendor.takes_uploads() {
            self.submit_upload(at).await
        } else {
            self.submit_list(at).await
        }
    }

    async fn submit_upload(&mut self, at: usize) -> Result<(), BatchError> {
        if self.batch(at).upload.is_none() {
            // The same requests may have been submitted by a run whose folder is lost.
            match self.find_upload(at).await {
                Ok(Some(job)) => return self.adopt(at, job),
                Err(BatchError::Interrupted) => return Err(BatchError::Interrupted),
                // Where there is no list, there is nothing to be found in it.
                Ok(None) | Err(BatchError::Stopped { .. }) => {}
            }
            let batch = self.batch(at).clone();
            (self.tell)(Event::Uploading(&batch));
            let path = self.requests(at);
            let id = self.vendor.upload(&path).await?;
            self.change(at, |batch| batch.upload = Some(id))?;
        }
        let mut unsure = self.batch(at).submitting;
        let mut attempt = 0;
        loop {
            if unsure && let Some(job) = self.find_upload(at).await.map_err(cannot_tell)? {
                return self.adopt(at, job);
            }
            self.change(at, |batch| batch.submitting = true)?;
            let batch = self.batch(at);
            let file = batch.upload.clone().unwrap_or_default();
            match self.vendor.submit_upload(&file, &batch.sha256).await {
                Ok(job) => return self.submitted(at, job),
                Err(unsent) => unsure = self.after(at, unsent, &mut attempt).await?,
            }
        }
    }

    /// Anthropic's batches have no mark that we could give them: what came after the latest one before ours, with as many
    /// requests as ours, is taken for ours. If it is not, its answers have other ids, and the requests are asked again.
    async fn submit_list(&mut self, at: usize) -> Result<(), BatchError> {
        let mut unsure = self.batch(at).submitting;
        let mut attempt = 0;
        loop {
            if unsure && let Some(job) = self.find_list(at).await.map_err(cannot_tell)? {
                return self.adopt(at, job);
            }
            if !self.batch(at).submitting {
                let newest = self.vendor.find(|_| true, |_| false).await?;
                self.change(at, |batch| {
                    batch.newest_before = newest.map(|job| job.id);
                    batch.submitting = true;
                })?;
            }
            match self.vendor.submit_list(&self.requests(at)).await {
                Ok(job) => return self.submitted(at, job),
                Err(unsent) => unsure = self.after(at, unsent, &mut attempt).await?,
            }
        }
    }

    async fn find_upload(&self, at: usize) -> Result<Option<Job>, BatchError> {
        let batch = self.batch(at);
        let is_ours = |job: &Job| {
            let of_file = batch.upload.is_some() && job.input == batch.upload;
            let alive = matches!(job.phase, Phase::Running | Phase::Ended);
            of_file || alive && job.hash.as_deref() == Some(&batch.sha256)
        };
        let found = self
            .vendor
            .find(|job| is_ours(job) && !self.state.knows(&job.id), |_| false);
        found.await
    }

    async fn find_list(&self, at: usize) -> Result<Option<Job>, BatchError> {
        let batch = self.batch(at);
        let is_ours = |job: &Job| job.requests == batch.requests && !self.state.knows(&job.id);
        let is_older = |job: &Job| batch.newest_before.as_deref() == Some(&job.id);
        self.vendor.find(is_ours, is_older).await
    }

    /// After a submission that was not confirmed: waits, and says whether it may have been received.
    async fn after(&mut self, at: usize, unsent: Unsent, attempt: &mut u32) -> Result<bool, BatchError> {
        let unsure = match &unsent {
            Unsent::Verdict(Verdict::Retry(..), unsure) => *unsure,
            Unsent::Verdict(..) => false,
            Unsent::Ended(_) => true,
        };
        if !unsure {
            // Refused: it was not received, which is known the next time as well.
            self.change(at, |batch| batch.submitting = false)?;
        }
        let url = self.vendor.url();
        self.vendor.wire.pause(&url, unsent, attempt).await?;
        Ok(unsure)
    }

    fn submitted(&mut self, at: usize, job: Job) -> Result<(), BatchError> {
        self.change(at, |batch| batch.id = Some(job.id))?;
        let batch = self.batch(at).clone();
        (self.tell)(Event::Submitted(&batch));
        Ok(())
    }

    fn adopt(&mut self, at: usize, job: Job) -> Result<(), BatchError> {
        self.change(at, |batch| {
            batch.id = Some(job.id);
            batch.submitting = true;
        })?;
        let batch = self.batch(at).clone();
        (self.tell)(Event::FoundAgain(&batch));
        Ok(())
    }

    /// Looks how far a batch is, and takes its answers in where it is done.
    async fn look(&mut self, at: usize) -> Result<Option<Job>, BatchError> {
        let id = self.batch(at).id.clone().unwrap_or_default();
        let job = self.vendor.status(&id).await?;
        if job.phase == Phase::Running {
            (self.tell)(Event::Progress(&job));
            return Ok(None);
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
        let batch = self.batch(at).clone();
        (self.tell)(Event::Done(&batch, &job));
        Ok(Some(job))
    }

    fn requests(&self, at: usize) -> PathBuf {
        self.folder.path().join(&self.batch(at).file)
    }

    fn batch(&self, at: usize) -> &Batch {
        static NONE: std::sync::LazyLock<Batch> = std::sync::LazyLock::new(Batch::default);
        self.state.batches.get(at).unwrap_or(&NONE)
    }

    /// Changes what is known of a batch, and keeps that.
    fn change(&mut self, at: usize, change: impl FnOnce(&mut Batch)) -> Result<(), BatchError> {
        self.state.batches.get_mut(at).map(change);
        let saved = self.folder.save(self.state);
        saved.map_err(|error| BatchError::file("write", &self.folder.state(), &error))
    }
}

/// An id as the name of a file.
fn file_name(id: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    id.chars().map(|c| if safe(c) { c } else { '_' }).collect()
}

fn cannot_tell(error: BatchError) -> BatchError {
    match error {
        BatchError::Interrupted => error,
        BatchError::Stopped { message, .. } => BatchError::stopped(
            format!("a batch may have been submitted, and the list of batches cannot be had: {message}"),
            format!(
                "{RUN_AGAIN}; where the vendor has no such list, see whether the batch is there, and delete the state.json \
                 of the run's folder if it is not"
            ),
        ),
    }
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
