//! The files of a run, and checks that they may be written.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::existing;
use super::file_names::{
    appended, ends_with_separator, has_no_data_extension, named, named_after, stem_of, without_data_extension,
};
use super::side_files::{METRICS, NamedFiles, REJECTS, SUMMARY, unique_rejects};
use super::urls;
use crate::columns::RowFormat;
use crate::files::{self, Access};
use crate::pipeline::read::data_names::split_data_extension;
use crate::pipeline::write::output::{ExistingFile, OpenSettings};
use crate::pipeline::{Codec, RunError, Source};
use crate::stores;

/// The ending of the folder for answers that are used again.
const CACHE: &str = ".cache";

/// The files of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFiles {
    /// The data file of each source, by index; the same for all if they are merged.
    pub data: Vec<DataFile>,
    /// `OUT` as named, without its data extension: the prefix of the names of side files.
    pub(super) stem: PathBuf,
    /// The same for metrics, totals, rejects and other reports, if these have a folder of their own.
    pub(super) report_stem: Option<PathBuf>,
    /// True if data goes to stdout.
    pub to_stdout: bool,
    /// The side files that have names of their own.
    pub named: NamedFiles,
    /// Permissions of files about all inputs.
    access: Access,
    /// The folder for files that are uploaded once they are whole.
    pub(super) state: PathBuf,
}

/// One data file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFile {
    /// Its final name; `-` for stdout.
    pub path: PathBuf,
    /// Its compression.
    pub codec: Codec,
    /// Its permissions if it is new.
    pub access: Access,
    /// True if this run writes it: another shard does if its source has no part in this one.
    pub is_written: bool,
}

impl OutputFiles {
    /// Chooses the output of each source. `codec` overrides the compression that names stand for.
    pub fn of(
        sources: &[Source],
        inputs: &[PathBuf],
        output: Option<&Path>,
        suffix: &str,
        codec: Option<Codec>,
    ) -> Result<Self, RunError> {
        let mut targets = Self::places(sources, inputs, output, suffix, codec)?;
        let accesses: Vec<Access> = sources.iter().map(Source::access).collect();
        targets.access = accesses.iter().copied().fold(Access::USUAL, Access::and);
        let merged = targets.merged();
        for (source, (target, access)) in sources.iter().zip(targets.data.iter_mut().zip(accesses)) {
            target.is_written = source.part.is_some();
            target.access = if merged { targets.access } else { access };
        }
        if targets.to_stdout {
            targets.named.rejects = Some(unique_rejects());
        }
        Ok(targets)
    }

    fn at(data: Vec<DataFile>, stem: PathBuf, to_stdout: bool) -> Self {
        Self {
            data,
            stem,
            report_stem: None,
            to_stdout,
            named: NamedFiles::default(),
            access: Access::USUAL,
            state: PathBuf::new(),
        }
    }

    fn places(
        sources: &[Source],
        inputs: &[PathBuf],
        output: Option<&Path>,
        suffix: &str,
        codec: Option<Codec>,
    ) -> Result<Self, RunError> {
        if output == Some(Path::new("-")) {
            let target = DataFile {
                path: PathBuf::from("-"),
                codec: codec.unwrap_or(Codec::Plain),
                access: Access::USUAL,
                is_written: true,
            };
            let stem = stdout_stem(sources);
            let data = vec![target; sources.len()];
            return Ok(Self::at(data, stem, true));
        }
        let single = sources.len() == 1 && inputs.iter().all(|input| !is_folder(input, sources));
        let target = |path: PathBuf| {
            // Files of rows have a compression of their own.
            let codec = codec.filter(|_| RowFormat::of_name(&path).is_none());
            let path = named_after(path, codec);
            let named = Codec::of_name(&path.to_string_lossy());
            DataFile {
                codec: codec.unwrap_or(named),
                path,
                access: Access::USUAL,
                is_written: true,
            }
        };
        let Some(output) = output else {
            return Self::beside(sources, inputs, suffix, &target);
        };
        urls::check_writable("-o", output)?;
        let is_directory = output.is_dir() || ends_with_separator(output) || has_no_data_extension(output);
        if single && !(output.is_dir() || ends_with_separator(output)) || !is_directory {
            // One file, or several merged into one.
            let stem = without_data_extension(output);
            let data = vec![target(output.to_owned()); sources.len()];
            return Ok(Self::at(data, stem, false));
        }
        let data: Vec<DataFile> = sources
            .iter()
            .map(|source| target(output.join(&source.relative)))
            .collect();
        distinct(&data)?;
        Ok(Self::at(data, named(output), false))
    }

    /// Without `-o`: `{stem}_compressed.jsonl` beside each input, `DIR_compressed` beside a directory.
    fn beside(
        sources: &[Source],
        inputs: &[PathBuf],
        suffix: &str,
        target: &dyn Fn(PathBuf) -> DataFile,
    ) -> Result<Self, RunError> {
        if sources.iter().any(Source::is_stdin) {
            return Err(RunError::usage(
                "stdin has no name to derive the output's name from",
                "name the output with -o OUT, or -o - for stdout",
            ));
        }
        if let Some(input) = inputs.iter().find(|input| stores::is_url(input)) {
            return Err(RunError::usage(
                format!("nothing is written beside {}", input.display()),
                "name the output with -o OUT: a file, or an s3://, gs:// or az:// URL",
            ));
        }
        match inputs {
            [input] if input.is_dir() => {
                let directory = appended(&named(input), suffix);
                let data = sources
                    .iter()
                    .map(|source| target(directory.join(&source.relative)))
                    .collect::<Vec<_>>();
                distinct(&data)?;
                Ok(Self::at(data, directory, false))
            }
            [input] => {
                let stem = appended(&without_data_extension(input), suffix);
                let name = input
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                let path = appended(&stem, split_data_extension(&name).1);
                Ok(Self::at(vec![target(path)], stem, false))
            }
            _ => Err(RunError::usage(
                "several inputs, and no output named",
                "name a directory with -o OUTDIR, or a file to merge them into with -o OUT.jsonl",
            )),
        }
    }

    /// The metrics; none where data goes to stdout and no file is named.
    pub fn metrics(&self) -> Option<PathBuf> {
        let beside = || self.beside_data(METRICS);
        self.named.metrics.clone().or_else(beside)
    }

    /// The totals; none where data goes to stdout and no file is named.
    pub fn summary(&self) -> Option<PathBuf> {
        let beside = || self.beside_data(SUMMARY);
        self.named.summary.clone().or_else(beside)
    }

    /// The rejects. Where data goes to stdout and no file is named, the name is one that no other run has.
    pub fn rejects(&self) -> PathBuf {
        let beside = || appended(self.side_stem(), REJECTS);
        self.named.rejects.clone().unwrap_or_else(beside)
    }

    fn beside_data(&self, ending: &str) -> Option<PathBuf> {
        (!self.to_stdout).then(|| appended(self.side_stem(), ending))
    }

    fn side_stem(&self) -> &Path {
        self.report_stem.as_ref().unwrap_or(&self.stem)
    }

    /// The settings for opening a file about all inputs, the rejects included.
    pub fn opening(&self, path: &Path, leftover: ExistingFile) -> OpenSettings {
        let access = if *path == self.rejects() {
            Access::Private
        } else {
            files::access_at(path, self.access)
        };
        OpenSettings { access, leftover }
    }

    /// The file of requests that are still to be sent.
    pub fn requests(&self) -> PathBuf {
        appended(&self.local(self.side_stem()), ".missing.jsonl")
    }

    /// The folder of a run through a Batch API.
    pub fn batch_folder(&self) -> PathBuf {
        appended(&self.local(self.side_stem()), ".batch")
    }

    /// The checkpoint of a run under way.
    pub fn checkpoint(&self) -> PathBuf {
        appended(&self.local(&self.stem), ".checkpoint")
    }

    /// The folder for answers that may be used again; none where data goes to stdout.
    pub fn cache(&self) -> Option<PathBuf> {
        self.beside_data(CACHE).map(|path| self.local(&path))
    }

    /// The data files, each once.
    pub fn data_files(&self) -> Vec<&DataFile> {
        let mut seen = BTreeSet::new();
        self.data
            .iter()
            .filter(|target| !self.to_stdout && target.is_written && seen.insert(&target.path))
            .collect()
    }

    /// Returns true if several inputs go to one file.
    pub fn merged(&self) -> bool {
        (1..self.data.len()).any(|source| self.continues(source))
    }

    /// Returns true if a source goes to the same file as the one before it.
    pub fn continues(&self, source: usize) -> bool {
        let target = |source: usize| self.data.get(source).map(|target| &target.path);
        source > 0 && target(source).is_some() && target(source) == target(source - 1)
    }

    /// The files that a run leaves, each with the flag that gives it another name.
    pub(super) fn files_with_flags(&self) -> impl Iterator<Item = (&'static str, PathBuf)> {
        let data = self.data_files().into_iter().map(|target| target.path.clone());
        let rejects = [("--rejects", self.rejects())];
        let metrics = self.metrics().map(|path| ("--metrics", path));
        let summary = self.summary().map(|path| ("--summary", path));
        data.map(|path| ("-o", path))
            .chain(rejects)
            .chain(metrics)
            .chain(summary)
    }

    /// Refuses to replace a directory or a device by a file. A stream that a flag names is not replaced.
    pub fn refuse_special_files(&self) -> Result<(), RunError> {
        let special = |flag: &str, path: &Path| {
            let found = path.metadata();
            found.is_ok_and(|found| found.is_dir() || flag == "-o" && !found.is_file())
        };
        match self.files_with_flags().find(|(flag, path)| special(flag, path)) {
            None => Ok(()),
            Some((flag, path)) => Err(RunError::usage(
                format!("the output {} is there and no regular file", path.display()),
                format!("name another with {flag}"),
            )),
        }
    }

    /// Refuses to overwrite an input.
    pub fn refuse_inputs(&self, sources: &[Source]) -> Result<(), RunError> {
        let files = self.files_with_flags().map(|(_, path)| path);
        existing::refuse_inputs(files.chain([self.checkpoint()]), sources)
    }
}

/// The folder for answers that runs with the output `output` use by default.
pub fn cache_beside(output: &Path) -> PathBuf {
    appended(&stem_of(output), CACHE)
}

/// Returns true if an input is a folder, or a prefix of objects.
fn is_folder(input: &Path, sources: &[Source]) -> bool {
    input.is_dir() || stores::is_url(input) && sources.iter().all(|source| source.path != input)
}

fn distinct(data: &[DataFile]) -> Result<(), RunError> {
    let mut seen = BTreeSet::new();
    match data.iter().find(|target| !seen.insert(&target.path)) {
        None => Ok(()),
        Some(twice) => Err(RunError::usage(
            format!("two inputs would be written to {}", twice.path.display()),
            "give inputs of different names, or merge them into one file with -o OUT.jsonl",
        )),
    }
}

/// The prefix of the names of files beside a run to stdout: the input, with an ending that no run to a file uses, or
/// this program.
fn stdout_stem(sources: &[Source]) -> PathBuf {
    match sources {
        [source] if !source.is_stdin() => appended(&without_data_extension(&source.path), "_stdout"),
        _ => PathBuf::from("trajfit"),
    }
}
