//! Keeps the pages true and short: files and links that they name, the index of decisions, and how long a page is.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::tree::{read, root, rust_files};

/// Bytes that ARCHITECTURE.md may have.
const ARCHITECTURE_BYTES: usize = 12_000;

/// Lines that README.md may have.
const README_LINES: usize = 200;

/// Folders of this project: a path that begins with one of them names a file or folder that is there.
const FOLDERS: [&str; 9] = [
    "src/",
    "tests/",
    "scripts/",
    "fixtures/",
    "benches/",
    "assets/",
    "docs/",
    "fuzz/",
    ".ci/",
];

/// Commands whose help lists all flags.
const COMMANDS: [&str; 16] = [
    "",
    "batch apply",
    "batch export",
    "batch run",
    "cache prune",
    "cache stats",
    "check",
    "completions",
    "compress",
    "config",
    "count",
    "explain",
    "lint",
    "merge",
    "show",
    "unroll",
];

#[test]
fn the_front_pages_stay_short() {
    let bytes = read(&root().join("ARCHITECTURE.md")).len();
    assert!(bytes <= ARCHITECTURE_BYTES, "ARCHITECTURE.md has {bytes} bytes");
    let lines = read(&root().join("README.md")).lines().count();
    assert!(lines <= README_LINES, "README.md has {lines} lines");
}

#[test]
fn the_index_lists_every_decision_by_its_title() {
    let index = read(&root().join("ARCHITECTURE.md"));
    let mut decisions: Vec<PathBuf> = markdown_files("docs/decisions");
    decisions.sort();
    for (number, path) in (1..).zip(&decisions) {
        let name = path.file_name().unwrap().to_string_lossy();
        let page = read(path);
        let title = page.lines().next().unwrap().strip_prefix("# ").unwrap();
        let line = format!("- [{number:02}](docs/decisions/{name}) {title}\n");
        assert!(
            name.starts_with(&format!("{number:02}-")),
            "{name} is decision {number}"
        );
        assert!(index.contains(&line), "ARCHITECTURE.md has no line\n{line}");
    }
    assert_eq!(index.matches("](docs/decisions/").count(), decisions.len());
}

#[test]
fn what_the_pages_name_is_there() {
    for page in pages() {
        let text = read(&page);
        for quoted in text.split('`').skip(1).step_by(2) {
            assert_is_there(quoted, &page);
        }
    }
}

#[test]
fn what_comments_name_is_there() {
    for folder in ["src", "tests", "benches"] {
        for file in rust_files(folder) {
            let comments = file
                .text
                .lines()
                .filter_map(|line| line.trim_start().strip_prefix("//"));
            for quoted in comments.flat_map(|line| line.split('`').skip(1).step_by(2)) {
                assert_is_there(quoted, Path::new(&file.path));
            }
        }
    }
}

#[test]
fn every_flag_that_the_pages_name_is_one() {
    let mut flags = BTreeSet::new();
    for command in COMMANDS {
        let mut program = Command::new(env!("CARGO_BIN_EXE_trajfit"));
        let help = program
            .args(command.split_whitespace())
            .arg("--help")
            .output()
            .unwrap();
        flags.extend(flags_in(&String::from_utf8(help.stdout).unwrap()));
    }
    let mut pages = markdown_files("docs");
    pages.push(root().join("README.md"));
    for page in pages {
        let text = prose(&read(&page));
        let quoted = text.split('`').skip(1).step_by(2);
        for flag in quoted
            .filter(|quoted| quoted.starts_with("--"))
            .flat_map(flags_in)
        {
            assert!(flags.contains(&flag), "{} names {flag}", page.display());
        }
    }
}

#[test]
fn every_link_of_a_page_leads_to_a_file_and_a_heading() {
    for page in pages() {
        for target in links(&read(&page)) {
            if target.contains("://") {
                continue;
            }
            let (file, heading) = target.split_once('#').unwrap_or((&target, ""));
            let linked = match file {
                "" => page.clone(),
                file => page.parent().unwrap().join(file),
            };
            assert!(linked.exists(), "{} links to {target}", page.display());
            assert!(
                heading.is_empty() || anchors(&read(&linked)).iter().any(|anchor| anchor == heading),
                "{} links to {target}: no such heading",
                page.display()
            );
        }
    }
}

/// The flags in a text; what goes on with a dot is a setting of another program.
fn flags_in(text: &str) -> Vec<String> {
    let words =
        text.split(|character: char| !(character.is_ascii_alphanumeric() || "-_.".contains(character)));
    words
        .filter(|word| word.starts_with("--") && word.len() > 2)
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| !word.contains('.'))
        .map(str::to_owned)
        .collect()
}

/// If the text begins like a path of this project, it must be one.
fn assert_is_there(quoted: &str, page: &Path) {
    let is_ours = FOLDERS.iter().any(|folder| quoted.starts_with(folder));
    if is_ours && !quoted.contains([' ', '*', '{', '<', '\n']) {
        assert!(root().join(quoted).exists(), "{} names {quoted}", page.display());
    }
}

/// The pages of the project: those beside `Cargo.toml`, and all below the folders that have some.
fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]
        .iter()
        .map(|name| root().join(name))
        .collect();
    for folder in ["docs", "fixtures", "scripts", "benches", "assets"] {
        pages.extend(markdown_files(folder));
    }
    pages
}

/// The Markdown files in a folder of the root and below it; not what `scripts/.gitignore` may hide.
fn markdown_files(folder: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                files.push(path);
            }
        }
    }
    files
}

/// The text of a page outside of its fenced blocks.
fn prose(page: &str) -> String {
    let mut fenced = false;
    let mut prose = String::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    prose
}

/// The targets of a page's links and pictures.
fn links(page: &str) -> Vec<String> {
    let prose = prose(page);
    let rests = prose.split("](").skip(1);
    rests
        .filter_map(|rest| rest.split_once(')').map(|(target, _)| target.to_owned()))
        .collect()
}

/// The anchors of a page's headings, as GitHub makes them: lower case, hyphens for spaces, no punctuation.
fn anchors(page: &str) -> Vec<String> {
    let prose = prose(page);
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|heading| {
            let title = heading.trim_start_matches('#').trim().to_lowercase();
            let kept = title.chars().filter_map(|character| match character {
                ' ' => Some('-'),
                '-' | '_' => Some(character),
                other => other.is_alphanumeric().then_some(other),
            });
            kept.collect()
        })
        .collect()
}
