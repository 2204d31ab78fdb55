//! Finds the words that a secret stands at, in one pass over a text.

use aho_corasick::{AhoCorasick, Anchored, Input, MatchKind, StartKind};

use super::rules::{TOKENS, WORDS};

/// Bits of a byte that are told apart: letters of both cases have the same ones.
const BITS: usize = 5;
/// How many values three bytes have by these bits.
const STARTS: usize = 1 << (3 * BITS);

/// All words, tokens first and then the words of the contexts: whatever their case; of those that start first the longest.
pub(super) struct Keywords {
    words: AhoCorasick,
    /// A bit for each value of three bytes that a word may start with. Few places of a text pass, and only there the
    /// words are compared: a sixth of the time of running the automaton over every byte.
    starts: Box<[u64; STARTS / 64]>,
}

impl Keywords {
    /// From the rule table.
    pub(super) fn new() -> Option<Self> {
        let words = || {
            let tokens = TOKENS.iter().map(|token| token.prefix);
            tokens.chain(WORDS.iter().map(|(word, _)| *word))
        };
        let mut starts = Box::new([0; STARTS / 64]);
        for word in words() {
            // After a word of two bytes anything may follow.
            let thirds = match word.as_bytes() {
                [_, _, third, ..] => *third..=*third,
                _ => 0..=(1 << BITS) - 1,
            };
            for third in thirds {
                let value = word.bytes().take(2).chain([third]).fold(0, next_value);
                if let Some(bits) = starts.get_mut(value / 64) {
                    *bits |= 1_u64 << (value % 64);
                }
            }
        }
        let words = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::LeftmostLongest)
            .start_kind(StartKind::Anchored)
            .build(words())
            .ok()?;
        Some(Self { words, starts })
    }

    /// The first word at or after `from`: its number, where it starts and where it ends.
    pub(super) fn find(&self, text: &str, from: usize) -> Option<(usize, std::ops::Range<usize>)> {
        let bytes = text.as_bytes();
        let mut at = from;
        loop {
            at += self.skip(bytes.get(at..)?)?;
            let input = Input::new(text).range(at..).anchored(Anchored::Yes);
            if let Some(hit) = self.words.find(input) {
                return Some((hit.pattern().as_usize(), hit.range()));
            }
            at += 1;
        }
    }

    /// How far it is to the next three bytes that a word may start with.
    #[inline]
    fn skip(&self, bytes: &[u8]) -> Option<usize> {
        let (first, rest) = bytes.split_first()?;
        let (second, rest) = rest.split_first()?;
        let mut value = next_value(next_value(0, *first), *second);
        rest.iter().position(|byte| {
            value = next_value(value, *byte);
            self.starts
                .get(value / 64)
                .is_some_and(|bits| bits >> (value % 64) & 1 != 0)
        })
    }
}

/// The value of three bytes, from that of those before.
#[inline]
fn next_value(value: usize, byte: u8) -> usize {
    (value << BITS | usize::from(byte) & ((1 << BITS) - 1)) % STARTS
}
