//! The result of one record, for Python.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use trajfit::session::FittedRecord;

/// The result of one record.
#[pyclass(frozen, name = "Result", module = "trajfit")]
pub struct FitResult {
    fitted: FittedRecord,
}

impl FitResult {
    pub fn new(fitted: FittedRecord) -> Self {
        Self { fitted }
    }

    fn row_dicts<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let loads = py.import("json")?.getattr("loads")?;
        let rows = self.fitted.rows_as_json().into_iter();
        rows.map(|row| loads.call1((row,))).collect()
    }
}

#[pymethods]
impl FitResult {
    /// The record as the program writes it, without a line end; None if it was rejected. Of an unrolled trajectory the
    /// first record.
    #[getter]
    fn record<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let records = self.fitted.records();
        records.first().map(|record| PyBytes::new(py, record))
    }

    /// All records: one, or those that a trajectory was unrolled into; none if it was rejected.
    #[getter]
    fn records<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        let records = self.fitted.records().into_iter();
        records.map(|record| PyBytes::new(py, record)).collect()
    }

    /// The row of the metrics, a dict with the program's columns; of an unrolled trajectory that of its first record.
    #[getter]
    fn row<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.row_dicts(py)?.into_iter().next())
    }

    /// All rows of the metrics, a dict each.
    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.row_dicts(py)?)
    }

    /// The reason why the record was rejected, as code: detail; None if it was not.
    #[getter]
    fn rejected(&self) -> Option<String> {
        self.fitted.rejected()
    }

    /// True if the record is the same bytes as before.
    #[getter]
    fn is_unchanged(&self) -> bool {
        self.fitted.is_unchanged()
    }

    /// The part of the result that reports are gathered from, as JSON.
    #[getter]
    fn _note(&self) -> Option<String> {
        self.fitted.note()
    }

    fn __repr__(&self) -> String {
        let row = self.fitted.rows().first();
        row.map_or_else(String::new, |row| {
            format!(
                "Result(line={}, status={:?}, tokens={} -> {}, reason={:?})",
                row.line,
                row.status.name(),
                row.original_tokens,
                row.compressed_tokens,
                row.reason_text()
            )
        })
    }

    fn _repr_html_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let html = py.import("trajfit._html")?.getattr("table")?;
        html.call1((PyList::new(py, self.row_dicts(py)?)?,))
    }
}
