//! A collection: fits every record as far as the available answers allow, and writes the requests that it needs next.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::Scan;
use crate::files;
use crate::metrics::{RequestTotals, Totals};
use crate::pipeline::paths::existing::refuse_inputs;
use crate::pipeline::paths::file_names::appended;
use crate::pipeline::pool::worker::Chunk;
use crate::pipeline::read::batch::ReadBatch;
use crate::pipeline::read::data_names::split_data_extension;
use crate::pipeline::write::journal::Journal;
use crate::pipeline::write::output::ExistingFile;
use crate::pipeline::write::requests::{RequestFiles, RequestProgress};
use crate::pipeline::{Counters, RequestFileSet, RunError, Worker};

/// The settings of a collection.
#[derive(Debug, Clone)]
pub struct Collection {
    /// The records to read.
    pub scan: Scan,
    /// The files for the requests.
    pub target: RequestFileSet,
    /// True if existing files are overwritten.
    pub force: bool,
}

/// The result of a collection.
#[derive(Debug)]
pub struct Collected {
    /// The totals of the records fitted.
    pub totals: Totals,
    /// The requests written.
    pub requests: RequestTotals,
    /// Number of records that wait for an answer, by reason code.
    pub waiting: BTreeMap<String, u64>,
    /// The files written; none if there is nothing to ask.
    pub files: Vec<PathBuf>,
    /// Time it took.
    pub elapsed: Duration,
    /// Decompressed bytes read.
    pub bytes_read: u64,
    /// The tokenizer's note on its counts, if any.
    pub tokenizer_note: Option<String>,
}

impl Collection {
    /// Writes the requests that have to be sent. `stop` ends it early, and then no file is left.
    pub fn run(
        &self,
        worker: Worker,
        counters: &Arc<Counters>,
        stop: &Arc<AtomicBool>,
    ) -> Result<Collected, RunError> {
        let started = Instant::now();
        let lock = self.start()?;
        let summarizer = Arc::clone(&worker.fitter.summarizer);
        if let Err(refused) = summarizer.prepare() {
            let _ = lock.remove();
            return Err(RunError::usage(refused.message, refused.help));
        }
        let note = Arc::clone(&worker.fitter.counter);
        let leftover = if self.force {
            ExistingFile::Take
        } else {
            ExistingFile::Refuse
        };
        let mut files = RequestFiles::open(&self.target, RequestProgress::default(), leftover)
            .map_err(|error| RunError::output(&self.target.path, &error))?;
        let mut totals = Totals::default();
        let mut waiting = BTreeMap::new();
        let take = |_: &ReadBatch, chunk: Chunk| {
            if let Some(error) = chunk.stop {
                return Err(error);
            }
            Counters::add(&counters.bytes_done, chunk.bytes_read);
            Counters::add(&counters.records, chunk.records);
            chunk.rows.iter().for_each(|row| totals.add(row));
            for request in &chunk.pending {
                let why = request.why.to_string();
                let code = why.split(':').next().unwrap_or_default();
                *waiting.entry(code.to_owned()).or_default() += 1;
                files.push(request).map_err(|error| self.fault(&error))?;
            }
            Ok(())
        };
        let collected = self.scan.run(counters, stop, processing(worker, counters), take);
        // No request was sent, so there is no answer to wait for.
        let _ended = summarizer.finish().now_or_never();
        let collected = collected.and_then(|()| {
            let mark = files.sync().map_err(|error| self.fault(&error))?;
            let named = self.target.name_files(mark.files);
            Ok((mark, named.map_err(|error| self.fault(&error))?))
        });
        if collected.is_err() {
            self.remove_partials();
        }
        // A lock file that is left behind does no harm.
        let _ = lock.remove();
        let (mark, files) = collected?;
        Ok(Collected {
            totals,
            requests: mark.totals,
            waiting,
            files,
            elapsed: started.elapsed(),
            bytes_read: Counters::get(&counters.bytes_done),
            tokenizer_note: note.note(),
        })
    }

    /// Refuses outputs that may not be written, and locks them.
    fn start(&self) -> Result<Journal, RunError> {
        let path = &self.target.path;
        let existing = self.target.existing();
        refuse_inputs(existing.iter().cloned().chain([path.clone()]), &self.scan.sources)?;
        if let Some(existing) = existing.first().filter(|_| !self.force) {
            return Err(RunError::usage(
                format!("the output {} exists already", existing.display()),
                "overwrite it with --force, or name another with -o",
            ));
        }
        let first = self.scan.sources.first().map(|source| source.path.as_path());
        files::create_folders_of(path, first).map_err(|error| RunError::output(path, &error))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let stem = path.with_file_name(split_data_extension(&name).0);
        let lock = appended(&stem, ".lock");
        match Journal::open(&lock) {
            Ok(Some(journal)) => Ok(journal),
            Ok(None) => Err(RunError::CannotGoOn {
                message: format!("another run is writing {}", path.display()),
                help: "wait for it to end, or name another output with -o".to_owned(),
            }),
            Err(error) => Err(RunError::output(&lock, &error)),
        }
    }

    fn remove_partials(&self) {
        for number in 1.. {
            let partial = appended(
                &self.target.file(number),
                crate::pipeline::paths::file_names::PARTIAL,
            );
            if std::fs::remove_file(partial).is_err() {
                break;
            }
        }
    }

    fn fault(&self, error: &std::io::Error) -> RunError {
        RunError::CannotGoOn {
            message: format!("cannot write {}: {error}", self.target.path.display()),
            help: "mend that, then run it again".to_owned(),
        }
    }
}

/// Fits the records of a batch.
fn processing(
    worker: Worker,
    counters: &Arc<Counters>,
) -> impl Fn(ReadBatch) -> BoxFuture<'static, (ReadBatch, Chunk)> + Send + 'static {
    let (worker, counters) = (Arc::new(worker), Arc::clone(counters));
    move |batch: ReadBatch| {
        let (worker, counters) = (Arc::clone(&worker), Arc::clone(&counters));
        Box::pin(async move {
            let chunk = worker.process(&batch, &counters).await;
            (batch, chunk)
        })
    }
}
