//! Batches on the worker pool: read ahead as far as the window allows, processed on all threads, taken in input order.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use super::reorder_buffer::{BatchResult, Overflow, ReorderBuffer};
use super::window::{Share, Window};
use crate::pipeline::RunError;
use crate::pipeline::read::batch::ReadBatch;
use crate::pipeline::read::feed::Feed;

/// The prefix of the names of the pool's threads.
pub const WORKER_THREADS: &str = "worker-";

/// Limits in flight between reader and taker, per worker: enough to keep it busy, but little memory.
const WINDOW_BYTES_PER_JOB: usize = 12 * 1024 * 1024;
const WINDOW_BATCHES_PER_JOB: usize = 24;

/// Additional limits for each request, so that all requests can be in use.
const WINDOW_BYTES_PER_REQUEST: usize = 4 * 1024 * 1024;
const WINDOW_BATCHES_PER_REQUEST: usize = 16;

/// The time that a stopping run waits for the next batch: a request may hang.
const MOMENT: Duration = Duration::from_secs(1);

/// The time that the taker waits for a batch before it checks whether to stop.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// The memory of a batch, as a multiple of its bytes: itself, its output, and the turns decoded.
const BATCH_WEIGHT: usize = 3;

/// A message from reader or workers to the taker.
enum PoolEvent<T> {
    /// A batch is being processed; dropping the task cancels it.
    Begun(u64, async_task::Task<()>),
    /// A batch is processed.
    Done(u64, BatchResult<T>),
    /// The number of batches that were read to the end of the input, or before reading failed.
    ReaderEnded(u64, Result<(), RunError>),
}

/// The limits of the work under way at once.
#[derive(Debug, Clone, Copy)]
pub struct Concurrency {
    /// Threads.
    pub jobs: usize,
    /// Network requests, for which no thread waits.
    pub requests: usize,
}

impl Concurrency {
    fn window(self) -> Window {
        let Self { jobs, requests } = self;
        Window::new(Share {
            bytes: jobs * WINDOW_BYTES_PER_JOB + requests * WINDOW_BYTES_PER_REQUEST,
            batches: jobs * WINDOW_BATCHES_PER_JOB + requests * WINDOW_BATCHES_PER_REQUEST,
        })
    }
}

/// Processes every batch of the feed on a pool of threads, and passes it to `take` with its result, in input order. If
/// many results wait for an earlier one, they go to `overflow`. Ends early at the first error, or if `stop` is set.
pub fn in_order<T, F>(
    feed: Feed,
    width: Concurrency,
    stop: &Arc<AtomicBool>,
    overflow: Option<Overflow<T>>,
    process: impl Fn(ReadBatch) -> F + Send + 'static,
    take: impl FnMut(&ReadBatch, T) -> Result<(), RunError>,
) -> Result<(), RunError>
where
    T: Send + 'static,
    F: Future<Output = (ReadBatch, T)> + Send + 'static,
{
    // A thread without a batch would be started for nothing, and would delay a single small file.
    let batches = feed
        .batches()
        .map_or(width.jobs, |batches| batches.max(1) as usize);
    let jobs = width.jobs.min(batches);
    let window = Arc::new(Concurrency { jobs, ..width }.window());
    let line = ResultLine {
        jobs,
        window: &window,
        stop,
    };
    line.run(feed, overflow, process, take)
}

/// The line from the reader to the taker of the results.
struct ResultLine<'l> {
    jobs: usize,
    window: &'l Arc<Window>,
    stop: &'l Arc<AtomicBool>,
}

impl ResultLine<'_> {
    fn run<T, F>(
        &self,
        feed: Feed,
        overflow: Option<Overflow<T>>,
        process: impl Fn(ReadBatch) -> F + Send + 'static,
        mut take: impl FnMut(&ReadBatch, T) -> Result<(), RunError>,
    ) -> Result<(), RunError>
    where
        T: Send + 'static,
        F: Future<Output = (ReadBatch, T)> + Send + 'static,
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
                let _ = sender.send(PoolEvent::ReaderEnded(number, ended));
            })
        };
        let waiting = ReorderBuffer::new(self.window, overflow);
        let taken = self.take_all(&receiver, waiting, &mut take);
        self.window.close();
        drop(receiver);
        // A reader that is not done may wait for a pipe, and the run would wait with it.
        if taken.as_ref().is_ok_and(|is_reader_done| *is_reader_done) && reader.join().is_err() {
            return Err(RunError::CannotGoOn {
                message: "the reader failed".to_owned(),
                help: "please report this".to_owned(),
            });
        }
        taken.map(|_| ())
    }

    /// Takes the results of the pool in the order in which batches were read. Returns true if the reader is done.
    fn take_all<T>(
        &self,
        receiver: &Receiver<PoolEvent<T>>,
        mut waiting: ReorderBuffer<'_, T>,
        take: &mut impl FnMut(&ReadBatch, T) -> Result<(), RunError>,
    ) -> Result<bool, RunError> {
        // Dropping a task cancels it.
        let mut tasks = BTreeMap::new();
        let mut next = 0;
        let mut read = None;
        let mut stopping: Option<Instant> = None;
        loop {
            match receiver.recv_timeout(STOP_CHECK_INTERVAL) {
                Ok(PoolEvent::Begun(number, task)) => {
                    tasks.insert(number, task);
                }
                Ok(PoolEvent::Done(number, done)) => {
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
                Ok(PoolEvent::ReaderEnded(number, ended)) => read = Some((number, ended)),
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
        done: BatchResult<T>,
        take: &mut impl FnMut(&ReadBatch, T) -> Result<(), RunError>,
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

/// Runs a future on the pool; it needs no thread while it waits. Returns false if nobody takes results any more.
fn spawn_on<T: Send + 'static>(
    pool: &Arc<rayon::ThreadPool>,
    number: u64,
    share: Share,
    future: impl Future<Output = (ReadBatch, T)> + Send + 'static,
    events: &Sender<PoolEvent<T>>,
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
        let done_with = BatchResult { batch, result, share };
        // Results that come after the end are dropped.
        let _ = done.send(PoolEvent::Done(number, done_with));
    };
    let (runnable, task) = async_task::spawn(future, schedule);
    let is_taken = events.send(PoolEvent::Begun(number, task)).is_ok();
    if is_taken {
        runnable.schedule();
    }
    is_taken
}

/// The share of the window that a batch in flight takes.
fn share_of(batch: &ReadBatch) -> Share {
    Share {
        bytes: batch.bytes.len() * BATCH_WEIGHT,
        batches: 1,
    }
}

fn lost(error: &std::io::Error) -> RunError {
    RunError::cannot_go_on(format!("cannot read back what was set aside on disk: {error}"))
}

#[cfg(test)]
mod tests;
