//! Comparing counts with those of the reference during a large run.
//!
//! An engine that counts a probe text differently from the reference is never used (see `probe`). Only differences on
//! rare texts remain. The reference takes half a second to set up and is fifty times slower, so small runs are not
//! checked at all and large ones by samples, which takes less than a twentieth of their time. The samples never change
//! a count. If they did, from the first difference on or only for the sampled texts, the output would depend on thread
//! timing and on where a run was resumed, and different parts of it would be counted by different rules. So a
//! difference is only reported: the counts of the whole run are then in doubt, and it can be repeated with the
//! reference alone.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use xxhash_rust::xxh3::xxh3_64;

use super::probe;

/// Bytes counted before sampling begins: setting up the reference is then a small part of the work.
const BEGIN: u64 = 1 << 30;
/// One text in this many is compared.
const ONE_IN: u64 = 2048;
/// Longer texts are not compared: one of them could delay a run.
const LONGEST: usize = 1 << 18;
/// Bytes at each end of a text that are hashed, with its length, to choose samples.
const END: usize = 64;

/// Compares samples of an engine's counts with the reference.
pub struct SampleCheck {
    begin: u64,
    one_in: u64,
    /// The bytes counted so far, up to `begin`.
    counted: AtomicU64,
    compared: AtomicU64,
    differing: AtomicU64,
    /// The shortest text that was counted differently.
    shortest: Mutex<Option<Difference>>,
}

/// The counts of a text that two engines count differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    bytes: usize,
    ours: usize,
    theirs: usize,
}

impl Difference {
    /// The difference between two counts of `text`; `None` if they are equal or one is missing.
    pub fn between(text: &str, ours: usize, theirs: Option<usize>) -> Option<Self> {
        let bytes = text.len();
        let theirs = theirs.filter(|theirs| *theirs != ours)?;
        Some(Self { bytes, ours, theirs })
    }

    /// The note at the end of a run that was counted by `theirs` because of the difference.
    pub fn note(self, ours: &str, theirs: &str) -> String {
        let Self {
            bytes,
            ours: our_count,
            theirs: their_count,
        } = self;
        format!(
            "{ours} and {theirs} counted a probe of {bytes} bytes as {our_count} and {their_count} tokens: this run was \
             counted by {theirs}, which is slow"
        )
    }
}

impl Default for SampleCheck {
    fn default() -> Self {
        Self::new(BEGIN, ONE_IN)
    }
}

impl SampleCheck {
    /// A check that begins after `begin` bytes and compares one text in `one_in`.
    fn new(begin: u64, one_in: u64) -> Self {
        Self {
            begin,
            one_in,
            counted: AtomicU64::new(0),
            compared: AtomicU64::new(0),
            differing: AtomicU64::new(0),
            shortest: Mutex::new(None),
        }
    }

    /// Records a text that `ours` counts as `tokens`, and compares it if it is a sample. A text without a count of the
    /// reference is not compared.
    #[inline]
    pub fn see(
        &self,
        text: &str,
        tokens: usize,
        ours: impl Fn(&str) -> Option<usize>,
        reference: impl Fn(&str) -> Option<usize>,
    ) {
        if self.counted.load(Ordering::Relaxed) < self.begin {
            let length = text.len() as u64;
            self.counted.fetch_add(length, Ordering::Relaxed);
        } else if text.len() <= LONGEST && sample_hash(text).is_multiple_of(self.one_in) {
            if self.compared.load(Ordering::Relaxed) == 0 {
                self.compare(probe::TEXT, ours(probe::TEXT), reference(probe::TEXT));
            }
            self.compare(text, Some(tokens), reference(text));
        }
    }

    fn compare(&self, text: &str, ours: Option<usize>, theirs: Option<usize>) {
        let (Some(ours), Some(_)) = (ours, theirs) else {
            return;
        };
        self.compared.fetch_add(1, Ordering::Relaxed);
        if let Some(new) = Difference::between(text, ours, theirs) {
            self.differing.fetch_add(1, Ordering::Relaxed);
            let mut shortest = self.shortest.lock().unwrap_or_else(PoisonError::into_inner);
            *shortest = Some(shortest.map_or(new, |known| known.min(new)));
        }
    }

    /// The note at the end of a run; none if all counts were equal.
    pub fn note(&self, ours: &str, theirs: &str) -> Option<String> {
        let shortest = *self.shortest.lock().unwrap_or_else(PoisonError::into_inner);
        let Difference {
            bytes,
            ours: our_count,
            theirs: their_count,
        } = shortest?;
        Some(format!(
            "{ours} and {theirs} counted {} of {} sampled texts differently (one of {bytes} bytes as {our_count} and \
             {their_count} tokens): the token counts of this run are in doubt",
            self.differing.load(Ordering::Relaxed),
            self.compared.load(Ordering::Relaxed),
        ))
    }
}

/// The hash that samples are chosen by: it depends on the text only, not on the order or the thread of counting.
fn sample_hash(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let head = bytes.get(..END).unwrap_or(bytes);
    let tail = bytes.last_chunk::<END>().map_or(bytes, <[u8; END]>::as_slice);
    xxh3_64(head) ^ xxh3_64(tail).rotate_left(1) ^ bytes.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn see(check: &SampleCheck, text: &str, reference: impl Fn(&str) -> Option<usize>) {
        let bytes = |text: &str| Some(text.len());
        check.see(text, text.len(), bytes, reference);
    }

    #[test]
    fn a_small_run_never_asks_the_reference() {
        let check = SampleCheck::default();
        for number in 0..10_000 {
            see(&check, &number.to_string(), |_| panic!("asked"));
        }
        assert_eq!(check.note("a", "b"), None);
    }

    #[test]
    fn a_large_run_asks_for_the_probe_and_then_for_about_one_text_in_so_many() {
        let check = SampleCheck::new(100, 16);
        for number in 0..10_000 {
            see(&check, &format!("{number:010}"), |text| Some(text.len()));
        }
        let compared = check.compared.load(Ordering::Relaxed);
        assert!((400..900).contains(&compared), "{compared}");
        assert_eq!(check.note("a", "b"), None);
    }

    #[test]
    fn differences_are_told_with_the_shortest_text() {
        let check = SampleCheck::new(0, 1);
        let wrong = |text: &str| Some(if text.len() == 5 { 4 } else { text.len() });
        for text in ["abc", "abcde", "abcdef", "vwxyz"] {
            see(&check, text, wrong);
        }
        let note = check.note("ours", "theirs").unwrap();
        assert!(
            note.starts_with(
                "ours and theirs counted 2 of 5 sampled texts differently (one of 5 bytes as 5 and 4 tokens)"
            ),
            "{note}"
        );
    }

    #[test]
    fn what_the_reference_refuses_is_no_difference() {
        let check = SampleCheck::new(0, 1);
        see(&check, "abc", |_| None);
        assert_eq!(check.note("a", "b"), None);
    }

    #[test]
    fn very_long_texts_are_not_compared() {
        let check = SampleCheck::new(0, 1);
        see(&check, &"a".repeat(LONGEST + 1), |_| panic!("asked"));
    }
}
