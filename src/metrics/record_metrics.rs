//! A row as the JSON object that a record may carry: the columns that do not differ from run to run.

use super::Row;

/// Columns about the run: its duration, and the requests that were sent instead of answered from the cache.
const OF_THE_RUN: [&str; 8] = [
    "duration_ms",
    "cached_summary",
    "summarization_api_calls",
    "summarization_errors",
    "prompt_tokens",
    "completion_tokens",
    "fallback_prompt_tokens",
    "fallback_completion_tokens",
];

/// The object, as text.
pub fn record_metrics(row: &Row) -> String {
    let mut value = serde_json::to_value(row).unwrap_or_default();
    if let Some(columns) = value.as_object_mut() {
        for column in OF_THE_RUN {
            columns.remove(column);
        }
    }
    value.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_run_to_run_is_left_out() {
        let columns = serde_json::to_value(Row::default()).unwrap();
        assert!(OF_THE_RUN.iter().all(|column| columns.get(column).is_some()));
        let row = Row {
            duration_ms: 1.5,
            cached_summary: true,
            prompt_tokens: 9,
            ..Row::default()
        };
        assert_eq!(record_metrics(&row), record_metrics(&Row::default()));
        assert!(record_metrics(&row).contains("\"region_start\":0"));
    }
}
