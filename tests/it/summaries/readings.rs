//! Labelled lines of summaries: the labels are sound, and no line that was found false is written again.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::cli::{Workspace, fixture};
use serde::Deserialize;
use sha2::{Digest, Sha256};

/// The source of labels of the invented trajectories beside them.
const INVENTED: &str = "invented";

/// Lines and sources that two readings have at least.
const MIN_LINES: usize = 600;
const MIN_SOURCES: usize = 12;

#[derive(Debug, Deserialize)]
struct Judged {
    reading: u32,
    source: String,
    record: usize,
    budget: usize,
    hash: String,
    label: String,
    reason: String,
}

fn labels() -> Vec<Judged> {
    let mut reader = csv::Reader::from_path(fixture("readings/labels.csv")).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

/// The lines of a summary, a quotation with its heading as one, as `scripts/readings.py` has them.
fn lines(summary: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut fence: Option<&str> = None;
    for line in summary.lines() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        let is_section = line.ends_with(':')
            && line.starts_with(|c: char| c.is_ascii_uppercase())
            && line
                .trim_end_matches(':')
                .bytes()
                .all(|c| c.is_ascii_alphabetic() || c == b' ');
        match (fence, found.last_mut()) {
            (Some(end), Some(last)) => {
                last.push('\n');
                last.push_str(line);
                fence = fence.filter(|_| line.trim_end() != end);
            }
            (None, Some(last)) if ticks >= 3 => {
                last.push('\n');
                last.push_str(line);
                fence = line.get(..ticks);
            }
            _ if line.trim().is_empty() || is_section => {}
            _ => found.push(line.to_owned()),
        }
    }
    found
}

fn hash(line: &str) -> String {
    let digest = Sha256::digest(line.trim_end());
    let start: Vec<String> = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    start.concat()
}

/// The hashes of the lines that summaries of the invented trajectories have now, by record.
fn written(budget: usize) -> BTreeMap<usize, BTreeSet<String>> {
    let records = std::fs::read_to_string(fixture("readings/trajectories.jsonl")).unwrap();
    let workspace = Workspace::with_input(records);
    let budget = budget.to_string();
    workspace.run(&[
        "compress",
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--target-max-tokens",
        &budget,
    ]);
    let out = workspace.text("out.jsonl");
    let summary = |line: &str| {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        let said = texts(&record)
            .into_iter()
            .find(|text| text.contains("[CONTEXT SUMMARY]:"))?;
        let (_, summary) = said.split_once("[CONTEXT SUMMARY]:")?;
        let (summary, _) = summary
            .split_once("[END OF CONTEXT SUMMARY]")
            .unwrap_or((summary, ""));
        Some(
            lines(summary.trim_matches('\n'))
                .iter()
                .map(|line| hash(line))
                .collect(),
        )
    };
    let summaries = out.lines().enumerate();
    summaries
        .filter_map(|(number, line)| Some((number + 1, summary(line)?)))
        .collect()
}

fn texts(value: &serde_json::Value) -> Vec<String> {
    match value {
        serde_json::Value::String(text) => vec![text.clone()],
        serde_json::Value::Array(inner) => inner.iter().flat_map(texts).collect(),
        serde_json::Value::Object(inner) => inner.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn labels_are_sound() {
    let labels = labels();
    let mut readings: BTreeMap<u32, (usize, BTreeSet<&str>)> = BTreeMap::new();
    for label in &labels {
        let (lines, sources) = readings.entry(label.reading).or_default();
        *lines += 1;
        sources.insert(&label.source);
    }
    let large = readings
        .values()
        .filter(|(lines, sources)| *lines >= MIN_LINES && sources.len() >= MIN_SOURCES);
    assert!(large.count() >= 2);
    for label in &labels {
        assert!(
            ["true", "noise", "misleading", "false"].contains(&label.label.as_str()),
            "{label:?}"
        );
        assert_eq!(label.reason.is_empty(), label.label == "true", "{label:?}");
        assert!(
            label.hash.len() == 12 && label.record > 0 && label.budget > 0,
            "{label:?}"
        );
    }
}

#[test]
fn no_line_that_was_found_false_is_written_again() {
    let labels: Vec<Judged> = labels()
        .into_iter()
        .filter(|label| label.source == INVENTED)
        .collect();
    let budgets: BTreeSet<usize> = labels.iter().map(|label| label.budget).collect();
    let written: BTreeMap<_, _> = budgets
        .into_iter()
        .map(|budget| (budget, written(budget)))
        .collect();
    let is_written = |label: &&Judged| {
        let of_record = written
            .get(&label.budget)
            .and_then(|written| written.get(&label.record));
        of_record.is_some_and(|lines| lines.contains(&label.hash))
    };
    let still: Vec<&Judged> = labels.iter().filter(is_written).collect();
    assert!(!still.is_empty(), "the summaries have changed: read them again");
    let wrong: Vec<_> = still.iter().filter(|label| label.label == "false").collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
