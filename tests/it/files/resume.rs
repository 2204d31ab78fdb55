//! Killed at any instant, a run leaves nothing half-written under a final name, and resumed it ends with the bytes of a
//! run that was never killed.

use std::io::Write;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use super::same_runs::{compare, is_data};
use crate::support::cli::{Ran, Workspace, many_runs, short};
use serde_json::Value;

/// Pseudo-random delays, the same in every run of the tests.
struct Delays(u64);

impl Delays {
    /// The next one, up to so many milliseconds.
    fn next(&mut self, most: u64) -> Duration {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        Duration::from_millis((self.0 >> 33) % most)
    }
}

/// A budget at which a run over some MB takes long enough to be killed in.
const BUDGET: [&str; 4] = ["--target-max-tokens", "12000", "--jobs", "1"];

/// How often a run is killed in its first milliseconds, and then at how many parts of what it writes.
const EARLY: u64 = 2;
const PARTS: u64 = 3;

/// Small files in a directory: more than one milestone takes.
const MANY: usize = 200;

/// Starts a run, with this file on stdin where it is named.
fn start(workspace: &Workspace, arguments: &[&str], stdin: Option<&str>) -> Child {
    start_command("compress", workspace, arguments, stdin)
}

fn start_command(name: &str, workspace: &Workspace, arguments: &[&str], stdin: Option<&str>) -> Child {
    let mut command = workspace.command(&[&[name], arguments, &BUDGET].concat());
    if let Some(name) = stdin {
        command.stdin(std::fs::File::open(workspace.path(name)).unwrap());
    }
    command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn end(child: Child) -> Ran {
    Ran::of(child.wait_with_output().unwrap())
}

/// Kills a run again and again until it gets to its end, and compares it with one that was never disturbed. Returns how
/// often it was killed.
fn kill_until_done(inputs: &[&str], output: &str, more: &[&str], stdin: Option<&str>, seed: u64) -> u64 {
    kill_command_until_done("compress", inputs, output, more, stdin, seed)
}

fn kill_command_until_done(
    name: &str,
    inputs: &[&str],
    output: &str,
    more: &[&str],
    stdin: Option<&str>,
    seed: u64,
) -> u64 {
    let workspace = Workspace::new();
    let (a, b) = (many_runs(5), many_runs(4));
    workspace.write("a.jsonl", &a);
    workspace.write("large.jsonl", [&a[..], &b].concat());
    workspace.write("data/a.jsonl", &a);
    workspace.write("data/b.jsonl", [&b[..], b"{broken\n"].concat());
    for number in 0..MANY {
        workspace.write(
            format!("many/{}/{number}.jsonl", number % 7),
            short(&number.to_string()),
        );
    }
    let array = String::from_utf8(b).unwrap();
    let array = array.trim_end().lines().collect::<Vec<_>>().join(",\n ");
    workspace.write("array.json", format!("[\n {array}\n]\n"));
    let of = |output: &str| {
        [inputs, &["-o", output], more]
            .concat()
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    let undisturbed = of(&format!("whole/{output}"));
    let undisturbed: Vec<&str> = undisturbed.iter().map(String::as_str).collect();
    let status = end(start_command(name, &workspace, &undisturbed, stdin)).status;
    assert!(matches!(status, Some(0 | 3)));
    let disturbed = of(&format!("killed/{output}"));
    let mut disturbed: Vec<&str> = disturbed.iter().map(String::as_str).collect();
    let (mut delays, mut kills) = (Delays(seed), 0);
    let whole = workspace.bytes_below("whole");
    loop {
        let mut child = start_command(name, &workspace, &disturbed, stdin);
        if disturbed.last() != Some(&"--resume") {
            disturbed.push("--resume");
        }
        // In the beginning first, then where so much is written: the same on fast and on slow machines.
        let written = if kills < EARLY {
            0
        } else {
            whole * (kills - EARLY + 1) / PARTS
        };
        let mut running = true;
        while running && workspace.bytes_below("killed") < written {
            std::thread::sleep(Duration::from_micros(300));
            running = child.try_wait().unwrap().is_none();
        }
        std::thread::sleep(delays.next(if kills < EARLY { 60 } else { 6 }));
        if kills == EARLY + PARTS || child.try_wait().unwrap().is_some() {
            assert_eq!(end(child).status, status);
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        let files = workspace.files();
        let data = Path::new("killed").join(output).to_string_lossy().into_owned();
        let finished = files.iter().any(|file| file.starts_with(&data) && is_data(file));
        assert!(
            !finished
                || files
                    .iter()
                    .any(|file| file.ends_with(".summary.json") && file.starts_with("killed")),
            "data under its final name before all else: {files:?}"
        );
    }
    compare(&workspace);
    kills
}

#[test]
fn a_run_killed_at_many_instants_ends_with_the_same_bytes() {
    let kills: u64 = (0..2)
        .map(|seed| kill_until_done(&["large.jsonl"], "out.jsonl", &[], None, seed))
        .sum();
    // A test thread that the machine stops for long may miss some instants, hardly half of them.
    assert!(kills >= EARLY + PARTS, "{kills}");
}

#[test]
fn so_does_one_that_writes_compressed_data() {
    kill_until_done(&["array.json"], "out.json.zst", &[], None, 11);
    kill_until_done(&["a.jsonl"], "out.jsonl.gz", &[], None, 12);
}

#[test]
fn so_does_one_over_a_directory_an_array_stdin_or_a_limit() {
    kill_until_done(&["data"], "out", &[], None, 21);
    kill_until_done(&["data"], "merged.jsonl", &[], None, 22);
    kill_until_done(&["many"], "out", &[], None, 26);
    kill_until_done(&["array.json"], "out.json", &[], None, 23);
    kill_until_done(&["-"], "out.jsonl", &[], Some("a.jsonl"), 24);
    kill_until_done(
        &["data"],
        "out",
        &["--limit", "250", "--sample", "80", "--seed", "3"],
        None,
        25,
    );
}

#[test]
fn so_does_one_that_unrolls() {
    kill_command_until_done(
        "unroll",
        &["large.jsonl"],
        "out.jsonl",
        &["--trigger", "0.7", "--with-summaries=all", "--hindsight"],
        None,
        31,
    );
    kill_command_until_done(
        "unroll",
        &["data"],
        "out",
        &["--limit", "250", "--sample", "80"],
        None,
        32,
    );
    kill_command_until_done(
        "unroll",
        &["array.json"],
        "out.json.zst",
        &["--mark", "none"],
        None,
        33,
    );
}

/// A workspace with a run that was killed after its first milestone.
fn killed(input: &[u8]) -> Workspace {
    let workspace = Workspace::with_input(input);
    // Where the machine stops this thread for long, the run is done before it is seen; the next one will not be.
    for _ in 0..20 {
        let mut child = start(&workspace, &["in.jsonl", "-o", "out.jsonl", "--force"], None);
        let journal = workspace.path("out.checkpoint");
        let begun = || std::fs::read_to_string(&journal).is_ok_and(|text| text.lines().count() >= 2);
        while !begun() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        if !workspace.exists("out.jsonl") {
            return workspace;
        }
    }
    unreachable!("never seen between its first milestone and its end");
}

const RESUME: [&str; 4] = ["in.jsonl", "-o", "out.jsonl", "--resume"];

#[test]
fn what_differs_from_the_run_that_was_killed_is_named() {
    let input = many_runs(6);
    let workspace = killed(&input);
    let refused = |more: &[&str], what: &str| {
        let arguments = [&RESUME[..], &BUDGET, more].concat();
        workspace
            .compress(&arguments)
            .exits(2)
            .says("cannot resume")
            .says(what);
    };
    workspace
        .compress(&[&RESUME[..], &["--target-max-tokens", "9000"]].concat())
        .exits(2)
        .says("compression.target_max_tokens: was 12000, is 9000");
    refused(&["--tokenizer", "cl100k_base"], "tokenizer");
    refused(&["--limit", "5"], "--limit: was none, is 5");
    let changed = [&input[..], b"\n"].concat();
    workspace.write("in.jsonl", changed);
    refused(&[], "size of in.jsonl");
    // The same size and time, and other bytes.
    let time = {
        workspace.write("in.jsonl", &input);
        let journal = workspace.text("out.checkpoint");
        let identity: Value = serde_json::from_str(journal.lines().next().unwrap()).unwrap();
        identity["sources"][0]["modified"].as_u64().unwrap()
    };
    let mut other = input.clone();
    other[20] ^= 1;
    workspace.write("in.jsonl", other);
    refused(&[], "time of change of in.jsonl");
    let touch = |nanoseconds: u64| {
        let time = std::time::UNIX_EPOCH + Duration::from_nanos(nanoseconds);
        let file = std::fs::File::options()
            .write(true)
            .open(workspace.path("in.jsonl"))
            .unwrap();
        file.set_modified(time).unwrap();
    };
    touch(time);
    refused(&[], "in.jsonl begins otherwise");
    // As it was, it goes on; other threads make no difference.
    workspace.write("in.jsonl", &input);
    touch(time);
    workspace
        .compress(&[&RESUME[..], &["--target-max-tokens", "12000", "--jobs", "2"]].concat())
        .exits(0);
    assert_eq!(workspace.rows("out.metrics.csv").len(), 240);
}

#[test]
fn an_unfinished_run_is_neither_overwritten_nor_disturbed_unasked() {
    let workspace = killed(&many_runs(6));
    let before = workspace.files();
    for more in [&[][..], &["--dry-run"], &["--target-max-tokens", "9000"]] {
        let arguments = [&["in.jsonl", "-o", "out.jsonl"], more].concat();
        let ran = workspace.compress(&arguments).exits(2);
        ran.says("an unfinished run").says("--resume").says("--force");
    }
    assert_eq!(workspace.files(), before);
    workspace.compress(&[&RESUME[..], &BUDGET].concat()).exits(0);
    let resumed = workspace.read("out.jsonl");
    let start_over = [&["in.jsonl", "-o", "out.jsonl", "--force"], &BUDGET[..]].concat();
    workspace.compress(&start_over).exits(0);
    assert!(workspace.read("out.jsonl") == resumed);
}

#[test]
fn resuming_a_finished_run_ends_with_its_exit_code() {
    let workspace = Workspace::with_input([short("one").as_bytes(), b"\n{broken\n"].concat());
    let arguments = ["in.jsonl", "-o", "out.jsonl"];
    workspace.compress(&arguments).exits(3);
    let again = [&arguments[..], &["--resume"]].concat();
    workspace.compress(&again).exits(3).says("already finished");
    // As a file: a run stopped between its end and its exit leaves no less.
    std::fs::remove_file(workspace.path("out.metrics.csv")).unwrap();
    workspace.compress(&again).exits(3);
}

#[test]
fn half_a_line_at_the_end_of_the_journal_says_nothing() {
    let workspace = killed(&many_runs(6));
    let journal = workspace.path("out.checkpoint");
    let mut file = std::fs::File::options().append(true).open(journal).unwrap();
    file.write_all(br#"{"source":0,"position":{"offs"#).unwrap();
    // What was written after the milestone is cut off.
    let mut data = std::fs::File::options()
        .append(true)
        .open(workspace.path("out.jsonl.partial"))
        .unwrap();
    data.write_all(b"{\"half a record").unwrap();
    workspace.compress(&[&RESUME[..], &BUDGET].concat()).exits(0);
    let resumed = workspace.read("out.jsonl");
    workspace
        .compress(&[&["in.jsonl", "-o", "whole.jsonl"], &BUDGET[..]].concat())
        .exits(0);
    assert!(workspace.read("whole.jsonl") == resumed);
}

#[test]
fn a_partial_file_shorter_than_the_journal_says_is_not_resumed() {
    let workspace = killed(&many_runs(6));
    workspace.write("out.jsonl.partial", "");
    let ran = workspace.compress(&[&RESUME[..], &BUDGET].concat()).exits(2);
    ran.says("out.jsonl.partial").says("--force");
}

#[test]
fn a_journal_of_something_else_is_left_alone() {
    let workspace = Workspace::with_input(short("one"));
    workspace.write("out.checkpoint", "weights\nand biases");
    for more in [&[][..], &["--force"], &["--resume"]] {
        let ran = workspace
            .compress(&[&["in.jsonl", "-o", "out.jsonl"], more].concat())
            .exits(2);
        ran.says("out.checkpoint").says("not a checkpoint");
    }
    assert_eq!(workspace.text("out.checkpoint"), "weights\nand biases");
    workspace.write("out.checkpoint", "{\"version\":\"9\",\"other\":1}\n");
    let ran = workspace
        .compress(&["in.jsonl", "-o", "out.jsonl", "--resume"])
        .exits(2);
    ran.says("another version");
    workspace
        .compress(&["in.jsonl", "-o", "out.jsonl", "--force"])
        .exits(0);
    assert!(!workspace.exists("out.checkpoint"));
}

/// So much time and memory a run over many small files may take.
const MOST_SECONDS: u64 = 60;
const MOST_MEMORY_KB: u64 = 128 * 1024;

#[test]
#[ignore = "writes 200,000 files; run it alone, with --release and --nocapture"]
fn a_hundred_thousand_files_take_a_minute_at_most() {
    let workspace = Workspace::new();
    for number in 0..100_000 {
        workspace.write(format!("many/{number}.jsonl"), short(&number.to_string()));
    }
    let started = std::time::Instant::now();
    let mut child = start(&workspace, &["many", "-o", "out"], None);
    let mut memory = String::new();
    while child.try_wait().unwrap().is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        memory = peak.map_or(memory, |peak| peak.trim().trim_end_matches(" kB").to_owned());
        std::thread::sleep(Duration::from_millis(20));
    }
    let seconds = started.elapsed().as_secs();
    end(child).exits(0);
    assert_eq!(workspace.rows("out.metrics.csv").len(), 100_000);
    let _ = writeln!(std::io::stderr(), "{seconds} s, {memory} kB");
    assert!(seconds <= MOST_SECONDS);
    assert!(memory.parse::<u64>().unwrap_or_default() <= MOST_MEMORY_KB);
}
