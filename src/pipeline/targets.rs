//! Which files a run writes, and whether it may.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::RunError;
use super::output::Codec;
use super::source::{Source, split_data_extension};

/// The ending of a data file while it is written.
pub const PARTIAL: &str = ".partial";

/// The ending of the folder for answers that may be used again.
const CACHE: &str = ".cache";

/// The files of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Targets {
    /// The data file of each source, by index; the same for all where they are merged.
    pub data: Vec<Target>,
    /// `OUT` as named, without its data extension: what the names of side files start with.
    stem: PathBuf,
    /// Whether data goes to stdout.
    pub to_stdout: bool,
}

/// One data file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Its final name; `-` for stdout.
    pub path: PathBuf,
    /// How it is compressed.
    pub codec: Codec,
}

impl Targets {
    /// Decides where the output of each source goes. `codec` overrides what names say.
    pub fn of(
        sources: &[Source],
        inputs: &[PathBuf],
        output: Option<&Path>,
        suffix: &str,
        codec: Option<Codec>,
    ) -> Result<Self, RunError> {
        if output == Some(Path::new("-")) {
            let target = Target {
                path: PathBuf::from("-"),
                codec: codec.unwrap_or(Codec::Plain),
            };
            let stem = stdout_stem(sources);
            return Ok(Self {
                data: vec![target; sources.len()],
                stem,
                to_stdout: true,
            });
        }
        let single = sources.len() == 1 && inputs.iter().all(|input| !input.is_dir());
        let target = |path: PathBuf| {
            let path = named_after(path, codec);
            let named = Codec::of_name(&path.to_string_lossy());
            Target {
                codec: codec.unwrap_or(named),
                path,
            }
        };
        let Some(output) = output else {
            return Self::beside(sources, inputs, suffix, &target);
        };
        let is_directory = output.is_dir() || ends_with_separator(output) || has_no_data_extension(output);
        if single && !(output.is_dir() || ends_with_separator(output)) || !is_directory {
            // One file, or several merged into one.
            let stem = without_data_extension(output);
            return Ok(Self {
                data: vec![target(output.to_owned()); sources.len()],
                stem,
                to_stdout: false,
            });
        }
        let data: Vec<Target> = sources
            .iter()
            .map(|source| target(output.join(&source.relative)))
            .collect();
        distinct(&data)?;
        Ok(Self {
            data,
            stem: named(output),
            to_stdout: false,
        })
    }

    /// Without `-o`: `{stem}_compressed.jsonl` beside each input, `DIR_compressed` beside a directory.
    fn beside(
        sources: &[Source],
        inputs: &[PathBuf],
        suffix: &str,
        target: &dyn Fn(PathBuf) -> Target,
    ) -> Result<Self, RunError> {
        if sources.iter().any(Source::is_stdin) {
            return Err(RunError::usage(
                "stdin has no name to derive the output's name from",
                "name the output with -o OUT, or -o - for stdout",
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
                Ok(Self {
                    data,
                    stem: directory,
                    to_stdout: false,
                })
            }
            [input] => {
                let stem = appended(&without_data_extension(input), suffix);
                let name = input
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                let path = appended(&stem, split_data_extension(&name).1);
                Ok(Self {
                    data: vec![target(path)],
                    stem,
                    to_stdout: false,
                })
            }
            _ => Err(RunError::usage(
                "several inputs, and no output named",
                "name a directory with -o OUTDIR, or a file to merge them into with -o OUT.jsonl",
            )),
        }
    }

    /// The metrics.
    pub fn metrics(&self) -> PathBuf {
        appended(&self.stem, ".metrics.csv")
    }

    /// The totals.
    pub fn summary(&self) -> PathBuf {
        appended(&self.stem, ".summary.json")
    }

    /// The rejects.
    pub fn rejects(&self) -> PathBuf {
        appended(&self.stem, ".rejects.jsonl")
    }

    /// The requests that are still to be asked.
    pub fn requests(&self) -> PathBuf {
        appended(&self.stem, ".missing.jsonl")
    }

    /// The folder of a run through a Batch API.
    pub fn batch_folder(&self) -> PathBuf {
        appended(&self.stem, ".batch")
    }

    /// The checkpoint of a run under way.
    pub fn checkpoint(&self) -> PathBuf {
        appended(&self.stem, ".checkpoint")
    }

    /// The folder for answers that may be used again; none where data goes to stdout.
    pub fn cache(&self) -> Option<PathBuf> {
        (!self.to_stdout).then(|| appended(&self.stem, CACHE))
    }

    /// The data files, each once.
    pub fn data_files(&self) -> Vec<&Target> {
        let mut seen = BTreeSet::new();
        self.data
            .iter()
            .filter(|target| !self.to_stdout && seen.insert(&target.path))
            .collect()
    }

    /// Whether several inputs go to one file.
    pub fn merged(&self) -> bool {
        (1..self.data.len()).any(|source| self.continues(source))
    }

    /// Whether a source goes to the same file as the one before it.
    pub fn continues(&self, source: usize) -> bool {
        let target = |source: usize| self.data.get(source).map(|target| &target.path);
        source > 0 && target(source).is_some() && target(source) == target(source - 1)
    }

    /// Refuses to put a file in the place of a directory or a device.
    pub fn refuse_special_files(&self) -> Result<(), RunError> {
        let special = |path: &Path| path.metadata().is_ok_and(|metadata| !metadata.is_file());
        match self.data_files().into_iter().find(|target| special(&target.path)) {
            None => Ok(()),
            Some(target) => Err(RunError::usage(
                format!(
                    "the output {} is there and no regular file",
                    target.path.display()
                ),
                "name another with -o, or write to standard output with -o -",
            )),
        }
    }

    /// Refuses to overwrite an input.
    pub fn refuse_inputs(&self, sources: &[Source]) -> Result<(), RunError> {
        let data = self.data_files().into_iter().map(|target| target.path.clone());
        let beside = [self.metrics(), self.summary(), self.rejects(), self.checkpoint()];
        refuse_inputs(data.chain(beside), sources)
    }
}

/// Refuses to write files that are inputs.
pub fn refuse_inputs(files: impl Iterator<Item = PathBuf>, sources: &[Source]) -> Result<(), RunError> {
    let inputs: BTreeSet<FileId> = sources
        .iter()
        .filter_map(|source| file_id(&source.path))
        .collect();
    for file in files.flat_map(|file| [appended(&file, PARTIAL), file]) {
        if file_id(&file).is_some_and(|file| inputs.contains(&file)) {
            return Err(RunError::usage(
                format!("the output {} is an input", file.display()),
                "write to another place with -o; inputs are never changed",
            ));
        }
    }
    Ok(())
}

/// What tells one file from another, whatever it is called.
#[cfg(unix)]
type FileId = (u64, u64);

#[cfg(unix)]
fn file_id(path: &Path) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    let metadata = path.metadata().ok()?;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
type FileId = PathBuf;

#[cfg(not(unix))]
fn file_id(path: &Path) -> Option<FileId> {
    path.canonicalize().ok()
}

/// The folder for answers that runs with the output `output` use where no other is named.
pub fn cache_beside(output: &Path) -> PathBuf {
    let is_directory = output.is_dir() || ends_with_separator(output);
    let stem = if is_directory {
        named(output)
    } else {
        without_data_extension(output)
    };
    appended(&stem, CACHE)
}

/// A path with `ending` appended to its last component.
pub fn appended(path: &Path, ending: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(ending);
    PathBuf::from(path)
}

/// The final name of compressed data ends as its compression does.
fn named_after(path: PathBuf, codec: Option<Codec>) -> PathBuf {
    let named = Codec::of_name(&path.to_string_lossy());
    match codec {
        None => path,
        Some(codec) if codec == named => path,
        Some(codec) => {
            let plain = if named == Codec::Plain {
                path
            } else {
                path.with_extension("")
            };
            match codec {
                Codec::Plain => plain,
                Codec::Gzip => appended(&plain, ".gz"),
                Codec::Zstd => appended(&plain, ".zst"),
            }
        }
    }
}

fn distinct(data: &[Target]) -> Result<(), RunError> {
    let mut seen = BTreeSet::new();
    match data.iter().find(|target| !seen.insert(&target.path)) {
        None => Ok(()),
        Some(twice) => Err(RunError::usage(
            format!("two inputs would be written to {}", twice.path.display()),
            "give inputs of different names, or merge them into one file with -o OUT.jsonl",
        )),
    }
}

/// Where the rejects of a run to stdout go: beside the input, by a name that no run to a file uses, or into the current
/// directory.
fn stdout_stem(sources: &[Source]) -> PathBuf {
    match sources {
        [source] if !source.is_stdin() => appended(&without_data_extension(&source.path), "_stdout"),
        _ => PathBuf::from("trajfit"),
    }
}

fn ends_with_separator(path: &Path) -> bool {
    path.to_string_lossy().ends_with(std::path::MAIN_SEPARATOR)
}

/// A directory by a name that something can be appended to: not `.` or `..`.
fn named(directory: &Path) -> PathBuf {
    let full = directory
        .file_name()
        .is_none()
        .then(|| directory.canonicalize().ok())
        .flatten();
    full.unwrap_or_else(|| strip_separator(directory))
}

fn strip_separator(path: &Path) -> PathBuf {
    path.components().collect()
}

fn has_no_data_extension(path: &Path) -> bool {
    split_data_extension(&path.file_name().unwrap_or_default().to_string_lossy())
        .1
        .is_empty()
}

fn without_data_extension(path: &Path) -> PathBuf {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    path.with_file_name(split_data_extension(&name).0)
}
