//! The inputs of a run: the files and objects that paths, folders and prefixes stand for.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::batch::WHOLE;
use super::data_names::is_data;
use super::foreign::{self, Foreign};
use super::source::Source;
use crate::pipeline::RunError;
use crate::standard_streams::StandardStream;
use crate::stores;

/// The inputs that the paths given stand for: directories become the data files in them, in the order of their names.
pub fn sources(paths: &[PathBuf]) -> Result<Vec<Source>, RunError> {
    let mut sources: Vec<Source> = Vec::new();
    // The canonical path of each earlier file, with its input.
    let mut taken: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    for path in paths {
        let first = sources.len();
        let objects = if stores::is_url(path) {
            Some(stores::found(path).map_err(|error| RunError::input(path, &error))?)
        } else {
            None
        };
        let is_object = matches!(objects, Some(None));
        if let Some(objects) = objects.flatten() {
            let data = objects.into_iter().filter(|object| is_data(object));
            sources.extend(data.map(|object| Source::below(path, object)));
            if sources.len() == first {
                return Err(no_data(&format!("below {}", path.display())));
            }
        } else if path.is_dir() {
            let mut files = Vec::new();
            data_files(path, &mut files, &mut BTreeSet::new())?;
            files.sort();
            sources.extend(files.into_iter().map(|file| Source::below(path, file)));
            if sources.len() == first {
                return Err(no_data(&format!("in the directory {}", path.display())));
            }
        } else {
            let relative = path.file_name().map_or_else(|| path.clone(), PathBuf::from);
            let source = Source {
                path: path.clone(),
                relative,
                part: Some(WHOLE),
            };
            let standard = if source.is_stdin() {
                Some(StandardStream::Input)
            } else {
                StandardStream::at(path)
            };
            standard
                .map_or(Ok(()), StandardStream::refuse_closed)
                .map_err(|error| RunError::input(path, &error))?;
            // A pipe that is opened and closed again would be broken for its writer.
            if !source.is_stdin() && !is_object && path.metadata().map_or(true, |metadata| metadata.is_file())
            {
                File::open(path).map_err(|error| RunError::input(path, &error))?;
            }
            sources.push(source);
        }
        // Objects that a list named are looked at when their turn comes: there may be thousands.
        let is_here = |source: &&Source| is_object || source.path.is_file();
        for source in sources.iter().skip(first).filter(is_here) {
            // A file that cannot be opened or read is reported when its turn comes.
            let head = source
                .open(&Arc::default())
                .and_then(|mut reader| foreign::head(&mut reader));
            if let Some(foreign) = head.ok().as_deref().and_then(Foreign::recognized) {
                return Err(foreign.error(&source.name()));
            }
        }
        for source in sources.iter().skip(first).filter(|source| !source.is_stdin()) {
            let Some(place) = place(&source.path) else {
                continue;
            };
            if let Some(earlier) = taken.get(&place) {
                return Err(RunError::usage(
                    format!(
                        "{} is given twice, by {} and by {}",
                        source.path.display(),
                        earlier.display(),
                        path.display()
                    ),
                    "name every input once: a directory stands for all data files in it",
                ));
            }
        }
        let new = sources.iter().skip(first).filter(|source| !source.is_stdin());
        taken.extend(new.filter_map(|source| Some((place(&source.path)?, path.clone()))));
    }
    Ok(sources)
}

/// The identity of an input, whatever it is called.
fn place(path: &Path) -> Option<PathBuf> {
    if stores::is_url(path) {
        return Some(path.to_owned());
    }
    path.canonicalize().ok()
}

fn no_data(place: &str) -> RunError {
    RunError::usage(
        format!("no data {place}"),
        "data files end in .jsonl, .ndjson or .json, or in these with .gz or .zst, or in .parquet or .arrow",
    )
}

/// Adds the data files below a directory to `files`. Links may lead to a directory twice, or in a circle: each is
/// entered once. An entry that cannot be inspected is an error that names it: it may hold data.
fn data_files(
    directory: &Path,
    files: &mut Vec<PathBuf>,
    entered: &mut BTreeSet<PathBuf>,
) -> Result<(), RunError> {
    let unreadable = |error: io::Error| RunError::input(directory, &error);
    if !entered.insert(directory.canonicalize().map_err(unreadable)?) {
        return Ok(());
    }
    let entries = std::fs::read_dir(directory).map_err(unreadable)?;
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<_>>()
        .map_err(unreadable)?;
    paths.sort();
    for path in paths {
        if is_directory(&path)? {
            if !is_batch_folder(&path) {
                data_files(&path, files, entered)?;
            }
        } else if is_data(&path) {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns true if a path leads to a directory; a link to nothing, or to itself, does not.
fn is_directory(path: &Path) -> Result<bool, RunError> {
    match path.metadata() {
        Ok(metadata) => Ok(metadata.is_dir()),
        Err(error) if error.kind() != ErrorKind::PermissionDenied && path.is_symlink() => Ok(false),
        Err(error) => Err(RunError::input(path, &error)),
    }
}

/// Returns true if a run through a Batch API keeps its requests and answers there.
fn is_batch_folder(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "batch") && path.join("answers").is_dir()
}
