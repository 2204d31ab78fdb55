//! The files that a merge writes, each joined from files of the runs.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::finished_run::FinishedRun;
use super::whole;
use crate::columns::{self, RowFile, RowFormat};
use crate::files::{self, Access};
use crate::metrics::{Columns, csv_header};
use crate::pipeline::paths::existing;
use crate::pipeline::paths::file_names::PARTIAL;
use crate::pipeline::paths::file_names::{
    appended, ends_with_separator, has_no_data_extension, stem_of, without_data_extension,
};
use crate::pipeline::paths::remote;
use crate::pipeline::paths::side_files::{METRICS, REJECTS, SUMMARY};
use crate::pipeline::write::disk;
use crate::pipeline::write::output::{ExistingFile, OpenSettings, PartialFile};
use crate::pipeline::{Codec, RunError, Source};
use crate::stores;

const COPY_BUFFER: usize = 256 * 1024;

const REPORTS_ONLY: &str = "merge metrics, totals and rejects alone with --reports-only";

/// The files to write.
pub struct JoinedFiles {
    metrics: JoinedFile,
    summary: PathBuf,
    rejects: JoinedFile,
    data: Vec<JoinedFile>,
    /// The folder for files that become objects.
    state: PathBuf,
}

/// A file, and those that it is joined from, in order.
struct JoinedFile {
    path: PathBuf,
    from: Vec<PathBuf>,
    access: Access,
}

impl JoinedFile {
    fn new(path: PathBuf, from: Vec<PathBuf>) -> Self {
        let accesses = from.iter().map(|path| files::access_like(path));
        let access = accesses.fold(Access::USUAL, Access::and);
        Self { path, from, access }
    }
}

impl JoinedFiles {
    /// Chooses the files of an output, with or without its data. Unless `force` is set, none of them may exist.
    pub fn of(
        output: &Path,
        runs: &[FinishedRun],
        reports_only: bool,
        force: bool,
        state: &Path,
    ) -> Result<Self, RunError> {
        let stem = stem_of(output);
        let rejects = JoinedFile {
            access: Access::Private,
            ..JoinedFile::new(
                appended(&stem, REJECTS),
                runs.iter().filter_map(FinishedRun::rejects).collect(),
            )
        };
        let joined = Self {
            metrics: metrics(&stem, runs)?,
            summary: appended(&stem, SUMMARY),
            rejects,
            data: if reports_only || runs.iter().any(|run| run.totals.dry_run) {
                Vec::new()
            } else {
                data(output, runs)?
            },
            state: state.to_owned(),
        };
        joined.refuse_inputs(runs)?;
        remote::prepare(joined.paths().map(|path| ("-o", path)), &joined.state)?;
        let paths: Vec<&Path> = joined.paths().collect();
        let existing = existing::first_taken(&paths)?.map(Path::to_owned);
        match existing.filter(|_| !force) {
            None => Ok(joined),
            Some(existing) => Err(RunError::usage(
                format!("the output {} exists already", existing.display()),
                "overwrite it with --force, or name another with -o",
            )),
        }
    }

    /// The names of the data files.
    pub fn data_files(&self) -> Vec<String> {
        let paths = self.data.iter().map(|file| file.path.display().to_string());
        paths.collect()
    }

    /// The name of the metrics.
    pub fn metrics(&self) -> &Path {
        &self.metrics.path
    }

    fn paths(&self) -> impl Iterator<Item = &Path> {
        let side = [&self.metrics.path, &self.summary, &self.rejects.path];
        let data = self.data.iter().map(|file| &file.path);
        side.into_iter().chain(data).map(PathBuf::as_path)
    }

    fn refuse_inputs(&self, runs: &[FinishedRun]) -> Result<(), RunError> {
        let joined = [&self.metrics, &self.rejects].into_iter().chain(&self.data);
        let inputs = joined.flat_map(|file| file.from.iter().cloned());
        let inputs: Vec<Source> = inputs
            .chain(runs.iter().map(|run| run.summary.clone()))
            .map(|path| Source::of_file(&path))
            .collect();
        existing::refuse_inputs(self.paths().map(Path::to_owned), &inputs)
    }

    /// Writes the files, and gives them their names once all are on the disk, the data last. Returns the names.
    pub fn write(&self, columns: Columns, summary: &[u8], force: bool) -> Result<Vec<PathBuf>, RunError> {
        let leftover = if force {
            ExistingFile::Take
        } else {
            ExistingFile::Refuse
        };
        let mut written = WrittenFiles {
            files: Vec::new(),
            leftover,
            state: &self.state,
        };
        let ended = self.write_all(columns, summary, &mut written);
        if ended.is_err() {
            written.files.into_iter().for_each(PartialFile::remove);
            remote::tidy(self.paths(), &self.state);
            return ended.map(|()| Vec::new());
        }
        if self.rejects.from.is_empty() {
            let path = &self.rejects.path;
            existing::remove(path).map_err(|error| RunError::half_way("remove", path, &error))?;
        }
        let names: Vec<PathBuf> = self
            .paths()
            .filter(|path| *path != self.rejects.path || !self.rejects.from.is_empty())
            .map(Path::to_owned)
            .collect();
        let partial = |path: &Path| appended(&remote::local(path, &self.state), PARTIAL);
        disk::name_files(names.iter().map(PathBuf::as_path), partial).map_err(fault)?;
        remote::tidy(self.paths(), &self.state);
        Ok(names)
    }

    fn write_all(
        &self,
        columns: Columns,
        summary: &[u8],
        written: &mut WrittenFiles<'_>,
    ) -> Result<(), RunError> {
        let file = written.open(&self.metrics.path, self.metrics.access)?;
        if let Some(kind) = RowFormat::of_name(&self.metrics.path) {
            join_rows(file, &self.metrics.from, kind)?;
        } else {
            let header = csv_header(columns);
            push(file, &header)?;
            for from in &self.metrics.from {
                append(file, from, header.len() as u64)?;
            }
        }
        let file = written.open(&self.summary, self.metrics.access)?;
        push(file, summary)?;
        let rejects = Some(&self.rejects).filter(|rejects| !rejects.from.is_empty());
        for joined in rejects.into_iter().chain(&self.data) {
            let file = written.open(&joined.path, joined.access)?;
            if let Some(kind) = RowFormat::of_name(&joined.path) {
                join_rows(file, &joined.from, kind)?;
                continue;
            }
            for from in &joined.from {
                append(file, from, 0)?;
            }
        }
        for file in &mut written.files {
            let ended = file.end().and_then(|()| file.sync());
            ended.map_err(|error| file.fault(&error))?;
        }
        Ok(())
    }
}

/// The files written so far, under their temporary names.
struct WrittenFiles<'s> {
    files: Vec<PartialFile>,
    leftover: ExistingFile,
    state: &'s Path,
}

impl WrittenFiles<'_> {
    fn open(&mut self, path: &Path, access: Access) -> Result<&mut PartialFile, RunError> {
        // Files that were joined in full keep no memory while others are.
        if let Some(last) = self.files.last_mut() {
            let ended = last.end();
            ended.map_err(|error| last.fault(&error))?;
        }
        let partial = appended(&remote::local(path, self.state), PARTIAL);
        files::create_folders_of(&partial, None).map_err(|error| RunError::output(path, &error))?;
        let opening = OpenSettings {
            access: files::access_at(path, access),
            leftover: self.leftover,
        };
        let mut file = PartialFile::open(&partial, Codec::Plain, 0, opening)
            .map_err(|error| RunError::output(&partial, &error))?;
        // Rows are written at their places, and not one after another.
        if stores::is_url(path) && RowFormat::of_name(path).is_none() {
            file = file
                .uploaded_to(path)
                .map_err(|error| RunError::output(path, &error))?;
        }
        self.files.push(file);
        self.files
            .last_mut()
            .ok_or_else(|| RunError::cannot_go_on("no file is open"))
    }
}

fn push(file: &mut PartialFile, bytes: &[u8]) -> Result<(), RunError> {
    let pushed = file.push(bytes);
    pushed.map_err(|error| file.fault(&error))
}

/// Appends a file from `start` on. Frames of compressed files follow each other as they are.
fn append(file: &mut PartialFile, from: &Path, start: u64) -> Result<(), RunError> {
    let unreadable = |error: io::Error| RunError::half_way("read", from, &error);
    let mut source = existing::open(from).map_err(unreadable)?;
    io::copy(&mut source.by_ref().take(start), &mut io::sink()).map_err(unreadable)?;
    let mut buffer = vec![0; COPY_BUFFER];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => {
                push(file, buffer.get(..length).unwrap_or_default())?;
                file.send_on().map_err(|error| file.fault(&error))?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(unreadable(error)),
        }
    }
}

/// Writes the rows of all files.
fn join_rows(file: &PartialFile, from: &[PathBuf], kind: RowFormat) -> Result<(), RunError> {
    let files: Vec<RowFile> = from
        .iter()
        .filter_map(|path| Source::of_file(path).row_file())
        .collect();
    let joined = file.as_file().and_then(|file| columns::join(&files, file, kind));
    joined.map_err(|error| file.fault(&error))
}

fn fault((path, error): disk::DiskError) -> RunError {
    RunError::half_way("write", &path, &error)
}

/// The metrics, in the format that those of the runs have.
fn metrics(stem: &Path, runs: &[FinishedRun]) -> Result<JoinedFile, RunError> {
    let from: Vec<PathBuf> = runs.iter().map(FinishedRun::metrics).collect();
    let rows = from.iter().find(|path| RowFormat::of_name(path).is_some());
    let ending = rows.and_then(|path| path.extension());
    let path = match ending {
        Some(ending) => appended(stem, METRICS).with_extension(ending),
        None => appended(stem, METRICS),
    };
    if from
        .iter()
        .any(|from| RowFormat::of_name(from) != RowFormat::of_name(&path))
    {
        return Err(RunError::usage(
            "the metrics of the runs have different formats",
            "run some of them again with --metrics of one format: all CSV, all .parquet or all .arrow",
        ));
    }
    Ok(JoinedFile::new(path, from))
}

/// The data files, joined over the shards: one, or those of a directory by their names in it.
fn data(output: &Path, runs: &[FinishedRun]) -> Result<Vec<JoinedFile>, RunError> {
    if runs.iter().any(|run| run.shard.is_none()) {
        return Err(RunError::usage(
            "the data of runs over different inputs is not merged",
            format!("{REPORTS_ONLY}; cat joins JSON Lines"),
        ));
    }
    let mut joined: Vec<(PathBuf, Vec<PathBuf>)> = Vec::new();
    let mut known: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for run in runs {
        let mut own = Vec::new();
        for recorded in &run.totals.run.outputs {
            let (relative, path) = place(run, Path::new(recorded)).ok_or_else(|| elsewhere(run, recorded))?;
            if !existing::exists(&path) {
                return Err(elsewhere(run, recorded));
            }
            own.push(path.clone());
            let index = *known.entry(relative.clone()).or_insert(joined.len());
            match joined.get_mut(index) {
                Some((_, from)) => from.push(path),
                None => joined.push((relative, vec![path])),
            }
        }
        whole::check(run, &own)?;
    }
    let is_file = |relative: &Path| relative.as_os_str().is_empty();
    let is_directory = joined.iter().any(|(relative, _)| !is_file(relative));
    if is_directory
        && (joined.iter().any(|(relative, _)| is_file(relative)) || !has_no_data_extension(output))
    {
        return Err(RunError::usage(
            "the shards wrote directories, which are not merged into a file",
            "name a directory with -o OUTDIR/",
        ));
    }
    if !is_directory && (output.is_dir() || ends_with_separator(output)) {
        return Err(RunError::usage(
            "the shards wrote files, which are not merged into a directory",
            "name a file with -o",
        ));
    }
    let joined = joined.into_iter().map(|(relative, from)| {
        let path = if is_directory {
            output.join(relative)
        } else {
            output.to_owned()
        };
        refuse_other_format(&path, &from)?;
        whole::check_ends(&from)?;
        Ok(JoinedFile::new(path, from))
    });
    joined.collect()
}

/// The place of a data file in the output of its run, empty if that is one file, and its path, beside the metrics.
fn place(run: &FinishedRun, recorded: &Path) -> Option<(PathBuf, PathBuf)> {
    let name = run.stem.file_name()?;
    if without_data_extension(recorded).file_name() == Some(name) {
        let path = run.stem.with_file_name(recorded.file_name()?);
        return Some((PathBuf::new(), path));
    }
    let mut components = recorded.components();
    components.find(|component| component.as_os_str() == name)?;
    let relative = components.as_path();
    Some((relative.to_owned(), run.stem.join(relative)))
}

fn elsewhere(run: &FinishedRun, recorded: &str) -> RunError {
    RunError::usage(
        format!(
            "cannot merge {}: its data {recorded} is not beside it",
            run.metrics().display()
        ),
        format!("bring it there, or {REPORTS_ONLY}"),
    )
}

fn refuse_other_format(path: &Path, from: &[PathBuf]) -> Result<(), RunError> {
    let codec = |path: &Path| (Codec::of_name(&path.to_string_lossy()), RowFormat::of_name(path));
    match from.iter().find(|from| codec(from) != codec(path)) {
        None => Ok(()),
        Some(other) => Err(RunError::usage(
            format!(
                "cannot merge {} into {}: their format differs",
                other.display(),
                path.display()
            ),
            "give the output the ending that the shards have: .jsonl, .jsonl.gz, .jsonl.zst or .parquet",
        )),
    }
}
