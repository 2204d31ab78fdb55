//! The page on metrics against the program: its columns are those of a run, its reasons those of the source.

use std::collections::BTreeSet;

use crate::support::cli::Workspace;
use crate::support::tree::{SourceFile, read, root, rust_files};

/// The folders in which any text `summary_…` is the code of a reason.
const SUMMARIES: [&str; 3] = ["src/summarize/", "src/fit/", "src/pipeline/"];

/// Texts before the codes of reasons, in the code without its white space.
const BEFORE_CODES: [&str; 2] = ["Reason::with(\"", "Reason::plain(\""];

/// The file whose function `code` names the codes of records that cannot be read.
const PARSER: &str = "src/trajectory/parse/mod.rs";

/// Files that name codes in other ways, and the text before each.
const TABLES: [(&str, &str); 3] = [
    ("src/compress/reason.rs", "&'staticstr=\""),
    (PARSER, "=>\""),
    ("src/pipeline/read/batch.rs", "CODE:&'staticstr=\""),
];

#[test]
fn the_page_has_every_column_in_order() {
    let workspace = Workspace::with_input("");
    workspace.compress(&["in.jsonl", "-o", "out.jsonl"]).exits(0);
    assert_are_on_the_page(&workspace.text("out.metrics.csv"), "\n## Columns\n");
}

#[test]
fn so_has_the_table_of_unrolled_records() {
    let workspace = Workspace::with_input("");
    workspace.run(&["unroll", "in.jsonl", "-o", "out.jsonl"]).exits(0);
    assert_are_on_the_page(
        &workspace.text("out.metrics.csv"),
        "\n## Columns of `trajfit unroll`\n",
    );
}

#[track_caller]
fn assert_are_on_the_page(header: &str, heading: &str) {
    let columns: Vec<&str> = header.trim_end().split(',').collect();
    let page = page();
    let (_, columns_on) = page.split_once(heading).unwrap();
    let (table, _) = columns_on.split_once("\n## ").unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(cells)
        .collect();
    let named: Vec<&str> = rows.iter().map(|row| row[0].trim_matches('`')).collect();
    assert_eq!(named, columns);
    assert!(
        rows.iter()
            .all(|row| row.len() == 3 && row.iter().all(|cell| !cell.is_empty()))
    );
}

#[test]
fn the_page_has_every_reason_with_what_to_do() {
    let mut in_source = BTreeSet::new();
    for file in rust_files("src").iter().filter(|file| !file.is_test()) {
        in_source.extend(codes_of(file));
    }
    assert!(in_source.len() > 60, "{in_source:?}");
    let page = page();
    let (_, reasons) = page.split_once("\n## Reasons\n").unwrap();
    let mut on_page = BTreeSet::new();
    for row in reasons.lines().filter(|line| line.starts_with("| `")).map(cells) {
        assert!(
            row.len() == 3 && row.iter().all(|cell| !cell.is_empty()),
            "{row:?}"
        );
        for code in row[0].split(", ") {
            assert!(
                on_page.insert(code.trim_matches('`').to_owned()),
                "{code} stands there twice"
            );
        }
    }
    let difference: Vec<&String> = in_source.symmetric_difference(&on_page).collect();
    assert!(
        difference.is_empty(),
        "on the page or in the source alone: {difference:?}"
    );
}

fn page() -> String {
    read(&root().join("docs/metrics.md"))
}

/// The cells of a row of a table.
fn cells(line: &str) -> Vec<&str> {
    line.trim_matches('|').split(" | ").map(str::trim).collect()
}

/// The codes of reasons that a file of the source names.
fn codes_of(file: &SourceFile) -> BTreeSet<String> {
    let code: String = file.code().flat_map(str::split_whitespace).collect();
    let code = match code.split_once("fncode(&self)") {
        Some((_, after)) if file.path == PARSER => after.split("}}").next().unwrap(),
        _ => &code,
    };
    let table = TABLES.iter().find(|(path, _)| *path == file.path);
    let mut befores: Vec<&str> = BEFORE_CODES.to_vec();
    befores.extend(table.map(|(_, before)| *before));
    let literals = befores.iter().flat_map(|before| code.split(before).skip(1));
    let mut codes: BTreeSet<String> = literals.filter_map(literal).collect();
    if SUMMARIES.iter().any(|folder| file.path.starts_with(folder)) {
        let summaries = code.split("\"summary_").skip(1).filter_map(literal);
        codes.extend(
            summaries
                .filter(|rest| !rest.ends_with('_'))
                .map(|rest| format!("summary_{rest}")),
        );
    }
    codes
}

/// The text up to the end of its literal, if it can be a code.
fn literal(text: &str) -> Option<String> {
    let (literal, _) = text.split_once('"')?;
    let is_code = literal
        .chars()
        .all(|character| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '_');
    is_code.then(|| literal.to_owned())
}
