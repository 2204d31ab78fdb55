//! `trajfit lint`: the outcome of each record in a trainer.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cli::flags::inputs::{self, is_dash, tokens};
use crate::cli::flags::key_flags::{KeyFlags, KeySet};
use crate::cli::flags::run_flags::PrintFlags;
use crate::cli::runs::running;
use crate::cli::settings::Settings;
use crate::cli::terminal::progress::{Progress, ProgressStyle, counting};
use crate::cli::terminal::stdout;
use crate::cli::{CliError, ExitStatus, errors};
use crate::config::{ConfigKey, OnInvalid};
use crate::fit::{Linter, PairScorer};
use crate::metrics::{LintCensus, LintChanges, Unreadable};
use crate::names::Named;
use crate::pipeline::{self, Paired, Pairs, RawRecord, RunError, Sample, Shard, Source, Survey, TooLong};
use crate::report::{LintReport, lint_text};
use crate::trainers::{Trainer, TrainerName, Verdict, trainer};
use crate::trajectory::Format;

/// Predict a trainer's treatment of each record: learn it, cut it, drop it, or end with an error.
///
/// Reads the same inputs as compress, and writes nothing but its answer. Outcomes, worst first: refuse (an error ends the
/// training), drop (left out), empty (nothing of it is learnt), cut (its end is cut off), lose (part of what it says is left
/// out), undecided (the chat template or the length decides, and is not known), keep.
///
/// Trainers that render with the model's chat template need --chat-template, or --tokenizer naming a folder and
/// --chat-template auto. Without --max-length the trainer's own default counts.
///
/// With --compressed, both data sets are judged and compared record by record: exit code 1 if a record fares worse.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct LintArgs {
    /// Files, directories or URLs; - is standard input
    #[arg(value_name = "INPUT", value_parser = inputs::path(), required_unless_present = "print_config")]
    inputs: Vec<PathBuf>,
    /// The trainer's limit in tokens, such as 16384 or 16k [default: the trainer's own]
    #[arg(long, value_name = "N", value_parser = tokens)]
    max_length: Option<u64>,
    /// Compressed data to compare with: both are judged, and new losses fail the command
    #[arg(long, value_name = "OUT", conflicts_with_all = ["limit", "print_config"])]
    compressed: Option<PathBuf>,
    /// Exit with 1 if a record is not kept whole, or cannot be read
    #[arg(long)]
    fail: bool,
    /// Print the entry of the data set in the trainer's configuration instead; --format sharegpt or messages chooses it
    #[arg(long)]
    print_config: bool,
    /// Configuration file, YAML, TOML or JSON by its name
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Take the first N records only
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,
    /// Take the K-th of N parts of the inputs that have the same number of bytes
    #[arg(long, value_name = "K/N", conflicts_with_all = ["limit", "compressed", "print_config"])]
    shard: Option<Shard>,
    #[command(flatten)]
    print: PrintFlags,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    keys: KeyFlags<LintKeys>,
}

const EXAMPLES: &str = "\
Examples:
  trajfit lint runs.jsonl --trainer llama-factory --max-length 16384
  trajfit lint runs.jsonl --trainer trl --tokenizer qwen3/ --chat-template auto
  trajfit lint runs.jsonl --compressed out.jsonl --trainer axolotl --chat-template qwen3.jinja
  trajfit lint --trainer axolotl --print-config

Exit codes: 0 done, 1 new losses, or with --fail any loss, 2 wrong usage or configuration, 4 could not go
on, 130 interrupted";

/// The keys that decide how records are read, counted and judged.
#[derive(Debug, Clone)]
enum LintKeys {}

const ON_INVALID: &str = "Treatment of a line that holds no readable trajectory: it is reported (reject, pass), or the run ends (fail)";

impl KeySet for LintKeys {
    fn key(key: &ConfigKey) -> Option<ConfigKey> {
        match key.path {
            "tokenizer.name"
            | "tokenizer.chat_template"
            | "tokenizer.image_tokens"
            | "input.format"
            | "input.max_record_bytes"
            | "processing.jobs" => Some(*key),
            "compression.trainer" => {
                Some(key.with_help("Trainer that the records are made for: they are held against its rules"))
            }
            "input.on_invalid" => Some(key.with_help(ON_INVALID)),
            _ => None,
        }
    }
}

/// Runs the command.
pub fn run(args: &LintArgs) -> Result<ExitStatus, CliError> {
    let resolved = args.keys.clone().into_sources(args.config.clone()).resolve()?;
    let settings = Settings::of(&resolved);
    let rules = rules(&settings)?;
    if args.print_config {
        return print_config(rules, settings.fit.format);
    }
    if !args.print.quiet {
        errors::warn(&resolved.unknown_variables);
    }
    inputs::check(&args.inputs)?;
    stdout::refuse_closed()?;
    let report = if let Some(compressed) = &args.compressed {
        compared(args, &settings, rules, compressed)?
    } else {
        let census = judged(args, &settings, rules)?;
        LintReport::new(rules, args.max_length, &census, args.fail)
    };
    stdout::print_result(&report, args.json, lint_text)?;
    Ok(ExitStatus::of_gate(report.passed))
}

/// The rules of the trainer that the configuration names.
pub fn rules(settings: &Settings) -> Result<&'static Trainer, CliError> {
    let name = settings.trainer.ok_or_else(|| {
        CliError::usage("no trainer is named").with_help(format!(
            "name one with --trainer: {}",
            TrainerName::NAMES.join(", ")
        ))
    })?;
    trainer(name).ok_or_else(|| CliError::stopped(format!("the rules of {name} cannot be read")))
}

fn print_config(rules: &'static Trainer, format: Option<Format>) -> Result<ExitStatus, CliError> {
    let form = format.map_or(rules.compress.output_form.as_str(), Format::name);
    let form = rules.form(form).ok_or_else(|| {
        let known: Vec<&str> = rules.forms.iter().map(|form| form.form.as_str()).collect();
        CliError::usage(format!("{} does not read the form {form}", rules.name))
            .with_help(format!("it reads: {}", known.join(", ")))
    })?;
    stdout::print(form.config.as_bytes())?;
    Ok(ExitStatus::Done)
}

fn linter(args: &LintArgs, settings: &Settings, rules: &'static Trainer) -> Result<Linter, CliError> {
    Ok(Linter {
        trainer: rules,
        counter: running::tokenizer(settings)?,
        // The count of a trainer's defaults needs a template; lint works with and without.
        template: match settings.chat_template {
            Some(_) => running::template(settings)?,
            None => None,
        },
        image_tokens: settings.fit.image_tokens,
        format: settings.fit.format,
        limit: args.max_length.or(rules.length.default),
    })
}

fn judged(args: &LintArgs, settings: &Settings, rules: &'static Trainer) -> Result<LintCensus, CliError> {
    let sources = running::sources(&args.inputs, args.shard)?;
    let counters = running::counters(&sources);
    let survey = Survey {
        scan: running::scan(sources, args.limit, Sample::ALL, settings),
        lines: false,
        stop_at_unreadable: settings.on_invalid == OnInvalid::Fail,
    };
    let linter = linter(args, settings, rules)?;
    let stop = running::stop_on_signals()?;
    let style = ProgressStyle::detect(args.print.quiet, args.print.verbose);
    let progress = Progress::start(style, Arc::clone(&counters), counting, None);
    let mut census = LintCensus::new(rules.reader);
    let ended = pipeline::lint(&survey, linter, &mut census, &counters, &stop);
    progress.finish();
    ended.map_err(running::cli_error)?;
    Ok(census)
}

fn compared(
    args: &LintArgs,
    settings: &Settings,
    rules: &'static Trainer,
    compressed: &Path,
) -> Result<LintReport, CliError> {
    let after = [compressed.to_owned()];
    if args.inputs.iter().chain(&after).any(|path| is_dash(path)) {
        return Err(CliError::usage(
            "--compressed cannot read standard input: both data sets are read twice",
        )
        .with_help("name files or directories"));
    }
    inputs::check(&after)?;
    let sources = |paths: &[PathBuf]| -> Result<Vec<Source>, CliError> {
        pipeline::sources(paths).map_err(running::cli_error)
    };
    let pairs = Pairs {
        original: sources(&args.inputs)?,
        compressed: sources(&after)?,
        compressed_path: compressed.to_owned(),
        max_record_bytes: settings.max_record_bytes,
    };
    let stop = running::stop_on_signals()?;
    let scorer = PairScorer {
        format: settings.fit.format,
    };
    let linter = linter(args, settings, rules)?;
    let matching = pairs.matching(scorer, &stop).map_err(running::cli_error)?;
    if !args.print.quiet {
        errors::warn(&matching.warnings);
    }
    let mut changes = LintChanges::new(rules.reader);
    let stops = settings.on_invalid == OnInvalid::Fail;
    let judged = pairs.each(&matching, scorer, &stop, |found| {
        match found {
            Paired::Pair(old, new) => {
                let before = judge(&linter, old, &mut changes.before, stops)?;
                let after = judge(&linter, new, &mut changes.after, stops)?;
                if let (Some(before), Some(after)) = (before, after) {
                    changes.compare(&new.source, new.line, &before, &after);
                }
            }
            Paired::NoOriginal(new) => {
                judge(&linter, new, &mut changes.after, stops)?;
                changes.unpaired += 1;
            }
            Paired::Left(old, _) => {
                judge(&linter, old, &mut changes.before, stops)?;
                changes.unpaired += 1;
            }
        }
        Ok(ControlFlow::Continue(()))
    });
    judged.map_err(running::cli_error)?;
    Ok(LintReport::compared(rules, args.max_length, &changes, args.fail))
}

/// The verdict on a record, added up; `None` if it cannot be read.
fn judge(
    linter: &Linter,
    record: &RawRecord,
    census: &mut LintCensus,
    stops: bool,
) -> Result<Option<Verdict>, RunError> {
    let judged = match record.too_long {
        Some(too_long) => Err((TooLong::CODE, too_long.to_string())),
        None => linter
            .lint(&record.bytes)
            .map_err(|error| (error.code(), error.to_string())),
    };
    match judged {
        Ok(mut verdict) => {
            census.add(&record.source, record.line, &mut verdict);
            Ok(Some(verdict))
        }
        Err((_, error)) if stops => Err(RunError::CannotGoOn {
            message: format!("stopped at a record: {}:{}: {error}", record.source, record.line),
            help: "mend the input, or go on after such records with --on-invalid reject".to_owned(),
        }),
        Err((code, error)) => {
            let line = record.line;
            census.add_unreadable(&record.source, &Unreadable { line, code, error });
            Ok(None)
        }
    }
}
