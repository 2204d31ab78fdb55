//! A run: reader, worker pool and writer put together, from the inputs to the final names.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::batch::Batch;
use super::counters::Counters;
use super::feed::Feed;
use super::journal::{Journal, Milestone};
use super::patience;
use super::sample::Sample;
use super::source::Source;
use super::start::{self, Start};
use super::window::Window;
use super::worker::{Chunk, Worker};
use super::writer::Writer;
use super::{Finish, RunError, Targets};
use crate::metrics::{Prices, Sums, Totals};

/// What a run is to do, besides what becomes of each record.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct Job {
    /// Inputs, in order.
    pub sources: Vec<Source>,
    /// The files that it writes.
    pub targets: Targets,
    /// The settings that decide what the output is, by key.
    pub settings: Vec<(String, String)>,
    /// Plan and count, write the metrics, but no data.
    pub dry_run: bool,
    /// Records to take, at most.
    pub limit: Option<u64>,
    /// Which records to take.
    pub sample: Sample,
    /// Go on with an unfinished run.
    pub resume: bool,
    /// Start over, and overwrite.
    pub force: bool,
    /// Threads of the worker pool.
    pub jobs: usize,
    /// Requests over a network that may be in flight: so many records more wait for their answer.
    pub requests: usize,
    /// What tokens of the summarizer cost, where it is known.
    pub prices: Option<Prices>,
    /// Whether the metrics are wanted.
    pub metrics: bool,
}

/// What a run came to.
#[derive(Debug)]
pub struct RunReport {
    /// Sums over all rows, those of a resumed run's first part included.
    pub totals: Totals,
    /// Time of this run.
    pub elapsed: Duration,
    /// Decompressed bytes that this run read.
    pub bytes_read: u64,
    /// Tokens that summarizers read, or in a dry run would read.
    pub summary_input_tokens: u64,
    /// The files that it left.
    pub files: Vec<PathBuf>,
    /// What the tokenizer has to say of its counts, if anything.
    pub tokenizer_note: Option<String>,
    /// Whether there was nothing to do: the run had finished before.
    pub already_finished: bool,
    /// Whether it went on with an unfinished run.
    pub resumed: bool,
}

/// What the names of the pool's threads start with.
pub const WORKER_THREADS: &str = "worker-";

/// In flight between reader and writer, per worker: enough to keep it busy, little enough to stay small.
const WINDOW_BYTES_PER_JOB: usize = 12 * 1024 * 1024;
const WINDOW_BATCHES_PER_JOB: usize = 24;

/// In flight beside that for each request: a record that waits long holds those after it back, and meanwhile others
/// must find something to ask for.
const WINDOW_BYTES_PER_REQUEST: usize = 4 * 1024 * 1024;
const WINDOW_BATCHES_PER_REQUEST: usize = 16;

/// How long a run that is to stop waits for the batch that is next: a request may hang.
const MOMENT: Duration = Duration::from_secs(1);

/// How long the writer waits for a batch before it looks whether the run is to stop.
const PATIENCE: Duration = Duration::from_millis(100);

/// What a batch costs in memory, as a multiple of its bytes: itself, its output, and the turns decoded.
const BATCH_WEIGHT: usize = 3;

type Processed = async_task::Task<(Batch, Chunk)>;

/// Runs a job. `stop` ends it early, at the next batch.
pub fn run(
    job: &Job,
    worker: Worker,
    counters: &Arc<Counters>,
    stop: &Arc<AtomicBool>,
) -> Result<RunReport, RunError> {
    let started = Instant::now();
    let identity = start::identity(job, &worker.fitter)?;
    let (journal, milestone, resumed) = match start::start(job, &identity)? {
        Start::AlreadyFinished => return Ok(RunReport::already_finished(job)),
        Start::Run {
            journal,
            milestone,
            resumed,
        } => (journal, milestone, resumed),
    };
    let finish = Finish::new(job, &identity);
    let counter = Arc::clone(&worker.fitter.counter);
    if milestone.complete {
        return finish.after_complete(journal, &milestone, started.elapsed());
    }
    // A dry run has nothing to resume: its journal is no more than the lock.
    let (journal, lock) = if job.dry_run {
        (None, journal)
    } else {
        (journal, None)
    };
    let ended = transfer(job, worker, counters, stop, journal, milestone)
        .and_then(|writer| finish.after_run(writer, started.elapsed(), counters, counter.note(), resumed));
    if let Some(lock) = lock {
        // Left behind it would say nothing: no harm.
        let _ = lock.remove();
    }
    ended
}

/// Moves everything from the inputs to the files, from `milestone` on. Returns the writer of a run that got to the end.
fn transfer<'r>(
    job: &'r Job,
    worker: Worker,
    counters: &'r Arc<Counters>,
    stop: &Arc<AtomicBool>,
    journal: Option<Journal>,
    milestone: Milestone,
) -> Result<Writer<'r>, RunError> {
    let totals = start::totals_so_far(job, &milestone)?;
    let window = Window::new(
        job.jobs * WINDOW_BYTES_PER_JOB + job.requests * WINDOW_BYTES_PER_REQUEST,
        job.jobs * WINDOW_BATCHES_PER_JOB + job.requests * WINDOW_BATCHES_PER_REQUEST,
    );
    let feed = Feed {
        job: job.clone(),
        from: milestone.clone(),
        window: Arc::new(window),
        counters: Arc::clone(counters),
        stop: Arc::clone(stop),
    };
    let mut writer = Writer::open(&job.targets, counters, journal, milestone, totals, job.dry_run)?;
    let window = Arc::clone(&feed.window);
    let (sender, receiver) = mpsc::channel();
    let reader = {
        let (worker, pool) = (Arc::new(worker), Arc::new(pool(job.jobs)?));
        thread::spawn(move || {
            let spawn = |batch| sender.send(Ok(spawn_on(&pool, &worker, batch))).is_ok();
            if let Err(error) = feed.read_all(spawn) {
                let _ = sender.send(Err(error));
            }
        })
    };
    let mut written = write_all(&mut writer, &receiver, &window, stop);
    window.close();
    drop(receiver);
    // Otherwise it may wait for a pipe, and would let the run wait as well.
    if written.as_ref().is_ok_and(|reader_done| *reader_done) && reader.join().is_err() {
        written = Err(RunError::cannot_go_on("the reader failed"));
    }
    match written {
        Ok(_) if stop.load(Ordering::Relaxed) => Err(RunError::Interrupted {
            resumable: writer.stop()?,
        }),
        Ok(_) => Ok(writer),
        Err(error) => {
            // What was written before the fault is safe as far as it can be made so; the fault is what matters.
            let _ = writer.stop();
            Err(error)
        }
    }
}

fn pool(jobs: usize) -> Result<rayon::ThreadPool, RunError> {
    let builder = rayon::ThreadPoolBuilder::new()
        .num_threads(jobs)
        .thread_name(|index| format!("{WORKER_THREADS}{index}"));
    builder
        .build()
        .map_err(|error| RunError::cannot_go_on(format!("cannot start threads: {error}")))
}

/// Processes a batch on the pool. The future runs there whenever it can go on, and nowhere while it waits.
fn spawn_on(pool: &Arc<rayon::ThreadPool>, worker: &Arc<Worker>, batch: Batch) -> Processed {
    let worker = Arc::clone(worker);
    let future = async move {
        let chunk = worker.process(&batch).await;
        (batch, chunk)
    };
    let pool = Arc::clone(pool);
    let schedule = move |runnable: async_task::Runnable| {
        pool.spawn(move || {
            runnable.run();
        });
    };
    let (runnable, task) = async_task::spawn(future, schedule);
    runnable.schedule();
    task
}

/// What a batch in flight takes of the window.
pub fn weight(batch: &Batch) -> usize {
    batch.bytes.len() * BATCH_WEIGHT
}

/// Writes what the pool brings, in the order in which it was read. Returns whether the reader is done.
fn write_all(
    writer: &mut Writer<'_>,
    receiver: &mpsc::Receiver<Result<Processed, RunError>>,
    window: &Window,
    stop: &AtomicBool,
) -> Result<bool, RunError> {
    loop {
        let processed = match receiver.recv_timeout(PATIENCE) {
            Ok(processed) => processed?,
            // Nothing is in flight, and the reader waits for input that may never come.
            Err(RecvTimeoutError::Timeout) if stop.load(Ordering::Relaxed) => return Ok(false),
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => return Ok(true),
        };
        let Some((batch, mut chunk)) = patience::wait(processed, stop, MOMENT) else {
            return Ok(false);
        };
        if let Some(error) = chunk.stop.take() {
            // Nothing of its batch is written: a resumed run meets the record again.
            return Err(error);
        }
        writer.write(&batch, chunk)?;
        window.release(weight(&batch));
    }
}

impl Job {
    /// What so many tokens of the summarizer cost, in US dollars with four decimals; `None` where prices are not known.
    pub fn cost(&self, sums: &Sums) -> Option<f64> {
        let cost = self.prices?.cost(sums.prompt_tokens, sums.completion_tokens);
        Some((cost * 1e4).round() / 1e4)
    }
}

impl RunReport {
    fn already_finished(job: &Job) -> Self {
        Self {
            totals: Totals::default(),
            elapsed: Duration::ZERO,
            bytes_read: 0,
            summary_input_tokens: 0,
            files: job
                .targets
                .data_files()
                .into_iter()
                .map(|target| target.path.clone())
                .collect(),
            tokenizer_note: None,
            already_finished: true,
            resumed: false,
        }
    }
}
