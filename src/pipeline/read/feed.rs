//! The work of the reader thread: reads every source from its starting position, batch by batch.

use std::sync::Arc;

use super::batch::BATCH_BYTES;
use super::batch::{Position, ReadBatch};
use super::reader::BatchReader;
use super::sample::Sample;
use super::source::Source;
use crate::pipeline::run::start;
use crate::pipeline::{Counters, RunError};
use crate::stores;

/// The data of the reader thread, which owns them: a run need not wait for a reader that waits for a pipe.
pub struct Feed {
    /// Inputs, in order.
    pub sources: Vec<Source>,
    /// The source, by index, and the position to begin at.
    pub from: (usize, Position),
    /// Maximum number of records to take.
    pub limit: Option<u64>,
    /// The share of the records to take.
    pub sample: Sample,
    /// Maximum bytes of a record.
    pub max_record_bytes: u64,
    /// True if the records of all sources go to one file.
    pub merged: bool,
    /// The counters of bytes read.
    pub counters: Arc<Counters>,
    /// Advice for an input that cannot be read to its end.
    pub help: &'static str,
}

/// The ratio of decompressed to compressed bytes that is rarely exceeded.
const COMPRESSION_RATIO: u64 = 8;

impl Feed {
    /// Reads to the end, or until `hand_on` returns false.
    pub fn read_all(&self, mut hand_on: impl FnMut(ReadBatch) -> bool) -> Result<(), RunError> {
        let mut limit = self.limit;
        let (first, mut position) = self.from;
        let skipped = self
            .sources
            .iter()
            .take(first)
            .filter_map(Source::bytes_to_read)
            .sum();
        Counters::add(&self.counters.bytes_read, skipped);
        for (index, source) in self.sources.iter().enumerate().skip(first) {
            let fault = |error: std::io::Error| RunError::CannotGoOn {
                message: format!("cannot read {}: {error}", source.path.display()),
                help: stores::help_of(&error).unwrap_or(self.help).to_owned(),
            };
            let Some(part) = source.part.clone() else {
                if !hand_on(ReadBatch::nothing_of(index)) {
                    return Ok(());
                }
                position = Position::default();
                continue;
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
            reader.take_part(part);
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

    /// An upper estimate of the number of batches; `None` if an input is not a file.
    pub fn batches(&self) -> Option<u64> {
        let batches = self.sources.iter().map(|source| {
            let bytes = source.bytes_to_read()?.saturating_mul(COMPRESSION_RATIO);
            Some(bytes.div_ceil(BATCH_BYTES as u64))
        });
        batches.sum()
    }
}
