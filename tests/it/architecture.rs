//! Keeps the design true: what each layer may know, who prints, how each file opens, how long it is, and how many a folder holds.

use std::collections::BTreeMap;

use crate::support::imports::{Modules, circles};
use crate::support::tree::{SourceFile, rust_files};

/// Lines a file may have; a longer one holds more than one concept.
const LONGEST: usize = 400;

/// Rust files a folder of the library may have; one that wants more hides a concept.
const MOST_FILES: usize = 20;

/// Modules that may use all others: the command line, and those that only hand on what others have.
const MAY_USE_ALL: [&str; 4] = ["cli", "internals", "lib", "main"];

/// All other modules below the crate's root, folders and files, and those that each may use.
const MAY_USE: [(&str, &[&str]); 22] = [
    ("names", &[]),
    ("settings", &[]),
    ("files", &[]),
    ("columns", &["stores"]),
    ("http", &[]),
    ("stores", &["http", "tokens"]),
    ("standard_streams", &[]),
    (
        "compressor",
        &["fit", "metrics", "summarize", "tokens", "trajectory"],
    ),
    ("knowledge", &[]),
    ("trajectory", &["names"]),
    ("tokens", &["http"]),
    ("compress", &["names", "trajectory"]),
    ("events", &["compress", "knowledge", "trajectory"]),
    (
        "summarize",
        &[
            "compress",
            "events",
            "http",
            "knowledge",
            "metrics",
            "names",
            "tokens",
            "trajectory",
        ],
    ),
    ("cache", &["files", "names", "summarize"]),
    (
        "batch",
        &["files", "http", "metrics", "names", "settings", "summarize"],
    ),
    ("metrics", &["compress", "names", "trainers"]),
    ("trainers", &["names", "trajectory"]),
    (
        "fit",
        &[
            "compress",
            "metrics",
            "names",
            "summarize",
            "tokens",
            "trainers",
            "trajectory",
        ],
    ),
    (
        "pipeline",
        &[
            "columns",
            "compress",
            "files",
            "fit",
            "metrics",
            "names",
            "settings",
            "standard_streams",
            "stores",
            "tokens",
        ],
    ),
    ("report", &["cache", "metrics", "names", "trainers"]),
    (
        "config",
        &[
            "compress",
            "fit",
            "http",
            "names",
            "pipeline",
            "settings",
            "summarize",
            "trainers",
            "trajectory",
        ],
    ),
];

/// What code that computes does not touch: the system, clocks, chance, the network.
const IMPURE: [&str; 10] = [
    "std::fs",
    "std::io",
    "std::env",
    "std::net",
    "std::process",
    "std::thread",
    "Instant",
    "SystemTime",
    "rand",
    "reqwest",
];

/// The files of those layers that have connections or programs, and a clock to go with them.
const EDGES: [&str; 5] = [
    "src/summarize/chat/pace/allowance.rs",
    "src/summarize/chat/online/client.rs",
    "src/summarize/chat/pace/places.rs",
    "src/summarize/chat/online/wire.rs",
    "src/summarize/command/program.rs",
];

/// The part of it that counting does not touch either: a tokenizer is a file.
const IMPURE_COUNTING: [&str; 5] = ["std::net", "Instant", "SystemTime", "rand", "reqwest"];

#[test]
fn every_file_says_first_what_it_is_for() {
    for folder in ["src", "tests", "benches"] {
        for file in rust_files(folder) {
            let sentence = file.sentence();
            assert!(
                sentence.len() > 20 && sentence.ends_with(['.', ':']),
                "{} opens with {sentence:?}",
                file.path
            );
        }
    }
}

#[test]
fn no_file_holds_more_than_one_concept_can_fill() {
    for folder in ["src", "tests", "benches"] {
        for file in rust_files(folder) {
            let lines = file.text.lines().count();
            assert!(lines <= LONGEST, "{} has {lines} lines", file.path);
        }
    }
}

#[test]
fn no_folder_holds_more_files_than_one_concept_needs() {
    let mut folders: BTreeMap<String, usize> = BTreeMap::new();
    for file in rust_files("src") {
        *folders.entry(file.folder()).or_default() += 1;
    }
    for (folder, files) in folders {
        assert!(files <= MOST_FILES, "{folder} has {files} Rust files");
    }
}

#[test]
fn no_layer_knows_more_than_it_may() {
    for file in layered() {
        let Some((_, may_use)) = MAY_USE.iter().find(|(layer, _)| *layer == file.layer()) else {
            assert!(
                MAY_USE_ALL.contains(&file.layer()),
                "{} is in no known layer",
                file.path
            );
            continue;
        };
        for used in file.modules_used() {
            assert!(
                used == file.layer() || may_use.contains(&used.as_str()),
                "{} uses crate::{used}",
                file.path
            );
        }
    }
}

/// The files that still import one another in circles: this list only gets shorter.
const KNOWN_CIRCLES: &str = include_str!("circles.txt");

#[test]
fn files_import_one_another_in_no_new_circles() {
    let modules = Modules::read();
    let found = circles(&modules.imports());
    let known: Vec<Vec<&str>> = KNOWN_CIRCLES
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_whitespace().collect())
        .collect();
    for circle in &found {
        let is_known = |known: &Vec<&str>| circle.iter().all(|file| known.contains(file));
        assert!(known.iter().any(is_known), "a new circle: {}", circle.join(" "));
    }
    for circle in known {
        assert!(
            found.contains(&circle),
            "circles.txt is out of date; of these files not all import one another any more:\n{}",
            circle.join(" ")
        );
    }
}

#[test]
fn the_configuration_is_taken_apart_in_one_place() {
    let sections =
        "tokenizer compression protected_turns summarization batch input output processing metrics redaction";
    for file in layered().filter(|file| file.layer() == "cli" && file.path != "src/cli/settings.rs") {
        for section in sections.split(' ') {
            let read = format!("config.{section}");
            assert!(!file.uses(&read), "{} reads {read}", file.path);
        }
    }
}

#[test]
fn what_computes_is_pure() {
    for file in layered().filter(|file| !EDGES.contains(&file.path.as_str())) {
        let impure: &[&str] = match file.layer() {
            "trajectory" | "compress" | "summarize" | "fit" | "report" | "trainers" => &IMPURE,
            "tokens" => &IMPURE_COUNTING,
            _ => &[],
        };
        for name in impure {
            assert!(!file.uses(name), "{} uses {name}", file.path);
        }
        if file.layer() == "compress" {
            assert!(!file.uses("serde_json"), "{} reads JSON", file.path);
        }
    }
}

#[test]
fn only_the_command_line_prints() {
    let prints = ["print!", "println!", "eprint!", "eprintln!", "dbg!"];
    for file in layered().filter(|file| file.layer() != "cli") {
        for name in prints {
            assert!(!file.uses(name), "{} prints", file.path);
        }
        // The metrics may go to any open file that the user names; which streams are open is asked before main.
        let opens_streams =
            ["src/pipeline/paths/streams.rs", "src/standard_streams.rs"].contains(&file.path.as_str());
        assert!(
            opens_streams || !file.uses("stderr()"),
            "{} writes to stderr",
            file.path
        );
        // Data may go to stdout, and only data.
        let writes_data = opens_streams || file.path == "src/pipeline/write/output.rs";
        assert!(
            writes_data || !file.uses("stdout()"),
            "{} writes to stdout",
            file.path
        );
    }
}

/// The files of all layers.
fn layered() -> impl Iterator<Item = SourceFile> {
    rust_files("src").into_iter().filter(|file| !file.is_test())
}

/// Types with a twin for builds without a feature, or on other systems.
const TWINS: [&str; 5] = ["Object", "ObjectReader", "RangeFile", "Remote", "Upload"];

#[test]
fn no_two_types_have_one_name() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in layered() {
        for line in file.text.lines().filter(|line| !line.starts_with(' ')) {
            let mut words = match line.strip_prefix("pub(") {
                Some(rest) => rest.split_once(") ").map_or("", |(_, rest)| rest),
                None => line.strip_prefix("pub ").unwrap_or(line),
            }
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .filter(|word| !word.is_empty());
            if let (Some("struct" | "enum" | "trait"), Some(name)) = (words.next(), words.next())
                && !TWINS.contains(&name)
            {
                places.entry(name.to_owned()).or_default().push(file.path.clone());
            }
        }
    }
    assert!(places.len() > 300);
    for (name, files) in places {
        assert!(
            files.len() == 1,
            "{name} means several things: {}",
            files.join(" ")
        );
    }
}
