//! The error of a store, with advice.

use std::fmt;
use std::io;

/// An error of a store.
#[derive(Debug)]
pub struct StoreFault {
    /// The error, without credentials.
    pub message: String,
    /// The remedy.
    pub help: String,
}

impl fmt::Display for StoreFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for StoreFault {}

impl StoreFault {
    /// The error as one of reading or writing.
    pub fn io(kind: io::ErrorKind, message: impl Into<String>, help: impl Into<String>) -> io::Error {
        let fault = Self {
            message: message.into(),
            help: help.into(),
        };
        io::Error::new(kind, fault)
    }
}

/// The advice of a store's error; `None` if the error is not of a store.
pub fn help_of(error: &io::Error) -> Option<&str> {
    let fault = error.get_ref()?.downcast_ref::<StoreFault>()?;
    Some(&fault.help)
}
