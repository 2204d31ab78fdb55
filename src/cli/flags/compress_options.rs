//! The options of a run that can start, checked against each other.

use std::path::PathBuf;

use super::inputs::{self, is_dash};
use crate::cli::CliError;
use crate::cli::settings::Settings;
use crate::pipeline::Shard;

/// The checked options of a run.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct CompressOptions {
    /// Files or directories, at least one; `-` is stdin, at most once.
    pub inputs: Vec<PathBuf>,
    /// File or directory; `-` is stdout. `None`: stdout if the only input is stdin, else beside the input.
    pub output: Option<PathBuf>,
    /// True if no data is written.
    pub dry_run: bool,
    /// Maximum number of records to take; at least 1.
    pub limit: Option<u64>,
    /// Percentage of the records to take: over 0, at most 100.
    pub sample: Option<f64>,
    /// The seed of the sample.
    pub seed: u64,
    /// The shard of the inputs to take; `None` takes them whole.
    pub shard: Option<Shard>,
    /// True if a stopped run is continued.
    pub resume: bool,
    /// True if existing files are overwritten.
    pub force: bool,
    /// The settings of the configuration.
    pub settings: Settings,
    /// Warnings about settings without effect.
    pub warnings: Vec<String>,
    /// The settings made by the trainer, if one is named.
    pub trainer_note: Option<String>,
    /// True if only errors are printed.
    pub quiet: bool,
    /// True if progress is printed as lines where there is no terminal.
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

    /// Returns true if the data goes to stdout.
    pub fn writes_stdout(&self) -> bool {
        match &self.output {
            Some(output) => is_dash(output),
            None => self.inputs.iter().all(|input| is_dash(input)),
        }
    }

    /// Refuses to write a directory to stdout.
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
