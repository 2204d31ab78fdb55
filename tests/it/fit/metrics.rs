//! The report of a run: a row a record, and totals that the rows add up to.

use std::collections::BTreeMap;

use crate::support::cli::{SMALL, Workspace, fixture_bytes, quirks, short};
use serde_json::Value;
use sha2::{Digest, Sha256};
use trajfit::internals::metrics::{Row, Status};

/// The demo data and all quirks in one file, at a small budget.
fn everything() -> Workspace {
    let mut lines = fixture_bytes("agent_runs.jsonl");
    for path in quirks() {
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            lines.extend(std::fs::read(path).unwrap());
            lines.push(b'\n');
        }
    }
    let workspace = Workspace::with_input(lines);
    workspace
        .compress(&[&["in.jsonl", "-o", "out.jsonl"], &SMALL[..]].concat())
        .exits(3);
    workspace
}

#[test]
fn the_rows_agree_with_themselves() {
    let workspace = everything();
    let rows = workspace.rows("out.metrics.csv");
    assert!(rows.is_sorted_by_key(|row| row.line));
    for row in rows {
        let place = format!("line {}: {row:?}", row.line);
        assert_eq!(row.was_compressed, row.status == Status::Compressed, "{place}");
        assert_eq!(
            row.skipped_under_target,
            row.status == Status::UnderTarget,
            "{place}"
        );
        assert_eq!(
            (row.source.as_str(), row.target_max_tokens),
            ("in.jsonl", 600),
            "{place}"
        );
        if row.status == Status::Rejected {
            assert!(!row.reason.is_empty() && row.original_tokens == 0, "{place}");
            continue;
        }
        let (before, after) = (row.original_tokens as f64, row.compressed_tokens as f64);
        assert_eq!(row.tokens_saved as f64, before - after, "{place}");
        assert_eq!(row.still_over_limit, row.compressed_tokens > 600, "{place}");
        assert_eq!(
            row.turns_removed,
            row.original_turns as i64 - row.compressed_turns as i64,
            "{place}"
        );
        if row.was_compressed {
            let ratio = (after / before * 1e4).round() / 1e4;
            assert!((row.compression_ratio - ratio).abs() < 1e-9, "{place}");
            assert_eq!(
                row.region_turns as i64,
                row.region_end - row.region_start,
                "{place}"
            );
            assert!(
                after < before && row.summary_tokens > 0 && row.passes > 0,
                "{place}"
            );
            assert_eq!(row.summarizer, "extractive", "{place}");
            assert!(row.anchors_held <= row.anchors_needed, "{place}");
        } else {
            assert_eq!((row.region_start, row.region_end), (-1, -1), "{place}");
            assert_eq!(row.original_tokens, row.compressed_tokens, "{place}");
            assert!(
                row.still_over_limit != row.reason.is_empty() || row.status == Status::UnderTarget,
                "{place}"
            );
        }
    }
}

/// The value below which lie so many percent of the sorted values, at least.
fn percentile(sorted: &[u64], percent: usize) -> u64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted[rank - 1]
}

#[test]
fn the_totals_are_what_the_rows_add_up_to() {
    let workspace = everything();
    let rows = workspace.rows("out.metrics.csv");
    let totals = workspace.json("out.summary.json");
    let written: Vec<&Row> = rows.iter().filter(|row| row.status != Status::Rejected).collect();
    assert_eq!(totals["records"], rows.len());
    for status in Status::ALL {
        let count = rows.iter().filter(|row| row.status == status).count();
        assert_eq!(totals["records_by_status"][status.name()], count);
    }
    let mut reasons = BTreeMap::new();
    for row in rows.iter().filter(|row| !row.reason.is_empty()) {
        *reasons.entry(row.reason.as_str()).or_insert(0) += 1;
    }
    assert_eq!(totals["reasons"], serde_json::to_value(reasons).unwrap());
    let sum = |of: fn(&Row) -> i64| written.iter().map(|row| of(row)).sum::<i64>();
    let sums: [(&str, fn(&Row) -> i64); 16] = [
        ("original_tokens", |row| row.original_tokens as i64),
        ("compressed_tokens", |row| row.compressed_tokens as i64),
        ("tokens_saved", |row| row.tokens_saved),
        ("original_turns", |row| row.original_turns as i64),
        ("compressed_turns", |row| row.compressed_turns as i64),
        ("turns_removed", |row| row.turns_removed),
        ("still_over_limit", |row| row.still_over_limit.into()),
        ("degraded", |row| row.degraded.into()),
        ("degraded_compressed", |row| {
            (row.degraded && row.was_compressed).into()
        }),
        ("summary_starved", |row| row.summary_starved.into()),
        ("passes", |row| row.passes as i64),
        ("summary_tokens", |row| row.summary_tokens as i64),
        ("summarization_api_calls", |row| {
            row.summarization_api_calls as i64
        }),
        ("anchors_needed", |row| row.anchors_needed as i64),
        ("anchors_held", |row| row.anchors_held as i64),
        ("redactions", |row| row.redactions as i64),
    ];
    for (name, of) in sums {
        assert_eq!(totals[name], sum(of), "{name}");
    }
    let mut ratios: Vec<f64> = rows
        .iter()
        .filter(|row| row.was_compressed)
        .map(|row| row.compression_ratio)
        .collect();
    ratios.sort_by(f64::total_cmp);
    let close = |name: &str, expected: f64| {
        let value = totals[name].as_f64().unwrap();
        assert!(
            (value - expected).abs() < 1e-4,
            "{name}: {value}, {expected} expected"
        );
    };
    close(
        "mean_compression_ratio",
        ratios.iter().sum::<f64>() / ratios.len() as f64,
    );
    let (low, high) = (ratios[(ratios.len() - 1) / 2], ratios[ratios.len() / 2]);
    close("median_compression_ratio", f64::midpoint(low, high));
    let sorted = |of: fn(&Row) -> u64| {
        let mut values: Vec<u64> = written.iter().map(|row| of(row)).collect();
        values.sort_unstable();
        values
    };
    for (name, values) in [
        ("original_token_percentiles", sorted(|row| row.original_tokens)),
        (
            "compressed_token_percentiles",
            sorted(|row| row.compressed_tokens),
        ),
    ] {
        for (key, percent) in [
            ("min", 0),
            ("p50", 50),
            ("p90", 90),
            ("p95", 95),
            ("p99", 99),
            ("max", 100),
        ] {
            let (value, expected) = (
                totals[name][key].as_f64().unwrap(),
                percentile(&values, percent) as f64,
            );
            assert!(
                (value - expected).abs() <= expected * 1e-3,
                "{name} {key}: {value}, {expected} expected"
            );
        }
    }
}

#[test]
fn the_totals_say_how_the_run_was_made() {
    let text = {
        let workspace = everything();
        workspace.text("out.summary.json")
    };
    let totals: Value = serde_json::from_str(&text).unwrap();
    // A name that occurs twice would lose one of its values.
    let names: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("  \""))
        .filter_map(|line| line.trim().split('"').nth(1))
        .collect();
    assert_eq!(names.len(), totals.as_object().unwrap().len());
    assert_eq!(totals["program"], "trajfit");
    assert_eq!(totals["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(totals["schema"], "trajfit.summary/1");
    let documented = include_str!("../../../docs/json.md");
    for name in names {
        assert!(documented.contains(&format!("`{name}`")), "{name}");
    }
    let configuration = &totals["configuration"];
    assert_eq!(configuration["compression.target_max_tokens"], 600);
    assert_eq!(configuration["compression.grounding"], true);
    assert_eq!(configuration["input.max_record_bytes"], 256_000_000);
    assert_eq!(configuration["output.mark_summary"], Value::Null);
    assert_eq!(configuration["--limit"], Value::Null);
    assert_eq!(configuration["tokenizer.name"], "o200k_base");
    let tokenizer = &totals["tokenizer"];
    assert_eq!(tokenizer["name"], "o200k_base");
    assert_eq!(tokenizer["sha256"].as_str().unwrap().len(), 64);
    assert!(totals["timing"]["seconds"].as_f64().unwrap() > 0.0);
    assert!(totals["timing"]["megabytes_per_second"].as_f64().unwrap() > 0.0);
    assert!(totals["timing"]["bytes_read"].as_u64().unwrap() > 1_000_000);
}

#[test]
fn a_tokenizer_file_is_known_by_its_hash() {
    let vocabulary = r#"{"version":"1.0","truncation":null,"padding":null,"added_tokens":[],"normalizer":null,
        "pre_tokenizer":{"type":"WhitespaceSplit"},"post_processor":null,"decoder":null,
        "model":{"type":"WordLevel","vocab":{"[UNK]":0},"unk_token":"[UNK]"}}"#;
    let workspace = Workspace::with_input(short("one"));
    workspace.write("words/tokenizer.json", vocabulary);
    workspace
        .compress(&["in.jsonl", "-o", "out.jsonl", "--tokenizer", "words"])
        .exits(0);
    let hash: String = Sha256::digest(vocabulary)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(
        workspace.json("out.summary.json")["tokenizer"]["sha256"],
        hash.as_str()
    );
    assert_eq!(workspace.rows("out.metrics.csv")[0].original_tokens, 3);
}

#[test]
fn a_compressed_record_carries_its_row_only_where_that_is_asked_for() {
    let workspace = Workspace::with_input(fixture_bytes("agent_runs.jsonl"));
    workspace.write("config.yaml", "metrics:\n  per_trajectory: true\n");
    workspace.compress(&["in.jsonl", "-o", "plain.jsonl"]).exits(0);
    workspace
        .compress(&["in.jsonl", "-o", "out.jsonl", "--config", "config.yaml"])
        .exits(0);
    let (plain, with) = (workspace.text("plain.jsonl"), workspace.text("out.jsonl"));
    for ((plain, with), row) in plain
        .lines()
        .zip(with.lines())
        .zip(workspace.rows("out.metrics.csv"))
    {
        if row.was_compressed {
            let mut record: Value = serde_json::from_str(with).unwrap();
            let metrics = record
                .as_object_mut()
                .unwrap()
                .remove("compression_metrics")
                .unwrap();
            assert_eq!(metrics["compressed_tokens"], row.compressed_tokens);
            assert_eq!(metrics["line"], row.line);
            assert!(metrics.get("duration_ms").is_none());
            assert_eq!(record, serde_json::from_str::<Value>(plain).unwrap());
        } else {
            assert_eq!(with, plain);
        }
    }
}

#[test]
fn records_with_metrics_are_the_same_bytes_in_every_run() {
    let workspace = Workspace::with_input(fixture_bytes("agent_runs.jsonl"));
    let run = |input: &str, output: &str| {
        workspace
            .compress(&[input, "-o", output, "--per-trajectory", "all", "--jobs", "2"])
            .exits(0);
        workspace.read(output)
    };
    let first = run("in.jsonl", "first.jsonl");
    assert!(run("in.jsonl", "second.jsonl") == first);
    // Run over what it wrote, it replaces the object.
    let again = String::from_utf8(run("first.jsonl", "again.jsonl")).unwrap();
    assert!(
        again
            .lines()
            .all(|line| line.matches("\"compression_metrics\": ").count() == 1)
    );
}

#[test]
fn all_records_carry_the_same_object_where_that_is_asked_for() {
    let mut lines = fixture_bytes("agent_runs.jsonl");
    lines.extend(b"{\"no\": \"trajectory\"}\nno JSON\n");
    let workspace = Workspace::with_input(lines);
    let pass = ["in.jsonl", "--on-invalid", "pass", "-o"];
    workspace
        .compress(&[&pass[..], &["plain.jsonl"]].concat())
        .exits(0);
    let all = [&pass[..], &["out.jsonl", "--per-trajectory", "all"]].concat();
    workspace.compress(&all).exits(0);
    let (plain, with) = (workspace.text("plain.jsonl"), workspace.text("out.jsonl"));
    assert_eq!(plain.lines().count(), 42);
    let mut forms: Vec<Vec<(String, bool)>> = Vec::new();
    for (plain, with) in plain.lines().zip(with.lines()).take(41) {
        assert!(with.starts_with(plain.strip_suffix('}').unwrap()), "{with}");
        let record: Value = serde_json::from_str(with).unwrap();
        let metrics = record["compression_metrics"].as_object().unwrap();
        forms.push(
            metrics
                .iter()
                .map(|(name, value)| (name.clone(), value.is_number()))
                .collect(),
        );
    }
    forms.dedup();
    assert_eq!(forms.len(), 1, "{forms:?}");
    assert_eq!(with.lines().last(), Some("no JSON"));
}

#[test]
fn cells_that_a_spreadsheet_would_run_are_quoted_where_that_is_asked_for() {
    let workspace = Workspace::with_input(short("=HYPERLINK(1)") + "\n" + &short("plain"));
    let cells = |flag: &[&str]| {
        workspace
            .compress(&[&["in.jsonl", "-o", "out.jsonl", "--force"], flag].concat())
            .exits(0);
        let rows = workspace.rows("out.metrics.csv");
        // Numbers stay numbers.
        assert!(rows.iter().all(|row| row.region_start == -1));
        rows.into_iter().map(|row| row.id).collect::<Vec<_>>()
    };
    assert_eq!(cells(&[]), ["=HYPERLINK(1)", "plain"]);
    assert_eq!(cells(&["--csv-safe"]), ["'=HYPERLINK(1)", "plain"]);
}

#[test]
fn without_metrics_there_are_totals_and_data() {
    let workspace = Workspace::with_input(fixture_bytes("agent_runs.jsonl"));
    workspace.write("config.yaml", "metrics:\n  enabled: false\n");
    workspace
        .compress(&["in.jsonl", "-o", "out.jsonl", "--config", "config.yaml"])
        .exits(0);
    assert_eq!(
        workspace.files(),
        ["config.yaml", "in.jsonl", "out.jsonl", "out.summary.json"]
    );
}
