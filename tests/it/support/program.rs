//! Runs with the summarizing program beside this file, and what it was asked.

use std::collections::BTreeMap;

use trajfit::internals::metrics::{Row, Status};

use super::asked::line_with;
use super::cli::{COMPRESS_SMALL, Ran, Workspace};

/// The command line of the program beside this file.
pub fn program(more: &str) -> String {
    let path = format!("{}/tests/it/support/program.py", env!("CARGO_MANIFEST_DIR"));
    format!("python3 '{path}' --log asked.log {more}")
}

/// `compress` with that program.
pub fn run_with(workspace: &Workspace, program: &str, more: &[&str]) -> Ran {
    let arguments = ["--summarizer", "command", "--command", program];
    workspace.run(&[&COMPRESS_SMALL[..], &arguments, more].concat())
}

/// `compress` with the program as it is.
pub fn run(workspace: &Workspace, more: &[&str]) -> Ran {
    run_with(workspace, &program(""), more)
}

/// A workspace with a record for each word, and one before and after them.
pub fn with_words(words: &[&str]) -> Workspace {
    let words = [&["first"], words, &["last"]].concat();
    let lines = words
        .iter()
        .enumerate()
        .map(|(number, word)| line_with(number, word));
    Workspace::with_input(lines.collect::<String>())
}

/// How often each request was received.
pub fn asked(workspace: &Workspace) -> BTreeMap<String, usize> {
    let mut asked = BTreeMap::new();
    for id in workspace.text("asked.log").lines().filter(|line| *line != "end") {
        *asked.entry(id.to_owned()).or_default() += 1;
    }
    asked
}

/// The row of the record with the word; those around it must be as if it were not there.
pub fn row_of(workspace: &Workspace) -> Row {
    let mut rows = workspace.rows("out.metrics.csv");
    for at in [0, rows.len() - 1] {
        let row = &rows[at];
        assert_eq!(
            (row.summarizer.as_str(), row.status, row.degraded),
            ("command", Status::Compressed, false)
        );
    }
    rows.remove(1)
}
