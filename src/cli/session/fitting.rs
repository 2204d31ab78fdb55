//! Records on their way through a session, and what became of each.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::core::{EndOfSummaries, Session};
use super::error::SessionError;
use crate::metrics::{Columns, Row, Status, Totals, row_json};
use crate::pipeline::{
    Chunk, Counters, Next, Process, ReadBatch, RecordStream, RowsReport, Worker, rows_report,
};
use crate::settings::SettingValues;

/// The time between two looks at whether the next result is there, for the plain iterator.
const LOOK: Duration = Duration::from_mins(1);

/// The result of one record.
#[derive(Debug)]
#[non_exhaustive]
pub struct FittedRecord {
    input: Vec<u8>,
    /// `None` if the record is unchanged.
    output: Option<Vec<u8>>,
    rows: Vec<Row>,
    columns: Columns,
    summary_input_tokens: u64,
}

impl FittedRecord {
    /// The records as the program writes them, without line ends: one, or those that a trajectory was unrolled into; none if
    /// it was rejected.
    pub fn records(&self) -> Vec<&[u8]> {
        match &self.output {
            _ if self.rejected_row().is_some() => Vec::new(),
            None => vec![&self.input],
            Some(output) if self.columns == Columns::Segments => {
                output.split(|byte| *byte == b'\n').collect()
            }
            Some(output) => vec![output],
        }
    }

    /// True if the record is the same bytes as before.
    pub fn is_unchanged(&self) -> bool {
        self.output.is_none()
    }

    /// The reason why it was rejected: `code: detail`; `None` if it was not.
    pub fn rejected(&self) -> Option<String> {
        self.rejected_row().map(Row::reason_text)
    }

    /// The rows of the metrics: one, or one for each record that a trajectory was unrolled into.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The same rows as JSON objects, with the columns that the program writes.
    pub fn rows_as_json(&self) -> Vec<String> {
        let rows = self.rows.iter();
        rows.map(|row| row_json(row, self.columns)).collect()
    }

    /// The bytes of the record as it came.
    pub(super) fn input(&self) -> &[u8] {
        &self.input
    }

    /// Tokens that summarizers read for it.
    pub(super) fn summary_input_tokens(&self) -> u64 {
        self.summary_input_tokens
    }

    fn rejected_row(&self) -> Option<&Row> {
        self.rows.first().filter(|row| row.status == Status::Rejected)
    }

    fn of(mut batch: ReadBatch, chunk: Chunk, columns: Columns) -> Result<Self, SessionError> {
        if let Some(error) = chunk.stop {
            return Err(error.into());
        }
        Ok(Self {
            input: std::mem::take(&mut batch.bytes),
            output: chunk.data,
            rows: chunk.rows,
            columns,
            summary_input_tokens: chunk.summary_input_tokens,
        })
    }
}

/// The results of records, in their order: an iterator that reads a bounded number of records ahead, on all cores.
pub struct Fitting<I> {
    stream: RecordStream<I, Result<FittedRecord, SessionError>>,
    columns: Columns,
    totals: Totals,
    /// The facts of the report beside the totals.
    facts: RowsReport,
    started: Instant,
    /// Dropped last: records under way may still ask for summaries.
    _end: Arc<EndOfSummaries>,
}

impl<I: Iterator<Item = Vec<u8>>> Fitting<I> {
    pub(super) fn new(
        session: &Session,
        records: I,
        worker: Worker,
        columns: Columns,
        fingerprint: SettingValues,
    ) -> Result<Self, SessionError> {
        let facts = session.facts(fingerprint);
        let is_unrolled = columns == Columns::Segments;
        let worker = Arc::new(worker);
        let counters = Arc::new(Counters::default());
        let process: Process<Result<FittedRecord, SessionError>> = Arc::new(move |mut batch: ReadBatch| {
            let (worker, counters) = (Arc::clone(&worker), Arc::clone(&counters));
            Box::pin(async move {
                if is_unrolled {
                    join_lines(&mut batch.bytes);
                }
                let chunk = worker.process(&batch, &counters).await;
                FittedRecord::of(batch, chunk, columns)
            })
        });
        Ok(Self {
            stream: RecordStream::new(records, session.capacity()?, process),
            columns,
            totals: Totals::default(),
            facts,
            started: Instant::now(),
            _end: Arc::clone(&session.end),
        })
    }

    /// The next result; waits at most `timeout` for it, beside the time that the iterator of records takes.
    pub fn next_within(&mut self, timeout: Duration) -> Next<Result<FittedRecord, SessionError>> {
        let next = self.stream.next_within(timeout);
        if let Next::Ready(Ok(fitted)) = &next {
            for row in &fitted.rows {
                self.totals.add(row);
            }
            self.facts.summary_input_tokens += fitted.summary_input_tokens;
            self.facts.bytes_read += fitted.input.len() as u64;
        }
        next
    }

    /// The iterator of the records.
    pub fn records_mut(&mut self) -> &mut I {
        self.stream.records_mut()
    }

    /// The totals of the results taken so far as JSON, as the program writes them into the file `.summary.json`.
    pub fn report(&self) -> String {
        rows_report(&self.facts, &self.totals, self.columns, self.started.elapsed())
    }
}

impl<I: Iterator<Item = Vec<u8>>> Iterator for Fitting<I> {
    type Item = Result<FittedRecord, SessionError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.next_within(LOOK) {
                Next::Ready(result) => return Some(result),
                Next::End => return None,
                Next::Pending => {}
            }
        }
    }
}

/// Line breaks between the values of one record become spaces: they would end the records that it is unrolled into.
fn join_lines(bytes: &mut [u8]) {
    for byte in bytes.iter_mut().filter(|byte| **byte == b'\n') {
        *byte = b' ';
    }
}
