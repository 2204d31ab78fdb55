//! Opens the files of a run, with advice if one cannot be opened.

use std::io;
use std::path::Path;

use super::output::{Codec, ExistingFile, OpenSettings, PartialFile};
use crate::columns::RowFormat;
use crate::files;
use crate::pipeline::paths::streams::is_stream;
use crate::pipeline::paths::targets::DataFile;
use crate::pipeline::{OutputFiles, RunError};
use crate::stores;

/// Opens a data file; folders made for it are as open as that of its source.
pub fn data_file(
    targets: &OutputFiles,
    target: &DataFile,
    source: Option<&Path>,
    length: u64,
    leftover: ExistingFile,
) -> Result<PartialFile, RunError> {
    let path = targets.partial(&target.path);
    files::create_folders_of(&path, source).map_err(|error| RunError::output(&target.path, &error))?;
    let opening = OpenSettings {
        access: files::access_at(&target.path, target.access),
        leftover,
    };
    let file = partial(&path, target.codec, length, opening)?;
    // Lines that become rows at the end are not what is uploaded.
    if stores::is_url(&target.path) && RowFormat::of_name(&target.path).is_none() {
        return file
            .uploaded_to(&target.path)
            .map_err(|error| RunError::output(&target.path, &error));
    }
    Ok(file)
}

/// Opens a side file, or the stream that is named in its place.
pub fn side_file(
    targets: &OutputFiles,
    path: &Path,
    length: u64,
    leftover: ExistingFile,
) -> Result<PartialFile, RunError> {
    if is_stream(path) {
        return PartialFile::stream(path).map_err(|error| RunError::output(path, &error));
    }
    let partial_path = targets.partial(path);
    files::create_folders_of(&partial_path, None).map_err(|error| RunError::output(path, &error))?;
    let file = partial(
        &partial_path,
        Codec::Plain,
        length,
        targets.opening(path, leftover),
    )?;
    if leftover == ExistingFile::Refuse {
        // The run that held the half-written file may just have given it this name.
        targets.refuse_existing_named().inspect_err(|_| {
            let _ = std::fs::remove_file(file.path());
        })?;
    }
    Ok(file)
}

/// Opens the rejects.
pub fn rejects(targets: &OutputFiles, length: u64, leftover: ExistingFile) -> Result<PartialFile, RunError> {
    side_file(targets, &targets.rejects(), length, leftover).map_err(|error| match error {
        RunError::CannotGoOn { message, .. } if targets.to_stdout => RunError::CannotGoOn {
            message,
            help: "name a place for records that are rejected with --rejects FILE".to_owned(),
        },
        error => error,
    })
}

fn partial(
    partial: &Path,
    codec: Codec,
    length: u64,
    opening: OpenSettings,
) -> Result<PartialFile, RunError> {
    PartialFile::open(partial, codec, length, opening).map_err(|error| {
        if error.kind() == io::ErrorKind::InvalidData {
            RunError::usage(
                format!("cannot resume: {} is {error}", partial.display()),
                "start over with --force",
            )
        } else {
            RunError::output(partial, &error)
        }
    })
}
