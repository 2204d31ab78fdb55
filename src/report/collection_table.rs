//! The requests to be sent, in a table for people.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use super::figures::thousands;
use super::run_figures::Reasons;
use super::table::{Table, reasons};

/// The figures of a collection of requests.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CollectionFigures {
    /// Records read.
    pub records: u64,
    /// Of these, waiting for an answer.
    pub waiting: u64,
    /// Of these, unreadable.
    pub unreadable: u64,
    /// Of these, without a summary from the model for good, by reason code.
    pub failed: Reasons,
    /// Number of different requests.
    pub requests: u64,
    /// Tokens of the prompts.
    pub prompt_tokens: u64,
    /// Estimated tokens of the completions.
    pub completion_tokens: u64,
    /// Their cost at the prices that are set, in US dollars.
    pub cost: Option<f64>,
    /// Wall time.
    pub elapsed: Duration,
    /// Bytes of input, decompressed.
    pub bytes_in: u64,
    /// Files written.
    pub files: Vec<PathBuf>,
}

/// The table, a newline after each line.
pub fn collection_table(figures: &CollectionFigures) -> String {
    let mut table = Table::default();
    table.row("Records", &thousands(figures.records), "");
    table.row(
        "  waiting",
        &thousands(figures.waiting),
        "for the answer to a request",
    );
    let failed: u64 = figures.failed.iter().map(|reason| reason.1).sum();
    if failed > 0 {
        table.row("  failed", &thousands(failed), &reasons(&figures.failed));
    }
    if figures.unreadable > 0 {
        table.row("  unreadable", &thousands(figures.unreadable), "");
    }
    let mut note = format!(
        "would read {} tokens and write about {}",
        thousands(figures.prompt_tokens),
        thousands(figures.completion_tokens)
    );
    if let Some(cost) = figures.cost {
        // Writing to a String cannot fail.
        let _ = write!(note, ", about ${cost:.2} at the prices given");
    }
    table.row("Requests", &thousands(figures.requests), &note);
    table.time(figures.elapsed, figures.bytes_in);
    table.files("Written", &figures.files);
    if figures.files.is_empty() {
        table.line("Written", "nothing: there is nothing to ask");
    }
    let mut text = table.text();
    if figures.cost.is_some() {
        text.push_str("Batches usually cost half: give --price-prompt and --price-completion as the vendor has them for batches.\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_told_with_their_tokens_and_cost() {
        let figures = CollectionFigures {
            records: 40,
            waiting: 19,
            failed: vec![("summary_refused".to_owned(), 1)],
            requests: 18,
            prompt_tokens: 250_000,
            completion_tokens: 12_000,
            cost: Some(0.123),
            files: vec!["requests.jsonl".into(), "requests-2.jsonl".into()],
            ..CollectionFigures::default()
        };
        let text = collection_table(&figures);
        assert!(
            text.contains("Requests  ")
                && text.contains("250,000 tokens and write about 12,000, about $0.12"),
            "{text}"
        );
        assert!(
            text.contains("summary_refused 1") && text.contains("usually cost half"),
            "{text}"
        );
        assert!(
            text.contains("Written    requests.jsonl\n           requests-2.jsonl\n"),
            "{text}"
        );
    }

    #[test]
    fn nothing_to_ask_is_said() {
        let text = collection_table(&CollectionFigures::default());
        assert!(text.contains("nothing to ask") && !text.contains('$'), "{text}");
    }
}
