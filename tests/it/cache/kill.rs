//! Killed again and again between requests and answers, a run that is resumed pays for nothing that it had received.

use std::io::Write as _;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::asked::{Asked, lines};
use crate::support::chat::{answer_to, completion, user_text};
use crate::support::cli::{Ran, Workspace};

/// Records, each with a prompt of its own, and requests in flight at once.
const RECORDS: usize = 160;
const IN_FLIGHT: usize = 8;

/// After how many requests that the server has seen, over all runs so far, the run under way is killed.
const KILLS: [usize; 12] = [1, 2, 7, 9, 20, 33, 50, 75, 100, 120, 140, 150];

/// Requests after that moment that are still answered; those after them hang, so that no run gets to its end before it is
/// killed, however long the machine stops this thread.
const STILL_ANSWERED: usize = 5;

/// A server that answers after a while that depends on the question, and from a certain request on not at all.
struct Slow {
    asked: Asked,
    hangs_from: Arc<AtomicUsize>,
}

impl Slow {
    fn start() -> Self {
        let hangs_from = Arc::new(AtomicUsize::new(usize::MAX));
        let from = Arc::clone(&hangs_from);
        let asked = Asked::with(move |number, request| {
            let text = user_text(&request.body_json().unwrap());
            let sum = text
                .bytes()
                .fold(5_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
            let delay = if number < from.load(Ordering::SeqCst) {
                Duration::from_millis(5 + (sum >> 20) % 60)
            } else {
                Duration::from_mins(10)
            };
            completion(&answer_to(request)).set_delay(delay)
        });
        Self { asked, hangs_from }
    }
}

fn start(workspace: &Workspace, server: &Slow, resume: bool) -> Child {
    let mut command = workspace.command(&[]);
    command.args(server.asked.arguments("out.jsonl"));
    command.args(["--max-concurrent-requests", &IN_FLIGHT.to_string(), "--jobs", "2"]);
    if resume {
        command.arg("--resume");
    }
    command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn kill(mut child: Child, signal: &str, server: &Slow, after: usize) -> Output {
    while server.asked.received() < after && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_micros(200));
    }
    let id = child.id().to_string();
    let _ = Command::new("kill").args([signal, &id]).status();
    child.wait_with_output().unwrap()
}

fn finish(workspace: &Workspace, server: &Slow, resume: bool) -> Vec<u8> {
    server.hangs_from.store(usize::MAX, Ordering::SeqCst);
    let child = start(workspace, server, resume);
    Ran::of(child.wait_with_output().unwrap()).exits(0);
    workspace.read("out.jsonl")
}

fn undisturbed() -> Vec<u8> {
    let (workspace, server) = (Workspace::with_input(lines(RECORDS)), Slow::start());
    let output = finish(&workspace, &server, false);
    assert_eq!(
        (server.asked.received(), server.asked.prompts().len()),
        (RECORDS, RECORDS)
    );
    output
}

#[test]
fn a_killed_run_pays_again_only_for_what_was_in_flight() {
    let (workspace, server) = (Workspace::with_input(lines(RECORDS)), Slow::start());
    for (kills, after) in KILLS.into_iter().enumerate() {
        server.hangs_from.store(after + STILL_ANSWERED, Ordering::SeqCst);
        let ended = kill(start(&workspace, &server, kills > 0), "-KILL", &server, after);
        assert_eq!(ended.status.code(), None, "it was killed");
    }
    let output = finish(&workspace, &server, true);
    assert!(output == undisturbed());
    let prompts = server.asked.prompts();
    assert_eq!(prompts.len(), RECORDS);
    let (received, kills) = (server.asked.received(), KILLS.len());
    let again = received - RECORDS;
    let most = kills * IN_FLIGHT;
    let told = format!("{kills} kills, {RECORDS} prompts, {again} received again of at most {most}");
    let _ = writeln!(std::io::stderr(), "{told}");
    assert!(again <= most, "{told}");
    assert!(prompts.values().all(|times| *times <= kills + 1), "{told}");
    // And the run after that pays nothing at all.
    let mut command = workspace.command(&[]);
    command.args(server.asked.arguments("out.jsonl")).arg("--force");
    Ran::of(command.output().unwrap()).exits(0);
    assert_eq!(server.asked.received(), received);
    assert!(workspace.read("out.jsonl") == output);
}

#[test]
fn an_interrupted_run_waits_a_moment_for_its_answers() {
    let (workspace, server) = (Workspace::with_input(lines(RECORDS)), Slow::start());
    for (stops, after) in KILLS.into_iter().enumerate() {
        let ended = kill(start(&workspace, &server, stops > 0), "-INT", &server, after);
        if ended.status.code() == Some(0) {
            return; // The machine stopped this thread for so long that there was nothing to interrupt.
        }
    }
    let output = finish(&workspace, &server, true);
    assert!(output == undisturbed());
    // Answers take milliseconds, and they are waited for: but for moments when the machine did something else, none is lost. A run
    // that did not wait would lose most of what was in flight, each time.
    let again = server.asked.received() - RECORDS;
    assert!(again <= 3 * IN_FLIGHT, "{again}");
}
