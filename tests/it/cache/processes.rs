//! Processes that share a folder of answers at once: what they ask in common is asked once, and none waits for a dead one.

use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::asked::{Asked, RECORDS, run, workspace};
use crate::support::chat::{answer_to, completion};
use crate::support::cli::{Ran, Workspace};

/// Requests that each process has in flight.
const IN_FLIGHT: usize = 4;

/// What each process claims for itself at most: what it asks, and what it is about to ask.
const CLAIMED: usize = 2 * IN_FLIGHT;

fn spawn(workspace: &Workspace, server: &Asked, output: &str) -> Child {
    let mut command = workspace.command(&[]);
    command.args(server.arguments(output));
    command.args([
        "--cache",
        "shared",
        "--max-concurrent-requests",
        &IN_FLIGHT.to_string(),
        "--headers",
        &format!(r#"{{"x-process": "{output}"}}"#),
    ]);
    command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn ends(child: Child) -> Ran {
    Ran::of(child.wait_with_output().unwrap())
}

fn cached(workspace: &Workspace, file: &str) -> usize {
    let totals = workspace.json(file);
    totals["cached_summaries"].as_u64().unwrap() as usize
}

#[test]
fn two_processes_that_ask_the_same_at_once_ask_once_and_write_the_same() {
    // Answers take their time, so that both processes want those that are under way.
    let server = Asked::with(|number, _| {
        completion(&format!("Answer number {number}: the tests were run and passed."))
            .set_delay(Duration::from_millis(60))
    });
    let workspace = workspace();
    let both = [
        spawn(&workspace, &server, "a.jsonl"),
        spawn(&workspace, &server, "b.jsonl"),
    ];
    for child in both {
        ends(child).exits(0);
    }
    assert_eq!(server.received(), RECORDS);
    assert!(workspace.read("a.jsonl") == workspace.read("b.jsonl"));
    assert_eq!(
        cached(&workspace, "a.summary.json") + cached(&workspace, "b.summary.json"),
        RECORDS
    );
    run(&workspace, &server, &["--cache", "shared"]).exits(0);
    assert_eq!(server.received(), RECORDS);
    assert!(workspace.read("out.jsonl") == workspace.read("a.jsonl"));
    let left = workspace.files();
    assert!(left.iter().all(|file| !file.contains(".lock")), "{left:?}");
}

#[test]
fn a_process_takes_over_what_a_killed_one_was_asking() {
    // The first request is answered, so that others go out at once; whatever else the first process asks hangs for good.
    let hanging = Arc::new(AtomicUsize::new(0));
    let hangs = Arc::clone(&hanging);
    let server = Asked::with(move |number, request| {
        let answer = completion(&answer_to(request));
        if number > 0 && request.headers["x-process"] == "a.jsonl" {
            hangs.fetch_add(1, Ordering::SeqCst);
            return answer.set_delay(Duration::from_mins(10));
        }
        answer
    });
    let hanging = || hanging.load(Ordering::SeqCst);
    let workspace = workspace();
    let mut killed = spawn(&workspace, &server, "a.jsonl");
    while hanging() < IN_FLIGHT {
        assert!(killed.try_wait().unwrap().is_none(), "done too early");
        std::thread::sleep(Duration::from_millis(5));
    }
    let other = spawn(&workspace, &server, "b.jsonl");
    // The other one gets to everything but what the first one asks for, and is about to ask for; then it waits.
    while server.received() < RECORDS - CLAIMED + hanging() {
        std::thread::sleep(Duration::from_millis(5));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    ends(other).exits(0);
    let times: Vec<usize> = server.prompts().into_values().collect();
    assert!(times.len() == RECORDS && times.iter().all(|times| *times <= 2));
    // The answer of the first one may be lost as well: nobody sees when it is kept.
    let twice = times.iter().filter(|times| **times == 2).count();
    assert!(
        (hanging()..=hanging() + 1).contains(&twice),
        "{twice} {}",
        hanging()
    );
}

#[test]
fn what_one_process_fails_at_another_one_asks_itself() {
    // Refused at once and for good: the server takes such a request for wrong.
    let server = Asked::with(|_, request| {
        let answer = completion(&answer_to(request));
        if String::from_utf8_lossy(&request.body).contains("number 7 ") {
            return crate::support::chat::refusal(400, "not this one").set_delay(Duration::from_millis(100));
        }
        answer
    });
    let workspace = workspace();
    let both = [
        spawn(&workspace, &server, "a.jsonl"),
        spawn(&workspace, &server, "b.jsonl"),
    ];
    for child in both {
        ends(child).exits(3);
    }
    // One that was answered nothing before is asked whether it takes anything at all.
    let (refused, others): (Vec<_>, Vec<_>) = server
        .prompts()
        .into_iter()
        .filter(|(prompt, _)| prompt.contains("record number "))
        .partition(|(prompt, _)| prompt.contains("number 7 "));
    assert_eq!((refused.len(), others.len()), (1, RECORDS - 1));
    assert_eq!(refused[0].1, 2);
    assert!(others.iter().all(|(_, times)| *times == 1));
}
