//! Every call by which a run changes files fails, as on a full or broken disk; resumed, the run ends with the bytes of
//! one that was never disturbed.
#![cfg(target_os = "linux")] // Calls fail by a library that is preloaded.

use std::time::Instant;

use crate::support::asked::{Asked, line_with};
use crate::support::cli::short;
use crate::support::disk::DisturbedRun;

/// So many letters without any order, on one line: no record, and hardly compressible.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut state = seed;
    let letter = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        LETTERS[(state >> 58) as usize]
    };
    (0..length).map(letter).collect()
}

/// A record of which nothing can be left out, over a budget of 600 tokens.
fn incompressible(number: usize) -> String {
    short(&format!("{number} {}", "this is all that there is. ".repeat(60)))
}

/// So many stretches of lines, each ending with noise of that length.
fn lines(stretches: usize, noise_length: usize) -> Vec<u8> {
    let mut lines = Vec::new();
    for number in 0..stretches {
        lines.extend(line_with(number, "").into_bytes());
        lines.extend(format!("{}\n", short(&number.to_string())).into_bytes());
        lines.extend(format!("{}\n", incompressible(number)).into_bytes());
        lines.extend(noise(number as u64, noise_length));
        lines.push(b'\n');
    }
    lines
}

/// Records over the budget that nothing can be done about are rejected; what is no record is written as it is.
const SOME_REJECTED: &str = "--tokenizer cl100k_base --target-max-tokens 600 --summary-target-tokens 100 --over-limit reject --on-invalid pass";

/// More than the output of one milestone.
const STRETCHES: usize = 5;
const NOISE: usize = 1_100_000;

fn side_or_data(path: &str) -> bool {
    path.starts_with("out")
}

fn data(path: &str) -> bool {
    path.starts_with("out.jsonl.")
}

/// Whether a run commits before its end: its first line says what it is, its last one that it is whole.
fn commits_half_way(calls: &[String]) -> bool {
    calls.iter().any(|call| call == "write out.checkpoint 3")
}

#[test]
fn a_run_over_one_file() {
    let inputs = vec![("in.jsonl".to_owned(), lines(STRETCHES, NOISE))];
    let arguments = format!("in.jsonl -o out.jsonl --jobs 1 {SOME_REJECTED}");
    let calls = DisturbedRun::of(inputs, &arguments, side_or_data).survives();
    assert!(commits_half_way(&calls));
}

#[test]
fn a_run_that_writes_compressed_data() {
    let inputs = vec![("in.jsonl".to_owned(), lines(STRETCHES + 1, NOISE))];
    for name in ["out.jsonl.gz", "out.jsonl.zst"] {
        let arguments = format!("in.jsonl -o {name} --jobs 1 {SOME_REJECTED}");
        let calls = DisturbedRun::of(inputs.clone(), &arguments, data).survives();
        assert!(commits_half_way(&calls));
    }
}

/// Small files, some of them with a record to compress, one to reject, and a line that is no record.
fn small_files(count: usize) -> Vec<(String, Vec<u8>)> {
    let lines = |number: usize| match number % 64 {
        0 => [
            line_with(number, ""),
            incompressible(number),
            "{broken".to_owned(),
        ]
        .join("\n"),
        _ => short(&number.to_string()),
    };
    let name = |number: usize| format!("data/{}/{number:03}.jsonl", number / 100);
    (0..count)
        .map(|number| (name(number), lines(number).into_bytes()))
        .collect()
}

const DIRECTORY: &str = "data -o out/ --jobs 1 --tokenizer cl100k_base --target-max-tokens 600 --summary-target-tokens 100 --over-limit reject";

#[test]
fn a_run_over_a_directory() {
    // More files than one milestone takes.
    let run = DisturbedRun::of(small_files(132), DIRECTORY, |path| {
        let sampled = ["out/0/000.", "out/1/128.", "out.checkpoint"];
        sampled.iter().any(|start| path.starts_with(start)) || ["out", "out/", "out/1"].contains(&path)
    });
    assert!(commits_half_way(&run.survives()));
}

#[test]
fn many_files_share_a_milestone() {
    let run = DisturbedRun::of(small_files(500), DIRECTORY, |_| false);
    let started = Instant::now();
    let (ran, calls) = run.undisturbed();
    ran.exits(3);
    let count = |what: &str| calls.iter().filter(|call| call.contains(what)).count();
    // One a second, one for every 128 files, one at the end, and what the run is.
    let most = 5 + started.elapsed().as_secs() as usize;
    assert!(count("write out.checkpoint") <= most, "{calls:?}");
    assert!(count("fsync out.metrics.csv.partial") <= most, "{calls:?}");
    let folders = (0..5).map(|number| format!("fsync out/{number} "));
    assert!(
        folders.map(|folder| count(&folder)).all(|syncs| syncs == 1),
        "{calls:?}"
    );
    let data = |call: &&String| call.starts_with("fsync out/") && call.contains(".partial ");
    assert_eq!(calls.iter().filter(data).count(), 500);
}

#[test]
fn a_run_that_merges_files_and_writes_no_metrics() {
    let file = |number: usize| {
        let mut lines = lines(1, 1000);
        lines.pop();
        (format!("data/{number}.jsonl"), lines)
    };
    let inputs = (0..3).map(file).collect();
    let arguments = format!("data -o new/out.jsonl --jobs 1 --metrics false {SOME_REJECTED}");
    DisturbedRun::of(inputs, &arguments, |path| path.starts_with("new")).survives();
}

#[test]
fn a_run_that_keeps_answers() {
    let server = Asked::start();
    let lines: String = (0..6).map(|number| line_with(number, "")).collect();
    let arguments = server.arguments("out.jsonl").join(" ");
    let arguments = format!(
        "{} --jobs 1 --max-concurrent-requests 1 --tokenizer cl100k_base",
        &arguments["compress ".len()..]
    );
    let mut run = DisturbedRun::of(
        vec![("in.jsonl".to_owned(), lines.into_bytes())],
        &arguments,
        |path| path.contains(".cache"),
    );
    run.pays = true;
    run.survives();
}
