//! Batches on the worker pool: read ahead as far as the window allows, processed on all threads, taken in input order.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use super::RunError;
use super::batch::Batch;
use super::feed::Feed;
use super::waiting::{Done, Overflow, Waiting};
use super::window::{Share, Window};

/// What the names of the pool's threads start with.
pub const WORKER_THREADS: &str = "worker-";

/// In flight between reader and taker, per worker: enough to keep it busy, little enough to stay small.
const WINDOW_BYTES_PER_JOB: usize = 12 * 1024 * 1024;
const WINDOW_BATCHES_PER_JOB: usize = 24;

/// In flight beside that for each request, so that all of them find something to ask for.
const WINDOW_BYTES_PER_REQUEST: usize = 4 * 1024 * 1024;
const WINDOW_BATCHES_PER_REQUEST: usize = 16;

/// How long a run that is to stop waits for the batch that is next: a request may hang.
const MOMENT: Duration = Duration::from_secs(1);

/// How long the taker waits for a batch before it looks whether the run is to stop.
const PATIENCE: Duration = Duration::from_millis(100);

/// What a batch costs in memory, as a multiple of its bytes: itself, its output, and the turns decoded.
const BATCH_WEIGHT: usize = 3;

/// What reader and workers tell the taker.
enum Event<T> {
    /// A batch is being processed, unless this is dropped.
    Begun(u64, async_task::Task<()>),
    /// A batch is processed.
    Done(u64, Done<T>),
    /// So many batches were read, and there are no more; or reading failed after them.
    ReaderEnded(u64, Result<(), RunError>),
}

/// How much may be under way at once.
#[derive(Debug, Clone, Copy)]
pub struct Width {
    /// Threads.
    pub jobs: usize,
    /// Requests over a network, for which no thread waits.
    pub requests: usize,
}

impl Width {
    fn window(self) -> Window {
        let Self { jobs, requests } = self;
        Window::new(Share {
            bytes: jobs * WINDOW_BYTES_PER_JOB + requests * WINDOW_BYTES_PER_REQUEST,
            batches: jobs * WINDOW_BATCHES_PER_JOB + requests * WINDOW_BATCHES_PER_REQUEST,
        })
    }
}

/// Has every batch of the feed processed on a pool of threads, and hands it to `take` with what came of it, in input order.
/// Results that wait for an earlier one go to `overflow` where there are many of them. Ends early at the first error, or where
/// `stop` says so.
pub fn in_order<T, F>(
    feed: Feed,
    width: Width,
    stop: &Arc<AtomicBool>,
    overflow: Option<Overflow<T>>,
    process: impl Fn(Batch) -> F + Send + 'static,
    take: impl FnMut(&Batch, T) -> Result<(), RunError>,
) -> Result<(), RunError>
where
    T: Send + 'static,
    F: Future<Output = (Batch, T)> + Send + 'static,
{
    // A thread without a batch would be started for nothing, and a single small file is to be done at once.
    let batches = feed
        .batches()
        .map_or(width.jobs, |batches| batches.max(1) as usize);
    let jobs = width.jobs.min(batches);
    let window = Arc::new(Width { jobs, ..width }.window());
    let line = Line {
        jobs,
        window: &window,
        stop,
    };
    line.run(feed, overflow, process, take)
}

/// The line from the reader to whoever takes the results.
struct Line<'l> {
    jobs: usize,
    window: &'l Arc<Window>,
    stop: &'l Arc<AtomicBool>,
}

impl Line<'_> {
    fn run<T, F>(
        &self,
        feed: Feed,
        overflow: Option<Overflow<T>>,
        process: impl Fn(Batch) -> F + Send + 'static,
        mut take: impl FnMut(&Batch, T) -> Result<(), RunError>,
    ) -> Result<(), RunError>
    where
        T: Send + 'static,
        F: Future<Output = (Batch, T)> + Send + 'static,
    {
        let (sender, receiver) = mpsc::channel();
        let reader = {
            let (window, stop) = (Arc::clone(self.window), Arc::clone(self.stop));
            let pool = Arc::new(pool(self.jobs)?);
            thread::spawn(move || {
                let mut number = 0;
                let hand_on = |batch| {
                    let share = share_of(&batch);
                    if stop.load(Ordering::Relaxed) || !window.take(share) {
                        return false;
                    }
                    number += 1;
                    spawn_on(&pool, number - 1, share, process(batch), &sender)
                };
                let ended = feed.read_all(hand_on);
                let _ = sender.send(Event::ReaderEnded(number, ended));
            })
        };
        let waiting = Waiting::new(self.window, overflow);
        let taken = self.take_all(&receiver, waiting, &mut take);
        self.window.close();
        drop(receiver);
        // Otherwise it may wait for a pipe, and would let the run wait as well.
        if taken.as_ref().is_ok_and(|is_reader_done| *is_reader_done) && reader.join().is_err() {
            return Err(RunError::CannotGoOn {
                message: "the reader failed".to_owned(),
                help: "please report this".to_owned(),
            });
        }
        taken.map(|_| ())
    }

    /// Takes what the pool brings, in the order in which it was read. Returns whether the reader is done.
    fn take_all<T>(
        &self,
        receiver: &Receiver<Event<T>>,
        mut waiting: Waiting<'_, T>,
        take: &mut impl FnMut(&Batch, T) -> Result<(), RunError>,
    ) -> Result<bool, RunError> {
        // Dropped, a task is cancelled.
        let mut tasks = BTreeMap::new();
        let mut next = 0;
        let mut read = None;
        let mut stopping: Option<Instant> = None;
        loop {
            match receiver.recv_timeout(PATIENCE) {
                Ok(Event::Begun(number, task)) => {
                    tasks.insert(number, task);
                }
                Ok(Event::Done(number, done)) => {
                    tasks.remove(&number);
                    if number == next {
                        next += 1;
                        self.hand_out(done, take)?;
                        while let Some(done) = waiting.take(next).map_err(|error| lost(&error))? {
                            next += 1;
                            self.hand_out(done, take)?;
                        }
                        stopping = None;
                    } else {
                        waiting.add(number, done);
                    }
                }
                Ok(Event::ReaderEnded(number, ended)) => read = Some((number, ended)),
                Err(RecvTimeoutError::Timeout) => {
                    // The reader may wait for input that never comes.
                    if self.stop.load(Ordering::Relaxed) && tasks.is_empty() && read.is_none() {
                        return Ok(false);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(true),
            }
            if let Some((_, ended)) = read.take_if(|(number, _)| *number == next) {
                return ended.map(|()| true);
            }
            if self.stop.load(Ordering::Relaxed)
                && stopping.get_or_insert_with(Instant::now).elapsed() >= MOMENT
            {
                return Ok(false);
            }
        }
    }

    fn hand_out<T>(
        &self,
        done: Done<T>,
        take: &mut impl FnMut(&Batch, T) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        take(&done.batch, done.result)?;
        self.window.release(done.share);
        Ok(())
    }
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

/// Runs a future on the pool: there whenever it can go on, and nowhere while it waits. `false` where nobody takes results.
fn spawn_on<T: Send + 'static>(
    pool: &Arc<rayon::ThreadPool>,
    number: u64,
    share: Share,
    future: impl Future<Output = (Batch, T)> + Send + 'static,
    events: &Sender<Event<T>>,
) -> bool {
    let pool = Arc::clone(pool);
    let schedule = move |runnable: async_task::Runnable| {
        pool.spawn(move || {
            runnable.run();
        });
    };
    let done = events.clone();
    let future = async move {
        let (batch, result) = future.await;
        let done_with = Done { batch, result, share };
        // Nobody takes what comes after the end.
        let _ = done.send(Event::Done(number, done_with));
    };
    let (runnable, task) = async_task::spawn(future, schedule);
    let is_taken = events.send(Event::Begun(number, task)).is_ok();
    if is_taken {
        runnable.schedule();
    }
    is_taken
}

/// What a batch in flight takes of the window.
fn share_of(batch: &Batch) -> Share {
    Share {
        bytes: batch.bytes.len() * BATCH_WEIGHT,
        batches: 1,
    }
}

fn lost(error: &std::io::Error) -> RunError {
    RunError::cannot_go_on(format!("cannot read back what was set aside on disk: {error}"))
}

#[cfg(test)]
#[path = "ordered_tests.rs"]
mod tests;
