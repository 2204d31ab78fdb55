//! Fitted records as a table for other libraries.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use trajfit::session::FittedRows;

use crate::arrow;

/// Rows that are given away once.
#[pyclass(frozen, module = "trajfit._trajfit")]
pub struct FittedTable {
    rows: Mutex<Option<FittedRows>>,
}

impl FittedTable {
    pub fn new(rows: FittedRows) -> Self {
        Self {
            rows: Mutex::new(Some(rows)),
        }
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
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner).take();
        let rows = rows.ok_or_else(|| PyValueError::new_err("the rows of this table were taken before"))?;
        arrow::capsule(py, Box::new(rows))
    }
}
