//! A finished run: its totals file, and the rows that stand beside it.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::columns::{self, NOT_BUILT, RowFormat};
use crate::metrics::{Columns, Row, Status, Totals, csv_header, read_rows_written, row_of_json};
use crate::pipeline::paths::existing;
use crate::pipeline::paths::file_names::{appended, stem_of};
use crate::pipeline::paths::side_files::{METRICS, REJECTS, SUMMARY};
use crate::pipeline::run::totals_file::{self, Timing};
use crate::pipeline::run::unroll_summary;
use crate::pipeline::write::journal::RunIdentity;
use crate::pipeline::{RunError, SHARD_SETTING, Shard, Source};
use crate::settings::SettingValues;
use crate::stores;

const UNFINISHED: &str = "name a run by its output or its totals, OUT.summary.json; a run that was stopped has them once --resume has finished it";

/// The settings that name reports. Runs may differ in them: each has its own.
const REPORTS: [&str; 4] = [
    METRICS_SETTING,
    "metrics.summary_file",
    REJECTS_SETTING,
    "output.report_dir",
];
const METRICS_SETTING: &str = "metrics.file";
const REJECTS_SETTING: &str = "output.rejects_file";
/// The value of a report that stands beside the output.
const BESIDE: &str = "auto";

/// A finished run.
#[derive(Debug)]
pub struct FinishedRun {
    /// The prefix of the names of its files: the output without its data extension.
    pub stem: PathBuf,
    /// The file of its totals.
    pub summary: PathBuf,
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
    /// Reads the totals of a run, named by its metrics, its output or the totals.
    pub fn read(path: &Path) -> Result<Self, RunError> {
        let name = path.to_string_lossy();
        let mut stem = [METRICS, SUMMARY]
            .iter()
            .find_map(|ending| name.strip_suffix(ending))
            .map_or_else(|| stem_of(path), PathBuf::from);
        let mut file = appended(&stem, SUMMARY);
        // Totals that --summary named.
        let is_totals = name.ends_with(".json") && !existing::exists(&file);
        if is_totals {
            path.clone_into(&mut file);
        }
        let unusable = |error: &dyn std::fmt::Display| {
            let message = format!(
                "cannot merge {}: its totals {} cannot be read: {error}",
                path.display(),
                file.display()
            );
            RunError::usage(message, UNFINISHED)
        };
        let text = existing::open(&file).map_err(|error| unusable(&error))?;
        let totals: RunTotals =
            serde_json::from_reader(BufReader::new(text)).map_err(|error| unusable(&error))?;
        let columns = match totals.schema.as_str() {
            totals_file::SCHEMA => Columns::Records,
            unroll_summary::SCHEMA => Columns::Segments,
            other => return Err(unusable(&format!("its schema is {other}"))),
        };
        let shard = totals.run.configuration.get(SHARD_SETTING).map(|value| {
            let shard = value.as_str().and_then(|text| text.parse().ok());
            shard.ok_or_else(|| unusable(&format!("{SHARD_SETTING} is {value}")))
        });
        if totals.run.configuration.get(METRICS_SETTING) == Some(&Value::from("off")) {
            return Err(unusable(&"it has no metrics: they were off"));
        }
        if let ([output], true) = (totals.run.outputs.as_slice(), is_totals) {
            stem = stem_of(&found(output, &file));
        }
        Ok(Self {
            shard: shard.transpose()?,
            summary: file,
            stem,
            totals,
            columns,
        })
    }

    /// Its metrics.
    pub fn metrics(&self) -> PathBuf {
        self.report(METRICS_SETTING, METRICS)
    }

    /// A report, under the name that a setting gives it or beside the output.
    fn report(&self, setting: &str, ending: &str) -> PathBuf {
        let named = self.totals.run.configuration.get(setting).and_then(Value::as_str);
        match named.filter(|name| *name != BESIDE) {
            Some(name) => found(name, &self.summary),
            None => appended(&self.stem, ending),
        }
    }

    /// Its rejects, if it has some.
    pub fn rejects(&self) -> Option<PathBuf> {
        (self.with_status(Status::Rejected) > 0).then(|| self.report(REJECTS_SETTING, REJECTS))
    }

    /// The number of its records with a status.
    pub fn with_status(&self, status: Status) -> u64 {
        let count = self.totals.records_by_status.get(status.name());
        count.copied().unwrap_or_default()
    }

    /// The number of records that it wrote to its data, as its totals tell.
    pub fn written(&self) -> u64 {
        let records: u64 = self.totals.records_by_status.values().sum();
        records.saturating_sub(self.with_status(Status::Rejected))
    }

    /// The settings that it shares with other runs.
    pub fn settings(&self) -> SettingValues {
        let mut settings = self.totals.run.configuration.clone();
        settings.remove(SHARD_SETTING);
        settings.retain(|setting, _| !REPORTS.contains(&setting.as_str()));
        settings
    }

    /// The settings of one run over all records that wrote these metrics, and no other named report.
    pub fn settings_of_merged(&self, metrics: &Path) -> SettingValues {
        let mut settings = self.totals.run.configuration.clone();
        settings.remove(SHARD_SETTING);
        for setting in REPORTS {
            settings.entry(setting.to_owned()).and_modify(|value| {
                *value = match RowFormat::of_name(metrics) {
                    _ if setting != METRICS_SETTING => Value::Null,
                    Some(_) => metrics.to_string_lossy().into(),
                    None => BESIDE.into(),
                }
            });
        }
        settings
    }

    /// Adds its rows to totals, and checks that they, and the rejects, are those that its own totals are about.
    pub fn add_rows(&self, totals: &mut Totals) -> Result<(), RunError> {
        let path = self.metrics();
        let unreadable = |error: &dyn std::fmt::Display| {
            RunError::usage(format!("cannot merge {}: {error}", path.display()), UNFINISHED)
        };
        let before = (totals.sums.records, totals.with_status(Status::Rejected));
        for row in self.rows(&path).map_err(|error| unreadable(&error))? {
            totals.add(&row.map_err(|error| unreadable(&error))?);
        }
        let rows = totals.sums.records - before.0;
        let expected: u64 = self.totals.records_by_status.values().sum();
        if rows != expected {
            return Err(unreadable(&format!(
                "it has {rows} rows, and {} is about {expected}",
                self.summary.display()
            )));
        }
        self.check_rejects(totals.with_status(Status::Rejected) - before.1)
    }

    /// The rows of its metrics, whatever their format.
    fn rows(&self, path: &Path) -> io::Result<Box<dyn Iterator<Item = io::Result<Row>>>> {
        let columns = self.columns;
        if RowFormat::of_name(path).is_some() {
            let lines = rows_as_lines(path)?.lines();
            return Ok(Box::new(lines.map(move |line| row_of_json(&line?, columns))));
        }
        let mut file = BufReader::new(existing::open(path)?);
        let mut header = Vec::new();
        file.read_until(b'\n', &mut header)?;
        if header != csv_header(columns) {
            return Err(io::Error::other("its columns are not those of this version"));
        }
        let file = Cursor::new(header).chain(file);
        let safe = self.totals.run.configuration.get("metrics.csv_safe") == Some(&Value::Bool(true));
        let rows = read_rows_written(file, columns, safe);
        Ok(Box::new(rows.map(|row| row.map_err(io::Error::other))))
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

/// A file that a run wrote: beside its totals, or at the place that it wrote to.
fn found(recorded: &str, totals: &Path) -> PathBuf {
    let recorded = stores::argument(recorded.as_ref());
    let beside = recorded.file_name().map(|name| totals.with_file_name(name));
    beside
        .filter(|beside| existing::exists(beside))
        .unwrap_or(recorded)
}

/// The rows of a Parquet or Arrow file, as lines of JSON.
fn rows_as_lines(path: &Path) -> io::Result<Box<dyn BufRead + Send>> {
    let file = Source::of_file(path).row_file();
    match file {
        Some(file) => columns::open(&file, Arc::new(|_| ())),
        None if RowFormat::IS_BUILT => existing::open(path).and(Err(io::Error::other("it has no rows"))),
        None => Err(io::Error::other(NOT_BUILT)),
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
