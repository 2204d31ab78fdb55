//! The options of a run that can start, checked against each other.

use std::path::PathBuf;

use super::errors::CliError;
use super::inputs::{self, is_dash};
use crate::config::{Config, Provenance};

/// A run that can start.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct CompressOptions {
    /// Files or directories, at least one; `-` is stdin, at most once.
    pub inputs: Vec<PathBuf>,
    /// File or directory; `-` is stdout. `None`: stdout if the only input is stdin, else beside the input.
    pub output: Option<PathBuf>,
    /// Plan and count, write no data.
    pub dry_run: bool,
    /// Take the first records only; at least 1.
    pub limit: Option<u64>,
    /// Take this percentage of the records: over 0, at most 100.
    pub sample: Option<f64>,
    /// Which records a sample takes.
    pub seed: u64,
    /// Continue a stopped run.
    pub resume: bool,
    /// Overwrite what is there.
    pub force: bool,
    /// The effective configuration.
    pub config: Config,
    /// Where its values came from.
    pub provenance: Provenance,
    /// What has no effect though it was given.
    pub warnings: Vec<String>,
    /// What the trainer set, where one is named.
    pub trainer_note: Option<String>,
    /// Print errors only.
    pub quiet: bool,
    /// Print progress as lines where there is no terminal.
    pub verbose: bool,
}

impl CompressOptions {
    /// Checks the options against each other.
    pub fn checked(self) -> Result<Self, CliError> {
        inputs::check(&self.inputs)?;
        self.check_directories()?;
        self.check_streams()?;
        Ok(self)
    }

    /// True if the data go to stdout.
    pub fn writes_stdout(&self) -> bool {
        match &self.output {
            Some(output) => is_dash(output),
            None => self.inputs.iter().all(|input| is_dash(input)),
        }
    }

    /// A directory is no stream.
    fn check_directories(&self) -> Result<(), CliError> {
        let directory = self.inputs.iter().find(|input| input.is_dir());
        match directory.filter(|_| self.writes_stdout()) {
            None => Ok(()),
            Some(directory) => Err(CliError::usage(format!(
                "the directory {} cannot be written to standard output",
                directory.display()
            ))
            .with_help("name a directory with --output")),
        }
    }

    fn check_streams(&self) -> Result<(), CliError> {
        if !self.resume {
            return Ok(());
        }
        if self.writes_stdout() {
            return Err(
                CliError::usage("a run that writes to standard output cannot be resumed")
                    .with_help("name a file with --output"),
            );
        }
        Ok(())
    }
}
