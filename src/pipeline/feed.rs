//! The reader's part: reads every source from where it is to begin, batch by batch.

use std::sync::Arc;

use super::RunError;
use super::batch::BATCH_BYTES;
use super::batch::{Batch, Position};
use super::counters::Counters;
use super::reader::BatchReader;
use super::sample::Sample;
use super::source::Source;
use super::start;

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
    /// Bytes that a record may have.
    pub max_record_bytes: u64,
    /// Whether the records of all sources go to one file.
    pub merged: bool,
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
        let skipped = self.sources.iter().take(first).filter_map(Source::bytes).sum();
        Counters::add(&self.counters.bytes_read, skipped);
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
            if index == first {
                let skipped = Counters::get(&self.counters.bytes_read);
                let is_resumed = first > 0 || position != Position::default();
                Counters::add(&self.counters.bytes_skipped, if is_resumed { skipped } else { 0 });
            }
            reader.limit_records(self.max_record_bytes);
            if let Some(foreign) = reader.foreign() {
                return Err(foreign.error(&source.name()));
            }
            if self.merged && reader.is_array() {
                return Err(start::merged_array(source));
            }
            if self.merged && index > 0 {
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
