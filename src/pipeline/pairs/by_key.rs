//! Records paired by id, and by order among those that share an id or have none.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_128;

use super::data_sets::{LeftOut, OnPair, Paired, Pairs, interrupted};
use crate::fit::PairScorer;
use crate::pipeline::{RawRecord, Records, RunError};

/// Maximum bytes of originals held until their compressed record is read.
const MOST_WAITING: usize = 256 << 20;

/// The key of records without an id.
const NO_ID: u128 = 0;

/// The number of records of both data sets by id.
#[derive(Debug, Default)]
pub struct PairKeys {
    counts: FxHashMap<u128, Count>,
    /// True if records have ids in both data sets; otherwise they pair by order.
    has_ids: bool,
}

/// Records with one id.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Count {
    originals: u64,
    compressed: u64,
}

impl PairKeys {
    /// Returns the counts of the ids of both data sets.
    pub fn of(pairs: &Pairs, scorer: PairScorer, stop: &AtomicBool) -> Result<Self, RunError> {
        let mut keys = Self {
            has_ids: true,
            ..Self::default()
        };
        let originals = keys.count(
            Records::of(&pairs.original, pairs.max_record_bytes),
            scorer,
            stop,
            |count| &mut count.originals,
        )?;
        let compressed = keys.count(
            Records::of(&pairs.compressed, pairs.max_record_bytes),
            scorer,
            stop,
            |count| &mut count.compressed,
        )?;
        keys.has_ids = keys.has_ids_in(|count| count.originals) && keys.has_ids_in(|count| count.compressed);
        if !keys.has_ids {
            keys.counts = FxHashMap::from_iter([(
                NO_ID,
                Count {
                    originals,
                    compressed,
                },
            )]);
        }
        Ok(keys)
    }

    /// Returns the number of records of a data set, and adds their ids.
    fn count(
        &mut self,
        mut records: Records,
        scorer: PairScorer,
        stop: &AtomicBool,
        of: fn(&mut Count) -> &mut u64,
    ) -> Result<u64, RunError> {
        let mut total = 0;
        while let Some(record) = records.next_record()? {
            interrupted(stop)?;
            total += 1;
            if let Some(key) = self.key(scorer, &record) {
                *of(self.counts.entry(key).or_default()) += 1;
            }
        }
        Ok(total)
    }

    /// Returns true if a data set has records with an id, or no records at all.
    fn has_ids_in(&self, of: fn(&Count) -> u64) -> bool {
        let has = |wanted: fn(u128) -> bool| {
            let mut counts = self.counts.iter();
            counts.any(|(key, count)| wanted(*key) && of(count) > 0)
        };
        has(|key| key != NO_ID) || !has(|key| key == NO_ID)
    }

    /// The key of a record; `None` if it cannot be read, so that its id is not known.
    fn key(&self, scorer: PairScorer, record: &RawRecord) -> Option<u128> {
        if !self.has_ids {
            return Some(NO_ID);
        }
        let id = scorer.id(&record.bytes)?;
        Some(id.map_or(NO_ID, |id| xxh3_128(id.as_bytes())))
    }

    /// The number of records of both data sets with a key.
    fn count_of(&self, key: Option<u128>) -> Count {
        key.and_then(|key| self.counts.get(&key))
            .copied()
            .unwrap_or_default()
    }

    /// The name of the rule by which records pair.
    pub fn name(&self) -> &'static str {
        let by_order = |(key, count): (&u128, &Count)| {
            count.originals == count.compressed && (*key == NO_ID || count.originals > 1)
        };
        match (self.has_ids, self.counts.iter().any(by_order)) {
            (false, _) => "order",
            (true, true) => "ids_and_order",
            (true, false) => "ids",
        }
    }

    /// The same as [`Pairs::each`].
    pub fn each(
        &self,
        pairs: &Pairs,
        scorer: PairScorer,
        stop: &AtomicBool,
        take: &mut OnPair<'_>,
    ) -> Result<ControlFlow<()>, RunError> {
        let mut compressed = Records::of(&pairs.compressed, pairs.max_record_bytes);
        let mut originals = Originals {
            records: Records::of(&pairs.original, pairs.max_record_bytes),
            waiting: FxHashMap::default(),
            waiting_bytes: 0,
        };
        while let Some(new) = compressed.next_record()? {
            interrupted(stop)?;
            let key = self.key(scorer, &new);
            let count = self.count_of(key);
            let key = key.filter(|_| count.originals == count.compressed);
            let mut found = key.and_then(|key| originals.waiting_for(key));
            while let (None, Some(key)) = (&found, key) {
                let Some(old) = originals.records.next_record()? else {
                    break;
                };
                let old_key = self.key(scorer, &old);
                if old_key == Some(key) {
                    found = Some(old);
                } else if self
                    .hand_on_or_keep(old, old_key, &mut originals, take)?
                    .is_break()
                {
                    return Ok(ControlFlow::Break(()));
                }
            }
            let step = match &found {
                Some(old) => Paired::Pair(old, &new),
                None => Paired::NoOriginal(&new),
            };
            if take(step)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        while let Some(old) = originals.records.next_record()? {
            interrupted(stop)?;
            let key = self.key(scorer, &old);
            if self.hand_on_or_keep(old, key, &mut originals, take)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Passes an original without a compressed record to `take`; another waits for its own.
    fn hand_on_or_keep(
        &self,
        old: RawRecord,
        key: Option<u128>,
        originals: &mut Originals,
        take: &mut OnPair<'_>,
    ) -> Result<ControlFlow<()>, RunError> {
        let Count {
            originals: as_many,
            compressed,
        } = self.count_of(key);
        match key.filter(|_| as_many == compressed) {
            Some(key) => originals.keep(key, old).map(ControlFlow::Continue),
            None => take(Paired::Left(
                &old,
                LeftOut::Counts {
                    by_id: self.has_ids,
                    originals: as_many,
                    compressed,
                },
            )),
        }
    }
}

/// The originals, and those of them that wait for their compressed record.
struct Originals {
    records: Records,
    waiting: FxHashMap<u128, VecDeque<RawRecord>>,
    waiting_bytes: usize,
}

impl Originals {
    /// Takes the first waiting original with this key.
    fn waiting_for(&mut self, key: u128) -> Option<RawRecord> {
        let same = self.waiting.get_mut(&key)?;
        let found = same.pop_front();
        if same.is_empty() {
            self.waiting.remove(&key);
        }
        self.waiting_bytes -= found.as_ref().map_or(0, |old| old.bytes.len());
        found
    }

    fn keep(&mut self, key: u128, record: RawRecord) -> Result<(), RunError> {
        self.waiting_bytes += record.bytes.len();
        self.waiting.entry(key).or_default().push_back(record);
        if self.waiting_bytes > MOST_WAITING {
            return Err(RunError::usage(
                format!(
                    "the records stand in too different an order: {} megabytes of originals wait for theirs",
                    MOST_WAITING >> 20
                ),
                "sort both data sets by id first",
            ));
        }
        Ok(())
    }
}
