//! How much of what a region tells about the next turns a summary keeps, in bits that a model of text saves.
//!
//! `cargo bench --bench retained` takes windows of the trajectories in the folder that `TRAJFIT_REAL_DATA` names (or
//! `../shared/data`): a head, a region, six turns after it. A model that has read other records and the head scores the next three
//! assistant turns after nothing, after the full region, and after each candidate of 300 and of 750 tokens. A candidate's figure is
//! the part of the bits that the full region saves which it saves, summed over windows. `-- --quick` takes a part of the windows,
//! `--source NAME` those of one source, `--list` prints a line for each, `--texts` our summaries and nothing else. `--after FOLDER`, once or more, measures outputs of runs
//! on the same data instead. With `TRAJFIT_BARS=1` a missed bar is a failure.

#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]
#![allow(
    clippy::format_collect,
    clippy::format_push_string,
    clippy::needless_pass_by_value
)]

mod candidates;
mod data;
mod model;
mod outputs;
mod score;
mod table;
mod windows;

use std::env;
use std::path::PathBuf;
use std::time::Instant;

use trajfit::internals::tokens::load;

/// As in the program.
#[cfg(all(target_os = "linux", feature = "jemalloc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// One of how many windows a quick run takes.
const QUICK: usize = 6;

fn main() {
    let began = Instant::now();
    let arguments: Vec<String> = env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let source = arguments.iter().position(|argument| argument == "--source");
    let source = source.and_then(|place| arguments.get(place + 1));
    let counter = load("o200k_base").unwrap();
    let records = data::records();
    let folders = arguments.windows(2).filter(|pair| pair[0] == "--after");
    let folders: Vec<PathBuf> = folders.map(|pair| PathBuf::from(&pair[1])).collect();
    if !folders.is_empty() {
        outputs::print(&records, &folders, counter.as_ref());
        return;
    }
    let mut windows = windows::windows(&records, counter.as_ref());
    if let Some(source) = source {
        windows.retain(|window| window.record.source == *source);
    }
    if has("--quick") {
        let mut number = 0;
        windows.retain(|_| {
            number += 1;
            number % QUICK == QUICK / 2
        });
    }
    if windows.is_empty() {
        println!("no windows");
        return;
    }
    if has("--texts") {
        for window in &windows {
            for size in score::SIZES {
                println!(
                    "=== {}:{} before turn {}, {size} tokens",
                    window.record.source, window.record.line, window.end
                );
                println!(
                    "{}",
                    candidates::Candidate::Grounded.text(window, size, counter.as_ref())
                );
            }
        }
        return;
    }
    let scored = score::scored(&records, &windows, counter.as_ref());
    if has("--list") {
        table::print_windows(&scored, |record| records[record].line);
    }
    table::print_all(&scored);
    table::print_parts(&scored);
    let passed = table::print_bars(&scored);
    println!("{:.0} seconds", began.elapsed().as_secs_f64());
    if !passed && env::var_os("TRAJFIT_BARS").is_some_and(|value| value == "1") {
        std::process::exit(1);
    }
}
