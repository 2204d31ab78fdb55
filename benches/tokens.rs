//! How fast tokens are counted: the built-in encodings against the `tokenizers` library.
//!
//! `cargo bench --bench tokens` reads the strings of the `.jsonl` files in the folder that
//! `TRAJFIT_REAL_DATA` names (or `../shared/data`), or, where there are none, the sources of the
//! project. *Unseen*: text not met before, after other text of the same kind; *seen*: the same text
//! again; *fresh*: the same text by a thread that has counted nothing yet.

#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

#[path = "../src/tokens/oracle.rs"]
#[allow(dead_code)]
mod oracle;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{env, fs, thread};

use fastokens::tiktoken::{CL100K_BASE_PATTERN, O200K_BASE_PATTERN};
use oracle::Oracle;
use trajfit::tokens::load;

static O200K_RANKS: &[u8] = include_bytes!("../assets/o200k_base.ranks");
static CL100K_RANKS: &[u8] = include_bytes!("../assets/cl100k_base.ranks");

fn main() {
    // Every text once, in an order that mixes the files: repeats would count as unseen.
    let mut texts = Vec::new();
    read_folder(
        &env::var_os("TRAJFIT_REAL_DATA").map_or("../shared/data".into(), PathBuf::from),
        &mut texts,
    );
    if texts.is_empty() {
        read_folder(
            Path::new(env!("CARGO_MANIFEST_DIR")).join("src").as_path(),
            &mut texts,
        );
    }
    let texts: BTreeSet<String> = texts.into_iter().collect();
    let (known, unseen): (Vec<_>, Vec<_>) = texts.iter().enumerate().partition(|(number, _)| number % 2 == 0);
    let known: Vec<&str> = known.into_iter().map(|(_, text)| text.as_str()).collect();
    let unseen: Vec<&str> = unseen.into_iter().map(|(_, text)| text.as_str()).collect();
    println!(
        "{:.1} MB to know, {:.1} MB unseen",
        megabytes(&known),
        megabytes(&unseen)
    );

    for (name, ranks, pattern) in [
        ("o200k_base", O200K_RANKS, O200K_BASE_PATTERN),
        ("cl100k_base", CL100K_RANKS, CL100K_BASE_PATTERN),
    ] {
        let memory = resident();
        let start = Instant::now();
        let counter = load(name).unwrap();
        println!(
            "{name}: load {:.1} ms, {} kB",
            start.elapsed().as_secs_f64() * 1e3,
            resident() - memory
        );
        let count = |text: &str| counter.count(text);
        measure(count, &known);
        println!("  unseen {:6.1} MB/s", measure(count, &unseen));
        println!("  seen   {:6.1} MB/s", best(|| measure(count, &unseen)));
        let fresh = || thread::scope(|scope| scope.spawn(|| measure(count, &unseen)).join().unwrap());
        println!("  fresh  {:6.1} MB/s", best(fresh));
        println!("  memory {} kB", resident() - memory);

        let oracle = Oracle::new(ranks, pattern, &[]);
        let sample: Vec<&str> = unseen.iter().copied().step_by(8).collect();
        measure(|text| oracle.count(text), &sample);
        println!(
            "  tokenizers, seen {:6.1} MB/s",
            best(|| measure(|text| oracle.count(text), &sample))
        );
    }
}

/// MB of text a second.
fn measure(count: impl Fn(&str) -> usize, texts: &[&str]) -> f64 {
    let start = Instant::now();
    std::hint::black_box(texts.iter().map(|text| count(text)).sum::<usize>());
    megabytes(texts) / start.elapsed().as_secs_f64()
}

fn best(run: impl Fn() -> f64) -> f64 {
    (0..5).map(|_| run()).fold(0.0, f64::max)
}

fn megabytes(texts: &[&str]) -> f64 {
    texts.iter().map(|text| text.len()).sum::<usize>() as f64 / 1e6
}

/// Resident memory in kB, where the system tells it.
fn resident() -> i64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(0)
}

/// The strings of all `.jsonl` files below `folder`, and its `.rs` files.
fn read_folder(folder: &Path, texts: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let extension = path.extension().unwrap_or_default();
        if path.is_dir() {
            read_folder(&path, texts);
        } else if extension == "rs" {
            texts.extend(fs::read_to_string(&path));
        } else if extension == "jsonl" {
            for line in fs::read_to_string(&path).unwrap_or_default().lines() {
                collect(&serde_json::from_str(line).unwrap_or_default(), texts);
            }
        }
    }
}

fn collect(value: &serde_json::Value, texts: &mut Vec<String>) {
    match value {
        serde_json::Value::String(text) => texts.push(text.clone()),
        serde_json::Value::Array(values) => values.iter().for_each(|value| collect(value, texts)),
        serde_json::Value::Object(fields) => fields.values().for_each(|value| collect(value, texts)),
        _ => {}
    }
}
