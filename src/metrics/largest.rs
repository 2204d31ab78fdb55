//! The largest records of a stream, in memory that grows with their number only.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::measure::{Measure, Parts};

/// Characters of an id that are kept: enough to recognize it.
const ID_CHARACTERS: usize = 64;

/// One of the largest records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LargeRecord {
    /// Its source.
    pub source: String,
    /// Its line there.
    pub line: u64,
    /// Its id, shortened.
    pub id: String,
    /// The sum of the tokens of its turns.
    pub tokens: u64,
    /// Its tokens as rendered.
    pub rendered_tokens: Option<u64>,
    /// Number of its turns.
    pub turns: u64,
    /// Its tokens by kind of content.
    pub parts: Parts,
}

/// The largest records so far.
#[derive(Debug, Clone)]
pub struct Largest {
    most: usize,
    seen: u64,
    /// The records by size, and of equals by their order: the last is the smallest.
    records: BTreeMap<(Reverse<u64>, u64), LargeRecord>,
}

impl Largest {
    /// Keeps `most` records.
    pub fn new(most: usize) -> Self {
        Self {
            most,
            seen: 0,
            records: BTreeMap::new(),
        }
    }

    /// Adds a record if it is among the largest.
    pub fn add(&mut self, size: u64, source: &str, measure: &Measure) {
        self.seen += 1;
        let place = (Reverse(size), self.seen);
        let full = self.records.len() >= self.most;
        if full
            && self
                .records
                .last_key_value()
                .is_none_or(|(last, _)| *last < place)
        {
            return;
        }
        let record = LargeRecord {
            source: source.to_owned(),
            line: measure.line,
            id: measure.id.chars().take(ID_CHARACTERS).collect(),
            tokens: measure.tokens,
            rendered_tokens: measure.rendered_tokens(),
            turns: measure.turn_tokens.len() as u64,
            parts: measure.parts,
        };
        self.records.insert(place, record);
        if full {
            self.records.pop_last();
        }
    }

    /// The largest first; of equals, the one seen first.
    pub fn in_order(&self) -> Vec<&LargeRecord> {
        self.records.values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(most: usize, sizes: &[u64]) -> Vec<u64> {
        let mut largest = Largest::new(most);
        for (line, size) in (1..).zip(sizes) {
            let measure = Measure {
                line,
                tokens: *size,
                ..Measure::default()
            };
            largest.add(*size, "a", &measure);
        }
        largest.in_order().iter().map(|record| record.line).collect()
    }

    #[test]
    fn the_largest_are_kept_and_of_equals_the_first() {
        assert_eq!(lines(3, &[5, 9, 5, 7, 5, 9, 1]), [2, 6, 4]);
        assert_eq!(lines(4, &[5, 9, 5, 7, 5]), [2, 4, 1, 3]);
        assert_eq!(lines(9, &[1, 2]), [2, 1]);
        assert!(lines(0, &[1, 2]).is_empty());
    }

    #[test]
    fn a_very_long_id_is_cut() {
        let mut largest = Largest::new(1);
        let measure = Measure {
            id: "ü".repeat(1_000_000),
            ..Measure::default()
        };
        largest.add(1, "a", &measure);
        assert_eq!(largest.in_order()[0].id.chars().count(), ID_CHARACTERS);
    }
}
