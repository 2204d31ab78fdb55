//! The exceptions of the package.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use trajfit::session::{SessionError, SessionErrorKind};

create_exception!(
    trajfit,
    TrajfitError,
    PyException,
    "An error of trajfit; `help` says what helps, or is None."
);
create_exception!(
    trajfit,
    ConfigurationError,
    TrajfitError,
    "A setting, or a file or tokenizer that it names, is wrong: exit code 2 of the program."
);
create_exception!(
    trajfit,
    StoppedError,
    TrajfitError,
    "Fitting cannot go on: exit code 4 of the program."
);

/// Adds the exceptions to the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let base = py.get_type::<TrajfitError>();
    base.setattr("help", py.None())?;
    module.add("TrajfitError", base)?;
    module.add("ConfigurationError", py.get_type::<ConfigurationError>())?;
    module.add("StoppedError", py.get_type::<StoppedError>())
}

/// The exception for an error of a session.
pub fn exception(py: Python<'_>, error: SessionError) -> PyErr {
    let SessionError {
        kind, message, help, ..
    } = error;
    let text = match &help {
        Some(help) => format!("{message}; {help}"),
        None => message,
    };
    let exception = match kind {
        SessionErrorKind::Usage => ConfigurationError::new_err(text),
        _ => StoppedError::new_err(text),
    };
    match exception.value(py).setattr("help", help) {
        Ok(()) => exception,
        Err(error) => error,
    }
}
