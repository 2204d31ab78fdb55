//! What a survey came to, as plain numbers: what both `count` and `check` tell, as text and as JSON.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::metrics::{Census, Complaint, Distribution, Measured, Parts};

/// The tokenizer that counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Tokenizer {
    /// As the user named it.
    pub name: String,
    /// SHA-256 of the vocabulary file, in hex.
    pub sha256: String,
    /// The code that counts, with its version.
    pub engine: String,
}

/// What a survey came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SurveyFigures {
    /// The inputs, as read.
    pub inputs: Vec<String>,
    /// The tokenizer.
    pub tokenizer: Tokenizer,
    /// The count that limits are held against: `values` or `rendered`.
    pub judged_by: &'static str,
    /// Records that could be read.
    pub records: u64,
    /// Records that could not.
    pub unreadable: TroubleFigures,
    /// Records that the chat template refuses.
    pub refused: TroubleFigures,
    /// Turns of all records.
    pub turns: u64,
    /// Tokens a record: the sums of what its turns cost.
    pub tokens: CountFigures,
    /// Tokens a record as the chat template renders it; `None` without a template.
    pub rendered_tokens: Option<CountFigures>,
    /// How far apart the two are.
    pub rendered_to_tokens: Option<RatioFigures>,
    /// What the tokens of all records are spent on.
    pub parts: Parts,
}

/// Records that something is wrong with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TroubleFigures {
    /// How many.
    pub records: u64,
    /// By reason code, where there are codes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub by_code: BTreeMap<&'static str, u64>,
    /// The first of them; those of a source that say the same are one.
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

/// Tokens as rendered for each token of the turns, to three decimals.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RatioFigures {
    /// Of all rendered records together.
    pub total: f64,
    /// Of the record where it is least.
    pub min: f64,
    /// Of the record in the middle.
    pub p50: f64,
    /// Of the record where it is most.
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
                Measured::Values => "values",
                Measured::Rendered => "rendered",
            },
            records: census.records(),
            unreadable: TroubleFigures {
                records: census.unreadable_records(),
                by_code: census.unreadable.clone(),
                first: census.first_unreadable.clone(),
            },
            refused: TroubleFigures {
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
