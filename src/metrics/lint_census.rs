//! Verdicts of a trainer added up: counts of outcomes and findings, each with its first record.

use std::collections::BTreeMap;

use super::census::Complaint;
use super::measure::Unreadable;
use crate::trainers::{DatasetColumns, DatasetReader, Finding, TrainingOutcome, Verdict};

/// Maximum number of new losses listed.
const NAMED: usize = 10;

/// The first record with a finding, and the number of such records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintExample {
    /// Number of records with it.
    pub records: u64,
    /// The source of the first.
    pub source: String,
    /// Its line there.
    pub line: u64,
    /// The finding in it.
    pub finding: Finding,
}

/// Verdicts added up, in memory that does not grow with their number.
#[derive(Debug, Clone)]
pub struct LintCensus {
    /// Records judged.
    pub records: u64,
    /// Number of records by the harm of their outcome.
    outcomes: BTreeMap<u8, u64>,
    /// Findings by outcome and kind.
    findings: BTreeMap<(u8, &'static str), LintExample>,
    /// Tokens to be learnt.
    pub learnt: u64,
    /// Tokens of these that limits on length cut off.
    pub vanished: u64,
    /// Records in which a turn to be learnt loses its end marker.
    pub lost_ends: u64,
    /// Records that cannot be read.
    pub unreadable: u64,
    /// The first of them.
    pub first_unreadable: Vec<Complaint>,
    /// The table that the records form.
    table: DatasetColumns,
}

impl LintCensus {
    /// An empty census of records that `reader` reads.
    pub fn new(reader: DatasetReader) -> Self {
        Self {
            records: 0,
            outcomes: BTreeMap::new(),
            findings: BTreeMap::new(),
            learnt: 0,
            vanished: 0,
            lost_ends: 0,
            unreadable: 0,
            first_unreadable: Vec::new(),
            table: DatasetColumns::new(reader),
        }
    }

    /// Adds a record. If it does not fit those before it, that is a finding about it.
    pub fn add(&mut self, source: &str, line: u64, verdict: &mut Verdict) {
        for finding in self.table.add(source, &std::mem::take(&mut verdict.shape)) {
            verdict.add(finding);
        }
        self.records += 1;
        let worst = verdict.outcome();
        *self.outcomes.entry(worst.harm()).or_default() += 1;
        if worst.harm() <= TrainingOutcome::Cut.harm() {
            self.learnt += verdict.learnt;
            self.vanished += verdict.vanished;
            self.lost_ends += u64::from(verdict.keeps_end == Some(false));
        }
        // Of a record that is not learnt, only the findings that prevent it are counted.
        let least = if worst.harm() > TrainingOutcome::Cut.harm() {
            worst.harm()
        } else {
            0
        };
        for finding in verdict
            .findings
            .iter()
            .filter(|finding| finding.outcome.harm() >= least)
        {
            let key = (finding.outcome.harm(), crate::names::Named::name(finding.kind));
            let example = self.findings.entry(key).or_insert_with(|| LintExample {
                records: 0,
                source: source.to_owned(),
                line,
                finding: finding.clone(),
            });
            example.records += 1;
        }
    }

    /// Adds a record that cannot be read.
    pub fn add_unreadable(&mut self, source: &str, unreadable: &Unreadable) {
        self.unreadable += 1;
        let Unreadable { line, code, error } = unreadable;
        Complaint::note(&mut self.first_unreadable, source, *line, code, error.clone());
    }

    /// Number of records with that outcome.
    pub fn with(&self, outcome: TrainingOutcome) -> u64 {
        self.outcomes.get(&outcome.harm()).copied().unwrap_or_default()
    }

    /// Findings that lead to that outcome, the most frequent first.
    pub fn findings(&self, outcome: TrainingOutcome) -> Vec<&LintExample> {
        let own = self
            .findings
            .iter()
            .filter(|((harm, _), _)| *harm == outcome.harm());
        let mut examples: Vec<&LintExample> = own.map(|(_, example)| example).collect();
        examples.sort_by_key(|example| std::cmp::Reverse(example.records));
        examples
    }
}

/// A record that fares worse after compression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLoss {
    /// The source of the compressed record.
    pub source: String,
    /// Its line there.
    pub line: u64,
    /// The outcome before.
    pub before: TrainingOutcome,
    /// The outcome after.
    pub after: TrainingOutcome,
    /// The worst finding.
    pub finding: Finding,
}

/// Records before and after compression.
#[derive(Debug, Clone)]
pub struct LintChanges {
    /// The records before.
    pub before: LintCensus,
    /// The records after.
    pub after: LintCensus,
    /// Pairs of records that were compared.
    pub pairs: u64,
    /// Compressed records without an original, and originals without a compressed record.
    pub unpaired: u64,
    /// Records that fare worse.
    pub new_losses: u64,
    /// The first of them.
    pub first: Vec<NewLoss>,
}

impl LintChanges {
    /// An empty comparison of records that `reader` reads.
    pub fn new(reader: DatasetReader) -> Self {
        Self {
            before: LintCensus::new(reader),
            after: LintCensus::new(reader),
            pairs: 0,
            unpaired: 0,
            new_losses: 0,
            first: Vec::new(),
        }
    }

    /// Compares a record's verdicts.
    pub fn compare(&mut self, source: &str, line: u64, before: &Verdict, after: &Verdict) {
        self.pairs += 1;
        let (old, new) = (before.outcome(), after.outcome());
        if !new.is_loss() || new.harm() <= old.harm() {
            return;
        }
        self.new_losses += 1;
        let worst = after.findings.iter().max_by_key(|finding| finding.outcome.harm());
        if let Some(finding) = worst.filter(|_| self.first.len() < NAMED) {
            self.first.push(NewLoss {
                source: source.to_owned(),
                line,
                before: old,
                after: new,
                finding: finding.clone(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trainers::{FindingKind, whole};

    fn verdict(outcome: Option<TrainingOutcome>) -> Verdict {
        let mut verdict = Verdict::default();
        if let Some(outcome) = outcome {
            verdict.add(whole(FindingKind::WrongOrder, outcome, ""));
        }
        verdict
    }

    #[test]
    fn findings_are_counted_with_their_first_record() {
        let mut census = LintCensus::new(DatasetReader::Datasets);
        census.add("a", 1, &mut verdict(None));
        census.add("a", 2, &mut verdict(Some(TrainingOutcome::Drop)));
        census.add("a", 3, &mut verdict(Some(TrainingOutcome::Drop)));
        assert_eq!(
            (
                census.with(TrainingOutcome::Keep),
                census.with(TrainingOutcome::Drop)
            ),
            (1, 2)
        );
        let [example] = census.findings(TrainingOutcome::Drop)[..] else {
            panic!()
        };
        assert_eq!((example.records, example.line), (2, 2));
        assert!(census.findings(TrainingOutcome::Keep).is_empty());
    }

    #[test]
    fn only_what_is_worse_than_before_is_a_new_loss() {
        let mut changes = LintChanges::new(DatasetReader::Datasets);
        let (kept, cut) = (verdict(None), verdict(Some(TrainingOutcome::Cut)));
        let (dropped, unknown) = (
            verdict(Some(TrainingOutcome::Drop)),
            verdict(Some(TrainingOutcome::Undecided)),
        );
        for (before, after) in [
            (&cut, &kept),
            (&dropped, &dropped),
            (&dropped, &cut),
            (&kept, &unknown),
        ] {
            changes.compare("b", 1, before, after);
        }
        assert_eq!(changes.new_losses, 0);
        changes.compare("b", 2, &kept, &dropped);
        changes.compare("b", 3, &cut, &dropped);
        assert_eq!((changes.new_losses, changes.first[0].line), (2, 2));
    }
}
