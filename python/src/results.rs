//! The results of many records, for Python: an iterator that works ahead on all cores while Python does something else.

use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use trajfit::session::{FittedRecord, FittedRows, Fitting, Next, RowLines};

use crate::arrow;
use crate::errors;
use crate::records::PyRecords;
use crate::result::FitResult;
use crate::table::FittedTable;

/// The time between two looks at whether Python wants to interrupt.
const LOOK: Duration = Duration::from_millis(50);

/// The time between two calls of a progress callback.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// A note on a result, and the reason why it was rejected.
type Gathered = (Option<String>, Option<String>);

/// Results in the order of the records.
#[pyclass(frozen, name = "Results", module = "trajfit")]
pub struct FitResults {
    work: Mutex<Work>,
}

struct Work {
    fitting: Fitting<PyRecords>,
    progress: Option<Progress>,
    /// The table that was given away: some libraries ask for it more than once.
    table: Option<FittedRows>,
}

struct Progress {
    callback: Py<PyAny>,
    started: Instant,
    told: Instant,
    records: u64,
    compressed: u64,
    over_limit: u64,
    rejected: u64,
}

impl FitResults {
    pub fn new(fitting: Fitting<PyRecords>, callback: Option<Py<PyAny>>) -> Self {
        let now = Instant::now();
        let progress = callback.map(|callback| Progress {
            callback,
            started: now,
            told: now,
            records: 0,
            compressed: 0,
            over_limit: 0,
            rejected: 0,
        });
        Self {
            work: Mutex::new(Work {
                fitting,
                progress,
                table: None,
            }),
        }
    }

    /// The work, for one caller at a time, as with generators: to wait for another would hold the interpreter.
    fn work(&self) -> PyResult<MutexGuard<'_, Work>> {
        match self.work.try_lock() {
            Ok(work) => Ok(work),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(PyRuntimeError::new_err(
                "another thread takes a result from these results",
            )),
        }
    }
}

#[pymethods]
impl FitResults {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<FitResult>> {
        let mut work = self.work()?;
        let fitted = work.next(py)?;
        if let Some(fitted) = &fitted {
            work.fitting.records_mut().forget_before(row_of(fitted));
        }
        Ok(fitted.map(FitResult::new))
    }

    /// The records of all results that are still to come, as a table: rows that were not changed as they are.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Another schema is a wish that need not be granted.
        drop(requested_schema);
        let mut work = self.work()?;
        let rows = match work.table.take() {
            Some(rows) => rows,
            None => work.rows(py, |_| {})?,
        };
        work.table = Some(rows.clone());
        arrow::capsule(py, Box::new(rows))
    }

    /// The notes on all results that are still to come, each with the reason why it was rejected, and their records as a table.
    fn _gathered(&self, py: Python<'_>) -> PyResult<(Vec<Gathered>, FittedTable)> {
        let mut notes = Vec::new();
        let rows = self
            .work()?
            .rows(py, |fitted| notes.push((fitted.note(), fitted.rejected())))?;
        Ok((notes, FittedTable::new(rows)))
    }

    /// The totals of the results taken so far as JSON.
    fn _report(&self) -> PyResult<String> {
        Ok(self.work()?.fitting.report())
    }

    /// The totals of the results taken so far, a dict as in the program's .summary.json.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.getattr("loads")?.call1((self._report()?,))
    }
}

/// The number of the row of a table that a result is of, from 0.
fn row_of(fitted: &FittedRecord) -> u64 {
    let row = fitted.rows().first();
    row.map_or(0, |row| row.line.saturating_sub(1))
}

impl Work {
    /// The records of all results that are still to come as rows; `each` sees the results.
    fn rows(&mut self, py: Python<'_>, mut each: impl FnMut(&FittedRecord)) -> PyResult<FittedRows> {
        let is_table = self.fitting.records_mut().rows().is_some();
        let mut lines = Vec::new();
        while let Some(fitted) = self.next(py)? {
            each(&fitted);
            let row = row_of(&fitted);
            let is_row = is_table && fitted.is_unchanged();
            let records = fitted.records().into_iter();
            lines.extend(records.map(|record| (row, (!is_row).then(|| record.to_vec()))));
        }
        let table = self.fitting.records_mut().rows().map(RowLines::rows);
        let rows = py.detach(|| FittedRows::new(table, lines));
        rows.map_err(|error| errors::StoppedError::new_err(error.to_string()))
    }

    /// The next result.
    fn next(&mut self, py: Python<'_>) -> PyResult<Option<FittedRecord>> {
        loop {
            let fitting = &mut self.fitting;
            let next = py.detach(|| fitting.next_within(LOOK));
            if fitting.records_mut().is_interrupted(py)
                && let Some(exception) = fitting.records_mut().take_exception()
            {
                return Err(exception);
            }
            match next {
                Next::Ready(Ok(fitted)) => {
                    if let Some(progress) = &mut self.progress {
                        progress.add(py, &fitted)?;
                    }
                    return Ok(Some(fitted));
                }
                Next::Ready(Err(error)) => return Err(errors::exception(py, error)),
                Next::Pending => py.check_signals()?,
                Next::End => {
                    if let Some(exception) = fitting.records_mut().take_exception() {
                        return Err(exception);
                    }
                    if let Some(progress) = self.progress.take() {
                        progress.tell(py)?;
                    }
                    return Ok(None);
                }
            }
        }
    }
}

impl Progress {
    fn add(&mut self, py: Python<'_>, fitted: &FittedRecord) -> PyResult<()> {
        self.records += 1;
        self.compressed += u64::from(fitted.rows().iter().any(|row| row.was_compressed));
        self.over_limit += u64::from(fitted.rows().iter().any(|row| row.still_over_limit));
        self.rejected += u64::from(fitted.rejected().is_some());
        if self.told.elapsed() < PROGRESS_EVERY {
            return Ok(());
        }
        self.told = Instant::now();
        self.tell(py)
    }

    fn tell(&self, py: Python<'_>) -> PyResult<()> {
        let figures = PyDict::new(py);
        for (name, count) in [
            ("records", self.records),
            ("compressed", self.compressed),
            ("over_limit", self.over_limit),
            ("rejected", self.rejected),
        ] {
            figures.set_item(name, count)?;
        }
        figures.set_item("seconds", self.started.elapsed().as_secs_f64())?;
        self.callback.call1(py, (figures,)).map(|_| ())
    }
}
