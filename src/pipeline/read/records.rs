//! The records of some sources one after the other, for code without workers.

use std::collections::VecDeque;
use std::io::BufRead;
use std::sync::Arc;

use super::batch::{Position, TooLong};
use super::reader::BatchReader;
use super::sample::Sample;
use super::source::Source;
use crate::pipeline::{Counters, RunError};

/// One record as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawRecord {
    /// Name of its source.
    pub source: String,
    /// Line in it, from 1; in an array, number of the element.
    pub line: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its place and length if it is too long: it has no bytes then.
    pub too_long: Option<TooLong>,
}

/// Reads the records of sources in order; memory does not grow with their number.
pub struct Records {
    sources: Vec<Source>,
    counters: Arc<Counters>,
    next_source: usize,
    reader: Option<(BatchReader<Box<dyn BufRead + Send>>, String)>,
    ready: VecDeque<RawRecord>,
    max_record_bytes: u64,
}

impl Records {
    /// The records of `sources`, from the first on. Those of more than `max_record_bytes` are without their bytes.
    pub fn of(sources: &[Source], max_record_bytes: u64) -> Self {
        Self {
            sources: sources.to_vec(),
            counters: Arc::new(Counters::default()),
            next_source: 0,
            reader: None,
            ready: VecDeque::new(),
            max_record_bytes,
        }
    }

    /// The next record; `None` at the end of the last source.
    pub fn next_record(&mut self) -> Result<Option<RawRecord>, RunError> {
        loop {
            if let Some(record) = self.ready.pop_front() {
                return Ok(Some(record));
            }
            let Some((reader, name)) = &mut self.reader else {
                let Some(source) = self.sources.get(self.next_source) else {
                    return Ok(None);
                };
                let opened = source
                    .open(&self.counters)
                    .map_err(|error| RunError::input(&source.path, &error))?;
                let reader =
                    BatchReader::open(opened, self.next_source, Position::default(), Sample::ALL, None);
                let reader = reader.map_err(|error| RunError::input(&source.path, &error))?;
                if let Some(foreign) = reader.as_ref().and_then(BatchReader::foreign) {
                    return Err(foreign.error(&source.name()));
                }
                self.reader = reader.map(|mut reader| {
                    reader.limit_records(self.max_record_bytes);
                    (reader, source.name())
                });
                self.next_source += 1;
                continue;
            };
            let batch = reader.next_batch().map_err(|error| RunError::CannotGoOn {
                message: format!("cannot read {name}: {error}"),
                help: "check that it is whole and within reach, then run it again".to_owned(),
            })?;
            let Some(batch) = batch else {
                self.reader = None;
                continue;
            };
            let records = batch
                .items
                .iter()
                .filter_map(|item| Some((item, item.record.as_ref()?)));
            self.ready.extend(records.map(|(item, range)| RawRecord {
                source: name.clone(),
                line: item.line,
                bytes: batch.slice(range).to_vec(),
                too_long: item.too_long,
            }));
        }
    }
}
