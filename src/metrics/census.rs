//! The sums of a survey, added up record by record in memory that hardly grows with their number.

use std::collections::BTreeMap;

use serde::Serialize;

use super::distribution::Distribution;
use super::largest::{LargeRecord, Largest};
use super::measure::{Measure, Parts, Unreadable};
use crate::compress::Reason;

/// Maximum number of complaints listed about records that cannot be read, and about those that the template refuses.
const NAMED: usize = 10;

/// Records of one source with the same error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Complaint {
    /// Their source.
    pub source: String,
    /// The line of the first of them there.
    pub line: u64,
    /// The reason code.
    pub code: &'static str,
    /// The error.
    pub error: String,
    /// Number of these records.
    pub records: u64,
}

impl Complaint {
    /// Adds a record to the complaints: to the one of its source with the same error, or as a new one if there is room.
    pub fn note(complaints: &mut Vec<Self>, source: &str, line: u64, code: &'static str, error: String) {
        let same = |known: &&mut Self| known.source == source && known.code == code && known.error == error;
        if let Some(known) = complaints.iter_mut().find(same) {
            known.records += 1;
        } else if complaints.len() < NAMED {
            let source = source.to_owned();
            complaints.push(Self {
                source,
                line,
                code,
                error,
                records: 1,
            });
        }
    }
}

/// The count that is compared with a limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ComparedCount {
    /// The sum of the tokens of the turns.
    #[default]
    Values,
    /// The tokens that the chat template renders.
    Rendered,
}

/// Sums and distributions over the records of a survey.
#[derive(Debug, Clone)]
pub struct Census {
    /// The count that decides which records are the largest.
    pub by: ComparedCount,
    /// Tokens of all records: the sums of their turns.
    pub values: Distribution,
    /// Tokens as rendered, of the records that the template takes.
    pub rendered: Distribution,
    /// Rendered tokens for a thousand tokens of the turns, record by record.
    pub permille: Distribution,
    /// Tokens of the turns of those records that were rendered.
    pub values_of_rendered: u64,
    /// Turns of all records.
    pub turns: u64,
    /// The tokens by kind of content.
    pub parts: Parts,
    /// Records that could not be read, by reason code.
    pub unreadable: BTreeMap<&'static str, u64>,
    /// The first of them.
    pub first_unreadable: Vec<Complaint>,
    /// Records that the template refuses.
    pub refused: u64,
    /// The first of them.
    pub first_refused: Vec<Complaint>,
    largest: Largest,
}

impl Census {
    /// A census of no records yet. Keeps the `largest` records by the count `by`.
    pub fn new(by: ComparedCount, largest: usize) -> Self {
        Self {
            by,
            values: Distribution::default(),
            rendered: Distribution::default(),
            permille: Distribution::default(),
            values_of_rendered: 0,
            turns: 0,
            parts: Parts::default(),
            unreadable: BTreeMap::new(),
            first_unreadable: Vec::new(),
            refused: 0,
            first_refused: Vec::new(),
            largest: Largest::new(largest),
        }
    }

    /// Adds a record.
    pub fn add(&mut self, source: &str, measure: &Measure) {
        self.values.add(measure.tokens);
        self.turns += measure.turn_tokens.len() as u64;
        self.parts.add(&measure.parts);
        if let Some(rendered) = measure.rendered_tokens() {
            self.rendered.add(rendered);
            self.values_of_rendered += measure.tokens;
            if let Some(permille) = rendered.saturating_mul(1000).checked_div(measure.tokens) {
                self.permille.add(permille);
            }
        }
        if let Some(refusal) = measure.refusal() {
            self.refused += 1;
            let line = measure.line;
            let refusal = refusal.to_owned();
            Complaint::note(
                &mut self.first_refused,
                source,
                line,
                Reason::TEMPLATE_REFUSES,
                refusal,
            );
        }
        let size = match self.by {
            ComparedCount::Values => Some(measure.tokens),
            ComparedCount::Rendered => measure.rendered_tokens(),
        };
        if let Some(size) = size {
            self.largest.add(size, source, measure);
        }
    }

    /// Adds a record that could not be read.
    pub fn add_unreadable(&mut self, source: &str, unreadable: &Unreadable) {
        *self.unreadable.entry(unreadable.code).or_default() += 1;
        let Unreadable { line, code, error } = unreadable.clone();
        Complaint::note(&mut self.first_unreadable, source, line, code, error);
    }

    /// Number of records that could be read.
    pub fn records(&self) -> u64 {
        self.values.len()
    }

    /// Number of records that could not.
    pub fn unreadable_records(&self) -> u64 {
        self.unreadable.values().sum()
    }

    /// The counts that are compared with a limit.
    pub fn judged(&self) -> &Distribution {
        match self.by {
            ComparedCount::Values => &self.values,
            ComparedCount::Rendered => &self.rendered,
        }
    }

    /// The largest records, the largest first; of equals, the one read first.
    pub fn largest(&self) -> Vec<&LargeRecord> {
        self.largest.in_order()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(line: u64, tokens: u64, rendered: Option<Result<u64, String>>) -> Measure {
        Measure {
            line,
            tokens,
            rendered,
            turn_tokens: vec![tokens],
            ..Measure::default()
        }
    }

    #[test]
    fn a_refused_record_counts_by_its_turns_and_is_named() {
        let mut census = Census::new(ComparedCount::Rendered, 3);
        census.add("a", &measure(1, 100, Some(Ok(120))));
        census.add("a", &measure(2, 500, Some(Err("no system turn".to_owned()))));
        census.add("a", &measure(3, 100, Some(Ok(95))));
        assert_eq!((census.records(), census.refused), (3, 1));
        assert_eq!((census.values.sum(), census.rendered.sum()), (700, 215));
        assert_eq!(
            (census.values_of_rendered, census.permille.percentile(100)),
            (200, 1200)
        );
        assert_eq!(census.first_refused[0].error, "no system turn");
        let lines: Vec<u64> = census.largest().iter().map(|record| record.line).collect();
        assert_eq!(lines, [1, 3]);
    }

    #[test]
    fn only_the_first_complaints_are_kept() {
        let mut census = Census::new(ComparedCount::Values, 0);
        for line in 1..=100 {
            let (code, error) = ("invalid_json", format!("at {line}"));
            census.add_unreadable("a", &Unreadable { line, code, error });
        }
        assert_eq!((census.records(), census.unreadable_records()), (0, 100));
        assert_eq!(census.first_unreadable.len(), NAMED);
        assert_eq!(census.first_unreadable[0].error, "at 1");
        // Those with the same error are one.
        for line in 101..=200 {
            let (code, error) = ("invalid_json", "at 2".to_owned());
            census.add_unreadable("a", &Unreadable { line, code, error });
        }
        assert_eq!(census.first_unreadable.len(), NAMED);
        let second = &census.first_unreadable[1];
        assert_eq!((second.line, second.records), (2, 101));
    }

    #[test]
    fn an_empty_record_that_renders_to_something_divides_by_nothing() {
        let mut census = Census::new(ComparedCount::Values, 0);
        census.add("a", &measure(1, 0, Some(Ok(7))));
        assert!(census.permille.is_empty());
    }
}
