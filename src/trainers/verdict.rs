//! The verdict on a record with one trainer: its findings, and the outcome that follows.

use super::findings::{Finding, TrainingOutcome};
use super::shape::Shape;

/// The verdict on a record.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    /// The findings; of each kind only the most harmful.
    pub findings: Vec<Finding>,
    /// Number of tokens to train on, as far as it is known.
    pub learnt: u64,
    /// Number of these tokens that are lost, if the record is cut.
    pub vanished: u64,
    /// The shape of the record, which is compared with the records before it.
    pub shape: Shape,
    /// The end marker of the last turn to train on is kept; `None` if nothing is cut.
    pub keeps_end: Option<bool>,
}

impl Verdict {
    /// The outcome of the most harm; [`TrainingOutcome::Keep`] without findings.
    pub fn outcome(&self) -> TrainingOutcome {
        let outcomes = self.findings.iter().map(|finding| finding.outcome);
        outcomes
            .max_by_key(|outcome| outcome.harm())
            .unwrap_or(TrainingOutcome::Keep)
    }

    /// Adds a finding, unless there is one of its kind that does at least as much harm.
    pub fn add(&mut self, finding: Finding) {
        let harm = finding.outcome.harm();
        match self.findings.iter_mut().find(|found| found.kind == finding.kind) {
            Some(found) if found.outcome.harm() < harm => *found = finding,
            Some(_) => {}
            None => self.findings.push(finding),
        }
    }
}
