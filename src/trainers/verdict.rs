//! The verdict on a record: its outcome with one trainer, and the findings that it rests on.

use super::findings::{Finding, Outcome};
use super::shape::Shape;

/// The verdict on a record.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    /// What was found; of each kind the first only.
    pub findings: Vec<Finding>,
    /// Tokens to be learnt, as far as they are known.
    pub learnt: u64,
    /// Tokens of these that vanish, where the record is cut.
    pub vanished: u64,
    /// The shape of the record, which is held against those before it.
    pub shape: Shape,
    /// If the marker that ends the last turn to be learnt is still there; `None` where nothing is cut.
    pub keeps_end: Option<bool>,
}

impl Verdict {
    /// The worst that was found.
    pub fn outcome(&self) -> Outcome {
        let outcomes = self.findings.iter().map(|finding| finding.outcome);
        outcomes
            .max_by_key(|outcome| outcome.harm())
            .unwrap_or(Outcome::Keep)
    }

    /// Adds a finding, unless there is one of its kind that is as bad.
    pub fn add(&mut self, finding: Finding) {
        let harm = finding.outcome.harm();
        match self.findings.iter_mut().find(|found| found.kind == finding.kind) {
            Some(found) if found.outcome.harm() < harm => *found = finding,
            Some(_) => {}
            None => self.findings.push(finding),
        }
    }
}
