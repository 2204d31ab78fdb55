//! Side files named by flags, and the checks that they can be written there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::existing::first_taken;
use super::file_names::appended;
use super::side_files::{METRICS, NamedFiles, REJECTS, SUMMARY};
use super::streams::{self, is_stream};
use super::targets::OutputFiles;
use crate::pipeline::RunError;

impl OutputFiles {
    /// The same data files, with side files of these names.
    #[must_use]
    pub fn with_named(mut self, named: NamedFiles) -> Self {
        let before = std::mem::take(&mut self.named);
        self.named = NamedFiles {
            metrics: named.metrics.or(before.metrics),
            summary: named.summary.or(before.summary),
            rejects: named.rejects.or(before.rejects),
        };
        self
    }

    /// The same data files, with all other files in a folder, under the names that they would have beside the data.
    #[must_use]
    pub fn with_reports_in(mut self, folder: &Path) -> Self {
        let stem = folder.join(self.stem.file_name().unwrap_or_default());
        if self.to_stdout {
            // Nothing else tells runs apart: as with named files, existing ones are not overwritten.
            self.named = NamedFiles {
                metrics: Some(appended(&stem, METRICS)),
                summary: Some(appended(&stem, SUMMARY)),
                rejects: Some(appended(&stem, REJECTS)),
            };
        } else {
            self.report_stem = Some(stem);
        }
        self
    }

    /// Returns true if a stopped run can be resumed: all that it wrote is in files.
    pub fn resumable(&self) -> bool {
        !self.to_stdout && self.named.all().all(|(_, path)| !is_stream(path))
    }

    /// Refuses names of side files that cannot be written as asked.
    pub fn refuse_named_files(&self) -> Result<(), RunError> {
        let named = &self.named;
        let data = self.data_files().into_iter().map(|target| target.path.clone());
        let unnamed = [
            self.metrics().filter(|_| named.metrics.is_none()),
            self.summary().filter(|_| named.summary.is_none()),
            named.rejects.is_none().then(|| self.rejects()),
            Some(self.checkpoint()),
            Some(self.requests()),
        ];
        let mut taken: BTreeSet<PathBuf> = data.chain(unnamed.into_iter().flatten()).map(place).collect();
        let mut open: Vec<&Path> = Vec::new();
        for (flag, path) in named.all() {
            let shown = path.display();
            let is_data = self.to_stdout && streams::is_same(path, Path::new("/dev/stdout"));
            let (wrong, help) = if is_data {
                (Some(format!("{shown} is where the data goes")), "another file")
            } else if path.is_dir() {
                (Some(format!("{shown} is a directory")), "a file")
            } else {
                let is_open = open.iter().any(|other| streams::is_same(path, other));
                let is_new = is_stream(path) || taken.insert(place(path.to_owned()));
                let twice = || format!("two outputs would be written to {shown}");
                ((is_open || !is_new).then(twice), "another file")
            };
            open.push(path);
            if let Some(wrong) = wrong {
                return Err(RunError::usage(wrong, format!("name {help} with {flag}")));
            }
        }
        Ok(())
    }

    /// Refuses to resume a run that wrote a part to a stream.
    pub fn refuse_to_resume(&self) -> Result<(), RunError> {
        match self.named.all().find(|(_, path)| is_stream(path)) {
            None => Ok(()),
            Some((flag, path)) => Err(RunError::usage(
                format!(
                    "cannot resume: what went to {} before cannot be taken back",
                    path.display()
                ),
                format!("name a regular file with {flag}, or start over with --force"),
            )),
        }
    }

    /// Refuses to replace a file that a flag names.
    pub fn refuse_existing_named(&self) -> Result<(), RunError> {
        for (flag, path) in self.named.all().filter(|(_, path)| !is_stream(path)) {
            if first_taken(&[path])?.is_some() {
                return Err(RunError::usage(
                    format!("{} exists already", path.display()),
                    format!("overwrite it with --force, or name another with {flag}"),
                ));
            }
        }
        Ok(())
    }
}

/// The canonical path of a file that may not exist yet: its folder is resolved, if that exists.
fn place(path: PathBuf) -> PathBuf {
    let Ok(path) = std::path::absolute(&path) else {
        return path;
    };
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    match (folder, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path,
    }
}
