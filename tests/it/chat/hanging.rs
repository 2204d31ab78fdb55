//! A request that hangs delays nobody: results that wait for it go to disk where memory has no room for them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use crate::support::asked::line_with;
use crate::support::cli::{COMPRESS_SMALL, Workspace};

/// Records: more than the window of one thread and two requests has room for.
const RECORDS: usize = 36;

/// Bytes of each beside its turns: with them it is a batch of its own.
const PADDING: usize = 256 * 1024;

/// What stands in the prompt that hangs.
const HANGS: &str = "HANGS";

const REPLY: &str = r#"{"choices":[{"message":{"content":"The tests were run in the end, and all passed."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":9}}"#;

/// A server that answers all requests at once, but that of [`HANGS`] only after so many others.
struct Server {
    url: String,
    state: Arc<(Mutex<State>, Condvar)>,
}

#[derive(Default)]
struct State {
    received: usize,
    answered: usize,
    /// Requests that are answered before the one that hangs.
    others: usize,
}

impl Server {
    fn holding_until(others: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let state: Arc<(Mutex<State>, Condvar)> = Arc::default();
        state.0.lock().unwrap().others = others;
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let state = Arc::clone(&shared);
                // Who has gone away needs no answer.
                thread::spawn(move || serve(&stream.unwrap(), &state).ok());
            }
        });
        Self { url, state }
    }

    /// Waits until that holds.
    fn wait_until(&self, holds: impl Fn(&State) -> bool) {
        let (state, changed) = &*self.state;
        let limit = Duration::from_mins(2);
        let waited = changed.wait_timeout_while(state.lock().unwrap(), limit, |state| !holds(state));
        assert!(!waited.unwrap().1.timed_out());
    }

    /// Lets nothing hang any more.
    fn release(&self) {
        self.state.0.lock().unwrap().others = 0;
        self.state.1.notify_all();
    }

    fn received(&self) -> usize {
        self.state.0.lock().unwrap().received
    }

    fn arguments(&self) -> Vec<&str> {
        let own = [
            "--summarizer",
            "chat",
            "--model",
            "m",
            "--jobs",
            "1",
            "--max-concurrent-requests",
            "2",
            "--timeout",
            "1000",
            "--max-retries",
            "0",
            "--base-url",
            &self.url,
        ];
        [&COMPRESS_SMALL[..], &own].concat()
    }
}

fn serve(stream: &TcpStream, state: &(Mutex<State>, Condvar)) -> std::io::Result<()> {
    let (state, changed) = state;
    let mut reader = BufReader::new(stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let line = line.trim().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        state.lock().unwrap().received += 1;
        changed.notify_all();
        if String::from_utf8(body).unwrap().contains(HANGS) {
            let held = |state: &mut State| state.answered < state.others;
            drop(changed.wait_while(state.lock().unwrap(), held).unwrap());
        }
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", REPLY.len());
        (&mut &*stream).write_all((head + REPLY).as_bytes())?;
        state.lock().unwrap().answered += 1;
        changed.notify_all();
    }
}

/// Records of which the second hangs: the first one finds out how the server wants to be asked.
fn workspace() -> Workspace {
    let padding = "x".repeat(PADDING);
    let lines = (0..RECORDS).map(|number| {
        let line = line_with(number, if number == 1 { HANGS } else { "word" });
        line.replacen('{', &format!("{{\"padding\": \"{padding}\", "), 1)
    });
    Workspace::with_input(lines.collect::<String>())
}

fn undisturbed() -> Vec<u8> {
    let (workspace, server) = (workspace(), Server::holding_until(0));
    workspace.run(&server.arguments()).exits(0);
    workspace.read("out.jsonl")
}

#[test]
fn a_request_that_is_answered_last_holds_nobody_up_and_the_output_is_the_same() {
    let (workspace, server) = (workspace(), Server::holding_until(RECORDS - 1));
    workspace.run(&server.arguments()).exits(0);
    assert!(workspace.read("out.jsonl") == undisturbed());
    assert!(workspace.rows("out.metrics.csv").iter().all(|row| !row.degraded));
}

#[test]
fn a_run_killed_while_a_request_hangs_asks_for_that_one_alone_when_it_is_resumed() {
    let (workspace, server) = (workspace(), Server::holding_until(usize::MAX));
    let mut child = workspace.command(&server.arguments()).spawn().unwrap();
    server.wait_until(|state| state.answered == RECORDS - 1 && state.received == RECORDS);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!workspace.exists("out.jsonl") && !workspace.exists("out.jsonl.spill"));
    server.release();
    let arguments = [&server.arguments()[..], &["--resume"]].concat();
    workspace.run(&arguments).exits(0);
    // The one that hung, and those that were answered but not yet kept.
    let again = server.received() - RECORDS;
    assert!((1..=3).contains(&again), "{again}");
    assert!(workspace.read("out.jsonl") == undisturbed());
}
