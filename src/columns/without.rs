//! The functions of this module in a build without Parquet and Arrow: errors.

use std::fs::File;
use std::io::{self, BufRead, Read};

use super::{NOT_BUILT, OnRead, PlacedLine, RowFile, RowFormat};

fn not_built() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, NOT_BUILT)
}

/// Fails.
pub fn open(_file: &RowFile, _on_read: OnRead) -> io::Result<Box<dyn BufRead + Send>> {
    Err(not_built())
}

/// Fails.
pub fn open_stream(_reader: Box<dyn Read + Send>) -> io::Result<Box<dyn BufRead + Send>> {
    Err(not_built())
}

/// Fails.
pub fn common_schema(_files: &[RowFile]) -> io::Result<()> {
    Err(not_built())
}

/// Fails.
pub fn convert<I>(
    _lines: impl Fn() -> io::Result<I>,
    _sources: &[Option<RowFile>],
    _example: Option<&[u8]>,
    _output: &File,
    _kind: RowFormat,
) -> io::Result<()>
where
    I: Iterator<Item = io::Result<PlacedLine>>,
{
    Err(not_built())
}

/// Fails.
pub fn join(_files: &[RowFile], _output: &File, _kind: RowFormat) -> io::Result<()> {
    Err(not_built())
}
