//! A session for Python.

use std::path::PathBuf;

use pyo3::prelude::*;
use trajfit::session::Session;

use crate::errors::exception;
use crate::gathering::Gathering;
use crate::records::PyRecords;
use crate::results::FitResults;

/// A configuration with its tokenizer and summarizer.
#[pyclass(frozen, subclass, module = "trajfit._trajfit")]
pub struct Fitter {
    session: Session,
}

#[pymethods]
impl Fitter {
    #[new]
    #[pyo3(signature = (config, settings))]
    fn new(py: Python<'_>, config: Option<PathBuf>, settings: Vec<(String, String)>) -> PyResult<Self> {
        let built = py.detach(|| {
            let mut builder = Session::builder();
            if let Some(config) = config {
                builder = builder.config_file(config);
            }
            for (key, value) in &settings {
                builder = builder.set(key, value)?;
            }
            builder.build()
        });
        let session = built.map_err(|error| exception(py, error))?;
        Ok(Self { session })
    }

    /// Sentences about settings without effect.
    fn warnings(&self) -> Vec<String> {
        self.session.warnings()
    }

    fn fit(
        &self,
        records: &Bound<'_, PyAny>,
        source: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<FitResults> {
        let fitting = self.session.fit(PyRecords::new(records)?, source);
        let fitting = fitting.map_err(|error| exception(records.py(), error))?;
        Ok(FitResults::new(fitting, progress))
    }

    fn unroll(
        &self,
        records: &Bound<'_, PyAny>,
        source: &str,
        flags: Vec<(String, String)>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<FitResults> {
        let fitting = self.session.unroll(PyRecords::new(records)?, source, &flags);
        let fitting = fitting.map_err(|error| exception(records.py(), error))?;
        Ok(FitResults::new(fitting, progress))
    }

    /// Reports without any record yet.
    fn gathering(&self) -> Gathering {
        Gathering::new(self.session.gathering())
    }

    fn count(&self, records: &Bound<'_, PyAny>, source: &str, largest: usize) -> PyResult<String> {
        reported(records, |records, stop| {
            self.session.count(records, source, largest, stop)
        })
    }

    fn check(
        &self,
        records: &Bound<'_, PyAny>,
        source: &str,
        max_over: &str,
        p99: Option<u64>,
    ) -> PyResult<String> {
        reported(records, |records, stop| {
            self.session.check(records, source, max_over, p99, stop)
        })
    }

    fn lint(&self, records: &Bound<'_, PyAny>, source: &str, max_length: Option<u64>) -> PyResult<String> {
        reported(records, |records, stop| {
            self.session.lint(records, source, max_length, stop)
        })
    }
}

/// The report of `survey`. An exception of the records, or one that a signal raised, goes before it.
fn reported(
    records: &Bound<'_, PyAny>,
    survey: impl FnOnce(
        &mut PyRecords,
        &mut (dyn FnMut() -> bool + Send),
    ) -> Result<String, trajfit::session::SessionError>
    + Send,
) -> PyResult<String> {
    let py = records.py();
    let mut records = PyRecords::new(records)?;
    let mut signal = None;
    let report = py.detach(|| {
        let mut stop = || {
            signal = Python::attach(|py| py.check_signals()).err();
            signal.is_some()
        };
        survey(&mut records, &mut stop)
    });
    if let Some(raised) = signal.or_else(|| records.take_exception()) {
        return Err(raised);
    }
    report.map_err(|error| exception(py, error))
}
