//! The invariants on real trajectories, where they are present.
#![allow(clippy::unwrap_used)] // Tests may fail loudly.

mod support;

use std::path::PathBuf;

use support::cli::Workspace;
use support::oracle::{assert_sound, cost};
use support::{counter, real_data};
use trajfit::metrics::Status;

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
