//! What `count` found: plain figures, from which its table and its JSON are made.

use serde::Serialize;

use super::histogram::{Bin, histogram};
use super::survey_figures::SurveyFigures;
use crate::metrics::{Census, LargeRecord};

/// The name of this JSON's form. It changes only with the meaning of a key; keys may be added.
const SCHEMA: &str = "trajfit.count/1";

/// What `count` found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CountReport {
    /// The form of this object.
    pub schema: &'static str,
    /// The version of the program.
    pub version: &'static str,
    /// What the records came to.
    #[serde(flatten)]
    pub survey: SurveyFigures,
    /// The limit that the records are held against.
    pub max_tokens: u64,
    /// Records over it.
    pub over_max_tokens: u64,
    /// Records by their tokens.
    pub histogram: Vec<Bin>,
    /// The largest records, the largest first.
    pub largest: Vec<LargeRecord>,
    /// What the tokenizer has to say of its counts, if anything.
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
