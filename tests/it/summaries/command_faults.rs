//! Programs that fail, die, hang or are killed with the run: one record's loss at most, and nothing asked twice.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::asked::lines;
use crate::support::cli::{COMPRESS_SMALL, Workspace};
use crate::support::program::{asked, program, row_of, run, run_with, with_words};
use trajfit::internals::metrics::Status;

#[test]
fn a_program_that_fails_at_a_record_fails_at_that_one_alone() {
    for (word, reason, attempts) in [
        ("DIE", "summary_command_died", 2),
        ("HANG", "summary_command_timeout", 2),
        ("GARBAGE", "summary_command_answer", 2),
        ("OTHER-ID", "summary_command_answer", 2),
        ("FAIL", "summary_command_failed", 1),
    ] {
        let workspace = with_words(&[word]);
        // Long enough to start in, whatever else the machine does.
        let timeout = if word == "HANG" { "4" } else { "60" };
        run(&workspace, &["--timeout", timeout, "--jobs", "2"]).exits(3);
        let row = row_of(&workspace);
        assert!(
            row.reason_text().contains(reason),
            "{word}: {}",
            row.reason_text()
        );
        assert_eq!(
            (row.summarizer.as_str(), row.degraded, row.summarization_api_calls),
            ("extractive", true, attempts),
            "{word}"
        );
        if word == "HANG" {
            continue; // Once is slow enough.
        }
        // It is not kept: another time it may go well.
        let again = run(
            &workspace,
            &["--timeout", timeout, "--force", "--on-failure", "keep"],
        )
        .exits(3);
        assert_eq!(row_of(&workspace).status, Status::Kept, "{}", again.stderr);
        assert_eq!(
            asked(&workspace).values().copied().max(),
            Some(2 * attempts as usize),
            "{word}"
        );
    }
}

#[test]
fn what_a_program_failed_at_once_it_is_asked_once_more() {
    let workspace = with_words(&["ONCE"]);
    run(&workspace, &["--jobs", "1"]).exits(0);
    let row = row_of(&workspace);
    assert_eq!((row.summarizer.as_str(), row.degraded), ("command", false));
    assert_eq!((row.summarization_api_calls, row.summarization_errors), (2, 1));
}

#[test]
fn what_a_program_says_unasked_is_taken_for_no_answer() {
    let workspace = with_words(&["TWO-LINES", "TWO-LINES too"]);
    run(&workspace, &["--jobs", "1"]).exits(0);
    let rows = workspace.rows("out.metrics.csv");
    assert!(
        rows.iter()
            .all(|row| row.summarizer == "command" && !row.degraded)
    );
}

#[test]
fn a_program_that_never_works_ends_the_run() {
    let workspace = Workspace::with_input(lines(40));
    run_with(&workspace, "./no-such-program --fast", &[])
        .exits(4)
        .says("cannot start ./no-such-program")
        .says("--command");
    let ran = run_with(
        &workspace,
        &program("--die-at-start"),
        &["--force", "--jobs", "2"],
    )
    .exits(4);
    let ran = ran.says("fails again and again: summary_command_died: exit status: 5");
    // Its errors come through as they are.
    ran.says("this program cannot work").says("--resume");
    assert!(!workspace.exists("out.jsonl"));
    // The output's other settings are those of another run.
    run(&workspace, &["--resume"])
        .exits(2)
        .says("summarization.command");
    run(&workspace, &["--force"]).exits(0);
}

#[test]
fn a_killed_run_asks_again_only_for_what_was_in_work() {
    const JOBS: usize = 2;
    let input = lines(40);
    let whole = Workspace::with_input(&input);
    run(&whole, &["--jobs", "2"]).exits(0);
    let workspace = Workspace::with_input(&input);
    let slow = program("--slow 0.02");
    let mut kills = 0;
    for after in [1, 6, 17, 25, 33] {
        let mut command = workspace.command(&COMPRESS_SMALL);
        command.args(["--summarizer", "command", "--jobs", "2", "--command", &slow]);
        command.args(["--resume"].iter().filter(|_| kills > 0));
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let received = || asked(&workspace).values().sum::<usize>();
        while (!workspace.exists("asked.log") || received() < after) && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = child.kill();
        child.wait().unwrap();
        kills += 1;
    }
    run_with(&workspace, &slow, &["--resume", "--jobs", "2"]).exits(0);
    assert!(workspace.read("out.jsonl") == whole.read("out.jsonl"));
    let asked = asked(&workspace);
    assert_eq!(asked.len(), 40);
    let again: usize = asked.values().map(|times| times - 1).sum();
    assert!(again <= kills * JOBS, "{again}");
}

#[test]
fn an_interrupted_run_leaves_no_program_behind() {
    let workspace = with_words(&["HANG"]);
    let own = program("--pid pid");
    let own = ["--summarizer", "command", "--command", &own, "--jobs", "1"];
    let mut command = workspace.command(&[&COMPRESS_SMALL[..], &own].concat());
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    // One request hangs, whichever is asked first: the program runs until it is killed.
    while !workspace.exists("asked.log") || asked(&workspace).is_empty() {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(5));
    }
    let id = child.id().to_string();
    Command::new("kill").args(["-INT", &id]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    // Killed, if not yet gone.
    let program = workspace.path("pid");
    let process = format!(
        "/proc/{}/cmdline",
        std::fs::read_to_string(program).unwrap().trim()
    );
    let runs =
        || std::fs::read(&process).is_ok_and(|line| memchr::memmem::find(&line, b"program.py").is_some());
    while runs() {
        std::thread::sleep(Duration::from_millis(5));
    }
}
