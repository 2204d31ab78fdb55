//! Shared by `explain` and `show`: one record of an input, and the plan that the flags make for it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::running;
use crate::cli::flags::inputs::{self, trigger};
use crate::cli::flags::key_flags::{KeyFlags, KeySet};
use crate::cli::settings::Settings;
use crate::cli::terminal::visible::one_line;
use crate::cli::{CliError, errors};
use crate::config::ConfigKey;
use crate::fit::{Explanation, Fitter, PairScorer};
use crate::pipeline::{self, RawRecord, Records};
use crate::summarize::extractive::Extractive;

/// Maximum number of other lines listed that share an id.
const LISTED: usize = 9;

/// The arguments that name a record, and the settings that decide its plan.
#[derive(Debug, clap::Args)]
pub struct OneRecordArgs {
    /// File; - is standard input
    #[arg(value_name = "INPUT", value_parser = inputs::path())]
    input: PathBuf,
    /// Line of the record, from 1; in a JSON array, its number
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    line: u64,
    /// Id of the record, where no other has it
    #[arg(long, value_name = "ID", conflicts_with = "line")]
    id: Option<String>,
    /// Replay the record as trajfit unroll does, and print its timeline: the context at each call, and the compactions
    #[arg(long)]
    unroll: bool,
    /// Part of the budget at which the context is compacted, over 0 and at most 1 [default: 1]
    #[arg(long, value_name = "PART", requires = "unroll", value_parser = trigger)]
    trigger: Option<f64>,
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
    fn key(key: &ConfigKey) -> Option<ConfigKey> {
        let decides = matches!(key.section(), "tokenizer" | "compression" | "protected_turns")
            || matches!(
                key.path,
                "input.format"
                    | "input.max_record_bytes"
                    | "output.add_summary_notice"
                    | "output.summary_notice_text"
                    | "output.format"
                    | "output.arguments"
                    | "output.sanitize"
                    | "output.join_text_parts"
                    | "output.end_with_assistant"
                    | "redaction.enabled"
                    | "redaction.pii"
            );
        decides.then_some(*key)
    }
}

/// The record, and the fitter for it.
pub struct OneRecord {
    /// The file that it is in.
    pub input: PathBuf,
    /// The record as it was read.
    pub raw: RawRecord,
    /// The trigger, where it is to be replayed.
    pub unroll: Option<f64>,
    /// Maximum bytes of a record.
    pub max_record_bytes: u64,
    /// The fitter, with the embedded summarizer: explaining a plan sends no request.
    pub fitter: Fitter,
}

impl OneRecordArgs {
    /// Reads the record.
    pub fn read(self) -> Result<OneRecord, CliError> {
        let resolved = self.keys.into_sources(self.config).resolve()?;
        let mut settings = Settings::of(&resolved);
        // No system turn of an unrolled record gains a notice.
        settings.fit.notice = settings.fit.notice.filter(|_| !self.unroll);
        errors::warn(&resolved.unknown_variables);
        let scorer = PairScorer {
            format: settings.fit.format,
        };
        let max_record_bytes = settings.max_record_bytes;
        let records = records_of(&self.input, max_record_bytes)?;
        let raw = match &self.id {
            Some(id) => record_with_id(records, &self.input, id, scorer)?,
            None => record_at(records, &self.input, self.line)?,
        };
        if let Some(too_long) = raw.too_long {
            let place = format!("{}:{}", raw.source, raw.line);
            return Err(
                CliError::usage(format!("cannot read record ({place}): {too_long}"))
                    .with_help("--max-record-bytes lets it be longer"),
            );
        }
        let embedded = Arc::new(Extractive {
            redaction: settings.fit.redaction,
        });
        Ok(OneRecord {
            raw,
            unroll: self.unroll.then_some(self.trigger.unwrap_or(1.0)),
            max_record_bytes,
            fitter: Fitter {
                counter: running::tokenizer(&settings)?,
                template: running::template(&settings)?,
                settings: settings.fit,
                summarizer: embedded.clone(),
                fallback: embedded,
            },
            input: self.input,
        })
    }
}

impl OneRecord {
    /// The decisions about it.
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
fn record_at(mut records: Records, input: &Path, line: u64) -> Result<RawRecord, CliError> {
    while let Some(record) = records.next_record().map_err(running::cli_error)? {
        if record.line == line {
            return Ok(record);
        }
    }
    Err(
        CliError::usage(format!("{} has no record at line {line}", input.display())).with_help(
            "--line counts from 1; trajfit count FILE --per-record lists all records with their lines",
        ),
    )
}

/// The record of a file that has an id; an error if several have it.
fn record_with_id(
    mut records: Records,
    input: &Path,
    id: &str,
    scorer: PairScorer,
) -> Result<RawRecord, CliError> {
    let mut found: Option<RawRecord> = None;
    let mut others = Vec::new();
    let mut count = 0;
    while let Some(record) = records.next_record().map_err(running::cli_error)? {
        if scorer.id(&record.bytes).flatten().as_deref() != Some(id) {
            continue;
        }
        count += 1;
        match &found {
            None => found = Some(record),
            Some(_) if others.len() < LISTED => others.push(record.line.to_string()),
            Some(_) => {}
        }
    }
    let (place, id) = (input.display(), one_line(id));
    let Some(found) = found else {
        return Err(CliError::usage(format!("{place} has no record with the id {id}"))
            .with_help("--line names a record by its line"));
    };
    if count == 1 {
        return Ok(found);
    }
    let more = if count > others.len() + 1 {
        ", \u{2026}"
    } else {
        ""
    };
    Err(CliError::usage(format!(
        "{count} records of {place} have the id {id}, at lines {}, {}{more}",
        found.line,
        others.join(", ")
    ))
    .with_help("name one of them by --line"))
}

fn records_of(input: &Path, max_record_bytes: u64) -> Result<Records, CliError> {
    inputs::check(&[input.to_owned()])?;
    if input.is_dir() {
        return Err(CliError::usage(format!("{} is a directory", input.display()))
            .with_help("name the file that the record is in"));
    }
    let sources = pipeline::sources(&[input.to_owned()]).map_err(running::cli_error)?;
    Ok(Records::of(&sources, max_record_bytes))
}
