//! What `explain` and `show` have in common: one record of an input, and the plan that the flags make for it.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::errors::{self, CliError};
use super::execute;
use super::inputs;
use super::key_flags::{KeyFlags, KeySet};
use super::running;
use crate::config::{Config, KEYS, Key};
use crate::fit::{Explanation, Fitter};
use crate::pipeline::{self, RawRecord, Records};
use crate::summarize::extractive::Extractive;

/// Which record, and the settings that decide its plan.
#[derive(Debug, clap::Args)]
pub struct OneRecordArgs {
    /// File; - is standard input
    #[arg(value_name = "INPUT")]
    input: PathBuf,
    /// Line of the record, from 1; in a JSON array, its number
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    line: u64,
    /// Configuration file, YAML, TOML or JSON by its name
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    keys: KeyFlags<PlanKeys>,
}

/// The keys that decide a plan.
#[derive(Debug, Clone)]
enum PlanKeys {}

impl KeySet for PlanKeys {
    fn keys() -> &'static [Key] {
        static ALL: LazyLock<Vec<Key>> = LazyLock::new(|| {
            let decides = |key: &&Key| {
                matches!(key.section(), "tokenizer" | "compression" | "protected_turns")
                    || matches!(
                        key.path,
                        "input.format"
                            | "output.add_summary_notice"
                            | "output.summary_notice_text"
                            | "output.sanitize"
                            | "redaction.enabled"
                    )
            };
            KEYS.iter().filter(decides).copied().collect()
        });
        &ALL
    }
}

/// The record, and how to fit it.
pub struct OneRecord {
    /// As it was read.
    pub raw: RawRecord,
    /// With the embedded summarizer: nothing is asked over a network to explain a plan.
    pub fitter: Fitter,
}

impl OneRecordArgs {
    /// Reads the record.
    pub fn read(self) -> Result<OneRecord, CliError> {
        let resolved = self.keys.into_sources(self.config).resolve()?;
        errors::warn(&resolved.unknown_variables);
        let raw = record_at(&self.input, self.line)?;
        Ok(OneRecord {
            raw,
            fitter: fitter(&resolved.config)?,
        })
    }
}

impl OneRecord {
    /// What is decided about it.
    pub fn explanation(&self) -> Result<Explanation, CliError> {
        let explained = futures_util::FutureExt::now_or_never(self.fitter.explain(&self.raw.bytes));
        // The embedded summarizer waits for nothing.
        let explained = explained.ok_or_else(|| CliError::stopped("the summary did not come"))?;
        explained.map_err(|error| {
            let place = format!("{}:{}", self.raw.source, self.raw.line);
            CliError::usage(format!("cannot parse record ({place}): {error}"))
                .with_help("--format names the format of the records; --line another record")
        })
    }
}

/// The record at a line of a file.
pub fn record_at(input: &Path, line: u64) -> Result<RawRecord, CliError> {
    find(input, |record| record.line == line)?.ok_or_else(|| {
        CliError::usage(format!("{} has no record at line {line}", input.display()))
            .with_help("--line counts from 1; trajfit count FILE --json lists all records with their lines")
    })
}

/// The first record of a file for which `is_wanted`.
pub fn find(
    input: &Path,
    mut is_wanted: impl FnMut(&RawRecord) -> bool,
) -> Result<Option<RawRecord>, CliError> {
    inputs::check(&[input.to_owned()])?;
    if input.is_dir() {
        return Err(CliError::usage(format!("{} is a directory", input.display()))
            .with_help("name the file that the record is in"));
    }
    let sources = pipeline::sources(&[input.to_owned()]).map_err(running::cli_error)?;
    let mut records = Records::of(&sources);
    while let Some(record) = records.next_record().map_err(running::cli_error)? {
        if is_wanted(&record) {
            return Ok(Some(record));
        }
    }
    Ok(None)
}

fn fitter(config: &Config) -> Result<Fitter, CliError> {
    let embedded = std::sync::Arc::new(Extractive {
        redaction: config.redaction.enabled,
    });
    Ok(Fitter {
        settings: execute::settings(config, false),
        counter: running::tokenizer(config)?,
        template: running::template(config)?,
        summarizer: embedded.clone(),
        fallback: embedded,
    })
}
