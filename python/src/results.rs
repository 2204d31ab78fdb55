//! The results of many records, for Python: an iterator that works ahead on all cores while Python does something else.

use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use trajfit::session::{FittedRecord, Fitting, Next};

use crate::errors;
use crate::records::PyRecords;
use crate::result::FitResult;

/// The time between two looks at whether Python wants to interrupt.
const LOOK: Duration = Duration::from_millis(50);

/// The time between two calls of a progress callback.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// Results in the order of the records.
#[pyclass(frozen, name = "Results", module = "trajfit")]
pub struct FitResults {
    work: Mutex<Work>,
}

struct Work {
    fitting: Fitting<PyRecords>,
    progress: Option<Progress>,
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
            work: Mutex::new(Work { fitting, progress }),
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
        loop {
            let fitting = &mut work.fitting;
            let next = py.detach(|| fitting.next_within(LOOK));
            if fitting.records_mut().is_interrupted(py)
                && let Some(exception) = fitting.records_mut().take_exception()
            {
                return Err(exception);
            }
            match next {
                Next::Ready(Ok(fitted)) => {
                    if let Some(progress) = &mut work.progress {
                        progress.add(py, &fitted)?;
                    }
                    return Ok(Some(FitResult::new(fitted)));
                }
                Next::Ready(Err(error)) => return Err(errors::exception(py, error)),
                Next::Pending => py.check_signals()?,
                Next::End => {
                    if let Some(exception) = fitting.records_mut().take_exception() {
                        return Err(exception);
                    }
                    if let Some(progress) = work.progress.take() {
                        progress.tell(py)?;
                    }
                    return Ok(None);
                }
            }
        }
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
