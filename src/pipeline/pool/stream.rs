//! Records that are handed over one by one, processed on a pool of threads, and given back in their order.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};

use super::window::Share;
use crate::pipeline::read::batch::{Item, ReadBatch, TooLong};

/// Bytes of records that are processed in one task, so that small records cost no task each.
const GROUP_BYTES: usize = 64 * 1024;

/// Limits of the records in flight, for each thread and for each network request.
const BYTES_PER_JOB: usize = 4 * 1024 * 1024;
const GROUPS_PER_JOB: usize = 24;
const BYTES_PER_REQUEST: usize = 1024 * 1024;
const GROUPS_PER_REQUEST: usize = 16;

/// Processes a record, given as a batch of its own.
pub type Process<T> = Arc<dyn Fn(ReadBatch) -> BoxFuture<'static, T> + Send + Sync>;

/// The pool of threads, and how much is in flight at once.
#[derive(Clone)]
pub struct Capacity {
    /// The threads.
    pub pool: Arc<rayon::ThreadPool>,
    /// Network requests in flight, for which no thread waits.
    pub requests: usize,
    /// Maximum bytes of a record.
    pub max_record_bytes: u64,
}

/// The next result of a stream.
#[derive(Debug)]
pub enum Next<T> {
    /// The result of the next record.
    Ready(T),
    /// It is not there yet.
    Pending,
    /// All results were taken.
    End,
}

/// The results of records, in their order. Records are taken from the iterator only as far ahead as the window allows,
/// and none while a result is ready.
pub struct RecordStream<I, T> {
    records: I,
    process: Process<T>,
    capacity: Capacity,
    /// Records taken so far.
    read: u64,
    is_at_end: bool,
    /// Records that are not yet handed to the pool.
    group: Vec<ReadBatch>,
    group_bytes: usize,
    whole: Share,
    in_flight: Share,
    /// Groups handed to the pool, and those taken back.
    begun: u64,
    taken: u64,
    /// Dropping a task cancels it.
    tasks: BTreeMap<u64, async_task::Task<()>>,
    waiting: BTreeMap<u64, ProcessedGroup<T>>,
    ready: VecDeque<T>,
    sender: Sender<(u64, ProcessedGroup<T>)>,
    receiver: Receiver<(u64, ProcessedGroup<T>)>,
}

/// A group of records that was processed.
struct ProcessedGroup<T> {
    results: Vec<T>,
    bytes: usize,
}

impl<I: Iterator<Item = Vec<u8>>, T: Send + 'static> RecordStream<I, T> {
    /// A stream over records, each the bytes of one JSON object with or without a line end.
    pub fn new(records: I, capacity: Capacity, process: Process<T>) -> Self {
        let (sender, receiver) = mpsc::channel();
        let (jobs, requests) = (capacity.pool.current_num_threads(), capacity.requests);
        Self {
            records,
            process,
            read: 0,
            is_at_end: false,
            group: Vec::new(),
            group_bytes: 0,
            whole: Share {
                bytes: jobs * BYTES_PER_JOB + requests * BYTES_PER_REQUEST,
                batches: jobs * GROUPS_PER_JOB + requests * GROUPS_PER_REQUEST,
            },
            capacity,
            in_flight: Share::default(),
            begun: 0,
            taken: 0,
            tasks: BTreeMap::new(),
            waiting: BTreeMap::new(),
            ready: VecDeque::new(),
            sender,
            receiver,
        }
    }

    /// The iterator of the records.
    pub fn records_mut(&mut self) -> &mut I {
        &mut self.records
    }

    /// The next result; waits at most `timeout` for it, beside the time that the iterator takes for a record.
    pub fn next_within(&mut self, timeout: Duration) -> Next<T> {
        loop {
            while let Ok((number, done)) = self.receiver.try_recv() {
                self.put(number, done);
            }
            if let Some(result) = self.take_ready() {
                return Next::Ready(result);
            }
            if !self.is_at_end && self.has_room() {
                self.read_one();
                continue;
            }
            if self.taken == self.begun {
                return Next::End;
            }
            match self.receiver.recv_timeout(timeout) {
                Ok((number, done)) => self.put(number, done),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return Next::Pending,
            }
        }
    }

    fn take_ready(&mut self) -> Option<T> {
        loop {
            if let Some(result) = self.ready.pop_front() {
                return Some(result);
            }
            let done = self.waiting.remove(&self.taken)?;
            self.taken += 1;
            self.in_flight = self.in_flight.without(Share {
                bytes: done.bytes,
                batches: 1,
            });
            self.ready.extend(done.results);
        }
    }

    fn put(&mut self, number: u64, done: ProcessedGroup<T>) {
        self.tasks.remove(&number);
        self.waiting.insert(number, done);
    }

    fn has_room(&self) -> bool {
        self.in_flight.bytes < self.whole.bytes && self.in_flight.batches < self.whole.batches
    }

    /// Takes a record from the iterator. A thread that has nothing to do gets it at once.
    fn read_one(&mut self) {
        match self.records.next() {
            Some(bytes) => {
                self.read += 1;
                self.group_bytes += bytes.len();
                let batch = ReadBatch::of_record(self.read, bytes, self.capacity.max_record_bytes);
                self.group.push(batch);
            }
            None => self.is_at_end = true,
        }
        let threads = self.capacity.pool.current_num_threads();
        if self.is_at_end || self.group_bytes >= GROUP_BYTES || self.tasks.len() < threads {
            self.begin_group();
        }
    }

    /// Hands the group to the pool. It needs no thread while it waits for a request.
    fn begin_group(&mut self) {
        let group = std::mem::take(&mut self.group);
        let bytes = std::mem::take(&mut self.group_bytes);
        if group.is_empty() {
            return;
        }
        let number = self.begun;
        self.begun += 1;
        self.in_flight = self.in_flight.and(Share { bytes, batches: 1 });
        let process = Arc::clone(&self.process);
        let sender = self.sender.clone();
        let future = async move {
            let results = join_all(group.into_iter().map(|batch| process(batch))).await;
            // Results that come after the stream is dropped are dropped too.
            let _ = sender.send((number, ProcessedGroup { results, bytes }));
        };
        let pool = Arc::clone(&self.capacity.pool);
        let schedule = move |runnable: async_task::Runnable| {
            pool.spawn(move || {
                runnable.run();
            });
        };
        let (runnable, task) = async_task::spawn(future, schedule);
        self.tasks.insert(number, task);
        runnable.schedule();
    }
}

impl ReadBatch {
    /// A batch of the one record that is number `line`, without the line end that may follow it.
    fn of_record(line: u64, mut bytes: Vec<u8>, most: u64) -> Self {
        let text = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        let length = text.strip_suffix(b"\r").unwrap_or(text).len();
        bytes.truncate(length);
        let is_too_long = length as u64 > most;
        if is_too_long {
            bytes = Vec::new();
        }
        let range = 0..bytes.len();
        let item = Item {
            line,
            outer: range.clone(),
            record: Some(range),
            too_long: is_too_long.then_some(TooLong {
                offset: 0,
                bytes: length as u64,
                most,
            }),
        };
        Self {
            bytes,
            items: vec![item],
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capacity(threads: usize) -> Capacity {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        Capacity {
            pool: Arc::new(pool.unwrap()),
            requests: 0,
            max_record_bytes: 1000,
        }
    }

    fn stream<I: Iterator<Item = Vec<u8>>>(records: I, threads: usize) -> RecordStream<I, (u64, Vec<u8>)> {
        let process: Process<(u64, Vec<u8>)> = Arc::new(|batch: ReadBatch| {
            Box::pin(async move { (batch.items.first().map_or(0, |item| item.line), batch.bytes) })
        });
        RecordStream::new(records, capacity(threads), process)
    }

    #[test]
    fn results_come_in_the_order_of_the_records() {
        for threads in [1, 3] {
            let records = (0..5000).map(|number| format!("{number}\r\n").into_bytes());
            let mut stream = stream(records, threads);
            let mut taken = 0;
            loop {
                match stream.next_within(Duration::from_secs(1)) {
                    Next::Ready((line, bytes)) => {
                        assert_eq!((line, bytes), (taken + 1, taken.to_string().into_bytes()));
                        taken += 1;
                    }
                    Next::Pending => {}
                    Next::End => break,
                }
            }
            assert_eq!(taken, 5000);
        }
    }

    #[test]
    fn records_are_read_only_as_far_ahead_as_the_window_allows() {
        let mut stream = stream(std::iter::repeat_with(|| vec![b'x'; 900]), 1);
        for _ in 0..20_000 {
            while !matches!(stream.next_within(Duration::from_secs(1)), Next::Ready(_)) {}
        }
        let ahead = stream.read - 20_000;
        assert!(ahead as usize * 900 <= BYTES_PER_JOB + 2 * GROUP_BYTES, "{ahead}");
    }

    #[test]
    fn a_record_that_is_too_long_is_not_kept() {
        let batch = ReadBatch::of_record(7, vec![b'x'; 1001], 1000);
        assert!(batch.bytes.is_empty());
        assert!(batch.items[0].too_long.is_some());
    }
}
