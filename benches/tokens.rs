//! How fast tokens are counted: the built-in encodings, and the `tokenizer.json` files in the folder that
//! `TRAJFIT_TOKENIZERS` names (or `target/tokenizers`, which `scripts/fetch-tokenizers.sh` fills), against
//! the `tokenizers` library (`encode_fast`, one thread).
//!
//! `cargo bench --bench tokens` reads the strings of the `.jsonl` files in the folder that
//! `TRAJFIT_REAL_DATA` names (or `../shared/data`), or, where there are none, the sources of the
//! project. *Unseen*: distinct text not met before, by a thread that has counted other text of the same
//! kind; *seen*: the same text again; *fresh*: the same text by a thread that has counted nothing yet. The
//! ratio is that of unseen text. Times are those of the processor where the system tells them. The last lines
//! hold the ratios against the bars below; with `TRAJFIT_BARS=1` a ratio under its bar is a failure.

#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

#[path = "../src/tokens/oracle.rs"]
#[allow(dead_code)]
mod oracle;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{env, fs, thread};

use oracle::{CL100K_BASE_PATTERN, O200K_BASE_PATTERN, Oracle};
use tokenizers::Tokenizer;
use trajfit::internals::tokens::{TokenCounter, load};

/// How many times as fast as the library a tokenizer is to be, by the name of its folder.
const BARS: [(&str, f64); 5] = [
    ("qwen3", 40.0),
    ("deepseek_v3", 40.0),
    ("llama3_1", 35.0),
    ("gptoss", 35.0),
    ("gemma3", 4.0),
];

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
        let oracle = Oracle::new(&oracle::tokens(ranks), pattern, &[]);
        compare(&*counter, |text| oracle.count(text), &known, &unseen);
    }
    let mut files = Vec::new();
    let fetched = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tokenizers");
    let folder = env::var_os("TRAJFIT_TOKENIZERS").map_or(fetched, PathBuf::from);
    find_tokenizers([folder.as_path()].into_iter(), &mut files);
    files.sort();
    let mut ratios = Vec::new();
    for path in files {
        let memory = resident();
        let start = Instant::now();
        let counter = load(&path.display().to_string()).unwrap();
        println!(
            "{}: load {:.1} ms, {} kB, {}",
            path.display(),
            start.elapsed().as_secs_f64() * 1e3,
            resident() - memory,
            counter.identity().engine,
        );
        let start = Instant::now();
        let mut oracle = Tokenizer::from_file(&path).unwrap();
        oracle.with_truncation(None).unwrap();
        oracle.with_padding(None);
        println!("  tokenizers: load {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
        let count = |text: &str| oracle.encode_fast(text, false).unwrap().len();
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
        let ratio = compare(&*counter, count, &known, &unseen);
        ratios.push((folder.to_string_lossy().into_owned(), ratio));
    }
    let mut is_fast = true;
    for (name, bar) in BARS {
        let ratio = ratios
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, ratio)| *ratio);
        is_fast &= ratio.is_some_and(|ratio| ratio >= bar);
        match ratio {
            Some(ratio) if ratio >= bar => println!("PASS {name}: {ratio:.1} times, at least {bar}"),
            Some(ratio) => println!("FAIL {name}: {ratio:.1} times, at least {bar} wanted"),
            None => println!("FAIL {name}: its file is not there; scripts/fetch-tokenizers.sh fetches it"),
        }
    }
    if !is_fast && env::var_os("TRAJFIT_BARS").is_some_and(|wish| wish == "1") {
        std::process::exit(1);
    }
}

/// Prints how fast the counter is, and the oracle, and whether they agree. The ratio of their speeds.
fn compare(
    counter: &dyn TokenCounter,
    oracle: impl Fn(&str) -> usize,
    known: &[&str],
    unseen: &[&str],
) -> f64 {
    let memory = resident();
    let count = |text: &str| counter.count(text);
    // On a thread of its own, which first gets to know text of the kind.
    let after_known = || {
        measure(count, known);
        measure(count, unseen)
    };
    let speed = best(|| thread::scope(|scope| scope.spawn(after_known).join().unwrap()));
    println!("  unseen {speed:6.1} MB/s");
    measure(count, unseen);
    println!("  seen   {:6.1} MB/s", best(|| measure(count, unseen)));
    let fresh = || thread::scope(|scope| scope.spawn(|| measure(count, unseen)).join().unwrap());
    println!("  fresh  {:6.1} MB/s", best(fresh));
    println!("  memory {} kB", resident() - memory);

    let sample: Vec<&str> = unseen.iter().copied().step_by(8).collect();
    measure(&oracle, &known.iter().copied().step_by(8).collect::<Vec<_>>());
    let reference = measure(&oracle, &sample);
    println!(
        "  tokenizers, unseen {reference:6.2} MB/s: 1 to {:.1}",
        speed / reference
    );
    let differing = sample.iter().filter(|text| count(text) != oracle(text)).count();
    println!("  {differing} of {} counts differ", sample.len());
    speed / reference
}

/// MB of text a second.
fn measure(count: impl Fn(&str) -> usize, texts: &[&str]) -> f64 {
    let start = processor_time();
    let clock = Instant::now();
    std::hint::black_box(texts.iter().map(|text| count(text)).sum::<usize>());
    let seconds = match (start, processor_time()) {
        (Some(start), Some(end)) => end - start,
        _ => clock.elapsed().as_secs_f64(),
    };
    megabytes(texts) / seconds
}

/// The `tokenizer.json` files below folders.
fn find_tokenizers<'p>(folders: impl Iterator<Item = &'p Path>, files: &mut Vec<PathBuf>) {
    for folder in folders {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                find_tokenizers([path.as_path()].into_iter(), files);
            } else if path.ends_with("tokenizer.json") {
                files.push(path);
            }
        }
    }
}

/// Seconds that this thread has run, where the system tells it: other programs do not disturb it much.
fn processor_time() -> Option<f64> {
    let times = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = times.split(' ').next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
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
