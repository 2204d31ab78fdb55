//! The reader's thread: reads every source, and hands batches on as far as the window allows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::RunError;
use super::batch::{Batch, Position};
use super::counters::Counters;
use super::journal::Milestone;
use super::reader::BatchReader;
use super::run::{Job, weight};
use super::start;
use super::window::Window;

/// What helps where an input cannot be read to its end.
const UNREADABLE: &str = "where it is whole but was out of reach, run the same command with --resume; where it is damaged, \
    mend it and start over with --force";

/// Everything that the reader needs. It owns it: nobody waits for a reader that waits for a pipe.
pub struct Feed {
    /// What is read.
    pub job: Job,
    /// Where reading begins.
    pub from: Milestone,
    /// What may be in flight.
    pub window: Arc<Window>,
    /// Where reading counts.
    pub counters: Arc<Counters>,
    /// Ends it at the next batch.
    pub stop: Arc<AtomicBool>,
}

impl Feed {
    /// Reads to the end, or until `spawn` takes no more.
    pub fn read_all(&self, mut spawn: impl FnMut(Batch) -> bool) -> Result<(), RunError> {
        let mut limit = self.job.limit.map(|limit| limit.saturating_sub(self.from.taken));
        let mut position = self.from.position;
        for (index, source) in self.job.sources.iter().enumerate().skip(self.from.source) {
            let fault = |error: std::io::Error| RunError::CannotGoOn {
                message: format!("cannot read {}: {error}", source.path.display()),
                help: UNREADABLE.to_owned(),
            };
            let opened = source.open(&self.counters).map_err(fault)?;
            let reader = BatchReader::open(opened, index, position, self.job.sample, limit).map_err(fault)?;
            let Some(mut reader) = reader else {
                return Err(start::input_changed(source));
            };
            if self.job.targets.merged() && reader.is_array() {
                return Err(start::merged_array(source));
            }
            if self.job.targets.continues(index) {
                reader.leave_out_mark();
            }
            while let Some(batch) = reader.next_batch().map_err(fault)? {
                if self.stop.load(Ordering::Relaxed) || !self.window.take(weight(&batch)) || !spawn(batch) {
                    return Ok(());
                }
            }
            limit = reader.limit_left();
            position = Position::default();
        }
        Ok(())
    }
}
