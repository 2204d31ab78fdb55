//! The display of a run through a Batch API: a line for each step, and the progress of the batches.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::time::Duration;

use indicatif::ProgressBar;

use crate::batch::BatchEvent;
use crate::cli::terminal::progress::ProgressStyle;
use crate::report::figures::{self, thousands};
use crate::summarize::batch::job::BatchJob;

/// The display of one run.
pub struct Watch {
    quiet: bool,
    style: ProgressStyle,
    /// The spinner while the run waits.
    bar: Option<ProgressBar>,
    /// The last line about each batch, by its id.
    told: BTreeMap<String, String>,
}

impl Watch {
    /// A display, which is silent if `quiet`.
    pub fn new(quiet: bool, verbose: bool) -> Self {
        Self {
            quiet,
            style: ProgressStyle::detect(quiet, verbose),
            bar: None,
            told: BTreeMap::new(),
        }
    }

    /// Shows an event.
    pub fn tell(&mut self, event: &BatchEvent<'_>) {
        match event {
            BatchEvent::Uploading(batch) if self.style == ProgressStyle::Lines => self.line(&format!(
                "uploading {} ({} requests)",
                batch.file,
                thousands(batch.requests)
            )),
            BatchEvent::Uploading(_) => {}
            BatchEvent::Submitted(batch) => self.line(&format!(
                "submitted {} ({} requests) as {}",
                batch.file,
                thousands(batch.requests),
                batch.id.as_deref().unwrap_or_default()
            )),
            BatchEvent::FoundAgain(batch) => self.line(&format!(
                "{} ({} requests) had been submitted as {}",
                batch.file,
                thousands(batch.requests),
                batch.id.as_deref().unwrap_or_default()
            )),
            BatchEvent::Full(batch, full) => self.line(&format!(
                "{} waits, since the queue is full: {}",
                batch.file, full.said
            )),
            BatchEvent::Split(batch, parts) => self.line(&format!(
                "{} is sent in {parts} parts, so that they fit into the queue",
                batch.file
            )),
            BatchEvent::TooLarge(batch) => self.line(&format!(
                "{}: its request is longer than the queue takes, and is made in pieces",
                batch.file
            )),
            BatchEvent::Progress(job) => self.progress(job),
            BatchEvent::Waiting(interval) => self.waiting(*interval),
            BatchEvent::Unseen(error) => self.line(&format!("warning: {error}")),
            BatchEvent::Done(job) => {
                self.told.remove(&job.id);
                self.line(&far(job));
            }
        }
    }

    /// Prints a line of its own.
    pub fn line(&self, text: &str) {
        if self.quiet {
            return;
        }
        // If stderr is closed, the text is lost.
        let write = || {
            let _ = writeln!(io::stderr(), "{text}");
        };
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// Removes the spinner, until the run waits again.
    pub fn rest(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn progress(&mut self, job: &BatchJob) {
        let text = far(job);
        let before = self.told.insert(job.id.clone(), text.clone());
        if self.style == ProgressStyle::Lines && before.as_ref() != Some(&text) {
            self.line(&text);
        }
    }

    fn waiting(&mut self, interval: Duration) {
        if self.style == ProgressStyle::Bar {
            let bar = self.bar.get_or_insert_with(ProgressBar::new_spinner);
            let told: Vec<&str> = self.told.values().map(String::as_str).collect();
            let next = figures::duration(interval);
            bar.set_message(format!("{}; looking every {next}", told.join("; ")));
            bar.enable_steady_tick(Duration::from_millis(100));
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.rest();
    }
}

/// The progress of a batch, in a few words.
fn far(job: &BatchJob) -> String {
    let mut text = format!(
        "{}: {}, {} of {} answered",
        job.id,
        job.word,
        thousands(job.done),
        thousands(job.requests)
    );
    if job.failed > 0 {
        // Writing to a String cannot fail.
        let _ = write!(text, ", {} failed", thousands(job.failed));
    }
    text
}
