//! The contents of a cache of answers, as text and as plain figures for JSON.

use std::fmt::Write as _;

use serde::Serialize;

use super::figures::{day, megabytes, printable, thousands, timestamp};
use super::table::Table;
use crate::cache::{MergedCaches, ModelStats, Pruned, Stats};

/// The schema of this JSON. It changes only with the meaning of a key; keys may be added.
const SCHEMA: &str = "trajfit.cache/1";

/// The contents of a cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CacheReport {
    /// The schema of this object.
    pub schema: &'static str,
    /// The version of the program.
    pub version: &'static str,
    /// The file.
    pub file: String,
    /// Bytes on disk.
    pub bytes: u64,
    /// Number of answers.
    pub answers: u64,
    /// Time when the oldest was received; `null` in all times if there is none.
    pub oldest: Option<String>,
    /// Time when the newest was received.
    pub newest: Option<String>,
    /// Time when one was last used, to the day.
    pub last_used: Option<String>,
    /// The figures by model, the one with the most answers first.
    pub models: Vec<ModelStats>,
    #[serde(skip)]
    times: [Option<i64>; 3],
}

impl CacheReport {
    /// The report of those figures.
    pub fn new(stats: Stats) -> Self {
        Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            file: stats.file.display().to_string(),
            bytes: stats.bytes,
            answers: stats.answers,
            oldest: stats.oldest.map(timestamp),
            newest: stats.newest.map(timestamp),
            last_used: stats.last_used.map(timestamp),
            models: stats.models,
            times: [stats.oldest, stats.newest, stats.last_used],
        }
    }
}

/// A report as a table.
pub fn cache_text(report: &CacheReport) -> String {
    let mut table = Table::default();
    let note = format!("{} in {}", megabytes(report.bytes), report.file);
    table.row("Answers", &thousands(report.answers), &note);
    for model in &report.models {
        let label = format!("  {}", printable(&model.model));
        let note = format!(
            "{} of text; {} tokens read for them, {} written",
            megabytes(model.text_bytes),
            thousands(model.prompt_tokens),
            thousands(model.completion_tokens)
        );
        table.row(&label, &thousands(model.answers), &note);
    }
    let mut text = table.text();
    if let [Some(oldest), Some(newest), Some(used)] = report.times.map(|time| time.map(day)) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "Received from {oldest} to {newest}, last used {used} (UTC)");
    }
    text
}

/// The result of removing answers, in a line.
pub fn pruned_text(pruned: &Pruned) -> String {
    let (before, now) = (megabytes(pruned.bytes_before), megabytes(pruned.bytes));
    match pruned.removed {
        None => format!("the damaged file is gone, {before}\n"),
        Some(removed) => format!(
            "answers taken away: {}; left: {}; {now}, before {before}\n",
            thousands(removed),
            thousands(pruned.left)
        ),
    }
}

/// The result of joining caches, in a line.
pub fn merged_text(merged: &MergedCaches) -> String {
    format!(
        "answers added: {}; there already: {}; now: {}\n",
        thousands(merged.added),
        thousands(merged.known),
        thousands(merged.answers)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats() -> Stats {
        Stats {
            file: "out.cache/answers.sqlite".into(),
            bytes: 12_288,
            answers: 3,
            oldest: Some(1_785_000_000),
            newest: Some(1_785_086_400),
            last_used: Some(1_785_172_800),
            models: vec![ModelStats {
                model: "m".to_owned(),
                answers: 3,
                text_bytes: 2_100,
                prompt_tokens: 30_000,
                completion_tokens: 600,
            }],
        }
    }

    #[test]
    fn a_cache_is_told_with_its_models_and_times() {
        assert_eq!(
            cache_text(&CacheReport::new(stats())),
            "Answers  3  12.3 kB in out.cache/answers.sqlite\n  \
               m      3  2.1 kB of text; 30,000 tokens read for them, 600 written\n\
             Received from 2026-07-25 to 2026-07-26, last used 2026-07-27 (UTC)\n"
        );
        let json = super::super::json(&CacheReport::new(stats()));
        assert!(
            json.contains(r#""oldest": "2026-07-25T17:20:00Z""#) && !json.contains("times"),
            "{json}"
        );
        let none = Stats {
            answers: 0,
            oldest: None,
            models: Vec::new(),
            ..stats()
        };
        assert_eq!(
            cache_text(&CacheReport::new(none)),
            "Answers  0  12.3 kB in out.cache/answers.sqlite\n"
        );
    }

    #[test]
    fn what_was_joined_is_one_line() {
        let merged = MergedCaches {
            added: 1_200,
            known: 3,
            answers: 1_500,
        };
        assert_eq!(
            merged_text(&merged),
            "answers added: 1,200; there already: 3; now: 1,500\n"
        );
    }

    #[test]
    fn what_was_taken_away_is_one_line() {
        let pruned = Pruned {
            removed: Some(12),
            left: 1_000,
            bytes_before: 5_000_000,
            bytes: 4_900_000,
        };
        assert_eq!(
            pruned_text(&pruned),
            "answers taken away: 12; left: 1,000; 4.9 MB, before 5.0 MB\n"
        );
    }
}
