//! The reader's part: reads every source from where it is to begin, batch by batch.

use std::sync::Arc;

use super::RunError;
use super::batch::{Batch, Position};
use super::counters::Counters;
use super::reader::{BATCH_BYTES, BatchReader};
use super::sample::Sample;
use super::source::Source;
use super::start;
use super::targets::Targets;

/// Everything that the reader needs. It owns it: nobody waits for a reader that waits for a pipe.
pub struct Feed {
    /// Inputs, in order.
    pub sources: Vec<Source>,
    /// Where reading begins: a source, and a place in it.
    pub from: (usize, Position),
    /// Records to take, at most.
    pub limit: Option<u64>,
    /// Which records to take.
    pub sample: Sample,
    /// What the records go to, where they are written.
    pub targets: Option<Targets>,
    /// Where reading counts.
    pub counters: Arc<Counters>,
    /// What helps where an input cannot be read to its end.
    pub help: &'static str,
}

/// How much longer data may be than it is compressed, as a rule.
const COMPRESSION_RATIO: u64 = 8;

impl Feed {
    /// Reads to the end, or until `hand_on` takes no more.
    pub fn read_all(&self, mut hand_on: impl FnMut(Batch) -> bool) -> Result<(), RunError> {
        let mut limit = self.limit;
        let (first, mut position) = self.from;
        for (index, source) in self.sources.iter().enumerate().skip(first) {
            let fault = |error: std::io::Error| RunError::CannotGoOn {
                message: format!("cannot read {}: {error}", source.path.display()),
                help: self.help.to_owned(),
            };
            let opened = source.open(&self.counters).map_err(fault)?;
            let reader = BatchReader::open(opened, index, position, self.sample, limit).map_err(fault)?;
            let Some(mut reader) = reader else {
                return Err(start::input_changed(source));
            };
            if self.targets.as_ref().is_some_and(Targets::merged) && reader.is_array() {
                return Err(start::merged_array(source));
            }
            if self
                .targets
                .as_ref()
                .is_some_and(|targets| targets.continues(index))
            {
                reader.leave_out_mark();
            }
            while let Some(batch) = reader.next_batch().map_err(fault)? {
                if !hand_on(batch) {
                    return Ok(());
                }
            }
            limit = reader.limit_left();
            position = Position::default();
        }
        Ok(())
    }

    /// How many batches there will be, at most; `None` where the inputs are not all files.
    pub fn batches(&self) -> Option<u64> {
        let batches = self.sources.iter().map(|source| {
            let bytes = source.bytes()?.saturating_mul(COMPRESSION_RATIO);
            Some(bytes.div_ceil(BATCH_BYTES as u64))
        });
        batches.sum()
    }
}
