//! Errors of Arrow and Parquet as errors of reading and writing.

use std::io;

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;

/// The error of a library as one of reading or writing.
pub fn fault(error: impl Into<ColumnFault>) -> io::Error {
    match error.into() {
        ColumnFault::Arrow(ArrowError::IoError(_, error)) => error,
        ColumnFault::Arrow(error) => io::Error::other(error.to_string()),
        ColumnFault::Parquet(error) => io::Error::other(error.to_string()),
    }
}

/// An error of one of the libraries.
pub enum ColumnFault {
    Arrow(ArrowError),
    Parquet(ParquetError),
}

impl From<ArrowError> for ColumnFault {
    fn from(error: ArrowError) -> Self {
        Self::Arrow(error)
    }
}

impl From<ParquetError> for ColumnFault {
    fn from(error: ParquetError) -> Self {
        Self::Parquet(error)
    }
}
