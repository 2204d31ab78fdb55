//! Finds the words that a secret stands at, in one pass over a text.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use super::alphabet::Alphabet;
use super::secret::Secret;
use super::value::shape::begins_part;
use super::words::{KeywordRule, found, words};

/// Low bits of a byte that are compared: they are the same for both cases of a letter.
const BITS: usize = 5;
/// The mask of these bits.
const MASK: usize = (1 << BITS) - 1;
/// Number of values of three bytes by these bits.
const STARTS: usize = 1 << (3 * BITS);

/// All words, in any case, each with its rules.
pub struct Keywords {
    words: Vec<KeywordText>,
    rules: Vec<Keyword>,
    /// For each value of three bytes the words that may start with them, the longest first: a place in `buckets`.
    places: Vec<u16>,
    buckets: Vec<Bucket>,
    /// The three bytes that a word may start with. Few places of a text pass, and only there words are compared.
    starts: Starts,
}

/// Words that start alike, by their numbers.
#[derive(Default)]
struct Bucket {
    words: Vec<u16>,
}

/// A word, with its rules and those of the words that it begins with: for each the length of its word and its number.
struct KeywordText {
    text: String,
    rules: Vec<(usize, usize)>,
}

/// A bit for each value of three bytes.
type Bits = Box<[u64; STARTS / 64]>;

/// The values of three bytes that words start with.
struct Starts {
    /// For each value a bit for each value of the byte that may follow; none where no word starts.
    fourths: Vec<u32>,
    /// Those of words that may stand inside of others.
    inside: Bits,
    /// Those of words that are shorter than six bytes.
    short: Bits,
    /// The hashes of the first six bytes of the other words.
    sixths: Bits,
}

/// A rule and the kind of what it finds.
pub struct Keyword {
    rule: KeywordRule,
    kind: &'static str,
}

impl Keyword {
    /// The secrets that it finds where its word stands.
    pub fn secrets(&self, text: &str, word: Range<usize>) -> Vec<Secret> {
        found(&self.rule, self.kind, text, word)
    }
}

impl Keywords {
    /// The words of the tables.
    pub fn new() -> Self {
        let mut by_word: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut rules = Vec::new();
        let mut starts = Starts {
            fourths: vec![0; STARTS],
            inside: Box::new([0; STARTS / 64]),
            short: Box::new([0; STARTS / 64]),
            sixths: Box::new([0; STARTS / 64]),
        };
        // Values that words start with, each with the number of a rule.
        let mut starting: Vec<(usize, usize)> = Vec::new();
        for (word, rule, kind) in words() {
            let values = first_values(word.as_bytes(), rule.next_bytes());
            let word = word.to_ascii_lowercase();
            let is_apart =
                rule.begins_word() && word.starts_with(|first: char| first.is_ascii_alphanumeric());
            let sixth = word
                .as_bytes()
                .get(3..6)
                .map(|rest| rest.iter().fold(0, |value, byte| next_value(value, *byte)));
            let fourths = word
                .as_bytes()
                .get(3)
                .map_or(u32::MAX, |byte| 1 << (usize::from(*byte) & MASK));
            for value in values {
                if let Some(bits) = starts.fourths.get_mut(value) {
                    *bits |= fourths;
                }
                match sixth {
                    Some(sixth) => set(&mut starts.sixths, hash(value, sixth)),
                    None => set(&mut starts.short, value),
                }
                if !is_apart {
                    set(&mut starts.inside, value);
                }
                starting.push((value, rules.len()));
            }
            by_word.entry(word).or_default().push(rules.len());
            rules.push(Keyword { rule, kind });
        }
        let words = KeywordText::all(&by_word);
        let mut word_of = vec![0; rules.len()];
        for (number, rules) in (0..).zip(by_word.values()) {
            for rule in rules {
                word_of.get_mut(*rule).into_iter().for_each(|word| *word = number);
            }
        }
        let mut starting: Vec<(usize, Reverse<usize>, u16)> = starting
            .into_iter()
            .filter_map(|(value, rule)| {
                let number: u16 = *word_of.get(rule)?;
                let word = words.get(usize::from(number))?;
                Some((value, Reverse(word.text.len()), number))
            })
            .collect();
        starting.sort_unstable();
        starting.dedup();
        let mut places = vec![0; STARTS];
        let mut buckets = vec![Bucket::default()];
        for alike in starting.chunk_by(|(value, ..), (other, ..)| value == other) {
            let value = alike.first().map_or(0, |(value, ..)| *value);
            if let (Some(place), Ok(number)) = (places.get_mut(value), u16::try_from(buckets.len())) {
                *place = number;
                let words = alike.iter().map(|(.., number)| *number).collect();
                buckets.push(Bucket { words });
            }
        }
        Self {
            words,
            rules,
            places,
            buckets,
            starts,
        }
    }

    /// The first word at or after `from`: its rules and those of the words that it begins with, each with its length,
    /// and the place where the word starts.
    pub fn find(&self, text: &str, from: usize) -> Option<(impl Iterator<Item = (usize, &Keyword)>, usize)> {
        let bytes = text.as_bytes();
        let mut at = from;
        loop {
            let (start, value) = self.starts.next(bytes, at)?;
            let bucket = self.buckets.get(usize::from(*self.places.get(value)?))?;
            at = start + 1;
            let rest = bytes.get(start..)?;
            let stands = |word: &&KeywordText| {
                let length = word.text.len();
                rest.get(..length)
                    .is_some_and(|head| head.eq_ignore_ascii_case(word.text.as_bytes()))
            };
            if let Some(word) = bucket
                .words
                .iter()
                .filter_map(|word| self.words.get(usize::from(*word)))
                .find(stands)
            {
                let rules = word
                    .rules
                    .iter()
                    .filter_map(|(length, rule)| Some((*length, self.rules.get(*rule)?)));
                return Some((rules, start));
            }
        }
    }
}

impl KeywordText {
    /// All words in their order: what a word begins with stands before it.
    fn all(by_word: &BTreeMap<String, Vec<usize>>) -> Vec<Self> {
        let mut beginnings: Vec<(&String, &Vec<usize>)> = Vec::new();
        let mut words = Vec::with_capacity(by_word.len());
        for (word, rules) in by_word {
            while let Some((start, _)) = beginnings.last()
                && !word.starts_with(start.as_str())
            {
                beginnings.pop();
            }
            beginnings.push((word, rules));
            let rules = beginnings.iter().rev();
            words.push(Self {
                text: word.clone(),
                rules: rules
                    .flat_map(|(start, rules)| rules.iter().map(|rule| (start.len(), *rule)))
                    .collect(),
            });
        }
        words
    }
}

impl Starts {
    /// Returns true if the six bytes at `at` may be the first of a word, whose first three have that value.
    #[inline]
    fn goes_on(&self, bytes: &[u8], at: usize, value: usize) -> bool {
        if is_set(&self.short, value) {
            return true;
        }
        let rest = bytes.get(at + 3..at + 6).unwrap_or_default();
        let second = rest.iter().fold(0, |value, byte| next_value(value, *byte));
        rest.len() == 3 && is_set(&self.sixths, hash(value, second))
    }

    /// The next place at or after `from` where a word may start, and the value of its first three bytes.
    #[inline]
    fn next(&self, bytes: &[u8], from: usize) -> Option<(usize, usize)> {
        let (first, rest) = bytes.get(from..)?.split_first()?;
        let (second, thirds) = rest.split_first()?;
        let (last, fourths) = (thirds.last()?, thirds.get(1..)?);
        let mut value = next_value(next_value(0, *first), *second);
        let mut starts = |third: u8, fourth: u8, at: usize| {
            value = next_value(value, third);
            self.may_go_on(value, fourth) && self.may_start(bytes, at, value)
        };
        let mut places = thirds.iter().zip(fourths).zip(from..);
        let found = places.find_map(|((third, fourth), at)| starts(*third, *fourth, at).then_some(at));
        let at_end = from + fourths.len();
        let at = found.or_else(|| starts(*last, 0, at_end).then_some(at_end))?;
        Some((at, value))
    }

    /// If a word may start with three bytes that have that value, and a fourth.
    #[inline]
    fn may_go_on(&self, value: usize, fourth: u8) -> bool {
        let fourths = self.fourths.get(value).copied().unwrap_or_default();
        fourths >> (usize::from(fourth) & MASK) & 1 != 0
    }

    /// If a word may start at a place where its first four bytes may stand, the first three of them with that value.
    fn may_start(&self, bytes: &[u8], at: usize, value: usize) -> bool {
        self.goes_on(bytes, at, value) && (is_set(&self.inside, value) || begins_part(bytes, at))
    }
}

/// A place in a filter for the values of three bytes and of the three behind them.
#[inline]
fn hash(first: usize, second: usize) -> usize {
    (first.wrapping_mul(0x9E37) ^ second.wrapping_mul(0x85EB)) % STARTS
}

#[inline]
fn is_set(bits: &Bits, value: usize) -> bool {
    bits.get(value / 64)
        .is_some_and(|bits| bits >> (value % 64) & 1 != 0)
}

fn set(bits: &mut Bits, value: usize) {
    if let Some(bits) = bits.get_mut(value / 64) {
        *bits |= 1_u64 << (value % 64);
    }
}

/// The values of three bytes that a word may start with; after one of two bytes `next` may follow, or anything.
fn first_values(word: &[u8], next: Option<Alphabet>) -> Vec<usize> {
    let thirds: Vec<u8> = match (word, next) {
        ([_, _, third, ..], _) => vec![*third],
        (_, Some(alphabet)) => (0..=u8::MAX).filter(|byte| alphabet.holds(*byte)).collect(),
        (_, None) => (0..1 << BITS).collect(),
    };
    let value = |third: &u8| {
        word.iter()
            .take(2)
            .chain([third])
            .fold(0, |value, byte| next_value(value, *byte))
    };
    let mut values: Vec<usize> = thirds.iter().map(value).collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// The value of three bytes, from that of those before.
#[inline]
fn next_value(value: usize, byte: u8) -> usize {
    (value << BITS | usize::from(byte) & MASK) % STARTS
}
