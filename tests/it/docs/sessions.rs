//! Runs the pages of `docs/`: sessions in `console` blocks print what the page shows, commands in `sh` blocks succeed.
//!
//! Each page has a folder of its own with the files that the pages speak of, and its commands leave their files there. After a
//! wanted change: `TRYCMD=overwrite cargo test --test it docs::sessions`, then read the difference.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::tree::{read, root};

/// Programs of `sh` blocks that may be missing; then the block is not run.
const MAY_BE_MISSING: [&str; 2] = ["jq", "zcat"];

#[test]
fn sessions_on_the_pages_go_as_written() {
    let folder = tempfile::tempdir().unwrap();
    let cases = trycmd::TestCases::new();
    cases
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1")
        .env("CI", "")
        .env("OPENAI_API_KEY", "")
        .env("HF_HUB_OFFLINE", "1");
    for (variable, _) in std::env::vars().filter(|(variable, _)| variable.starts_with("TRAJFIT_")) {
        cases.env(variable, "");
    }
    let pages = pages();
    for page in &pages {
        let copy = folder.path().join(page.file_name().unwrap());
        std::fs::copy(page, &copy).unwrap();
        make_files(&copy.with_extension("in"));
        cases.case(&copy);
    }
    cases.run();
    if is_overwriting() {
        for page in pages {
            std::fs::copy(folder.path().join(page.file_name().unwrap()), &page).unwrap();
        }
    }
}

#[test]
fn the_picture_is_what_its_script_draws() {
    assert_is_printed_by("scripts/make_picture.py", "docs/before_after.svg", "", "");
}

#[test]
fn the_table_of_the_demo_is_what_its_script_prints() {
    let page = "docs/strategies.md";
    assert_is_printed_by(
        "scripts/compare.py",
        page,
        "<!-- demo -->\n",
        "<!-- end of demo -->\n",
    );
}

#[test]
fn commands_on_the_pages_succeed() {
    let mut run = 0;
    for page in pages() {
        let mut blocks = blocks(&read(&page));
        let last = blocks.iter().rposition(|block| matches!(block, Block::Shell(_)));
        blocks.truncate(last.map_or(0, |last| last + 1));
        let folder = tempfile::tempdir().unwrap();
        make_files(folder.path());
        // The sessions before a command write what it reads.
        for block in blocks {
            let (Block::Console(script) | Block::Shell(script)) = &block;
            if MAY_BE_MISSING
                .iter()
                .any(|program| script.contains(program) && !is_there(program))
            {
                continue;
            }
            let ended = shell(script, folder.path());
            let is_shell = matches!(block, Block::Shell(_));
            assert!(
                !is_shell || ended.status.success(),
                "{}: {script}\n{}",
                page.display(),
                String::from_utf8_lossy(&ended.stderr)
            );
            run += usize::from(is_shell);
        }
    }
    assert!(run >= 8, "{run} blocks");
}

/// The pages with sessions or commands: one a command, and others that show some.
fn pages() -> Vec<PathBuf> {
    let folder = root().join("docs/commands");
    let mut pages: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension() == Some(OsStr::new("md")))
        .collect();
    pages.extend(
        [
            "README.md",
            "docs/cookbook.md",
            "docs/models.md",
            "docs/sanitize.md",
        ]
        .map(|name| root().join(name)),
    );
    pages.sort();
    pages
}

/// The files that the pages speak of.
fn make_files(folder: &Path) {
    let data = folder.join("data");
    std::fs::create_dir_all(&data).unwrap();
    std::fs::create_dir(folder.join("fixtures")).unwrap();
    let copies = [
        ("fixtures/agent_runs.jsonl", "runs.jsonl"),
        ("fixtures/agent_runs.jsonl", "fixtures/agent_runs.jsonl"),
        ("fixtures/agent_runs_messages.jsonl", "chat.jsonl"),
        ("fixtures/chat_templates/chatml_tools.jinja", "model.jinja"),
        ("tests/cmd/config.in/run.yaml", "run.yaml"),
        ("tests/cmd/config.in/predecessor.yaml", "predecessor.yaml"),
        ("tests/it/support/program.py", "summarizer.py"),
    ];
    for (from, to) in copies {
        std::fs::copy(root().join(from), folder.join(to)).unwrap();
    }
    let broken = ["call_never_answered", "ids_repeated", "orphan_response"]
        .map(|name| read(&root().join(format!("fixtures/quirks/{name}.jsonl"))));
    std::fs::write(folder.join("broken.jsonl"), broken.concat()).unwrap();
    let runs = read(&root().join("fixtures/agent_runs.jsonl"));
    let some: String = runs.lines().take(3).flat_map(|line| [line, "\n"]).collect();
    std::fs::write(data.join("more.jsonl"), &some).unwrap();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, some.as_bytes()).unwrap();
    std::fs::write(data.join("packed.jsonl.gz"), packed.finish().unwrap()).unwrap();
}

/// The part of a file between two texts must be what a script prints of the program; it is renewed where that is asked for.
fn assert_is_printed_by(script: &str, file: &str, start: &str, end: &str) {
    let mut python = Command::new("python3");
    python.args([script, "--program", env!("CARGO_BIN_EXE_trajfit")]);
    for (variable, _) in std::env::vars().filter(|(variable, _)| variable.starts_with("TRAJFIT_")) {
        python.env_remove(variable);
    }
    let ran = python.current_dir(root()).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let printed = String::from_utf8(ran.stdout).unwrap();
    let text = read(&root().join(file));
    let from = text.find(start).unwrap() + start.len();
    let to = text.rfind(end).unwrap();
    if is_overwriting() {
        let renewed = format!("{}{printed}{}", &text[..from], &text[to..]);
        std::fs::write(root().join(file), renewed).unwrap();
        return;
    }
    let is_same = text[from..to] == printed;
    assert!(
        is_same,
        "TRYCMD=overwrite cargo test --test it docs:: renews {file}"
    );
}

fn is_overwriting() -> bool {
    std::env::var_os("TRYCMD").is_some_and(|wish| wish == "overwrite")
}

/// A fenced block that is run.
enum Block {
    /// What is typed in a session.
    Console(String),
    /// Commands for a shell.
    Shell(String),
}

/// The blocks of a page that are run, in order.
fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut rest = page;
    while let Some((_, after)) = rest.split_once("\n```") {
        let Some((block, after)) = after.split_once("\n```") else {
            break;
        };
        let (language, body) = block.split_once('\n').unwrap_or((block, ""));
        match language {
            "console" => {
                let typed = body.lines().filter_map(|line| line.strip_prefix("$ "));
                blocks.push(Block::Console(typed.collect::<Vec<_>>().join("\n")));
            }
            "sh" => blocks.push(Block::Shell(body.to_owned())),
            _ => {}
        }
        rest = after;
    }
    blocks
}

/// A script in a folder, with the program on the path and none of the settings of whoever runs the tests.
fn shell(script: &str, folder: &Path) -> std::process::Output {
    let program = Path::new(env!("CARGO_BIN_EXE_trajfit")).parent().unwrap();
    let path = format!(
        "{}:{}",
        program.display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let mut command = Command::new("sh");
    command
        .args(["-ec", script])
        .current_dir(folder)
        .env("PATH", path);
    for (variable, _) in std::env::vars().filter(|(variable, _)| variable.starts_with("TRAJFIT_")) {
        command.env_remove(variable);
    }
    let quiet = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    quiet.env("HF_HUB_OFFLINE", "1").output().unwrap()
}

fn is_there(program: &str) -> bool {
    let found = Command::new("sh")
        .args(["-c", &format!("command -v {program}")])
        .output();
    found.is_ok_and(|found| found.status.success())
}
