//! The extension module of the Python package trajfit: the library's sessions, and the program.

mod arrow;
mod errors;
mod fitter;
mod gathering;
mod records;
mod result;
mod results;
mod table;

use std::ffi::OsString;
use std::io::{self, Write};

use pyo3::prelude::*;

/// Runs the program with these arguments, the first of which is its name, and returns its exit code.
#[pyfunction]
fn run(py: Python<'_>, arguments: Vec<OsString>) -> i32 {
    py.detach(|| {
        trajfit::internals::note_closed();
        let status = trajfit::internals::run(arguments.into_iter());
        // The runtime of a Rust program does so when it ends.
        let _ = io::stdout().flush();
        status as i32
    })
}

#[pymodule]
fn _trajfit(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", trajfit::VERSION)?;
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_class::<fitter::Fitter>()?;
    module.add_class::<result::FitResult>()?;
    module.add_class::<results::FitResults>()?;
    errors::add(module)
}
