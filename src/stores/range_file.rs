//! An object as a file that is read at any position, as Parquet is: some blocks of it are kept.

use std::collections::VecDeque;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use super::object::{Object, Ranges};
use super::runtime;

/// Bytes of a block.
const BLOCK: u64 = 2 * 1024 * 1024;

/// Maximum number of blocks that are kept: columns of Parquet are read by turns.
const KEPT: usize = 16;

/// An object at a position. Clones share their blocks.
#[derive(Clone)]
pub struct RangeFile {
    ranges: Arc<dyn Ranges>,
    length: u64,
    position: u64,
    /// Blocks by their numbers, the last used at the end.
    blocks: Arc<Mutex<VecDeque<(u64, Bytes)>>>,
}

impl RangeFile {
    /// An object at its beginning; `None` if its server does not send ranges.
    pub fn of(object: &Object) -> Option<Self> {
        Some(Self {
            ranges: Arc::clone(object.ranges.as_ref()?),
            length: object.bytes?,
            position: 0,
            blocks: Arc::default(),
        })
    }

    /// Its length in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The same object at another position.
    #[must_use]
    pub fn at(&self, position: u64) -> Self {
        Self {
            position,
            ..self.clone()
        }
    }

    fn block(&self, number: u64) -> io::Result<Bytes> {
        let lock = || self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        let known = {
            let mut blocks = lock();
            let index = blocks.iter().position(|(known, _)| *known == number);
            index.and_then(|index| blocks.remove(index))
        };
        let block = if let Some((_, block)) = known {
            block
        } else {
            let start = number * BLOCK;
            let range = start..self.length.min(start + BLOCK);
            runtime::wait(self.ranges.range(range))?
        };
        let mut blocks = lock();
        if blocks.len() >= KEPT {
            blocks.pop_front();
        }
        blocks.push_back((number, block.clone()));
        Ok(block)
    }
}

impl Read for RangeFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.position >= self.length || buffer.is_empty() {
            return Ok(0);
        }
        let block = self.block(self.position / BLOCK)?;
        let rest = block.get((self.position % BLOCK) as usize..).unwrap_or_default();
        let read = rest.take(buffer.len() as u64).read(buffer)?;
        self.position += read as u64;
        Ok(read)
    }
}

impl Seek for RangeFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(offset) => self.length.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::FutureExt;
    use futures_util::future::BoxFuture;

    use super::*;

    struct Counted(AtomicUsize);

    fn byte(at: u64) -> u8 {
        (at % 251) as u8
    }

    impl Ranges for Counted {
        fn range(&self, range: Range<u64>) -> BoxFuture<'static, io::Result<Bytes>> {
            self.0.fetch_add(1, Ordering::Relaxed);
            async move { Ok(range.map(byte).collect::<Vec<_>>().into()) }.boxed()
        }
    }

    #[test]
    fn a_position_that_is_sought_is_read_from_and_blocks_are_kept() {
        let ranges = Arc::new(Counted(AtomicUsize::new(0)));
        let length = 2 * BLOCK + 10;
        let mut file = RangeFile {
            ranges: Arc::clone(&ranges) as Arc<dyn Ranges>,
            length,
            position: 0,
            blocks: Arc::default(),
        };
        for (to, at) in [
            (SeekFrom::End(-2), length - 2),
            (SeekFrom::Start(BLOCK - 1), BLOCK - 1),
            (SeekFrom::Current(7), BLOCK + 8),
            (SeekFrom::End(-4), length - 4),
        ] {
            let mut two = [0; 2];
            assert_eq!(file.seek(to).unwrap(), at);
            file.read_exact(&mut two).unwrap();
            assert_eq!(two, [byte(at), byte(at + 1)]);
        }
        assert_eq!(ranges.0.load(Ordering::Relaxed), 3);
        file.seek(SeekFrom::Start(length + 9)).unwrap();
        assert_eq!(file.read(&mut [0; 1]).unwrap(), 0);
        assert!(file.seek(SeekFrom::End(-length.cast_signed() - 1)).is_err());
        let mut rest = Vec::new();
        file.at(BLOCK + 1).read_to_end(&mut rest).unwrap();
        assert_eq!(rest.len() as u64, BLOCK + 9);
    }
}
