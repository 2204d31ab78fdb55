//! Shared parts of all runs over records: tokenizer, threads, signals, and errors.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::cli::settings::Settings;
use crate::cli::{CliError, ExitStatus};
use crate::fit::CountMode;
use crate::pipeline::{self, Counters, RunError, Sample, Scan, Shard, Source};
use crate::tokens::chat_template::ChatTemplate;
use crate::tokens::{self, TokenCounter};

/// The tokenizer that the configuration names.
pub fn tokenizer(settings: &Settings) -> Result<Arc<dyn TokenCounter>, CliError> {
    tokens::load(&settings.tokenizer)
        .map_err(|error| CliError::usage(error.to_string()).with_help(error.help()))
}

/// The chat template for rendered counts: the one given, or the tokenizer's own if the budget counts rendered tokens.
pub fn template(settings: &Settings) -> Result<Option<Arc<ChatTemplate>>, CliError> {
    let own = (settings.fit.count == CountMode::Rendered).then_some("auto");
    let Some(choice) = settings.chat_template.as_deref().or(own) else {
        return Ok(None);
    };
    ChatTemplate::load(choice, &settings.tokenizer)
        .map(Some)
        .map_err(|error| CliError::usage(error.to_string()).with_help(error.help()))
}

/// The sources that the inputs stand for, with the part of each that the shard takes.
pub fn sources(inputs: &[PathBuf], shard: Option<Shard>) -> Result<Vec<Source>, CliError> {
    let sources = pipeline::sources(inputs);
    let assigned = sources.and_then(|sources| match shard {
        None => Ok(sources),
        Some(shard) => shard.assign(sources),
    });
    assigned.map_err(cli_error)
}

/// A scan of the sources with these settings.
pub fn scan(sources: Vec<Source>, limit: Option<u64>, sample: Sample, settings: &Settings) -> Scan {
    Scan {
        sources,
        limit,
        sample,
        max_record_bytes: settings.max_record_bytes,
        jobs: settings.jobs,
    }
}

/// Counters for a run over these inputs.
pub fn counters(sources: &[Source]) -> Arc<Counters> {
    Arc::new(Counters {
        bytes_total: sources.iter().map(Source::bytes_to_read).sum(),
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
