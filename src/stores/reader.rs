//! Reads an object in blocks that are requested ahead, with flat memory.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

use bytes::{Buf, Bytes};
use tokio::task::JoinHandle;

use super::object::{Object, Ranges};
use super::runtime;

/// The first block: what tells the kind of an object, and all of a small one.
const FIRST_BLOCK: u64 = 256 * 1024;

/// Every later block.
const BLOCK: u64 = 4 * 1024 * 1024;

/// Blocks that are requested ahead of the one being read.
const AHEAD: usize = 2;

/// A reader of an object.
pub enum ObjectReader {
    /// Of one whose server sends ranges.
    Blocks(Blocks),
    /// Of another.
    Whole(Box<dyn Read + Send>),
}

impl ObjectReader {
    /// A reader from the first byte on.
    pub fn of(object: &Object) -> Self {
        match (&object.ranges, object.bytes, &object.whole) {
            (Some(ranges), Some(length), _) => Self::Blocks(Blocks::of(Arc::clone(ranges), 0..length)),
            (_, _, Some(whole)) => Self::Whole(Arc::clone(whole).reader(object)),
            (Some(ranges), ..) => Self::Blocks(Blocks::of(Arc::clone(ranges), 0..0)),
            (None, _, None) => Self::Blocks(Blocks::empty()),
        }
    }
}

impl Read for ObjectReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Blocks(blocks) => blocks.read(buffer),
            Self::Whole(whole) => whole.read(buffer),
        }
    }
}

/// The bytes of a range of an object.
pub struct Blocks {
    ranges: Option<Arc<dyn Ranges>>,
    range: Range<u64>,
    /// The position before which all is requested.
    asked: u64,
    /// Requests under way, in order.
    pending: VecDeque<JoinHandle<io::Result<Bytes>>>,
    current: Bytes,
}

impl Blocks {
    /// A reader of this range.
    pub fn of(ranges: Arc<dyn Ranges>, range: Range<u64>) -> Self {
        Self {
            ranges: Some(ranges),
            asked: range.start,
            range,
            pending: VecDeque::new(),
            current: Bytes::new(),
        }
    }

    fn empty() -> Self {
        Self {
            ranges: None,
            range: 0..0,
            asked: 0,
            pending: VecDeque::new(),
            current: Bytes::new(),
        }
    }

    /// Requests blocks until so many are under way.
    fn ask_ahead(&mut self, most: usize) -> io::Result<()> {
        let Some(ranges) = &self.ranges else {
            return Ok(());
        };
        while self.pending.len() < most && self.asked < self.range.end {
            let is_first = self.asked == self.range.start;
            let length = if is_first { FIRST_BLOCK } else { BLOCK };
            let end = self.range.end.min(self.asked + length);
            self.pending
                .push_back(runtime::start(ranges.range(self.asked..end))?);
            self.asked = end;
        }
        Ok(())
    }

    fn forget(&mut self) {
        for task in self.pending.drain(..) {
            task.abort();
        }
        self.current = Bytes::new();
    }
}

impl Read for Blocks {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.current.is_empty() {
            // Nothing is requested ahead of the first block: most readers of it want no more.
            let is_first = self.asked == self.range.start;
            self.ask_ahead(if is_first { 1 } else { AHEAD })?;
            let Some(task) = self.pending.pop_front() else {
                return Ok(0);
            };
            self.current = runtime::finish(task)?;
            if !is_first {
                self.ask_ahead(AHEAD)?;
            }
        }
        let length = self.current.len().min(buffer.len());
        self.current
            .split_to(length)
            .copy_to_slice(buffer.get_mut(..length).unwrap_or_default());
        Ok(length)
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        self.forget();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use futures_util::FutureExt;
    use futures_util::future::BoxFuture;

    use super::*;

    struct Counted(Mutex<Vec<Range<u64>>>);

    fn byte(at: u64) -> u8 {
        (at % 251) as u8
    }

    impl Ranges for Counted {
        fn range(&self, range: Range<u64>) -> BoxFuture<'static, io::Result<Bytes>> {
            self.0.lock().unwrap().push(range.clone());
            async move { Ok(range.map(byte).collect::<Vec<_>>().into()) }.boxed()
        }
    }

    fn reader(length: u64) -> (Arc<Counted>, Blocks) {
        let ranges = Arc::new(Counted(Mutex::new(Vec::new())));
        (Arc::clone(&ranges), Blocks::of(ranges, 0..length))
    }

    #[test]
    fn blocks_are_read_in_order_and_requested_ahead() {
        let length = FIRST_BLOCK + 3 * BLOCK + 5;
        let (ranges, mut blocks) = reader(length);
        let mut start = [0; 6];
        blocks.read_exact(&mut start).unwrap();
        assert_eq!(ranges.0.lock().unwrap().len(), 1);
        let mut rest = Vec::new();
        blocks.read_to_end(&mut rest).unwrap();
        assert_eq!(rest.len() as u64, length - 6);
        assert!(rest.iter().zip(6..).all(|(found, at)| *found == byte(at)));
        let asked = ranges.0.lock().unwrap();
        assert_eq!((asked.len(), asked[0].clone()), (5, 0..FIRST_BLOCK));
        assert_eq!(asked.last().unwrap().end, length);
    }

    #[test]
    fn an_empty_object_is_not_requested() {
        let (ranges, mut blocks) = reader(0);
        assert_eq!(blocks.read(&mut [0; 9]).unwrap(), 0);
        assert!(ranges.0.lock().unwrap().is_empty());
    }
}
