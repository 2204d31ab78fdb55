//! Fitted records as a table for other libraries.

use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use trajfit::session::FittedRows;

use crate::arrow;

/// Rows of fitted records.
#[pyclass(frozen, module = "trajfit._trajfit")]
pub struct FittedTable {
    rows: FittedRows,
}

impl FittedTable {
    pub fn new(rows: FittedRows) -> Self {
        Self { rows }
    }
}

#[pymethods]
impl FittedTable {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Another schema is a wish that need not be granted.
        drop(requested_schema);
        arrow::capsule(py, Box::new(self.rows.clone()))
    }
}
