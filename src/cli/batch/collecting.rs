//! Finding out what has to be asked: a run over the records that writes requests and nothing else.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::flags;
use crate::cli::compress_options::CompressOptions;
use crate::cli::errors::CliError;
use crate::cli::progress::{Progress, ProgressStyle, counting};
use crate::cli::{execute, running, summarizer};
use crate::config::OnFailure;
use crate::pipeline::{self, Collected, Collection, RunError, Sample};
use crate::summarize::batch::Responses;

/// What is known already, and where the rest is written.
pub struct Collecting {
    /// What is back.
    pub responses: Arc<dyn Responses>,
    /// Whether requests that failed for good are asked again all the same.
    pub resend_failed: bool,
    /// The folder of answers that runs were given before, where none is named.
    pub cache: Option<PathBuf>,
    /// The first file to write.
    pub path: PathBuf,
    /// Whether files that are there are overwritten.
    pub force: bool,
}

/// Writes what has to be asked.
pub fn collect(
    options: &CompressOptions,
    collecting: Collecting,
    stop: &Arc<AtomicBool>,
) -> Result<Collected, CliError> {
    let config = &options.config;
    let sources = pipeline::sources(&options.inputs).map_err(running::cli_error)?;
    let postbox = flags::postbox(config, collecting.responses, collecting.resend_failed);
    let kept = summarizer::Kept {
        beside: collecting.cache,
        dry_run: true,
        warns: !options.quiet,
    };
    let chosen = summarizer::in_files(config, kept, postbox)?;
    let mut worker = execute::worker(config, &sources, &chosen)?;
    // What is asked does not depend on what becomes of a record that waits: it is left alone.
    worker.fitter.settings.on_failure = OnFailure::Keep;
    let collection = Collection {
        scan: running::scan(
            sources,
            options.limit,
            Sample::of(options.sample, options.seed),
            config,
        ),
        target: flags::request_target(config, collecting.path),
        force: collecting.force,
    };
    let counters = running::counters(&collection.scan.sources);
    let progress = Progress::start(
        ProgressStyle::detect(options.quiet, options.verbose),
        Arc::clone(&counters),
        counting,
        None,
    );
    let collected = collection.run(worker, &counters, stop);
    progress.finish();
    collected.map_err(|error: RunError| running::cli_error(error))
}
