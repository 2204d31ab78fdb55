//! Tables of other libraries, in and out: the C stream interface of Arrow, through capsules.

use std::ffi::CStr;

use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

use crate::errors::StoppedError;

/// The method by which tables give a stream.
const METHOD: &str = "__arrow_c_stream__";

/// The name of its capsules.
const NAME: &CStr = c"arrow_array_stream";

/// The rows of a table; `None` if it is no table.
pub fn reader(table: &Bound<'_, PyAny>) -> PyResult<Option<RecordBatchStreamReader>> {
    if !table.hasattr(METHOD)? {
        return Ok(None);
    }
    let capsule = table.call_method0(METHOD)?;
    let capsule = capsule.cast::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(NAME))?;
    // SAFETY: a capsule of this name holds such a stream, which is moved out of it and marked as released there.
    let reader = unsafe { RecordBatchStreamReader::from_raw(pointer.cast().as_ptr()) };
    reader
        .map(Some)
        .map_err(|error| StoppedError::new_err(error.to_string()))
}

/// A stream of rows for other libraries.
pub fn capsule(py: Python<'_>, rows: Box<dyn RecordBatchReader + Send>) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(rows), NAME)
}
