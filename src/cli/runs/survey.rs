//! Shared by `count` and `check`: their flags, and the survey of the inputs.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::running;
use crate::cli::flags::inputs::{self, tokens};
use crate::cli::flags::key_flags::{KeyFlags, KeySet};
use crate::cli::flags::run_flags::{PartFlags, PrintFlags};
use crate::cli::settings::Settings;
use crate::cli::terminal::progress::{Progress, ProgressStyle, counting};
use crate::cli::terminal::stdout;
use crate::cli::{CliError, errors};
use crate::config::{ConfigKey, CountMode, OnInvalid};
use crate::fit::Measurer;
use crate::metrics::{Census, ComparedCount};
use crate::pipeline::{RunError, Sample, Source, Survey, SurveyReport};
use crate::report::{SurveyFigures, Tokenizer};

/// The most records that `--largest` lists: they are kept in memory.
const MOST_LISTED: u64 = 10_000;

/// The flags of commands that measure records and write none.
#[derive(Debug, Clone, clap::Args)]
pub struct SurveyArgs {
    /// Files, directories or URLs; - is standard input
    #[arg(value_name = "INPUT", value_parser = inputs::path(), required = true)]
    inputs: Vec<PathBuf>,
    /// Budget: tokens that a trajectory may cost, such as 16000 or 16k [default: that of the configuration, or 15250]
    #[arg(long, visible_alias = "target-max-tokens", value_name = "N", value_parser = tokens)]
    max_tokens: Option<u64>,
    /// List so many of the largest records
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(..=MOST_LISTED))]
    largest: u64,
    /// Configuration file, YAML, TOML or JSON by its name
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    part: PartFlags,
    #[command(flatten)]
    print: PrintFlags,
    #[command(flatten)]
    keys: KeyFlags<CountingKeys>,
}

/// The keys that decide what is counted and how.
#[derive(Debug, Clone)]
enum CountingKeys {}

const ON_INVALID: &str = "Treatment of a line that holds no readable trajectory: it is reported and decides the exit \
    code (reject), it is only reported (pass), or the run ends (fail)";

impl KeySet for CountingKeys {
    fn key(key: &ConfigKey) -> Option<ConfigKey> {
        match key.path {
            "tokenizer.name"
            | "compression.trainer"
            | "tokenizer.chat_template"
            | "tokenizer.template_arguments"
            | "tokenizer.image_tokens"
            | "compression.count"
            | "input.format"
            | "input.max_record_bytes"
            | "processing.jobs" => Some(*key),
            "input.on_invalid" => Some(key.with_help(ON_INVALID)),
            _ => None,
        }
    }
}

/// The result of a survey.
pub struct SurveyOutcome {
    /// The sums over the records.
    pub census: Census,
    /// The census as plain figures.
    pub figures: SurveyFigures,
    /// Time, bytes and notes of the run.
    pub report: SurveyReport,
    /// Maximum tokens of a record.
    pub max_tokens: u64,
    /// True if records that cannot be read are no failure.
    pub allow_unreadable: bool,
    /// True if no warnings are printed.
    pub quiet: bool,
}

impl SurveyArgs {
    /// The only input, and the settings; an error if there are several inputs.
    pub fn only_input(self, flag: &str) -> Result<(PathBuf, Settings), CliError> {
        let resolved = self.keys.into_sources(self.config).resolve()?;
        match <[PathBuf; 1]>::try_from(self.inputs) {
            Ok([input]) => Ok((input, Settings::of(&resolved))),
            Err(_) => Err(
                CliError::usage(format!("{flag} compares two data sets, and more are named")).with_help(
                    format!("trajfit check {flag} ORIGINAL OUTPUT: files or directories"),
                ),
            ),
        }
    }

    /// Measures all records; with `lines`, prints a line of JSON for each. `None` if their reader has closed the pipe.
    pub fn survey(self, lines: bool) -> Result<Option<SurveyOutcome>, CliError> {
        let resolved = self.keys.into_sources(self.config).resolve()?;
        let settings = Settings::of(&resolved);
        if !self.print.quiet {
            // Keys of the file that only matter to compress are no mistake here.
            errors::warn(&resolved.unknown_variables);
        }
        inputs::check(&self.inputs)?;
        stdout::refuse_closed()?;
        let sources = running::sources(&self.inputs, self.part.shard)?;
        let names: Vec<String> = sources.iter().map(Source::name).collect();
        let counters = running::counters(&sources);
        let measurer = Measurer {
            counter: running::tokenizer(&settings)?,
            template_arguments: settings.fit.template_arguments,
            image_tokens: settings.fit.image_tokens,
            format: settings.fit.format,
            template: running::template(&settings)?,
        };
        let identity = measurer.counter.identity().clone();
        let seed = self.part.seed.unwrap_or(0);
        let sample = Sample::of(self.part.sample, seed);
        let survey = Survey {
            scan: running::scan(sources, self.part.limit, sample, &settings),
            lines,
            stop_at_unreadable: settings.on_invalid == OnInvalid::Fail,
        };
        let stop = running::stop_on_signals()?;
        // Between lines on the same terminal a bar would only disturb.
        let quiet = self.print.quiet || (lines && io::stdout().is_terminal());
        let style = ProgressStyle::detect(quiet, self.print.verbose);
        let progress = Progress::start(style, Arc::clone(&counters), counting, None);
        let mut census = Census::new(measured(&settings), self.largest as usize);
        let ended = survey.run(measurer, &mut census, &counters, &stop, print_lines);
        progress.finish();
        let report = match ended {
            Ok(report) => report,
            Err(RunError::OutputClosed) => return Ok(None),
            Err(error) => return Err(running::cli_error(error)),
        };
        if let Some(note) = report.tokenizer_note.as_ref().filter(|_| !self.print.quiet) {
            errors::warn(std::slice::from_ref(note));
        }
        let tokenizer = Tokenizer {
            name: identity.name,
            sha256: identity.sha256,
            engine: identity.engine,
        };
        Ok(Some(SurveyOutcome {
            figures: SurveyFigures::of(&census, names, tokenizer),
            census,
            report,
            max_tokens: self.max_tokens.unwrap_or(settings.fit.target_max_tokens as u64),
            allow_unreadable: settings.on_invalid == OnInvalid::Pass,
            quiet: self.print.quiet,
        }))
    }
}

/// Prints lines at once, for readers of a pipe.
fn print_lines(lines: &[u8]) -> Result<(), RunError> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(lines).and_then(|()| stdout.flush());
    written.map_err(|error| RunError::half_way("write", Path::new("-"), &error))
}

/// The count that limits are compared with.
pub fn measured(settings: &Settings) -> ComparedCount {
    match settings.fit.count {
        CountMode::Values => ComparedCount::Values,
        CountMode::Rendered => ComparedCount::Rendered,
    }
}
