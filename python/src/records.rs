//! Records from Python: an iterator of bytes, lines of JSON or dictionaries, or a table.

use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyIterator, PyString};
use trajfit::session::RowLines;

use crate::arrow;
use crate::errors::StoppedError;

/// The exception of a table that cannot be read on.
fn stopped(error: &std::io::Error) -> PyErr {
    let message = error.to_string();
    // polars hands over columns of nulls with a buffer, and the format has none for them.
    let is_of_nulls = message.contains("The datatype \"Null\" doesn't expect buffer");
    let help = if is_of_nulls {
        "; give columns without values a type, as with cast(polars.String)"
    } else {
        ""
    };
    StoppedError::new_err(format!("cannot read the table: {message}{help}"))
}

fn iterator(records: &Bound<'_, PyAny>) -> PyResult<Py<PyIterator>> {
    let py = records.py();
    match records.try_iter() {
        Ok(iterator) => Ok(iterator.unbind()),
        Err(error) if error.is_instance_of::<PyTypeError>(py) => {
            let kind = records.get_type().name()?;
            Err(PyTypeError::new_err(format!(
                "records must be an iterable of records or a table, not {kind}; a lazy frame becomes one with collect()"
            )))
        }
        Err(error) => Err(error),
    }
}

/// The records of an iterator or a table. They end at the first exception, which is kept.
pub struct PyRecords {
    source: Source,
    dumps: Py<PyAny>,
    exception: Option<PyErr>,
}

enum Source {
    Iterator(Py<PyIterator>),
    Rows(Box<RowLines>),
}

impl PyRecords {
    /// The records of an iterable, or the rows of a table.
    pub fn new(records: &Bound<'_, PyAny>) -> PyResult<Self> {
        if records.is_instance_of::<PyBytes>()
            || records.is_instance_of::<PyString>()
            || records.is_instance_of::<PyDict>()
        {
            return Err(PyTypeError::new_err(
                "records must be an iterable of records; for one record, write [record]",
            ));
        }
        let py = records.py();
        Ok(Self {
            source: match arrow::reader(records)? {
                Some(reader) => Source::Rows(Box::new(RowLines::new(Box::new(reader)))),
                None => Source::Iterator(iterator(records)?),
            },
            dumps: py.import("json")?.getattr("dumps")?.unbind(),
            exception: None,
        })
    }

    /// The rows, if they are those of a table.
    pub fn rows(&self) -> Option<&RowLines> {
        match &self.source {
            Source::Iterator(_) => None,
            Source::Rows(rows) => Some(rows),
        }
    }

    /// Forgets rows of a table before this one.
    pub fn forget_before(&mut self, row: u64) {
        if let Source::Rows(rows) = &mut self.source {
            rows.forget_before(row);
        }
    }

    /// The exception that ended the records, once.
    pub fn take_exception(&mut self) -> Option<PyErr> {
        self.exception.take()
    }

    /// Returns true if an exception ended them that no results should delay, such as `KeyboardInterrupt`.
    pub fn is_interrupted(&self, py: Python<'_>) -> bool {
        let exception = self.exception.as_ref();
        exception.is_some_and(|exception| !exception.is_instance_of::<PyException>(py))
    }

    fn bytes_of(&self, record: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
        if let Ok(bytes) = record.cast::<PyBytes>() {
            return Ok(bytes.as_bytes().to_vec());
        }
        if let Ok(text) = record.cast::<PyString>() {
            // Half a surrogate pair is no Unicode: its bytes are rejected as those of a file would be.
            return match text.to_cow() {
                Ok(text) => Ok(text.into_owned().into_bytes()),
                Err(_) => text.call_method1("encode", ("utf-8", "surrogatepass"))?.extract(),
            };
        }
        if let Ok(bytes) = record.cast::<PyByteArray>() {
            return Ok(bytes.to_vec());
        }
        if record.is_instance_of::<PyDict>() {
            return self.dumped(record);
        }
        let kind = record.get_type().name()?;
        Err(PyTypeError::new_err(format!(
            "a record is a dict, or its JSON as str or bytes, not {kind}"
        )))
    }

    /// The JSON of a dictionary, with text as it is; text that is no Unicode is escaped.
    fn dumped(&self, record: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
        let py = record.py();
        let options = PyDict::new(py);
        options.set_item("ensure_ascii", false)?;
        let text = self.dumps.bind(py).call((record,), Some(&options))?;
        if let Ok(text) = text.cast::<PyString>()?.to_cow() {
            return Ok(text.into_owned().into_bytes());
        }
        let text = self.dumps.bind(py).call1((record,))?;
        Ok(text.cast::<PyString>()?.to_cow()?.into_owned().into_bytes())
    }
}

impl Iterator for PyRecords {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        if self.exception.is_some() {
            return None;
        }
        if let Source::Rows(rows) = &mut self.source {
            let line = rows.next();
            let error = rows.take_error();
            self.exception = error.map(|error| stopped(&error));
            return line;
        }
        let next = Python::attach(|py| {
            let Source::Iterator(iterator) = &self.source else {
                return None;
            };
            let mut iterator = iterator.bind(py).clone();
            let record = iterator.next()?;
            Some(record.and_then(|record| self.bytes_of(&record)))
        });
        match next? {
            Ok(bytes) => Some(bytes),
            Err(exception) => {
                self.exception = Some(exception);
                None
            }
        }
    }
}
