//! Requests to a vendor of batches: upload a file, make a batch of it, get its status and its answers.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use reqwest::{Method, Url};
use serde_json::Value;

use super::BatchError;
use super::wire::{BatchWire, SendError, Sent};
use crate::summarize::batch::job::{self, BatchJob};
use crate::summarize::batch::queue::QueueFull;
use crate::summarize::chat::ChatSettings;
use crate::summarize::chat::answer::retry::RetryVerdict;
use crate::summarize::chat::api::Api;
use crate::summarize::failure::Failure;

/// Maximum number of pages searched in a list of batches, of 100 each.
const PAGES: usize = 20;

/// A vendor of batches.
pub struct Vendor<'s> {
    /// The HTTP connection to it.
    pub wire: BatchWire<'s>,
    api: Api,
    /// Its base address, version included.
    root: String,
}

impl<'s> Vendor<'s> {
    /// The vendor of these settings.
    ///
    /// # Errors
    ///
    /// The settings are not valid.
    pub fn new(settings: &'s ChatSettings, stop: &'s AtomicBool) -> Result<Self, String> {
        Ok(Self {
            wire: BatchWire::new(settings, stop)?,
            api: settings.api,
            root: settings.api.root(&settings.base_url),
        })
    }

    /// Returns true if files are uploaded before they are submitted.
    pub fn takes_uploads(&self) -> bool {
        self.api == Api::OpenAi
    }

    /// Uploads a file of requests. Returns its id.
    pub async fn upload(&self, path: &Path) -> Result<String, BatchError> {
        let url = format!("{}/files", self.root);
        let mut attempt = 0;
        loop {
            // Uploading it twice costs nothing.
            match self.wire.once(Method::POST, &url, Sent::Form(path)).await {
                Ok(file) => {
                    let id = file.get("id").and_then(Value::as_str);
                    return id
                        .map(str::to_owned)
                        .ok_or_else(|| no_sense(&url, "an uploaded file"));
                }
                Err(unsent) => self.wire.pause(&url, unsent, &mut attempt).await?,
            }
        }
    }

    /// Makes a batch of an uploaded file, in one attempt.
    pub async fn submit_upload(&self, file: &str, hash: &str) -> Result<BatchJob, SendError> {
        let body = job::submission(file, hash);
        self.submit(Sent::Json(&body)).await
    }

    /// Makes a batch of the requests in a file, in one attempt.
    pub async fn submit_list(&self, path: &Path) -> Result<BatchJob, SendError> {
        self.submit(Sent::List(path)).await
    }

    async fn submit(&self, sent: Sent<'_>) -> Result<BatchJob, SendError> {
        let url = self.url();
        let answer = self
            .wire
            .once(Method::POST, &url, sent)
            .await
            .map_err(queue_is_full)?;
        let job = job::read(self.api, &answer).map(|job| self.without_key(job));
        job.ok_or_else(|| SendError::Ended(no_sense(&url, "a batch")))
    }

    /// A batch whose error message does not repeat the key.
    fn without_key(&self, job: BatchJob) -> BatchJob {
        BatchJob {
            problem: job.problem.map(|problem| self.wire.error_text(&problem)),
            ..job
        }
    }

    /// The URL of batches.
    pub fn url(&self) -> String {
        match self.api {
            Api::OpenAi => format!("{}/batches", self.root),
            Api::Anthropic => format!("{}/messages/batches", self.root),
        }
    }

    /// The status of a batch.
    pub async fn status(&self, id: &str) -> Result<BatchJob, BatchError> {
        let url = format!("{}/{id}", self.url());
        let answer = self.wire.get(&url).await?;
        let job = job::read(self.api, &answer).map(|job| self.without_key(job));
        job.ok_or_else(|| no_sense(&url, "a batch"))
    }

    /// The latest batch for which `is_it` returns true. The search ends at a batch for which `is_older` returns true,
    /// since all further ones are older than the one searched for.
    pub async fn find(
        &self,
        is_it: impl Fn(&BatchJob) -> bool,
        is_older: impl Fn(&BatchJob) -> bool,
    ) -> Result<Option<BatchJob>, BatchError> {
        let mut after: Option<String> = None;
        for _ in 0..PAGES {
            let page = match (&after, self.api) {
                (None, _) => "limit=100".to_owned(),
                (Some(last), Api::OpenAi) => format!("limit=100&after={last}"),
                (Some(last), Api::Anthropic) => format!("limit=100&after_id={last}"),
            };
            let answer = self.wire.get(&format!("{}?{page}", self.url())).await?;
            let (jobs, next) = job::read_list(self.api, &answer);
            for job in jobs {
                if is_older(&job) {
                    return Ok(None);
                }
                if is_it(&job) {
                    return Ok(Some(self.without_key(job)));
                }
            }
            match next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        Ok(None)
    }

    /// The URL of an output of a batch. A key is only sent to the vendor's own address.
    pub fn output(&self, job: &BatchJob, output: &str) -> String {
        match self.api {
            Api::OpenAi => format!("{}/files/{output}/content", self.root),
            Api::Anthropic if same_origin(output, &self.root) => output.to_owned(),
            Api::Anthropic => format!("{}/{}/results", self.url(), job.id),
        }
    }
}

/// Turns a refusal for too many batches at once into a full queue: retries do not help, only the end of others.
fn queue_is_full(unsent: SendError) -> SendError {
    if let SendError::Verdict(RetryVerdict::Refused(failure, wish), _) = &unsent
        && failure.name == "summary_http_429"
        && let Some(full) = QueueFull::busy(&failure.detail, *wish)
    {
        return SendError::Full(full);
    }
    unsent
}

fn same_origin(one: &str, other: &str) -> bool {
    let origin = |url| Url::parse(url).ok().map(|url| url.origin());
    matches!((origin(one), origin(other)), (Some(one), Some(other)) if one == other && one.is_tuple())
}

fn no_sense(url: &str, what: &str) -> BatchError {
    let failure = Failure::new(
        "summary_wrong_shape",
        &format!("the answer does not tell of {what}"),
    );
    BatchError::failed(url, &failure)
}
