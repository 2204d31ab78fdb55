//! Batches on the worker pool: read ahead as far as the window allows, processed on all threads, taken in input order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::RunError;
use super::batch::Batch;
use super::feed::Feed;
use super::patience;
use super::window::Window;

/// What the names of the pool's threads start with.
pub const WORKER_THREADS: &str = "worker-";

/// In flight between reader and taker, per worker: enough to keep it busy, little enough to stay small.
const WINDOW_BYTES_PER_JOB: usize = 12 * 1024 * 1024;
const WINDOW_BATCHES_PER_JOB: usize = 24;

/// In flight beside that for each request: a record that waits long holds those after it back, and meanwhile others
/// must find something to ask for.
const WINDOW_BYTES_PER_REQUEST: usize = 4 * 1024 * 1024;
const WINDOW_BATCHES_PER_REQUEST: usize = 16;

/// How long a run that is to stop waits for the batch that is next: a request may hang.
const MOMENT: Duration = Duration::from_secs(1);

/// How long the taker waits for a batch before it looks whether the run is to stop.
const PATIENCE: Duration = Duration::from_millis(100);

/// What a batch costs in memory, as a multiple of its bytes: itself, its output, and the turns decoded.
const BATCH_WEIGHT: usize = 3;

type Processed<T> = async_task::Task<(Batch, T)>;

/// How much may be under way at once.
#[derive(Debug, Clone, Copy)]
pub struct Width {
    /// Threads.
    pub jobs: usize,
    /// Requests over a network, for which no thread waits.
    pub requests: usize,
}

/// Has every batch of the feed processed on a pool of threads, and hands it to `take` with what came of it, in input order.
/// Ends early at the first error, or where `stop` says so.
pub fn in_order<T, F>(
    feed: Feed,
    width: Width,
    stop: &Arc<AtomicBool>,
    process: impl Fn(Batch) -> F + Send + 'static,
    mut take: impl FnMut(&Batch, T) -> Result<(), RunError>,
) -> Result<(), RunError>
where
    T: Send + 'static,
    F: Future<Output = (Batch, T)> + Send + 'static,
{
    // A thread without a batch would be started for nothing, and a single small file is to be done at once.
    let Width { jobs, requests } = width;
    let batches = feed.batches().map_or(jobs, |batches| batches.max(1) as usize);
    let jobs = jobs.min(batches);
    let window = Arc::new(Window::new(
        jobs * WINDOW_BYTES_PER_JOB + requests * WINDOW_BYTES_PER_REQUEST,
        jobs * WINDOW_BATCHES_PER_JOB + requests * WINDOW_BATCHES_PER_REQUEST,
    ));
    let (sender, receiver) = mpsc::channel();
    let reader = {
        let (pool, window, stop) = (Arc::new(pool(jobs)?), Arc::clone(&window), Arc::clone(stop));
        thread::spawn(move || {
            let hand_on = |batch| {
                !stop.load(Ordering::Relaxed)
                    && window.take(weight(&batch))
                    && sender.send(Ok(spawn_on(&pool, process(batch)))).is_ok()
            };
            if let Err(error) = feed.read_all(hand_on) {
                let _ = sender.send(Err(error));
            }
        })
    };
    let taken = take_all(&receiver, &window, stop, &mut take);
    window.close();
    drop(receiver);
    // Otherwise it may wait for a pipe, and would let the run wait as well.
    if taken.as_ref().is_ok_and(|reader_done| *reader_done) && reader.join().is_err() {
        return Err(RunError::CannotGoOn {
            message: "the reader failed".to_owned(),
            help: "please report this".to_owned(),
        });
    }
    taken.map(|_| ())
}

fn pool(jobs: usize) -> Result<rayon::ThreadPool, RunError> {
    let builder = rayon::ThreadPoolBuilder::new()
        .num_threads(jobs)
        .thread_name(|index| format!("{WORKER_THREADS}{index}"));
    builder.build().map_err(|error| RunError::CannotGoOn {
        message: format!("cannot start threads: {error}"),
        help: "run it again with fewer: --jobs 1".to_owned(),
    })
}

/// Runs a future on the pool: there whenever it can go on, and nowhere while it waits.
fn spawn_on<T: Send + 'static>(
    pool: &Arc<rayon::ThreadPool>,
    future: impl Future<Output = (Batch, T)> + Send + 'static,
) -> Processed<T> {
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
fn weight(batch: &Batch) -> usize {
    batch.bytes.len() * BATCH_WEIGHT
}

/// Takes what the pool brings, in the order in which it was read. Returns whether the reader is done.
fn take_all<T>(
    receiver: &Receiver<Result<Processed<T>, RunError>>,
    window: &Window,
    stop: &AtomicBool,
    take: &mut impl FnMut(&Batch, T) -> Result<(), RunError>,
) -> Result<bool, RunError> {
    loop {
        let processed = match receiver.recv_timeout(PATIENCE) {
            Ok(processed) => processed?,
            // Nothing is in flight, and the reader waits for input that may never come.
            Err(RecvTimeoutError::Timeout) if stop.load(Ordering::Relaxed) => return Ok(false),
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => return Ok(true),
        };
        let Some((batch, done)) = patience::wait(processed, stop, MOMENT) else {
            return Ok(false);
        };
        take(&batch, done)?;
        window.release(weight(&batch));
    }
}
