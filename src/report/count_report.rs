//! The result of `count`: plain figures, from which its table and its JSON are made.

use serde::Serialize;

use super::histogram::{Bin, histogram};
use super::survey_figures::SurveyFigures;
use crate::metrics::{Census, LargeRecord};

/// The schema of this JSON. It changes only with the meaning of a key; keys may be added.
const SCHEMA: &str = "trajfit.count/1";

/// The result of `count`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CountReport {
    /// The schema of this object.
    pub schema: &'static str,
    /// The version of the program.
    pub version: &'static str,
    /// The figures of the records.
    #[serde(flatten)]
    pub survey: SurveyFigures,
    /// The limit that the records are compared with.
    pub max_tokens: u64,
    /// Records over it.
    pub over_max_tokens: u64,
    /// Number of records by their tokens.
    pub histogram: Vec<Bin>,
    /// The largest records, the largest first.
    pub largest: Vec<LargeRecord>,
    /// The tokenizer's note on its counts, if any.
    pub tokenizer_note: Option<String>,
}

impl CountReport {
    /// The report of a census.
    pub fn new(survey: SurveyFigures, census: &Census, max_tokens: u64, note: Option<String>) -> Self {
        Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            survey,
            max_tokens,
            over_max_tokens: census.judged().over(max_tokens),
            histogram: histogram(census.judged(), max_tokens),
            largest: census.largest().into_iter().cloned().collect(),
            tokenizer_note: note,
        }
    }
}
