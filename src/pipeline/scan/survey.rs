//! A survey: every record of the inputs is measured, in input order, and none is written.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::Scan;
use crate::fit::Measurer;
use crate::metrics::{Census, Measure, Unreadable};
use crate::pipeline::pool::worker::panic_message;
use crate::pipeline::read::batch::{Item, ReadBatch};
use crate::pipeline::{Counters, RunError, Source, TooLong};

/// The settings of a survey.
#[derive(Debug, Clone)]
pub struct Survey {
    /// The records to read.
    pub scan: Scan,
    /// True if each record gets a line of JSON.
    pub lines: bool,
    /// True if a record that cannot be read ends it.
    pub stop_at_unreadable: bool,
}

/// The result of a survey, besides its census.
#[derive(Debug, Clone)]
pub struct SurveyReport {
    /// Time it took.
    pub elapsed: Duration,
    /// Decompressed bytes read.
    pub bytes_read: u64,
    /// The tokenizer's note on its counts, if any.
    pub tokenizer_note: Option<String>,
}

const UNREADABLE_RECORD: &str = "mend the input, or go on after such records with --on-invalid reject";

/// The results of a batch.
#[derive(Default)]
struct BatchMeasures {
    records: Vec<Result<Measure, Unreadable>>,
    lines: Vec<u8>,
}

impl Survey {
    /// Measures every record and adds it to the census. The lines of a batch, if lines are wanted, go to `deliver`.
    /// `stop` ends it early, at the next batch.
    pub fn run(
        &self,
        measurer: Measurer,
        census: &mut Census,
        counters: &Arc<Counters>,
        stop: &Arc<AtomicBool>,
        mut deliver: impl FnMut(&[u8]) -> Result<(), RunError>,
    ) -> Result<SurveyReport, RunError> {
        let started = Instant::now();
        let counter = Arc::clone(&measurer.counter);
        let process = {
            let survey = self.clone();
            move |batch: &ReadBatch, source: &str| survey.measure_all(&measurer, batch, source)
        };
        self.walk(counters, stop, process, |source, surveyed: BatchMeasures| {
            let stopped = self.add_all(census, counters, source, &surveyed.records);
            // Lines of the records before the one that ends it are delivered all the same.
            deliver(&surveyed.lines).and(stopped)
        })?;
        Ok(SurveyReport {
            elapsed: started.elapsed(),
            bytes_read: Counters::get(&counters.bytes_done),
            tokenizer_note: counter.note(),
        })
    }

    /// Processes every batch on the worker pool, and passes the result to `take` with the name of its source, in input
    /// order.
    pub(super) fn walk<T: Send + 'static>(
        &self,
        counters: &Arc<Counters>,
        stop: &Arc<AtomicBool>,
        process: impl Fn(&ReadBatch, &str) -> T + Send + Sync + 'static,
        mut take: impl FnMut(&str, T) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let names: Arc<[String]> = self.scan.sources.iter().map(Source::name).collect();
        let process = {
            let shared = Arc::new((process, Arc::clone(&names)));
            move |batch: ReadBatch| {
                let shared = Arc::clone(&shared);
                async move {
                    let (process, names) = &*shared;
                    let processed = process(&batch, name(names, &batch));
                    (batch, processed)
                }
            }
        };
        let take = |batch: &ReadBatch, processed: T| {
            take(name(&names, batch), processed)?;
            Counters::add(&counters.bytes_done, batch.bytes.len() as u64);
            Ok(())
        };
        self.scan.run(counters, stop, process, take)
    }

    fn measure_all(&self, measurer: &Measurer, batch: &ReadBatch, source: &str) -> BatchMeasures {
        let mut surveyed = BatchMeasures::default();
        for item in &batch.items {
            let Some(record) = &item.record else { continue };
            let measured = measure(measurer, item, batch.slice(record));
            if self.lines {
                match &measured {
                    Ok(measure) => measure.append_to(source, &mut surveyed.lines),
                    Err(unreadable) => unreadable.append_to(source, &mut surveyed.lines),
                }
            }
            let last = self.stop_at_unreadable && measured.is_err();
            surveyed.records.push(measured);
            if last {
                break;
            }
        }
        surveyed
    }

    fn add_all(
        &self,
        census: &mut Census,
        counters: &Counters,
        source: &str,
        records: &[Result<Measure, Unreadable>],
    ) -> Result<(), RunError> {
        Counters::add(&counters.records, records.len() as u64);
        for record in records {
            match record {
                Ok(measure) => census.add(source, measure),
                Err(unreadable) => {
                    Counters::add(&counters.rejected, 1);
                    census.add_unreadable(source, unreadable);
                    if self.stop_at_unreadable {
                        return Err(unreadable_ends(source, unreadable));
                    }
                }
            }
        }
        Ok(())
    }
}

/// The line of a batch's one record, and the result of `read` for it.
pub fn read_record<T>(
    batch: &ReadBatch,
    read_bytes: impl FnOnce(&[u8]) -> Result<T, (&'static str, String)>,
) -> (u64, Result<T, Unreadable>) {
    let bytes = batch.bytes.as_slice();
    match batch.items.first() {
        Some(item) => (item.line, read(item, || read_bytes(bytes))),
        None => (0, read(&Item::default(), || read_bytes(bytes))),
    }
}

/// The error by which a record that cannot be read ends a run.
pub(super) fn unreadable_ends(source: &str, unreadable: &Unreadable) -> RunError {
    let Unreadable { line, code, error } = unreadable;
    RunError::CannotGoOn {
        message: format!("stopped at a record: {code}: {error} ({source}:{line})"),
        help: UNREADABLE_RECORD.to_owned(),
    }
}

fn name<'n>(names: &'n [String], batch: &ReadBatch) -> &'n str {
    names.get(batch.source).map_or("", String::as_str)
}

fn measure(measurer: &Measurer, item: &Item, bytes: &[u8]) -> Result<Measure, Unreadable> {
    let measured = read(item, || {
        measurer
            .measure(bytes)
            .map_err(|error| (error.code(), error.to_string()))
    });
    measured.map(|measure| Measure {
        line: item.line,
        ..measure
    })
}

/// The result of `read` for a record, or the reason why it cannot be read: a reason code and a sentence.
pub(super) fn read<T>(
    item: &Item,
    read: impl FnOnce() -> Result<T, (&'static str, String)>,
) -> Result<T, Unreadable> {
    let unreadable = |code, error| Unreadable {
        line: item.line,
        code,
        error,
    };
    if let Some(too_long) = item.too_long {
        return Err(unreadable(TooLong::CODE, too_long.to_string()));
    }
    // A panic in one record is that record's failure, never the run's.
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(Ok(read)) => Ok(read),
        Ok(Err((code, error))) => Err(unreadable(code, error)),
        Err(panic) => Err(unreadable("internal_error", panic_message(&*panic).to_owned())),
    }
}
