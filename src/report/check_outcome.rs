//! The outcome of `check`: every gate with its limit and its value, from which all its outputs are made.

use serde::Serialize;

use super::survey_figures::SurveyFigures;
use crate::metrics::{Census, LargeRecord};

/// The schema of this JSON. It changes only with the meaning of a key; keys may be added.
const SCHEMA: &str = "trajfit.check/1";

/// The number of records that may fail a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowance {
    /// A number of records.
    Records(u64),
    /// A share of all records, in millionths of a percent.
    Share(u64),
}

/// The limits that records are checked against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckLimits {
    /// Maximum tokens of a record.
    pub max_tokens: u64,
    /// Number of records that may be over it.
    pub max_over: Allowance,
    /// Maximum of the 99th percentile, in tokens.
    pub p99: Option<u64>,
    /// True if records that cannot be read are allowed.
    pub allow_unreadable: bool,
    /// True if records that the chat template refuses are allowed.
    pub allow_refused: bool,
}

/// The subject of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GateName {
    /// Records that could be judged.
    Records,
    /// Records that could not be read.
    Unreadable,
    /// Records that the chat template refuses.
    Refused,
    /// Records over the limit.
    Over,
    /// The 99th percentile.
    P99,
}

/// A condition that must hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Gate {
    /// Its subject.
    pub name: GateName,
    /// The maximum of `actual` (of records: the minimum); `None` if anything is allowed.
    pub limit: Option<u64>,
    /// The value found.
    pub actual: u64,
    /// True if it holds.
    pub passed: bool,
}

/// The outcome of `check`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckOutcome {
    /// The schema of this object.
    pub schema: &'static str,
    /// The version of the program.
    pub version: &'static str,
    /// True if every gate holds.
    pub passed: bool,
    /// The gates.
    pub gates: Vec<Gate>,
    /// Maximum tokens of a record.
    pub max_tokens: u64,
    /// Number of records compared with the limits on tokens: those that could be read and, if the rendered count is
    /// compared, rendered.
    pub judged: u64,
    /// The limit that `offenders` are over: `max_tokens`, or that of the 99th percentile if it is lower and does not
    /// hold.
    pub offender_limit: u64,
    /// Number of offenders.
    pub offender_records: u64,
    /// The worst of them, the worst first.
    pub offenders: Vec<LargeRecord>,
    /// The figures of the records.
    #[serde(flatten)]
    pub survey: SurveyFigures,
    /// The tokenizer's note on its counts, if any.
    pub tokenizer_note: Option<String>,
}

impl Allowance {
    /// Returns the number of records that may fail, out of `records`.
    pub fn of(self, records: u64) -> u64 {
        match self {
            Self::Records(most) => most,
            Self::Share(millionths) => {
                let share = u128::from(records) * u128::from(millionths) / 100_000_000;
                u64::try_from(share).unwrap_or(u64::MAX)
            }
        }
    }
}

impl Gate {
    fn at_most(name: GateName, limit: Option<u64>, actual: u64) -> Self {
        Self {
            name,
            limit,
            actual,
            passed: limit.is_none_or(|limit| actual <= limit),
        }
    }
}

impl CheckOutcome {
    /// Compares a census with the limits.
    pub fn new(survey: SurveyFigures, census: &Census, limits: &CheckLimits, note: Option<String>) -> Self {
        let judged = census.judged();
        let unless = |allowed: bool| (!allowed).then_some(0);
        // A check without records fails: its input is probably not what it was meant to be.
        let mut gates = vec![Gate {
            name: GateName::Records,
            limit: Some(1),
            actual: judged.len(),
            passed: !judged.is_empty(),
        }];
        let unreadable = survey.unreadable.records;
        gates.push(Gate::at_most(
            GateName::Unreadable,
            unless(limits.allow_unreadable),
            unreadable,
        ));
        if survey.rendered_tokens.is_some() {
            let refused = survey.refused.records;
            gates.push(Gate::at_most(
                GateName::Refused,
                unless(limits.allow_refused),
                refused,
            ));
        }
        let (allowed, over) = (limits.max_over.of(judged.len()), judged.over(limits.max_tokens));
        gates.push(Gate::at_most(GateName::Over, Some(allowed), over));
        let p99 = limits
            .p99
            .map(|limit| Gate::at_most(GateName::P99, Some(limit), judged.percentile(99)));
        let failed_p99 = p99
            .as_ref()
            .filter(|gate| !gate.passed)
            .and_then(|gate| gate.limit);
        gates.extend(p99);
        let offender_limit = failed_p99.map_or(limits.max_tokens, |p99| p99.min(limits.max_tokens));
        let offender_records = judged.over(offender_limit);
        let offenders = census.largest().into_iter().take(offender_records as usize);
        Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            passed: gates.iter().all(|gate| gate.passed),
            max_tokens: limits.max_tokens,
            judged: judged.len(),
            offender_limit,
            offender_records,
            offenders: offenders.cloned().collect(),
            gates,
            survey,
            tokenizer_note: note,
        }
    }

    /// The tokens of a record in the count that is compared with the limits.
    pub fn judged_tokens(&self, record: &LargeRecord) -> u64 {
        let rendered = record
            .rendered_tokens
            .filter(|_| self.survey.judged_by == "rendered");
        rendered.unwrap_or(record.tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_records_is_rounded_down_and_exact() {
        let half_a_percent = Allowance::Share(500_000);
        let allowed: Vec<_> = [0, 199, 200, 399, 400]
            .map(|records| half_a_percent.of(records))
            .into();
        assert_eq!(allowed, [0, 0, 1, 1, 2]);
        // In floating point, 0.7 % of 1,000 need not be 7.
        assert_eq!(Allowance::Share(700_000).of(1000), 7);
        assert_eq!(Allowance::Share(100_000_000).of(u64::MAX), u64::MAX);
        assert_eq!(Allowance::Records(3).of(0), 3);
    }
}
