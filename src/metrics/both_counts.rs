//! The two counts compared: the sum of the values, and the chat as its template renders it.

use serde::Serialize;

use super::Row;
use crate::compress::Reason;

/// Sums over the records that a chat template was asked to render.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct BothCounts {
    /// Records rendered.
    pub records: u64,
    /// Records that the template refuses as they are; they are in none of the sums.
    pub refused: u64,
    /// Tokens of the values of the records as read.
    pub original_value_tokens: u64,
    /// Tokens of the same records rendered.
    pub original_rendered_tokens: u64,
    /// Tokens of the values of the records as written.
    pub compressed_value_tokens: u64,
    /// Tokens of the same records rendered.
    pub compressed_rendered_tokens: u64,
    /// Compressed records in which the template renders kept turns differently than before.
    pub records_with_changed_turns: u64,
}

impl BothCounts {
    /// Adds a row whose record is in the output; one without both counts was refused, or there is no template.
    pub fn add(&mut self, row: &Row) {
        let counts = (
            row.original_value_tokens,
            row.original_rendered_tokens,
            row.compressed_value_tokens,
            row.compressed_rendered_tokens,
        );
        if let (Some(values), Some(rendered), Some(values_after), Some(rendered_after)) = counts {
            self.records += 1;
            self.original_value_tokens += values;
            self.original_rendered_tokens += rendered;
            self.compressed_value_tokens += values_after;
            self.compressed_rendered_tokens += rendered_after;
            self.records_with_changed_turns += u64::from(row.template_changed_turns.unwrap_or(0) > 0);
        } else if row.reason == Reason::TEMPLATE_REFUSES {
            self.refused += 1;
        }
    }

    /// Rendered tokens for each token of the values, of the records as read; `None` without a template.
    pub fn rendered_to_values_before(&self) -> Option<f64> {
        ratio(self.original_rendered_tokens, self.original_value_tokens)
    }

    /// The same of the records as written.
    pub fn rendered_to_values_after(&self) -> Option<f64> {
        ratio(self.compressed_rendered_tokens, self.compressed_value_tokens)
    }

    /// Returns true if a template rendered, or refused, any record.
    pub fn is_any(&self) -> bool {
        self.records + self.refused > 0
    }
}

/// The ratio with four decimals.
fn ratio(rendered: u64, values: u64) -> Option<f64> {
    (values > 0).then(|| (rendered as f64 / values as f64 * 1e4).round() / 1e4)
}
