//! A finished run: its totals file, and the rows that stand beside it.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::metrics::{Columns, Status, Totals, csv_header, read_rows_written};
use crate::pipeline::paths::existing;
use crate::pipeline::paths::file_names::{appended, stem_of};
use crate::pipeline::paths::side_files::{METRICS, REJECTS, SUMMARY};
use crate::pipeline::run::totals_file::{self, Timing};
use crate::pipeline::run::unroll_summary;
use crate::pipeline::write::journal::RunIdentity;
use crate::pipeline::{RunError, SHARD_SETTING, Shard};
use crate::settings::Settings;

const UNFINISHED: &str = "name metrics that stand beside the totals of their run; a run that was stopped has them once --resume has finished it";

/// A finished run.
#[derive(Debug)]
pub struct FinishedRun {
    /// The prefix of the names of its files: the output without its data extension.
    pub stem: PathBuf,
    /// The contents of its totals file.
    pub totals: RunTotals,
    /// The columns of its rows.
    pub columns: Columns,
    /// The shard that it took, if it took one.
    pub shard: Option<Shard>,
}

/// The part of a totals file that a merge reads.
#[derive(Debug, Deserialize)]
pub struct RunTotals {
    schema: String,
    #[serde(flatten)]
    pub run: RunIdentity,
    pub dry_run: bool,
    pub is_estimate: bool,
    records_by_status: BTreeMap<String, u64>,
    pub summary_input_tokens: u64,
    pub summarization_cost: Option<f64>,
    pub tokenizer_note: Option<String>,
    pub timing: Timing,
}

impl FinishedRun {
    /// Reads the totals of a run, named by its metrics or its output.
    pub fn read(path: &Path) -> Result<Self, RunError> {
        let name = path.to_string_lossy();
        let stem = name
            .strip_suffix(METRICS)
            .map_or_else(|| stem_of(path), PathBuf::from);
        let file = appended(&stem, SUMMARY);
        let unusable = |error: &dyn std::fmt::Display| {
            let message = format!(
                "cannot merge {}: its totals {} cannot be read: {error}",
                path.display(),
                file.display()
            );
            RunError::usage(message, UNFINISHED)
        };
        let text = existing::read(&file).map_err(|error| unusable(&error))?;
        let totals: RunTotals = serde_json::from_slice(&text).map_err(|error| unusable(&error))?;
        let columns = match totals.schema.as_str() {
            totals_file::SCHEMA => Columns::Records,
            unroll_summary::SCHEMA => Columns::Segments,
            other => return Err(unusable(&format!("its schema is {other}"))),
        };
        let shard = totals.run.configuration.get(SHARD_SETTING).map(|value| {
            let shard = value.as_str().and_then(|text| text.parse().ok());
            shard.ok_or_else(|| unusable(&format!("{SHARD_SETTING} is {value}")))
        });
        Ok(Self {
            shard: shard.transpose()?,
            stem,
            totals,
            columns,
        })
    }

    /// Its metrics.
    pub fn metrics(&self) -> PathBuf {
        appended(&self.stem, METRICS)
    }

    /// Its totals.
    pub fn summary(&self) -> PathBuf {
        appended(&self.stem, SUMMARY)
    }

    /// Its rejects, if it has some.
    pub fn rejects(&self) -> Option<PathBuf> {
        let rejected = self.totals.records_by_status.get(Status::Rejected.name());
        rejected
            .is_some_and(|count| *count > 0)
            .then(|| appended(&self.stem, REJECTS))
    }

    /// The settings that it shares with other shards.
    pub fn settings(&self) -> Settings {
        let mut settings = self.totals.run.configuration.clone();
        settings.remove(SHARD_SETTING);
        settings
    }

    /// Adds its rows to totals, and checks that they, and the rejects, are those that its own totals are about.
    pub fn add_rows(&self, totals: &mut Totals) -> Result<(), RunError> {
        let path = self.metrics();
        let unreadable = |error: &dyn std::fmt::Display| {
            RunError::usage(format!("cannot merge {}: {error}", path.display()), UNFINISHED)
        };
        let file = existing::open(&path).map_err(|error| unreadable(&error))?;
        let mut file = BufReader::new(file);
        let mut header = Vec::new();
        file.read_until(b'\n', &mut header)
            .map_err(|error| unreadable(&error))?;
        if header != csv_header(self.columns) {
            return Err(unreadable(&"its columns are not those of this version"));
        }
        let file = header.as_slice().chain(file);
        let safe = self.totals.run.configuration.get("metrics.csv_safe") == Some(&Value::Bool(true));
        let before = (totals.sums.records, totals.with_status(Status::Rejected));
        for row in read_rows_written(file, self.columns, safe) {
            totals.add(&row.map_err(|error| unreadable(&error))?);
        }
        let rows = totals.sums.records - before.0;
        let expected: u64 = self.totals.records_by_status.values().sum();
        if rows != expected {
            let summary = self.summary();
            return Err(unreadable(&format!(
                "it has {rows} rows, and {} is about {expected}",
                summary.display()
            )));
        }
        self.check_rejects(totals.with_status(Status::Rejected) - before.1)
    }

    fn check_rejects(&self, expected: u64) -> Result<(), RunError> {
        let Some(path) = self.rejects() else {
            return Ok(());
        };
        let lines = existing::open(&path).and_then(|file| lines_of(BufReader::new(file)));
        let fault = match lines {
            Ok(lines) if lines == expected => return Ok(()),
            Ok(lines) => format!("it has {lines} lines, and the metrics tell of {expected} rejected records"),
            Err(error) => error.to_string(),
        };
        Err(RunError::usage(
            format!("cannot merge {}: {fault}", path.display()),
            "put the rejects beside the metrics, under the name that the run gave them",
        ))
    }
}

fn lines_of(mut reader: impl BufRead) -> io::Result<u64> {
    let mut lines = 0;
    loop {
        let buffer = reader.fill_buf()?;
        let length = buffer.len();
        if length == 0 {
            return Ok(lines);
        }
        lines += memchr::memchr_iter(b'\n', buffer).count() as u64;
        reader.consume(length);
    }
}
