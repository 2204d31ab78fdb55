//! A run: reader, worker pool and writer put together, from the inputs to the final names.

pub(super) mod finish;
mod forms;
pub(super) mod job;
mod row_outputs;
pub(super) mod start;
pub(super) mod totals_file;
pub(super) mod unroll_summary;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::counters::Counters;
use super::pool::block_on;
use super::pool::ordered::{Concurrency, in_order};
use super::pool::reorder_buffer::Overflow;
use super::pool::spill::Spill;
use super::pool::worker::{Chunk, Worker};
use super::read::batch::ReadBatch;
use super::read::feed::Feed;
use super::write::journal::{Journal, Milestone};
use super::write::writer::Writer;
use super::{Finish, RunError};
use forms::OneForm;
use job::{Job, RunReport};
use start::Start;

/// Advice for an input that cannot be read to its end.
const UNREADABLE: &str = "where it is whole but was out of reach, run the same command with --resume; where it is damaged, \
    mend it and start over with --force";

/// Time that an interrupted run waits for answers under way; another waits for as long as requests may take.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// Runs a job. `stop` ends it early, at the next batch.
pub fn run(
    job: &Job,
    worker: Worker,
    counters: &Arc<Counters>,
    stop: &Arc<AtomicBool>,
) -> Result<RunReport, RunError> {
    let started = Instant::now();
    forms::refuse_mixed(job, &worker.fitter)?;
    let identity = start::identity(job, &worker.fitter)?;
    let (journal, milestone, resumed) = match start::start(job, &identity)? {
        Start::AlreadyFinished(totals) => return Ok(RunReport::already_finished(job, *totals)),
        Start::Run {
            journal,
            milestone,
            resumed,
        } => (journal, milestone, resumed),
    };
    let finish = Finish::new(job, &identity);
    let summarizer = Arc::clone(&worker.fitter.summarizer);
    let counter = Arc::clone(&worker.fitter.counter);
    if milestone.complete {
        let ended = finish.after_complete(journal, &milestone, started.elapsed());
        job.targets.tidy_remote();
        return ended;
    }
    if let Err(refused) = summarizer.prepare() {
        if let Some(journal) = journal.filter(|_| !resumed) {
            // Nothing was begun, and nothing is left behind.
            let _ = journal.remove();
        }
        return Err(RunError::usage(refused.message, refused.help));
    }
    // A run that cannot be resumed has a journal that is no more than the lock.
    let (journal, lock) = if job.is_resumable() {
        (journal, None)
    } else {
        (None, journal)
    };
    let ended = transfer(job, worker, counters, stop, journal, milestone);
    let nobody_waits = AtomicBool::new(matches!(ended, Err(RunError::OutputClosed)));
    let hurry = if nobody_waits.load(Ordering::Relaxed) {
        &nobody_waits
    } else {
        stop
    };
    // Answers under way will be paid for, and are kept if they come in time.
    block_on::block_on_until_stopped(summarizer.finish(), hurry, LAST_ANSWERS);
    let ended = ended
        .and_then(|writer| finish.after_run(writer, started.elapsed(), counters, counter.note(), resumed));
    if let Some(lock) = lock {
        // A lock file that is left behind does no harm.
        let _ = lock.remove();
    }
    job.targets.tidy_remote();
    ended
}

/// Processes the inputs from `milestone` on, and writes the files. Returns the writer of a run that reached the end.
fn transfer<'r>(
    job: &'r Job,
    worker: Worker,
    counters: &'r Arc<Counters>,
    stop: &Arc<AtomicBool>,
    journal: Option<Journal>,
    milestone: Milestone,
) -> Result<Writer<'r>, RunError> {
    let totals = start::totals_so_far(job, &milestone)?;
    let feed = Feed {
        sources: job.sources.clone(),
        from: (milestone.source, milestone.position),
        limit: job.limit.map(|limit| limit.saturating_sub(milestone.taken)),
        sample: job.sample,
        max_record_bytes: job.max_record_bytes,
        merged: job.targets.merged(),
        counters: Arc::clone(counters),
        help: UNREADABLE,
    };
    let mut one_form = OneForm::of(job, &worker.fitter, &totals);
    let mut writer = Writer::open(job, counters, journal, milestone, totals)?;
    let worker = Arc::new(worker);
    let live = Arc::clone(counters);
    let process = move |batch: ReadBatch| {
        let (worker, live) = (Arc::clone(&worker), Arc::clone(&live));
        async move {
            let chunk = worker.process(&batch, &live).await;
            (batch, chunk)
        }
    };
    let write = |batch: &ReadBatch, mut chunk: Chunk| match chunk.stop.take() {
        // Nothing of its batch is written: a resumed run reads the record again.
        Some(error) => Err(error),
        None => one_form
            .check(&chunk.rows)
            .and_then(|()| writer.write(batch, chunk)),
    };
    let width = Concurrency {
        jobs: job.jobs,
        requests: job.requests,
    };
    // Without requests, results wait for busy threads only, and not for long.
    let overflow = (job.requests > 0).then(|| Overflow {
        spill: Spill::new(job.spill_file()),
        texts: Chunk::texts,
    });
    match in_order(feed, width, stop, overflow, process, write) {
        Ok(()) if stop.load(Ordering::Relaxed) => Err(RunError::Interrupted {
            resumable: writer.stop()?,
        }),
        Ok(()) => Ok(writer),
        Err(error) => {
            let is_refused = matches!(error, RunError::Usage { .. });
            let writer = if is_refused {
                writer.discard()
            } else {
                Some(writer)
            };
            // What was written before the error is made as safe as possible; a second error is ignored.
            let _ = writer.map(Writer::stop);
            Err(error)
        }
    }
}
