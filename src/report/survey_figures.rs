//! The result of a survey as plain numbers, which `count` and `check` report as text and as JSON.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::metrics::{Census, ComparedCount, Complaint, Distribution, Parts};

/// The tokenizer that counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Tokenizer {
    /// The name that the user gave.
    pub name: String,
    /// SHA-256 of the vocabulary file, in hex.
    pub sha256: String,
    /// The code that counts, with its version.
    pub engine: String,
}

/// The result of a survey.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SurveyFigures {
    /// The inputs, as read.
    pub inputs: Vec<String>,
    /// The tokenizer.
    pub tokenizer: Tokenizer,
    /// The count that is compared with limits: `values` or `rendered`.
    pub judged_by: &'static str,
    /// Records that could be read.
    pub records: u64,
    /// Records that could not be read.
    pub unreadable: RecordErrors,
    /// Records that the chat template refuses.
    pub refused: RecordErrors,
    /// Turns of all records.
    pub turns: u64,
    /// Tokens per record: the sums over its turns.
    pub tokens: CountFigures,
    /// Tokens per record as the chat template renders it; `None` without a template.
    pub rendered_tokens: Option<CountFigures>,
    /// The ratio of the two.
    pub rendered_to_tokens: Option<RatioFigures>,
    /// The tokens of all records by kind of content.
    pub parts: Parts,
}

/// Records with an error.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RecordErrors {
    /// Number of records.
    pub records: u64,
    /// Number of records by reason code, if there are codes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub by_code: BTreeMap<&'static str, u64>,
    /// The first of them; those of a source with the same error are one.
    pub first: Vec<Complaint>,
}

/// Tokens of many records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CountFigures {
    /// Their sum.
    pub total: u64,
    /// `min`, `p50`, `p90`, `p95`, `p99`, `max`: exact, by the nearest rank.
    pub percentiles: BTreeMap<&'static str, u64>,
}

/// Rendered tokens for each token of the turns, to three decimals.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RatioFigures {
    /// The ratio of all rendered records together.
    pub total: f64,
    /// The lowest ratio of a record.
    pub min: f64,
    /// The median of the records.
    pub p50: f64,
    /// The highest ratio of a record.
    pub max: f64,
}

impl SurveyFigures {
    /// The figures of a census.
    pub fn of(census: &Census, inputs: Vec<String>, tokenizer: Tokenizer) -> Self {
        let rendered = !census.rendered.is_empty() || census.refused > 0;
        Self {
            inputs,
            tokenizer,
            judged_by: match census.by {
                ComparedCount::Values => "values",
                ComparedCount::Rendered => "rendered",
            },
            records: census.records(),
            unreadable: RecordErrors {
                records: census.unreadable_records(),
                by_code: census.unreadable.clone(),
                first: census.first_unreadable.clone(),
            },
            refused: RecordErrors {
                records: census.refused,
                by_code: BTreeMap::new(),
                first: census.first_refused.clone(),
            },
            turns: census.turns,
            tokens: CountFigures::of(&census.values),
            rendered_tokens: rendered.then(|| CountFigures::of(&census.rendered)),
            rendered_to_tokens: RatioFigures::of(census),
            parts: census.parts,
        }
    }
}

impl CountFigures {
    fn of(distribution: &Distribution) -> Self {
        Self {
            total: distribution.sum(),
            percentiles: distribution.percentiles(),
        }
    }

    /// A percentile by its name.
    pub fn percentile(&self, name: &str) -> u64 {
        self.percentiles.get(name).copied().unwrap_or_default()
    }
}

impl RatioFigures {
    fn of(census: &Census) -> Option<Self> {
        let permille = &census.permille;
        if permille.is_empty() || census.values_of_rendered == 0 {
            return None;
        }
        let ratio = |percent| permille.percentile(percent) as f64 / 1000.0;
        let total = census.rendered.sum() as f64 / census.values_of_rendered as f64;
        Some(Self {
            total: (total * 1000.0).round() / 1000.0,
            min: ratio(0),
            p50: ratio(50),
            max: ratio(100),
        })
    }
}
