//! The invariants on real trajectories, where they are present.

use std::path::PathBuf;

use serde_json::Value;

use crate::support::cli::Workspace;
use crate::support::oracle::{assert_sound, cost};
use crate::support::{counter, real_data};
use trajfit::internals::metrics::Status;

fn data_files() -> Vec<PathBuf> {
    let Some(folder) = real_data() else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    files.sort();
    files
}

#[test]
fn real_trajectories_are_compressed_soundly() {
    let files = data_files();
    if files.is_empty() {
        return;
    }
    let workspace = Workspace::new();
    let paths: Vec<&str> = files.iter().map(|path| path.to_str().unwrap()).collect();
    let arguments = ["-o", "out/", "--target-max-tokens", "8000"];
    workspace.compress(&[&paths[..], &arguments].concat()).exits(0);
    let rows = workspace.rows("out.metrics.csv");
    let summary = workspace.json("out.summary.json");
    let notice = summary["configuration"]["output.summary_notice_text"]
        .as_str()
        .unwrap();
    let (mut next, mut compressed) = (rows.iter(), 0);
    for path in &files {
        let before = std::fs::read_to_string(path).unwrap();
        let after = workspace.text(PathBuf::from("out").join(path.file_name().unwrap()));
        assert_eq!(
            before.lines().count(),
            after.lines().count(),
            "{}",
            path.display()
        );
        for (before, after) in before.lines().zip(after.lines()) {
            let row = next.next().unwrap();
            let place = format!("{}:{}", row.source, row.line);
            assert_ne!(row.status, Status::Failed, "{place}: {}", row.reason);
            if row.status != Status::Compressed {
                assert_eq!(before, after, "{place}");
                continue;
            }
            compressed += 1;
            let tokens = cost(&serde_json::from_str(before).unwrap(), counter().as_ref());
            assert_eq!(tokens as u64, row.original_tokens, "{place}");
            assert_sound(before, after, row, Some(notice), counter().as_ref());
        }
    }
    assert!(next.next().is_none() && compressed > 50, "{compressed}");
}

#[test]
fn what_was_compressed_once_fits_the_second_time() {
    for path in data_files() {
        let workspace = Workspace::new();
        let input = path.to_str().unwrap();
        let budget = ["--target-max-tokens", "8000"];
        workspace
            .compress(&[&[input, "-o", "once.jsonl"], &budget[..]].concat())
            .exits(0);
        workspace
            .compress(&[&["once.jsonl", "-o", "twice.jsonl"], &budget[..]].concat())
            .exits(0);
        let rows = workspace.rows("once.metrics.csv");
        let (once, twice) = (workspace.text("once.jsonl"), workspace.text("twice.jsonl"));
        for ((once, twice), row) in once.lines().zip(twice.lines()).zip(rows) {
            assert!(row.still_over_limit || once == twice, "{input}:{}", row.line);
        }
    }
}

#[test]
fn a_dry_run_says_within_two_percent_what_a_real_run_comes_to() {
    let files = data_files();
    let paths: Vec<&str> = files.iter().map(|path| path.to_str().unwrap()).collect();
    for budget in ["15250", "8000", "4000"] {
        if paths.is_empty() {
            return;
        }
        let sums = |more: &[&str]| {
            let workspace = Workspace::new();
            let arguments = ["-o", "out/", "--target-max-tokens", budget];
            workspace
                .compress(&[&paths[..], &arguments, more].concat())
                .exits(0);
            let totals = workspace.json("out.summary.json");
            [
                "still_over_limit",
                "compressed_tokens",
                "summary_tokens",
                "anchors_held",
            ]
            .map(|sum| totals[sum].as_u64().unwrap())
        };
        for (planned, real) in sums(&["--dry-run"]).into_iter().zip(sums(&[])) {
            assert!(
                planned.abs_diff(real) * 50 <= real,
                "{budget}: {planned} planned, {real} come"
            );
        }
    }
}

/// Lists every redaction in the real data with what stands around it: to be read by eye after a change of the rules.
/// `cargo test --test it fit::real_data -- --ignored --nocapture redactions`
#[test]
#[ignore = "a listing to be read"]
#[allow(clippy::print_stdout)] // As above.
fn redactions_of_real_data_are_listed() {
    let mut characters = 0;
    for path in data_files() {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy();
        for (line, record) in text.lines().enumerate() {
            let mut texts = Vec::new();
            collect_texts(&serde_json::from_str(record).unwrap(), &mut texts);
            for text in texts {
                characters += text.chars().count();
                list_redactions(&format!("{name}:{}", line + 1), &text);
            }
        }
    }
    println!("{characters} characters");
}

fn collect_texts(value: &serde_json::Value, texts: &mut Vec<String>) {
    match value {
        serde_json::Value::String(text) => texts.push(text.clone()),
        serde_json::Value::Array(values) => values.iter().for_each(|value| collect_texts(value, texts)),
        serde_json::Value::Object(fields) => fields.values().for_each(|value| collect_texts(value, texts)),
        _ => {}
    }
}

#[allow(clippy::print_stdout)] // A listing is what it is for.
fn list_redactions(place: &str, text: &str) {
    let redacted = trajfit::internals::summarize::redact::redact(text).0;
    let mut at = 0;
    let mut pieces = redacted.split("[REDACTED:");
    at += pieces.next().map_or(0, str::len);
    for piece in pieces {
        let (kind, rest) = piece.split_once(']').unwrap();
        let next = text.get(at..).unwrap();
        let length = if rest.is_empty() {
            next.len()
        } else {
            next.find(rest).unwrap_or(0)
        };
        let around = |from: usize, to: usize| {
            let near = text
                .char_indices()
                .filter(|(place, _)| (from..to).contains(place));
            near.map(|(_, c)| c).collect::<String>().replace('\n', "⏎")
        };
        let secret = around(at, (at + length).min(at + 200));
        let (before, after) = (
            around(at.saturating_sub(60), at),
            around(at + length, at + length + 30),
        );
        println!("{place} {kind} {before}⟦{secret}⟧{after}");
        at += length + rest.len();
    }
}

#[test]
fn real_trajectories_are_unrolled_without_loss() {
    let Some(folder) = real_data() else { return };
    let workspace = Workspace::new();
    let folder = folder.to_str().unwrap();
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    for path in files.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")) {
        let input = path.to_str().unwrap();
        for (output, more) in [
            ("tail.jsonl", &["--trigger", "0.8"][..]),
            ("none.jsonl", &["--overlap", "none", "--mark", "none"]),
            ("mask.jsonl", &["--strategy", "mask"]),
            ("both.jsonl", &["--strategy", "mask-then-summarize"]),
        ] {
            let run = [
                &["unroll", input, "-o", output, "--max-tokens", "8000", "--force"],
                more,
            ]
            .concat();
            workspace.run(&run).exits(0);
            let mut check = vec!["check", "--unrolled-from", input, output];
            check.extend(
                (output == "none.jsonl")
                    .then_some(["--mark", "none"])
                    .into_iter()
                    .flatten(),
            );
            workspace.run(&check).exits(0);
            for record in workspace.text(output).lines() {
                assert!(serde_json::from_str::<Value>(record).is_ok());
            }
        }
    }
}
