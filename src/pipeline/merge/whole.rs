//! Checks that the data of a run is whole: the records that its totals tell of, each with its end.

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::finished_run::FinishedRun;
use crate::columns::RowFormat;
use crate::metrics::{Columns, Status};
use crate::pipeline::paths::existing;
use crate::pipeline::{Codec, Records, RunError, Source};

/// Bytes of the longest record that is held in memory to be counted.
const MAX_RECORD: u64 = 1 << 20;

/// Refuses data that was cut or changed since the run wrote it.
pub fn check(run: &FinishedRun, data: &[PathBuf]) -> Result<(), RunError> {
    let mut records = 0;
    for path in data {
        records += records_of(path).map_err(|error| refused(path, &error))?;
    }
    let written = run.written();
    // Of lines that were copied though they are no records, some look like one.
    let expected = written.saturating_sub(run.with_status(Status::Kept))..=written;
    // What is unrolled has more records than trajectories.
    if run.columns == Columns::Records && !expected.contains(&records) {
        let path = data.first().unwrap_or(&run.stem);
        return Err(refused(
            path,
            &format!("the data has {records} records, and the totals tell of {written}"),
        ));
    }
    Ok(())
}

/// Refuses a file whose last line has no end, where more lines follow: only the last line of an input may have none.
pub fn check_ends(joined: &[PathBuf]) -> Result<(), RunError> {
    let is_lines = |path: &&PathBuf| {
        RowFormat::of_name(path).is_none() && Codec::of_name(&path.to_string_lossy()) == Codec::Plain
    };
    let mut without_end: Option<&Path> = None;
    for path in joined.iter().filter(is_lines) {
        let last = last_byte(path).map_err(|error| refused(path, &error))?;
        if let (Some(before), Some(_)) = (without_end, last) {
            return Err(refused(before, &"its last line has no end"));
        }
        if last.is_some_and(|last| last != b'\n') {
            without_end = Some(path);
        }
    }
    Ok(())
}

fn refused(path: &Path, fault: &dyn std::fmt::Display) -> RunError {
    RunError::usage(
        format!("cannot merge {}: {fault}", path.display()),
        "put back the data that the run wrote, or run the shard again with --force",
    )
}

fn records_of(path: &Path) -> io::Result<u64> {
    let mut records = Records::of(&[Source::of_file(path)], MAX_RECORD);
    let mut number = 0;
    while let Some(record) = records.next_record().map_err(io::Error::other)? {
        // A byte-order mark alone is none, nor is what was cut before its end.
        number += u64::from(record.too_long.is_some() || record.bytes.trim_ascii_end().ends_with(b"}"));
    }
    Ok(number)
}

/// The last byte of a file; `None` if it is empty.
fn last_byte(path: &Path) -> io::Result<Option<u8>> {
    let mut reader = BufReader::new(existing::open(path)?);
    let mut last = None;
    loop {
        let buffer = reader.fill_buf()?;
        let Some(byte) = buffer.last() else {
            return Ok(last);
        };
        last = Some(*byte);
        let length = buffer.len();
        reader.consume(length);
    }
}
