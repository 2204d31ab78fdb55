//! Results formatted for people and machines.

mod cache_report;
mod check_outcome;
mod check_text;
mod collection_table;
mod count_report;
mod count_text;
pub mod figures;
mod grounding;
mod histogram;
mod lint;
mod run_figures;
mod summary_table;
mod survey_figures;
mod table;
#[cfg(test)]
mod tests;
mod trigger_table;
mod unroll_table;

pub use cache_report::{CacheReport, cache_text, merged_text, pruned_text};
pub use check_outcome::{Allowance, CheckLimits, CheckOutcome};
pub use check_text::check_text;
pub use collection_table::{CollectionFigures, collection_table};
pub use count_report::CountReport;
pub use count_text::count_text;
pub use grounding::{GROUNDING_SCHEMA, GroundingOutcome, grounding_text};
pub use lint::{LintReport, lint_text};
pub use run_figures::{DryRunFigures, OverLimitFigures, Reasons, RecordFigures, RequestFigures, RunFigures};
pub use summary_table::summary_table;
pub use survey_figures::{SurveyFigures, Tokenizer};
pub use trigger_table::{TriggerFigures, trigger_table};
pub use unroll_table::{UnrollFigures, unroll_table};

/// A result as JSON for machines, with a newline at its end.
pub fn json(result: &impl serde::Serialize) -> String {
    // Maps with keys of text, numbers and strings always serialize.
    let mut text = serde_json::to_string_pretty(result).unwrap_or_default();
    text.push('\n');
    text
}
