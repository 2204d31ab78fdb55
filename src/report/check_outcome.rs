//! What `check` decided: every gate with its limit and what was found, from which all its outputs are made.

use serde::Serialize;

use super::survey_figures::SurveyFigures;
use crate::metrics::{Census, LargeRecord};

/// The name of this JSON's form. It changes only with the meaning of a key; keys may be added.
const SCHEMA: &str = "trajfit.check/1";

/// The number of records that may fail a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowance {
    /// So many.
    Records(u64),
    /// This part of all records, in millionths of a percent.
    Share(u64),
}

/// What the records are held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Tokens that a record may cost.
    pub max_tokens: u64,
    /// Records that may be over it.
    pub max_over: Allowance,
    /// Tokens that the 99th percentile may be.
    pub p99: Option<u64>,
    /// Whether records may be there that cannot be read.
    pub allow_unreadable: bool,
    /// Whether records may be there that the chat template refuses.
    pub allow_refused: bool,
}

/// What a gate is about.
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

/// One thing that must hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Gate {
    /// What it is about.
    pub name: GateName,
    /// What `actual` may be at most (of records: at least); `None` where anything is allowed.
    pub limit: Option<u64>,
    /// What was found.
    pub actual: u64,
    /// Whether it holds.
    pub passed: bool,
}

/// What `check` decided.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckOutcome {
    /// The form of this object.
    pub schema: &'static str,
    /// The version of the program.
    pub version: &'static str,
    /// Whether every gate holds.
    pub passed: bool,
    /// The gates.
    pub gates: Vec<Gate>,
    /// Tokens that a record may cost.
    pub max_tokens: u64,
    /// Records that the limits on tokens were held against: those that could be read and, where the rendered count
    /// judges, rendered.
    pub judged: u64,
    /// The limit that `offenders` are over: `max_tokens`, or that of the 99th percentile where it is lower and does
    /// not hold.
    pub offender_limit: u64,
    /// How many they are.
    pub offender_records: u64,
    /// The worst of them, the worst first.
    pub offenders: Vec<LargeRecord>,
    /// What the records came to.
    #[serde(flatten)]
    pub survey: SurveyFigures,
    /// What the tokenizer has to say of its counts, if anything.
    pub tokenizer_note: Option<String>,
}

impl Allowance {
    /// Returns how many of so many records may fail.
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
    /// Holds a census against the limits.
    pub fn new(survey: SurveyFigures, census: &Census, limits: &Limits, note: Option<String>) -> Self {
        let judged = census.judged();
        let unless = |allowed: bool| (!allowed).then_some(0);
        // Nothing can be said for a check that looked at nothing: its input is probably not what it was meant to be.
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

    /// What a record costs by the count that judges.
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
