//! Collects requests: a run over the records that writes requests and nothing else.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::flags;
use crate::cache::CacheAccess;
use crate::cli::CliError;
use crate::cli::flags::compress_options::CompressOptions;
use crate::cli::runs::{execute, running, summarizer};
use crate::cli::terminal::progress::{Progress, ProgressStyle, counting};
use crate::config::OnFailure;
use crate::pipeline::{Collected, Collection, RunError, Sample};
use crate::summarize::batch::Responses;

/// The known responses, and the files for new requests.
pub struct Collecting {
    /// The responses received.
    pub responses: Arc<dyn Responses>,
    /// True if requests that failed for good are sent again.
    pub resend_failed: bool,
    /// The folder of answers of earlier runs, if no other is named.
    pub cache: Option<PathBuf>,
    /// The first file to write.
    pub path: PathBuf,
    /// True if existing files are overwritten.
    pub force: bool,
}

/// Writes the requests that have to be sent.
pub fn collect(
    options: &CompressOptions,
    collecting: Collecting,
    stop: &Arc<AtomicBool>,
) -> Result<Collected, CliError> {
    let settings = &options.settings;
    let sources = running::sources(&options.inputs, options.shard)?;
    let postbox = flags::postbox(settings, collecting.responses, collecting.resend_failed);
    let chosen = summarizer::in_files(options, collecting.cache, CacheAccess::Look, postbox)?;
    let mut worker = execute::worker(settings, &sources, &chosen)?;
    // The requests do not depend on the treatment of a record that waits: it is kept.
    worker.fitter.settings.on_failure = OnFailure::Keep;
    let collection = Collection {
        scan: running::scan(
            sources,
            options.limit,
            Sample::of(options.sample, options.seed),
            settings,
        ),
        target: flags::request_target(settings, collecting.path),
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
