//! Two data sets side by side: each compressed record with its original, in bounded memory.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};

use xxhash_rust::xxh3::xxh3_128;

use super::RunError;
use super::records::{RawRecord, Records};
use super::source::Source;
use crate::fit::PairScorer;

/// Bytes of originals held while their compressed record has not come yet.
const MOST_WAITING: usize = 256 << 20;

/// Two data sets to be compared.
#[derive(Debug, Clone)]
pub struct Pairs {
    /// The originals.
    pub original: Vec<Source>,
    /// What was made of them.
    pub compressed: Vec<Source>,
}

/// How records find each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matching {
    /// Every record of both has an id that no other has.
    Ids,
    /// The first with the first, and so on.
    Order,
}

/// What is found on the way.
#[derive(Debug)]
pub enum Found<'r> {
    /// A record and what was made of it.
    Pair(&'r RawRecord, &'r RawRecord),
    /// A compressed record whose original is not there, or that cannot be read.
    NoOriginal(&'r RawRecord),
}

impl Pairs {
    /// How the records of these two match: by id where all ids of both are unique.
    pub fn matching(&self, scorer: PairScorer, stop: &AtomicBool) -> Result<Matching, RunError> {
        let original = ids(&self.original, scorer, stop)?;
        let is_by_id = original.is_some() && ids(&self.compressed, scorer, stop)?.is_some();
        Ok(if is_by_id { Matching::Ids } else { Matching::Order })
    }

    /// Hands every compressed record on with its original, in the order of the compressed ones. Returns how many originals have
    /// no compressed record.
    pub fn each(
        &self,
        matching: Matching,
        scorer: PairScorer,
        stop: &AtomicBool,
        take: impl FnMut(Found<'_>) -> Result<(), RunError>,
    ) -> Result<u64, RunError> {
        match matching {
            Matching::Ids => self.by_id(scorer, stop, take),
            Matching::Order => self.by_order(stop, take),
        }
    }

    fn by_order(
        &self,
        stop: &AtomicBool,
        mut take: impl FnMut(Found<'_>) -> Result<(), RunError>,
    ) -> Result<u64, RunError> {
        let (mut original, mut compressed) = (Records::of(&self.original), Records::of(&self.compressed));
        loop {
            interrupted(stop)?;
            match (original.next_record()?, compressed.next_record()?) {
                (Some(old), Some(new)) => take(Found::Pair(&old, &new))?,
                (None, None) => return Ok(0),
                (left, right) => {
                    let longer = if left.is_some() { "original" } else { "compressed" };
                    let extra = left
                        .or(right)
                        .map(|record| format!("{}:{}", record.source, record.line));
                    return Err(RunError::usage(
                        format!(
                            "records match by order, and the {longer} data have more of them, from {} on",
                            extra.unwrap_or_default()
                        ),
                        "give every record of both an id of its own, or compare data sets of the same records",
                    ));
                }
            }
        }
    }

    fn by_id(
        &self,
        scorer: PairScorer,
        stop: &AtomicBool,
        mut take: impl FnMut(Found<'_>) -> Result<(), RunError>,
    ) -> Result<u64, RunError> {
        let wanted = ids(&self.compressed, scorer, stop)?.unwrap_or_default();
        let (mut original, mut compressed) = (Records::of(&self.original), Records::of(&self.compressed));
        let mut waiting: HashMap<u128, RawRecord> = HashMap::new();
        let mut waiting_bytes = 0;
        let mut left_over = 0;
        while let Some(new) = compressed.next_record()? {
            interrupted(stop)?;
            let Some(key) = key(scorer, &new) else {
                take(Found::NoOriginal(&new))?;
                continue;
            };
            let mut found = waiting.remove(&key);
            waiting_bytes -= found.as_ref().map_or(0, |old| old.bytes.len());
            while found.is_none() {
                let Some(old) = original.next_record()? else { break };
                match self::key(scorer, &old) {
                    Some(old_key) if old_key == key => found = Some(old),
                    Some(old_key) if wanted.contains(&old_key) => {
                        waiting_bytes += old.bytes.len();
                        waiting.insert(old_key, old);
                    }
                    _ => left_over += 1,
                }
                if waiting_bytes > MOST_WAITING {
                    return Err(RunError::usage(
                        format!(
                            "the records stand in too different an order: {} megabytes of originals wait for theirs",
                            MOST_WAITING >> 20
                        ),
                        "sort both data sets by id first",
                    ));
                }
            }
            match &found {
                Some(old) => take(Found::Pair(old, &new))?,
                None => take(Found::NoOriginal(&new))?,
            }
        }
        while original.next_record()?.is_some() {
            left_over += 1;
        }
        Ok(left_over)
    }
}

/// The ids of all records, as hashes; `None` where one has none, or two have the same. Lines that cannot be read have none to
/// look for, and are passed over.
fn ids(sources: &[Source], scorer: PairScorer, stop: &AtomicBool) -> Result<Option<HashSet<u128>>, RunError> {
    let mut records = Records::of(sources);
    let mut seen = HashSet::new();
    while let Some(record) = records.next_record()? {
        interrupted(stop)?;
        match scorer.id(&record.bytes) {
            Some(Some(id)) if seen.insert(xxh3_128(id.as_bytes())) => {}
            None => {}
            Some(_) => return Ok(None),
        }
    }
    Ok(Some(seen))
}

fn key(scorer: PairScorer, record: &RawRecord) -> Option<u128> {
    let id = scorer.id(&record.bytes)??;
    Some(xxh3_128(id.as_bytes()))
}

fn interrupted(stop: &AtomicBool) -> Result<(), RunError> {
    if stop.load(Ordering::Relaxed) {
        return Err(RunError::Interrupted { resumable: false });
    }
    Ok(())
}
