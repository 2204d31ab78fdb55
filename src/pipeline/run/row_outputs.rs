//! Outputs that are Parquet or Arrow: made from their lines, and metrics from their CSV, once all of them are written.
//!
//! A run writes and resumes lines whatever its output is called. At its end the lines are replaced by rows, under the same
//! temporary name: a run that was killed here makes them again, or finds them made.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::job::Job;
use crate::columns::{self, NOT_BUILT, PlacedLine, RowFile, RowFormat};
use crate::files;
use crate::metrics::{csv_header, read_rows_written, read_written_rows, row_json, typed_row};
use crate::pipeline::paths::file_names::appended;
use crate::pipeline::paths::streams::is_stream;
use crate::pipeline::paths::targets::DataFile;
use crate::pipeline::write::disk;
use crate::pipeline::write::output::{ExistingFile, OpenSettings, PartialFile};
use crate::pipeline::{Codec, Records, RunError, Source};
use crate::stores;

/// The ending of a file of rows while it is made from lines.
const ROWS: &str = ".rows";

/// Refuses outputs of rows that could not be made at the end of the run.
pub fn refuse(job: &Job) -> Result<(), RunError> {
    let outputs = if job.dry_run {
        Vec::new()
    } else {
        outputs_of_rows(job)
    };
    let metrics = job.targets.metrics();
    let named = metrics
        .as_deref()
        .filter(|path| RowFormat::of_name(path).is_some());
    let data = outputs.first().map(|output| output.target.path.as_path());
    let Some(first) = data.or(named).filter(|path| !is_stream(path)) else {
        return Ok(());
    };
    if !RowFormat::IS_BUILT {
        return Err(RunError::usage(
            format!("cannot write {}: it is to be Parquet or Arrow", first.display()),
            NOT_BUILT,
        ));
    }
    if let (Some(stream), Some(path)) = (metrics.filter(|path| is_stream(path)), data) {
        return Err(RunError::usage(
            format!(
                "cannot write {}: its rows are found by the metrics, and these go to {}",
                path.display(),
                stream.display()
            ),
            "name a file with --metrics",
        ));
    }
    for output in outputs.iter().filter(|output| output.sources.len() > 1) {
        let files: Vec<RowFile> = output.row_files(job).into_iter().flatten().collect();
        columns::common_schema(&files).map_err(|error| {
            RunError::usage(
                format!("cannot write {}: {error}", output.target.path.display()),
                "write each input to a file of its own with -o OUTDIR/",
            )
        })?;
    }
    Ok(())
}

/// A data file that is to be Parquet or Arrow.
struct RowOutput<'j> {
    target: &'j DataFile,
    /// The indexes of the sources that are written to it.
    sources: Range<usize>,
}

/// The data files of this run that are to be Parquet or Arrow, in the order of their sources.
fn outputs_of_rows(job: &Job) -> Vec<RowOutput<'_>> {
    let targets = &job.targets;
    let mut outputs: Vec<RowOutput<'_>> = Vec::new();
    for (source, target) in targets.data.iter().enumerate().filter(|_| !targets.to_stdout) {
        match outputs.last_mut() {
            Some(last) if last.target.path == target.path => last.sources.end = source + 1,
            _ => outputs.push(RowOutput {
                target,
                sources: source..source + 1,
            }),
        }
    }
    // Merged sources of which another shard takes all have a target that is not written, and is the same file.
    outputs.retain(|output| {
        let targets = targets.data.get(output.sources.clone()).unwrap_or_default();
        RowFormat::of_name(&output.target.path).is_some() && targets.iter().any(|target| target.is_written)
    });
    outputs
}

impl RowOutput<'_> {
    /// Its sources, those that have rows and of which records are taken.
    fn row_files(&self, job: &Job) -> Vec<Option<RowFile>> {
        let sources = job.sources.get(self.sources.clone()).unwrap_or_default();
        let row_file = |source: &Source| source.part.as_ref().and_then(|_| source.row_file());
        sources.iter().map(row_file).collect()
    }
}

/// Replaces the lines of data files that are to be Parquet or Arrow by rows.
pub fn convert_data(job: &Job) -> Result<(), RunError> {
    if job.dry_run {
        return Ok(());
    }
    let outputs = outputs_of_rows(job);
    let Some(metrics) = job.targets.metrics().filter(|_| !outputs.is_empty()) else {
        return Ok(());
    };
    let names = job.sources.iter().map(Source::name).zip(0..);
    let mut rows = WrittenRows {
        metrics: job.targets.partial(&metrics),
        next: csv_header(job.columns).len() as u64,
        csv_safe: job.csv_safe,
        sources: names.collect(),
    };
    for output in &outputs {
        convert_file(job, output, &mut rows).map_err(|error| unconverted(&output.target.path, &error))?;
    }
    Ok(())
}

fn convert_file(job: &Job, output: &RowOutput<'_>, rows: &mut WrittenRows) -> io::Result<()> {
    let target = output.target;
    let path = job.targets.partial(&target.path);
    rows.skip_to(&output.sources)?;
    if Source::of_file(&path).row_file().is_some() {
        return Ok(());
    }
    let sources = output.row_files(job);
    let kinds = || sources.iter().flatten().map(|file| file.kind);
    let kind = match RowFormat::of_name(&target.path) {
        // Arrow streams stay such: readers of one form do not read the other.
        Some(RowFormat::ArrowFile)
            if kinds().count() > 0 && kinds().all(|kind| kind == RowFormat::ArrowStream) =>
        {
            RowFormat::ArrowStream
        }
        Some(kind) => kind,
        None => return Ok(()),
    };
    let opening = OpenSettings {
        access: files::access_at(&target.path, target.access),
        leftover: ExistingFile::Take,
    };
    let made = appended(&job.targets.local(&target.path), ROWS);
    write_rows(&made, opening, |file| {
        let lines = || {
            Ok(OutputLines {
                records: Records::of(&[Source::of_file(&path)], u64::MAX),
                rows: rows.of(&output.sources)?,
            })
        };
        columns::convert(lines, &sources, None, file, kind)
    })?;
    std::fs::rename(made, path)
}

/// Makes a file of rows, which is on the disk when this returns.
fn write_rows(
    path: &Path,
    opening: OpenSettings,
    write: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = PartialFile::open(path, Codec::Plain, 0, opening)?;
    let written = file.as_file().and_then(write).and_then(|()| file.sync());
    if written.is_err() {
        file.remove();
    }
    written
}

fn unconverted(path: &Path, error: &io::Error) -> RunError {
    if error.kind() == io::ErrorKind::InvalidData {
        return RunError::CannotGoOn {
            message: format!("cannot make {} from its lines: {error}", path.display()),
            help: "start over with --force, with an output that ends in .jsonl".to_owned(),
        };
    }
    RunError::half_way("write", path, error)
}

/// Returns true for metrics that are to be Parquet or Arrow.
pub fn is_metrics_of_rows(job: &Job, path: &Path) -> bool {
    job.targets.metrics().as_deref() == Some(path) && RowFormat::of_name(path).is_some()
}

/// Makes Parquet or Arrow of the metrics, gives them their name, and removes their CSV.
pub fn convert_metrics(job: &Job) -> Result<(), RunError> {
    let Some(path) = job.targets.metrics() else {
        return Ok(());
    };
    let Some(kind) = RowFormat::of_name(&path) else {
        return Ok(());
    };
    let csv = job.targets.partial(&path);
    let made = appended(&job.targets.local(&path), ROWS);
    let example = row_json(&typed_row(job.columns), job.columns);
    let opening = job.targets.opening(&path, ExistingFile::Take);
    let written = write_rows(&made, opening, |file| {
        let lines = || {
            let rows = read_rows_written(File::open(&csv)?, job.columns, job.csv_safe);
            Ok(rows.map(|row| {
                let line = row_json(&row.map_err(io::Error::other)?, job.columns).into_bytes();
                Ok(PlacedLine {
                    line,
                    ..PlacedLine::default()
                })
            }))
        };
        columns::convert(lines, &[None], Some(example.as_bytes()), file, kind)
    });
    // The CSV is what a resumed run reads: it goes last.
    written
        .and_then(|()| name(&made, &path))
        .and_then(|()| disk::remove(&csv).map_err(|(_, error)| error))
        .map_err(|error| RunError::half_way("write", &path, &error))
}

/// Gives a file its final name, or makes an object of it.
fn name(made: &Path, path: &Path) -> io::Result<()> {
    if stores::is_url(path) {
        return stores::publish(path, made);
    }
    std::fs::rename(made, path)?;
    disk::sync_folder_of(path)
}

/// The rows of the metrics about written records, from file to file.
struct WrittenRows {
    metrics: PathBuf,
    /// Bytes of the metrics before the first row of the data file at hand.
    next: u64,
    csv_safe: bool,
    /// The indexes of sources by their names.
    sources: HashMap<String, usize>,
}

/// A record that was written: the index of its source, and its line there.
type RowPosition = (usize, u64);

impl WrittenRows {
    /// The places of the records of these sources, which are the next ones; sources are counted from the first of them.
    fn of(&self, sources: &Range<usize>) -> io::Result<impl Iterator<Item = io::Result<RowPosition>>> {
        let sources = sources.clone();
        let is_here = {
            let sources = sources.clone();
            move |row: &io::Result<(usize, u64, u64)>| {
                row.as_ref().map_or(true, |(source, ..)| sources.contains(source))
            }
        };
        let rows = self.rows()?.take_while(is_here);
        Ok(rows.map(move |row| row.map(|(source, line, _)| (source - sources.start, line))))
    }

    /// Goes on to the rows of these sources, or of later ones.
    fn skip_to(&mut self, sources: &Range<usize>) -> io::Result<()> {
        let mut end = std::fs::metadata(&self.metrics)?.len();
        for row in self.rows()? {
            let (source, _, offset) = row?;
            if source >= sources.start {
                end = offset;
                break;
            }
        }
        self.next = end;
        Ok(())
    }

    fn rows(&self) -> io::Result<impl Iterator<Item = io::Result<(usize, u64, u64)>>> {
        let mut file = File::open(&self.metrics)?;
        file.seek(SeekFrom::Start(self.next))?;
        let rows = read_written_rows(BufReader::new(file), self.next, self.csv_safe);
        Ok(rows.map(|row| {
            let row = row.map_err(io::Error::other)?;
            let source = self.sources.get(&row.source).copied();
            let source = source.ok_or_else(|| io::Error::other("the metrics name another input"))?;
            Ok((source, row.line, row.offset))
        }))
    }
}

/// The lines of a data file, each with the place of its record.
struct OutputLines<R> {
    records: Records,
    rows: R,
}

impl<R: Iterator<Item = io::Result<RowPosition>>> Iterator for OutputLines<R> {
    type Item = io::Result<PlacedLine>;

    fn next(&mut self) -> Option<Self::Item> {
        let record = self.records.next_record().map_err(io::Error::other).transpose();
        match (record, self.rows.next()) {
            (None, None) => None,
            (Some(Ok(record)), Some(Ok((source, line)))) => Some(Ok(PlacedLine {
                source,
                row: line.saturating_sub(1),
                line: record.bytes,
            })),
            (Some(Err(error)), _) | (_, Some(Err(error))) => Some(Err(error)),
            _ => Some(Err(io::Error::other("the metrics are not those of the data"))),
        }
    }
}
