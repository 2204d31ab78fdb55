//! Shared parts of all runs over records: tokenizer, threads, signals, and errors.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::cli::errors::CliError;
use crate::cli::exit::ExitStatus;
use crate::config::{Config, InputFormat, OutputArguments, OutputFormat};
use crate::pipeline::{Counters, RunError, Sample, Scan, Source};
use crate::tokens::chat_template::ChatTemplate;
use crate::tokens::{self, TokenCounter};
use crate::trajectory::{Arguments, Format, OutputForm};

/// The tokenizer that the configuration names.
pub fn tokenizer(config: &Config) -> Result<Arc<dyn TokenCounter>, CliError> {
    tokens::load(&config.tokenizer.name)
        .map_err(|error| CliError::usage(error.to_string()).with_help(error.help()))
}

/// The chat template, if rendered counts are asked for.
pub fn template(config: &Config) -> Result<Option<Arc<ChatTemplate>>, CliError> {
    let Some(choice) = config.chat_template() else {
        return Ok(None);
    };
    ChatTemplate::load(choice, &config.tokenizer.name)
        .map(Some)
        .map_err(|error| CliError::usage(error.to_string()).with_help(error.help()))
}

/// The form that every record gets; `None` if each keeps its own.
pub fn output_form(config: &Config) -> Option<OutputForm> {
    let (form, usual) = match config.output.format {
        OutputFormat::Same => return None,
        OutputFormat::Sharegpt => (Format::ShareGpt, Arguments::Object),
        OutputFormat::Messages => (Format::Messages, Arguments::String),
    };
    let arguments = match config.output.arguments {
        OutputArguments::Auto => usual,
        OutputArguments::String => Arguments::String,
        OutputArguments::Object => Arguments::Object,
    };
    Some(OutputForm { form, arguments })
}

/// The format that all records are in; `None` lets each record decide.
pub fn format(config: &Config) -> Option<Format> {
    match config.input.format {
        InputFormat::Auto => None,
        InputFormat::Sharegpt => Some(Format::ShareGpt),
        InputFormat::Messages => Some(Format::Messages),
    }
}

/// A scan of the sources with the limits of the configuration.
pub fn scan(sources: Vec<Source>, limit: Option<u64>, sample: Sample, config: &Config) -> Scan {
    Scan {
        sources,
        limit,
        sample,
        max_record_bytes: config.input.max_record_bytes.0,
        jobs: jobs(config),
    }
}

/// Number of threads of the worker pool.
pub fn jobs(config: &Config) -> usize {
    match config.processing.jobs {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        jobs => jobs,
    }
}

/// Counters for a run over these inputs.
pub fn counters(sources: &[Source]) -> Arc<Counters> {
    Arc::new(Counters {
        bytes_total: sources.iter().map(Source::bytes).sum(),
        ..Counters::default()
    })
}

/// Installs signal handlers: the first signal asks the run to stop at a safe place, the second ends the process.
pub fn stop_on_signals() -> Result<Arc<AtomicBool>, CliError> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order: the condition is checked before the flag is set.
        flag::register_conditional_shutdown(signal, ExitStatus::Interrupted as i32, Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .map_err(|error| CliError::stopped(format!("cannot listen for signals: {error}")))?;
    }
    Ok(stop)
}

/// The error of a command, for the error of its run.
pub fn cli_error(error: RunError) -> CliError {
    match error {
        RunError::Usage { message, help } => CliError::usage(message).with_help(help),
        RunError::CannotGoOn { message, help } => CliError::stopped(message).with_help(help),
        RunError::Interrupted { resumable } => {
            let help = if resumable {
                "run the same command with --resume to go on"
            } else {
                "run it again"
            };
            CliError {
                status: ExitStatus::Interrupted,
                ..CliError::stopped("interrupted").with_help(help)
            }
        }
        RunError::OutputClosed => CliError::stopped("the output was closed"),
    }
}
