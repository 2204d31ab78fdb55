//! The work of the CPU pool on a batch: fits every record, and lays out the bytes that the writer will write.

use std::any::Any;
use std::ops::Range;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::time::Instant;

use futures_util::FutureExt;
use futures_util::future::join_all;
use serde::de::IgnoredAny;

use super::record_metrics::with_metrics;
use crate::compress::Reason;
use crate::fit::{Fitted, Fitter, PendingRequest, PerTrajectory, Stop, UnrollSettings, Unrolled};
use crate::metrics::{Columns, Reject, Row, Status, csv_rows, merged};
use crate::names::named;
use crate::pipeline::read::batch::{Item, ReadBatch};
use crate::pipeline::{Counters, RunError, TooLong};

named! {
    /// The treatment of a line that cannot be read as a trajectory.
    OnInvalid {
        /// It goes to the rejects file with the reason.
        Reject = "reject",
        /// It is written through unchanged.
        Pass = "pass",
        /// The run ends.
        Fail = "fail",
    }
}

const INVALID: &str =
    "mend the input, or set such records aside with --on-invalid reject; then start over with --force";

/// The results of a batch.
#[derive(Debug, Default)]
pub struct Chunk {
    /// Bytes of the batch.
    pub bytes_read: u64,
    /// Bytes of the output; `None` if they are those of the batch. Each element of an array follows a `,`.
    pub data: Option<Vec<u8>>,
    /// Rows of the metrics, as CSV.
    pub metrics: Vec<u8>,
    /// Rows of the rejects file.
    pub rejects: Vec<u8>,
    /// The rows, for the totals.
    pub rows: Vec<Row>,
    /// Records of the input, each with a row or more.
    pub records: u64,
    /// Tokens that a summarizer read, or would read.
    pub summary_input_tokens: u64,
    /// The requests that have to be answered before records of it can be finished, in their order.
    pub pending: Vec<PendingRequest>,
    /// The error that ends the run at this batch.
    pub stop: Option<RunError>,
}

impl Chunk {
    /// The texts that the writer will write. Frees the bytes of the batch if others replace them.
    pub fn texts<'c>(batch: &'c mut ReadBatch, chunk: &'c mut Self) -> Vec<&'c mut Vec<u8>> {
        let data = match &mut chunk.data {
            Some(data) => {
                batch.bytes = Vec::new();
                data
            }
            None => &mut batch.bytes,
        };
        vec![data, &mut chunk.metrics, &mut chunk.rejects]
    }
}

/// The settings and resources of a worker.
pub struct Worker {
    /// Fits records.
    pub fitter: Fitter,
    /// The treatment of unreadable records.
    pub on_invalid: OnInvalid,
    /// Names of the sources, by index.
    pub source_names: Vec<String>,
    /// True if cells of the metrics are made safe for spreadsheets.
    pub csv_safe: bool,
    /// True if rows become CSV; else they stay as they are.
    pub makes_csv: bool,
    /// The settings of unrolling; `None` if trajectories are not unrolled.
    pub unroll: Option<UnrollSettings>,
    /// True if an unrolled trajectory has one row instead of a row for each record.
    pub merges_rows: bool,
}

impl Worker {
    /// Fits the records of a batch. Those that wait for a network summarizer wait together.
    pub async fn process(&self, batch: &ReadBatch, counters: &Counters) -> Chunk {
        let source = self.source_names.get(batch.source).map_or("", String::as_str);
        let records = batch
            .items
            .iter()
            .filter_map(|item| Some((item, item.record.clone()?)));
        let begun: usize = records.clone().map(|(item, _)| item.outer.len()).sum();
        Counters::add(&counters.bytes_begun, begun as u64);
        let fitted = records.map(|(item, record)| async move {
            let fitted = self.fit(source, item, batch.slice(&record)).await;
            Counters::add(&counters.bytes_settled, item.outer.len() as u64);
            let is_answered = |row: &Row| row.summarization_api_calls > 0 || row.cached_summary;
            let is_answered = fitted.rows.iter().any(is_answered);
            Counters::add(&counters.answered, u64::from(is_answered));
            fitted
        });
        let fitted = join_all(fitted).await;
        let mut fitted = fitted.into_iter();
        let mut chunk = Chunk {
            bytes_read: batch.bytes.len() as u64,
            ..Chunk::default()
        };
        let mut data = BatchOutput::of(batch);
        for item in &batch.items {
            match (
                &item.record,
                item.record.is_some().then(|| fitted.next()).flatten(),
            ) {
                (Some(record), Some(fitted)) => self.lay_out(item, record, fitted, &mut chunk, &mut data),
                _ => data.keep(&item.outer),
            }
        }
        chunk.data = data.finish();
        if self.makes_csv {
            chunk.metrics = csv_rows(&chunk.rows, self.columns(), self.csv_safe);
        }
        chunk
    }

    async fn fit(&self, source: &str, item: &Item, bytes: &[u8]) -> RecordOutcome {
        let started = Instant::now();
        let mut outcome = match item.too_long {
            Some(too_long) => {
                let reason = Reason::with(TooLong::CODE, too_long.to_string());
                self.outcome_of(self.fitter.reject(&reason))
            }
            // A panic in one record is that record's failure, never the run's.
            None => match AssertUnwindSafe(self.process_record(source, item, bytes))
                .catch_unwind()
                .await
            {
                Ok(outcome) => outcome,
                Err(panic) => {
                    let reason = Reason::with("internal_error", panic_message(&*panic));
                    self.outcome_of(Fitted::failed(&reason, self.fitter.settings.target_max_tokens))
                }
            },
        };
        for row in &mut outcome.rows {
            source.clone_into(&mut row.source);
            row.line = item.line;
            row.duration_ms = started.elapsed().as_secs_f64() * 1e3;
        }
        outcome
    }

    async fn process_record(&self, source: &str, item: &Item, bytes: &[u8]) -> RecordOutcome {
        match &self.unroll {
            None => self.fitter.fit(bytes).await.into(),
            Some(settings) => {
                let file = Path::new(source).file_name().unwrap_or_default();
                let name = format!("{}:{}", file.to_string_lossy(), item.line);
                let mut unrolled = self.fitter.unroll(bytes, settings, &name).await;
                if self.merges_rows {
                    let row = merged(&unrolled.rows, &unrolled.trajectory);
                    unrolled.rows = row.into_iter().collect();
                }
                unrolled.into()
            }
        }
    }

    /// The outcome of a record that was not unrolled, as the rows of this run show it.
    fn outcome_of(&self, fitted: Fitted) -> RecordOutcome {
        match self.unroll {
            None => fitted.into(),
            Some(_) => Unrolled::from(fitted).into(),
        }
    }

    /// The columns of the rows.
    fn columns(&self) -> Columns {
        match self.unroll {
            None => Columns::Records,
            Some(_) => Columns::Segments,
        }
    }

    fn lay_out(
        &self,
        item: &Item,
        record: &Range<usize>,
        outcome: RecordOutcome,
        chunk: &mut Chunk,
        data: &mut BatchOutput<'_>,
    ) {
        let batch = data.batch;
        let RecordOutcome {
            mut rows,
            texts,
            summary_input_tokens,
            stop,
            pending,
        } = outcome;
        let Some(row) = rows.first_mut() else { return };
        chunk.records += 1;
        chunk.pending.extend(pending.map(|request| *request));
        chunk.summary_input_tokens += summary_input_tokens as u64;
        let unreadable = row.status == Status::Rejected && !row.still_over_limit;
        let at_record = || {
            format!(
                "stopped at a record: {} ({}:{})",
                row.reason_text(),
                row.source,
                row.line
            )
        };
        let end = match stop {
            Some(Stop::Run { message, help }) => Some(RunError::CannotGoOn { message, help }),
            Some(Stop::AtRecord) => Some(RunError::cannot_go_on(at_record())),
            None if unreadable && self.on_invalid == OnInvalid::Fail => Some(RunError::CannotGoOn {
                message: at_record(),
                help: INVALID.to_owned(),
            }),
            None => None,
        };
        if let Some(end) = end {
            chunk.stop.get_or_insert(end);
        }
        // An array with an element that is not JSON would be invalid, and a record that was not held cannot be written.
        let harmless = || {
            item.too_long.is_none()
                && (!batch.in_array || serde_json::from_slice::<IgnoredAny>(batch.slice(record)).is_ok())
        };
        if unreadable && self.on_invalid == OnInvalid::Pass && harmless() {
            row.status = Status::Kept;
        }
        if row.status == Status::Rejected {
            let reject = match item.too_long {
                Some(TooLong { offset, bytes, .. }) => Reject::not_held(row, offset, bytes),
                None => Reject::new(row, batch.slice(record)),
            };
            reject.append_to(&mut chunk.rejects);
            chunk.rows.append(&mut rows);
            return;
        }
        if batch.in_array {
            data.push(b",");
        }
        let text = texts.map(|texts| texts.join(separator(batch, item, record)));
        let wants_metrics = match self.fitter.settings.per_trajectory {
            _ if self.unroll.is_some() => false,
            PerTrajectory::None => false,
            PerTrajectory::Compressed => row.was_compressed,
            // A record that is passed on unread may not be JSON.
            PerTrajectory::All => {
                !unreadable || serde_json::from_slice::<IgnoredAny>(batch.slice(record)).is_ok()
            }
        };
        let written = text.as_ref().map_or(batch.slice(record), |text| text.as_bytes());
        let with_metrics = wants_metrics.then(|| with_metrics(written, row)).flatten();
        match with_metrics.or_else(|| text.map(String::into_bytes)) {
            None => data.keep(&item.outer),
            Some(bytes) => {
                data.keep(&(item.outer.start..record.start));
                data.push(&bytes);
                data.keep(&(record.end..item.outer.end));
            }
        }
        chunk.rows.append(&mut rows);
    }
}

/// The separator of the records made of one: the end of its line, or a comma in an array.
fn separator<'b>(batch: &'b ReadBatch, item: &Item, record: &Range<usize>) -> &'b str {
    let end = batch.slice(&(record.end..item.outer.end));
    match std::str::from_utf8(end) {
        _ if batch.in_array => ",",
        Ok(end) if end.ends_with('\n') => end,
        _ => "\n",
    }
}

/// The result of a record, fitted or unrolled.
struct RecordOutcome {
    /// A row for each record in the output, at least one.
    rows: Vec<Row>,
    /// The texts of these; `None` if the record stays byte for byte.
    texts: Option<Vec<String>>,
    summary_input_tokens: usize,
    stop: Option<Stop>,
    pending: Option<Box<PendingRequest>>,
}

impl From<Fitted> for RecordOutcome {
    fn from(fitted: Fitted) -> Self {
        Self {
            rows: vec![fitted.row],
            texts: fitted.text.map(|text| vec![text]),
            summary_input_tokens: fitted.summary_input_tokens,
            stop: fitted.stop,
            pending: fitted.pending,
        }
    }
}

impl From<Unrolled> for RecordOutcome {
    fn from(unrolled: Unrolled) -> Self {
        Self {
            rows: unrolled.rows,
            texts: unrolled.texts,
            summary_input_tokens: unrolled.summary_input_tokens,
            stop: unrolled.stop,
            pending: None,
        }
    }
}

/// The output of a batch: its own bytes as long as nothing is changed in them or left out.
struct BatchOutput<'b> {
    batch: &'b ReadBatch,
    /// Number of bytes from the batch's start that are kept, up to the first change.
    kept: usize,
    /// The whole output, once there is a change.
    changed: Option<Vec<u8>>,
}

impl<'b> BatchOutput<'b> {
    fn of(batch: &'b ReadBatch) -> Self {
        Self {
            batch,
            kept: 0,
            changed: None,
        }
    }

    fn changed(&mut self) -> &mut Vec<u8> {
        self.changed.get_or_insert_with(|| {
            let mut bytes = Vec::with_capacity(self.batch.bytes.len());
            bytes.extend_from_slice(self.batch.slice(&(0..self.kept)));
            bytes
        })
    }

    fn keep(&mut self, part: &Range<usize>) {
        if self.changed.is_none() && part.start == self.kept {
            self.kept = part.end;
        } else {
            let bytes = self.batch.slice(part);
            self.changed().extend_from_slice(bytes);
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.changed().extend_from_slice(bytes);
    }

    fn finish(mut self) -> Option<Vec<u8>> {
        if self.kept < self.batch.bytes.len() || self.batch.in_array {
            self.changed();
        }
        self.changed
    }
}

/// The message of a panic.
pub fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let message = panic.downcast_ref::<String>().map(String::as_str);
    message
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("unknown")
}
