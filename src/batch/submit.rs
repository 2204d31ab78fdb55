//! Submission of batches: each one once, even after a crash, and no more at a time than the vendor's queue takes.

use super::error::RUN_AGAIN;
use super::queue_backoff::QueueBackoff;
use super::rounds::{BatchEvent, Rounds};
use super::wire::SendError;
use super::{BatchError, split, state};
use crate::summarize::batch::job::{BatchJob, Phase};
use crate::summarize::batch::queue::{self, Load, QueueFull, QueueStep, RefusalAction};
use crate::summarize::chat::answer::retry::RetryVerdict;

impl Rounds<'_> {
    /// Submits as many batches as the queue takes; the others wait.
    pub async fn submit_all(&mut self, backoff: &mut QueueBackoff) -> Result<(), BatchError> {
        let mut at = 0;
        while at < self.state.batches.len() {
            let batch = self.batch(at);
            let is_waiting = !batch.done && batch.id.is_none();
            // A batch that may have been submitted already is looked for in any case.
            if is_waiting && !batch.submitting {
                if !backoff.is_due() {
                    at += 1;
                    continue;
                }
                match self.room().step(batch.load(), self.in_queue(at)) {
                    QueueStep::Submit => {}
                    QueueStep::Wait => {
                        at += 1;
                        continue;
                    }
                    QueueStep::Split(parts) => {
                        self.split(at, parts)?;
                        continue;
                    }
                }
            }
            if is_waiting && let Some(full) = self.submit(at).await? {
                self.full(at, &full, backoff)?;
                return Ok(());
            }
            at += 1;
        }
        Ok(())
    }

    /// Handles a refusal because the queue is full: the batch waits, or is split.
    pub fn full(
        &mut self,
        at: usize,
        full: &QueueFull,
        backoff: &mut QueueBackoff,
    ) -> Result<(), BatchError> {
        self.state.room = self.state.room.learned(full.room);
        self.save()?;
        if !backoff.is_refused {
            backoff.is_refused = true;
            backoff.refusals += 1;
            let wish = full.wish.unwrap_or_default().as_secs_f64();
            let wished = (wish / self.interval.as_secs_f64().max(1.0)).ceil() as u32;
            backoff.looks = queue::looks(backoff.refusals).max(wished);
        }
        let batch = self.batch(at).clone();
        if backoff.refusals == 1 {
            (self.tell)(BatchEvent::Full(&batch, full));
        }
        if self.in_queue(at).requests > 0 {
            return Ok(());
        }
        match self.room().lesson(batch.load(), full, backoff.refusals) {
            RefusalAction::Wait => Ok(()),
            RefusalAction::Halve => self.split(at, 2),
            RefusalAction::TooLarge => self.give_up(at),
        }
    }

    /// The load of this run's other batches in the queue.
    fn in_queue(&self, beside: usize) -> Load {
        let mut load = Load::default();
        for (at, batch) in self.state.batches.iter().enumerate() {
            if at != beside && !batch.done && (batch.id.is_some() || batch.submitting) {
                load.tokens += batch.prompt_tokens;
                load.requests += batch.requests;
            }
        }
        load
    }

    fn room(&self) -> queue::QueueLimits {
        self.limit.and(self.state.room)
    }

    fn split(&mut self, at: usize, parts: u64) -> Result<(), BatchError> {
        let batch = self.batch(at).clone();
        let path = self.requests(at);
        let made = split::split(self.folder, &batch, parts);
        let made = made.map_err(|error| BatchError::file("split", &path, &error))?;
        (self.tell)(BatchEvent::Split(&batch, made.len()));
        self.state.batches.splice(at..=at, made);
        self.save()?;
        // If it cannot be removed, it is never read.
        let _ = std::fs::remove_file(path);
        Ok(())
    }

    /// Ends a batch whose request the queue will never take: writes the answer of a server that finds it too long.
    fn give_up(&mut self, at: usize) -> Result<(), BatchError> {
        let path = self.requests(at);
        let line = split::first_line(&path).map_err(|error| BatchError::file("read", &path, &error))?;
        let Some(answer) = queue::too_large(&line, self.room()) else {
            return Ok(());
        };
        let name = self.batch(at).sha256.get(..16).unwrap_or_default().to_owned();
        let answers = self.folder.answers().join(format!("too-large-{name}.jsonl"));
        state::write(&answers, answer.as_bytes())
            .map_err(|error| BatchError::file("write", &answers, &error))?;
        self.change(at, |batch| {
            batch.done = true;
            "too large".clone_into(&mut batch.ended);
        })?;
        let _ = std::fs::remove_file(path);
        let batch = self.batch(at).clone();
        (self.tell)(BatchEvent::TooLarge(&batch));
        Ok(())
    }

    /// Submits a batch once, even after a crash. Returns the refusal if the queue is full.
    async fn submit(&mut self, at: usize) -> Result<Option<QueueFull>, BatchError> {
        if self.vendor.takes_uploads() {
            self.submit_upload(at).await
        } else {
            self.submit_list(at).await
        }
    }

    async fn submit_upload(&mut self, at: usize) -> Result<Option<QueueFull>, BatchError> {
        if self.batch(at).upload.is_none() {
            // The same requests may have been submitted by a run whose folder is lost.
            match self.find_upload(at).await {
                Ok(Some(job)) => return self.adopt(at, job).map(|()| None),
                Err(BatchError::Interrupted) => return Err(BatchError::Interrupted),
                // A vendor without a list cannot be searched.
                Ok(None) | Err(BatchError::Stopped { .. }) => {}
            }
            let batch = self.batch(at).clone();
            (self.tell)(BatchEvent::Uploading(&batch));
            let path = self.requests(at);
            let id = self.vendor.upload(&path).await?;
            self.change(at, |batch| batch.upload = Some(id))?;
        }
        let mut unsure = self.batch(at).submitting;
        let mut attempt = 0;
        loop {
            if unsure && let Some(job) = self.find_upload(at).await.map_err(cannot_tell)? {
                return self.adopt(at, job).map(|()| None);
            }
            self.change(at, |batch| batch.submitting = true)?;
            let batch = self.batch(at);
            let file = batch.upload.clone().unwrap_or_default();
            match self.vendor.submit_upload(&file, &batch.sha256).await {
                Ok(job) => return self.submitted(at, job).map(|()| None),
                Err(SendError::Full(full)) => return self.refused(at, full).map(Some),
                Err(unsent) => unsure = self.after(at, unsent, &mut attempt).await?,
            }
        }
    }

    /// Anthropic's batches cannot carry a mark: a batch newer than the latest one before ours, with as many requests as
    /// ours, is taken to be ours. If it is not, its answers have other ids, and the requests are submitted again.
    async fn submit_list(&mut self, at: usize) -> Result<Option<QueueFull>, BatchError> {
        let mut unsure = self.batch(at).submitting;
        let mut attempt = 0;
        loop {
            if unsure && let Some(job) = self.find_list(at).await.map_err(cannot_tell)? {
                return self.adopt(at, job).map(|()| None);
            }
            if !self.batch(at).submitting {
                let newest = self.vendor.find(|_| true, |_| false).await?;
                self.change(at, |batch| {
                    batch.newest_before = newest.map(|job| job.id);
                    batch.submitting = true;
                })?;
            }
            match self.vendor.submit_list(&self.requests(at)).await {
                Ok(job) => return self.submitted(at, job).map(|()| None),
                Err(SendError::Full(full)) => return self.refused(at, full).map(Some),
                Err(unsent) => unsure = self.after(at, unsent, &mut attempt).await?,
            }
        }
    }

    async fn find_upload(&self, at: usize) -> Result<Option<BatchJob>, BatchError> {
        let batch = self.batch(at);
        let is_ours = |job: &BatchJob| {
            let of_file = batch.upload.is_some() && job.input == batch.upload;
            let alive = matches!(job.phase, Phase::Running | Phase::Ended);
            of_file || alive && job.hash.as_deref() == Some(&batch.sha256)
        };
        let found = self
            .vendor
            .find(|job| is_ours(job) && !self.state.knows(&job.id), |_| false);
        found.await
    }

    async fn find_list(&self, at: usize) -> Result<Option<BatchJob>, BatchError> {
        let batch = self.batch(at);
        let is_ours = |job: &BatchJob| job.requests == batch.requests && !self.state.knows(&job.id);
        let is_older = |job: &BatchJob| batch.newest_before.as_deref() == Some(&job.id);
        self.vendor.find(is_ours, is_older).await
    }

    /// Waits after a submission that was not confirmed. Returns true if the vendor may have received it.
    async fn after(&mut self, at: usize, unsent: SendError, attempt: &mut u32) -> Result<bool, BatchError> {
        let unsure = match &unsent {
            SendError::Verdict(RetryVerdict::Retry(..), unsure) => *unsure,
            SendError::Verdict(..) | SendError::Full(_) => false,
            SendError::Ended(_) => true,
        };
        if !unsure {
            // Refused, so not received; saved for the next run.
            self.change(at, |batch| batch.submitting = false)?;
        }
        let url = self.vendor.url();
        self.vendor.wire.pause(&url, unsent, attempt).await?;
        Ok(unsure)
    }

    fn submitted(&mut self, at: usize, job: BatchJob) -> Result<(), BatchError> {
        self.change(at, |batch| batch.id = Some(job.id))?;
        let batch = self.batch(at).clone();
        (self.tell)(BatchEvent::Submitted(&batch));
        Ok(())
    }

    fn adopt(&mut self, at: usize, job: BatchJob) -> Result<(), BatchError> {
        self.change(at, |batch| {
            batch.id = Some(job.id);
            batch.submitting = true;
        })?;
        let batch = self.batch(at).clone();
        (self.tell)(BatchEvent::FoundAgain(&batch));
        Ok(())
    }

    /// Saves that the batch was not received.
    fn refused(&mut self, at: usize, full: QueueFull) -> Result<QueueFull, BatchError> {
        self.change(at, |batch| batch.submitting = false)?;
        Ok(full)
    }
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
