//! A server that remembers how often it was asked what, and records that all ask for something of their own.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use wiremock::{Request, ResponseTemplate};

use super::chat::{Server, answer_to, completion, user_text};
use super::cli::{Ran, Workspace};

/// The server.
pub struct Asked {
    server: Server,
    received: Arc<AtomicUsize>,
    prompts: Arc<Mutex<BTreeMap<String, usize>>>,
}

impl Asked {
    /// One whose answers depend on what it is asked.
    pub fn start() -> Self {
        Self::with(|_, request| completion(&answer_to(request)))
    }

    /// One that answers as `respond` does, which is told how many requests there were before.
    pub fn with(respond: impl Fn(usize, &Request) -> ResponseTemplate + Send + Sync + 'static) -> Self {
        let received = Arc::new(AtomicUsize::new(0));
        let prompts: Arc<Mutex<BTreeMap<String, usize>>> = Arc::default();
        let (count, seen) = (Arc::clone(&received), Arc::clone(&prompts));
        let server = Server::start(move |number, request| {
            let prompt = user_text(&request.body_json().unwrap());
            *seen.lock().unwrap().entry(prompt).or_default() += 1;
            count.fetch_add(1, Ordering::SeqCst);
            respond(number, request)
        });
        Self {
            server,
            received,
            prompts,
        }
    }

    /// How often it was asked.
    pub fn received(&self) -> usize {
        self.received.load(Ordering::SeqCst)
    }

    /// What it was asked, and how often.
    pub fn prompts(&self) -> BTreeMap<String, usize> {
        self.prompts.lock().unwrap().clone()
    }

    /// `compress` of `in.jsonl` with this server.
    pub fn arguments(&self, output: &str) -> Vec<String> {
        let url = self.server.url();
        let arguments = [
            "compress",
            "in.jsonl",
            "-o",
            output,
            "--target-max-tokens",
            "600",
            "--summary-target-tokens",
            "100",
            "--summarizer",
            "chat",
            "--model",
            "test-model",
            "--retry-delay",
            "0.01",
            "--base-url",
            &url,
        ];
        arguments.map(str::to_owned).to_vec()
    }
}

/// The records of a test that has no number of its own: all of them over their budget.
pub const RECORDS: usize = 24;

/// A folder with so many records.
pub fn workspace() -> Workspace {
    Workspace::with_input(lines(RECORDS))
}

/// Compresses them with a server's answers.
pub fn run(workspace: &Workspace, server: &Asked, more: &[&str]) -> Ran {
    let arguments = server.arguments("out.jsonl");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    workspace.run(&[&arguments[..], more].concat())
}

/// So many records over a budget of 600 tokens, no two with the same middle.
pub fn lines(count: usize) -> String {
    (0..count).map(line).collect()
}

fn line(number: usize) -> String {
    line_with(number, "")
}

/// Such a record with a word of its own in the middle.
pub fn line_with(number: usize, word: &str) -> String {
    let long = format!(
        "{word} {}",
        format!("record number {number} says this. ").repeat(40)
    );
    let turn = |from: &str, value: &str| format!("{{\"from\": \"{from}\", \"value\": \"{value}\"}}");
    let turns = [
        turn("human", "task"),
        turn("gpt", "start"),
        vec![turn("gpt", &long); 6].join(", "),
        turn("human", "go on"),
        turn("gpt", "done"),
    ];
    format!(
        "{{\"id\": \"r{number}\", \"conversations\": [{}]}}\n",
        turns.join(", ")
    )
}
