//! Runs that are stopped, run twice, or resumed where nothing is left to do.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::cli::{Ran, Workspace, fixture_bytes, many_runs, short};
use serde_json::json;
use serde_json::value::RawValue;

const RUN: [&str; 8] = [
    "compress",
    "in.jsonl",
    "-o",
    "out.jsonl",
    "--target-max-tokens",
    "12000",
    "--jobs",
    "1",
];

fn end(child: Child) -> Ran {
    Ran::of(child.wait_with_output().unwrap())
}

fn spawn(command: &mut Command) -> Child {
    command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill")
        .args([name, &child.id().to_string()])
        .status();
    assert!(status.unwrap().success());
}

/// Waits until the journal of `out.jsonl` has so many lines.
fn wait_for_lines(workspace: &Workspace, child: &mut Child, lines: usize) {
    let journal = workspace.path("out.checkpoint");
    while std::fs::read_to_string(&journal)
        .unwrap_or_default()
        .lines()
        .count()
        < lines
    {
        assert!(child.try_wait().unwrap().is_none(), "done too early");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_signal_stops_a_run_and_resume_goes_on() {
    let input = many_runs(8);
    let whole = Workspace::with_input(&input);
    whole.run(&RUN).exits(0);
    for name in ["-INT", "-TERM"] {
        let workspace = Workspace::with_input(&input);
        let mut child = spawn(&mut workspace.command(&RUN));
        wait_for_lines(&workspace, &mut child, 2);
        signal(&child, name);
        end(child).exits(130).says("error: interrupted").says("--resume");
        assert!(!workspace.exists("out.jsonl"));
        workspace.run(&[&RUN[..], &["--resume"]].concat()).exits(0);
        assert!(workspace.read("out.jsonl") == whole.read("out.jsonl"));
        assert_eq!(workspace.files(), whole.files());
    }
}

#[test]
fn a_second_signal_stops_a_run_at_once() {
    let workspace = Workspace::with_input(many_runs(4));
    let mut child = spawn(&mut workspace.command(&RUN));
    wait_for_lines(&workspace, &mut child, 1);
    signal(&child, "-INT");
    signal(&child, "-INT");
    end(child).exits(130);
    assert!(!workspace.exists("out.jsonl"));
    workspace.run(&[&RUN[..], &["--resume"]].concat()).exits(0);
    assert_eq!(workspace.rows("out.metrics.csv").len(), 160);
}

#[test]
fn a_signal_stops_a_run_that_waits_for_its_input() {
    let workspace = Workspace::new();
    let mut child = spawn(
        workspace
            .command(&["compress", "-", "-o", "out.jsonl"])
            .stdin(Stdio::piped()),
    );
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(format!("{}\n", short("one")).as_bytes()).unwrap();
    wait_for_lines(&workspace, &mut child, 1);
    // Time to get ready to be stopped is not a thing that can be seen from outside.
    std::thread::sleep(Duration::from_millis(300));
    let asked = Instant::now();
    signal(&child, "-INT");
    end(child).exits(130);
    assert!(asked.elapsed() < Duration::from_secs(5));
    drop(stdin);
    let both = format!("{}\n{}\n", short("one"), short("two"));
    workspace
        .compress_stdin(&["-", "-o", "out.jsonl", "--resume"], both.as_bytes())
        .exits(0);
    assert_eq!(workspace.text("out.jsonl"), both);
}

#[test]
fn two_runs_on_one_output_exclude_each_other() {
    let workspace = Workspace::new();
    workspace.write("in.jsonl", fixture_bytes("agent_runs.jsonl"));
    let mut first = spawn(
        workspace
            .command(&["compress", "-", "-o", "out.jsonl"])
            .stdin(Stdio::piped()),
    );
    wait_for_lines(&workspace, &mut first, 1);
    for more in [&[][..], &["--force"], &["--resume"], &["--dry-run", "--force"]] {
        let ran = workspace.run(&[&RUN[..], more].concat()).exits(4);
        ran.says("another run is writing").says("out");
    }
    let mut stdin = first.stdin.take().unwrap();
    stdin.write_all(short("one").as_bytes()).unwrap();
    drop(stdin);
    end(first).exits(0);
    assert_eq!(workspace.text("out.jsonl"), short("one"));
    assert!(!workspace.exists("out.checkpoint"));
}

#[test]
fn with_nothing_to_resume_a_run_starts_from_the_beginning() {
    let workspace = Workspace::with_input(fixture_bytes("agent_runs.jsonl"));
    workspace.run(&[&RUN[..], &["--resume"]].concat()).exits(0);
    assert_eq!(workspace.rows("out.metrics.csv").len(), 40);
}

#[test]
fn a_finished_run_says_so() {
    let workspace = Workspace::with_input(fixture_bytes("agent_runs.jsonl"));
    workspace.run(&RUN).exits(0);
    let before: Vec<Vec<u8>> = workspace
        .files()
        .iter()
        .map(|file| workspace.read(file))
        .collect();
    let resume = [&RUN[..], &["--resume"]].concat();
    workspace
        .run(&resume)
        .exits(0)
        .says("already finished: out.jsonl");
    let after: Vec<Vec<u8>> = workspace
        .files()
        .iter()
        .map(|file| workspace.read(file))
        .collect();
    assert!(before == after);
    let other = [&resume[..], &["--summary-target-tokens", "99"]].concat();
    workspace
        .run(&other)
        .exits(2)
        .says("cannot resume")
        .says("summary_target_tokens");
    // Somebody else's output is no finished run.
    std::fs::remove_file(workspace.path("out.summary.json")).unwrap();
    workspace.run(&resume).exits(2).says("exists already");
}

/// The journal of a finished run as it was before the first final name was given.
fn complete_journal(workspace: &Workspace) -> String {
    // In the order in which a journal has them.
    #[derive(serde::Deserialize, serde::Serialize)]
    struct Identity {
        version: Box<RawValue>,
        configuration: Box<RawValue>,
        tokenizer: Box<RawValue>,
        chat_template: Box<RawValue>,
        sources: Box<RawValue>,
        outputs: Box<RawValue>,
    }
    let identity: Identity = serde_json::from_slice(&workspace.read("out.summary.json")).unwrap();
    let identity = serde_json::to_string(&identity).unwrap();
    let identity: String = identity.lines().map(str::trim).collect();
    let milestone = json!({
        "source": 2,
        "position": {"offset": 0, "line": 0, "records": 0, "in_array": false, "hash": 0},
        "taken": 81,
        "data": 0,
        "data_started": false,
        "last_byte": null,
        "metrics": workspace.read("out.metrics.csv").len(),
        "rejects": workspace.read("out.rejects.jsonl").len(),
        "summary_input_tokens": 0,
        "complete": true,
    });
    format!("{identity}\n{milestone}\n")
}

#[test]
fn a_run_stopped_between_the_final_names_is_completed() {
    let workspace = Workspace::new();
    workspace.write("data/a.jsonl", many_runs(1));
    workspace.write("data/b.jsonl", [&many_runs(1)[..], b"{broken\n"].concat());
    let run = ["compress", "data", "-o", "out", "--target-max-tokens", "12000"];
    workspace.run(&run).exits(3);
    let order = [
        "out.rejects.jsonl",
        "out.summary.json",
        "out.metrics.csv",
        "out/a.jsonl",
        "out/b.jsonl",
    ];
    let contents: Vec<Vec<u8>> = order.iter().map(|file| workspace.read(file)).collect();
    let journal = complete_journal(&workspace);
    let files = workspace.files();
    for named in 0..=order.len() {
        for (index, file) in order.iter().enumerate() {
            let partial = format!("{file}.partial");
            let _ = std::fs::remove_file(workspace.path(file));
            workspace.write(
                if index < named { file } else { partial.as_str() },
                &contents[index],
            );
        }
        workspace.write("out.checkpoint", &journal);
        let ran = workspace.run(&[&run[..], &["--resume"]].concat()).exits(3);
        assert_eq!(workspace.files(), files, "{named} names given");
        for (file, content) in order.iter().zip(&contents) {
            assert!(
                file.ends_with(".summary.json") || workspace.read(file) == *content,
                "{file}"
            );
        }
        ran.says("Records                 81").says("out/b.jsonl");
    }
}
