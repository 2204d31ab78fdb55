//! Reports on records that other processes fitted, for Python.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::exception;

/// Notes on results, gathered into the lines of a run's files and its totals.
#[pyclass(module = "trajfit._trajfit")]
pub struct Gathering {
    gathering: trajfit::session::Gathering,
}

impl Gathering {
    pub fn new(gathering: trajfit::session::Gathering) -> Self {
        Self { gathering }
    }
}

#[pymethods]
impl Gathering {
    /// The first line of the metrics.
    fn header<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.gathering.header())
    }

    /// Adds a note on the record of this number, from 1; its line of the metrics, and that of the rejects, if it was rejected.
    fn add<'py>(
        &mut self,
        py: Python<'py>,
        note: &str,
        line: u64,
    ) -> PyResult<(Bound<'py, PyBytes>, Option<Bound<'py, PyBytes>>)> {
        let added = self.gathering.add(note, line);
        let lines = added.map_err(|error| exception(py, error))?;
        let reject = lines.reject.map(|reject| PyBytes::new(py, &reject));
        Ok((PyBytes::new(py, &lines.metrics), reject))
    }

    /// The totals as JSON.
    fn report(&self) -> String {
        self.gathering.report()
    }
}
