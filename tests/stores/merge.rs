//! Shards in an object store, joined there.

use super::s3::S3;
use crate::support::cli::{Ran, Workspace, many_runs};

const BUDGET: [&str; 3] = ["--max-tokens", "1m", "--quiet"];

#[test]
fn shards_in_a_store_are_joined_to_what_one_run_writes() {
    let Some(mut s3) = S3::start() else { return };
    // More than is sent at once, so that parts go out while the file grows.
    let mut runs = many_runs(45);
    runs.extend_from_slice(b"no record\n");
    s3.put("in.jsonl", &runs);
    let workspace = Workspace::new();
    let run = |arguments: &[&str]| {
        let mut command = s3.command(&workspace, arguments);
        s3.without_secrets(&workspace, Ran::of(command.output().unwrap()))
    };
    let compress =
        |arguments: &[&str]| run(&[&["compress", "s3://data/in.jsonl"], arguments, &BUDGET].concat());
    for shard in ["1", "2"] {
        let (part, output) = (format!("{shard}/2"), format!("s3://data/parts/{shard}.jsonl"));
        compress(&["--shard", &part, "-o", &output]);
    }
    compress(&["-o", "s3://data/one.jsonl"]).exits(3);
    let parts = ["s3://data/parts/1.metrics.csv", "s3://data/parts/2.jsonl"];
    let merge = |arguments: &[&str]| run(&[&["merge"], &parts[..], arguments].concat());
    merge(&["-o", "s3://data/merged.jsonl"])
        .exits(3)
        .says("s3://data/merged.summary.json");
    merge(&["-o", "s3://data/merged.jsonl"])
        .exits(2)
        .says("exists already");
    merge(&["-o", "here.jsonl", "--quiet"]).exits(3);
    merge(&["-o", "s3://none/merged.jsonl"])
        .exits(4)
        .says("no such bucket");
    merge(&["-o", "https://127.0.0.1:1/merged.jsonl"])
        .exits(2)
        .says("read only");
    merge(&["-o", "s3://data/parts/1.jsonl", "--force"])
        .exits(2)
        .says("is an input");
    assert!(s3.uploads().is_empty());
    for ending in ["jsonl", "rejects.jsonl"] {
        let one = s3.get(&format!("one.{ending}"));
        assert!(s3.get(&format!("merged.{ending}")) == one, "{ending}");
        assert!(workspace.read(format!("here.{ending}")) == one, "{ending}");
    }
    assert_eq!(s3.get("merged.metrics.csv"), workspace.read("here.metrics.csv"));
    let totals = |text: &[u8]| -> serde_json::Value { serde_json::from_slice(text).unwrap() };
    let (one, merged) = (
        totals(&s3.get("one.summary.json")),
        totals(&s3.get("merged.summary.json")),
    );
    for key in ["records", "records_by_status", "original_token_percentiles"] {
        assert_eq!(one[key], merged[key], "{key}");
    }
    // Nothing is left where the objects were written.
    assert!(!workspace.files().iter().any(|file| file.starts_with("home")));
}
