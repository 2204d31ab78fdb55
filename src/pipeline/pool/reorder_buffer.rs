//! Results that wait for an earlier one: in memory while they are few, on disk beyond that.

use std::collections::BTreeMap;
use std::io;
use std::mem;

use super::spill::{Spill, Spilled};
use super::window::{Share, Window};
use crate::pipeline::read::batch::ReadBatch;

/// Bytes of memory of a record whose text is on disk: its row.
const ROW_BYTES: usize = 1024;

/// A function that returns the texts of a result that may go to disk, always in the same order.
pub type SpillableTexts<T> = for<'r> fn(&'r mut ReadBatch, &'r mut T) -> Vec<&'r mut Vec<u8>>;

/// The place for results that do not fit into memory.
pub struct Overflow<T> {
    /// The files.
    pub spill: Spill,
    /// The texts that go there.
    pub texts: SpillableTexts<T>,
}

/// A batch, its result, and the share of the window that both take.
pub struct BatchResult<T> {
    /// The batch.
    pub batch: ReadBatch,
    /// The result.
    pub result: T,
    /// The part of the window that is given back once it is taken.
    pub share: Share,
}

/// Results by their number, until all before them were taken.
pub struct ReorderBuffer<'w, T> {
    window: &'w Window,
    overflow: Option<Overflow<T>>,
    results: BTreeMap<u64, (BatchResult<T>, Option<OnDisk>)>,
    in_memory: Share,
}

struct OnDisk {
    bytes: Spilled,
    lengths: Vec<usize>,
}

impl<'w, T> ReorderBuffer<'w, T> {
    /// Holds no results yet; without `overflow` all of them stay in memory.
    pub fn new(window: &'w Window, overflow: Option<Overflow<T>>) -> Self {
        Self {
            window,
            overflow,
            results: BTreeMap::new(),
            in_memory: Share::default(),
        }
    }

    /// Adds a result. Beyond a quarter of the window its bytes go to disk, so that others find room.
    pub fn add(&mut self, number: u64, mut done: BatchResult<T>) {
        let taken = self.in_memory.and(done.share);
        if !self.window.is_beyond_quarter(taken) {
            self.in_memory = taken;
            self.results.insert(number, (done, None));
            return;
        }
        let on_disk = self.set_aside(&mut done);
        if on_disk.is_some() {
            let rest = Share {
                bytes: done.share.bytes.min(done.batch.items.len() * ROW_BYTES),
                batches: 0,
            };
            self.window.release(done.share.without(rest));
            done.share = rest;
        } else {
            self.in_memory = taken;
        }
        self.results.insert(number, (done, on_disk));
    }

    /// Removes and returns the result of that number, as it was added, if it is there.
    ///
    /// # Errors
    ///
    /// The bytes on disk cannot be read back.
    pub fn take(&mut self, number: u64) -> io::Result<Option<BatchResult<T>>> {
        let Some((mut done, on_disk)) = self.results.remove(&number) else {
            return Ok(None);
        };
        let Some(on_disk) = on_disk else {
            self.in_memory = self.in_memory.without(done.share);
            return Ok(Some(done));
        };
        let mut bytes = on_disk.bytes.read()?;
        if let Some(overflow) = &self.overflow {
            let texts = (overflow.texts)(&mut done.batch, &mut done.result);
            for (text, length) in texts.into_iter().zip(on_disk.lengths).rev() {
                *text = bytes.split_off(bytes.len().saturating_sub(length));
            }
        }
        Ok(Some(done))
    }

    /// Moves the bytes of a result to disk; `None` if that fails: they stay in memory then.
    fn set_aside(&mut self, done: &mut BatchResult<T>) -> Option<OnDisk> {
        let overflow = self.overflow.as_mut()?;
        let texts = (overflow.texts)(&mut done.batch, &mut done.result);
        let lengths = texts.iter().map(|text| text.len()).collect();
        let bytes = overflow
            .spill
            .put(texts.iter().map(|text| text.as_slice()))
            .ok()?;
        for text in texts {
            drop(mem::take(text));
        }
        Some(OnDisk { bytes, lengths })
    }
}
