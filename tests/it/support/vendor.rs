//! A vendor of batches, in both forms: takes files and batches, answers them when it is looked at twice, and fails on demand.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use wiremock::{Request, ResponseTemplate};

use super::batch::{answers, request};
use super::chat::Server;

/// What a step does instead of what it should, once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It fails with that status, and nothing has happened.
    Refuses(u16),
    /// It happens, but the answer is that status.
    Loses(u16),
    /// It does not happen, and no answer comes.
    Hangs,
    /// It happens, and no answer comes.
    HangsAfter,
}

/// How a vendor refuses what its queue does not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// At once, with that status.
    Status(u16),
    /// The batch is made, and fails.
    Fails,
}

/// What a vendor takes at once.
#[derive(Clone, Copy)]
struct Queue {
    /// Tokens as this vendor counts them (see [`tokens`]).
    tokens: u64,
    refusal: Refusal,
    /// Batches that it refuses before it takes the first one, since others' are there.
    occupied: usize,
}

/// How a batch ends: its state, its output, its errors.
pub type End = (&'static str, String, String);

/// A batch that was made.
#[derive(Debug, Clone)]
pub struct Made {
    pub id: String,
    /// Its requests.
    pub text: String,
    upload: Option<String>,
    metadata: Value,
    looks: usize,
    /// Whether the queue was full.
    pub is_refused: bool,
}

#[derive(Default)]
struct Known {
    uploads: Vec<String>,
    batches: Vec<Made>,
    faults: Vec<(String, Fault)>,
    /// Faults that begin once the queue was full.
    later: Vec<(String, Fault)>,
    log: Vec<String>,
    queue: Option<Queue>,
    refusals: usize,
    most_at_once: usize,
}

/// The vendor.
pub struct Vendor {
    server: Server,
    known: Arc<Mutex<Known>>,
}

impl Vendor {
    /// One that answers everything.
    pub fn start() -> Self {
        Self::ending(|_, text| ("completed", answers(text), String::new()))
    }

    /// One whose batches end as `end` says, which is told how many there were before, and the requests.
    pub fn ending(end: impl Fn(usize, &str) -> End + Send + Sync + 'static) -> Self {
        let known = Arc::new(Mutex::new(Known::default()));
        let shared = Arc::clone(&known);
        let server = Server::start(move |_, request| respond(&mut shared.lock().unwrap(), request, &end));
        Self { server, known }
    }

    /// Its address, as clients of that form are given it.
    pub fn url(&self) -> String {
        self.server.url()
    }

    /// Lets the next such step fail: `POST /v1/batches`.
    pub fn fault(&self, step: &str, fault: Fault) {
        self.known.lock().unwrap().faults.push((step.to_owned(), fault));
    }

    /// Lets the next such step fail once its queue was full.
    pub fn fault_when_full(&self, step: &str, fault: Fault) {
        self.known.lock().unwrap().later.push((step.to_owned(), fault));
    }

    /// How many steps are still to fail.
    pub fn faults_left(&self) -> usize {
        let known = self.known.lock().unwrap();
        known.faults.len() + known.later.len()
    }

    /// Lets its queue take so many tokens, once it has refused that many batches for those of others.
    pub fn takes(&self, tokens: u64, refusal: Refusal, occupied: usize) {
        self.known.lock().unwrap().queue = Some(Queue {
            tokens,
            refusal,
            occupied,
        });
    }

    /// How often its queue was full.
    pub fn refusals(&self) -> usize {
        self.known.lock().unwrap().refusals
    }

    /// How many batches were in its queue at once.
    pub fn most_at_once(&self) -> usize {
        self.known.lock().unwrap().most_at_once
    }

    /// The batches made.
    pub fn batches(&self) -> Vec<Made> {
        self.known.lock().unwrap().batches.clone()
    }

    /// How many files were uploaded.
    pub fn uploads(&self) -> usize {
        self.known.lock().unwrap().uploads.len()
    }

    /// How often a step was asked for.
    pub fn asked(&self, step: &str) -> usize {
        let known = self.known.lock().unwrap();
        known.log.iter().filter(|logged| logged.starts_with(step)).count()
    }

    /// How often each request was submitted.
    pub fn submitted(&self) -> BTreeMap<String, usize> {
        let mut submitted = BTreeMap::new();
        for batch in self.batches().iter().filter(|batch| !batch.is_refused) {
            for line in batch.text.lines() {
                *submitted.entry(request(line).0).or_default() += 1;
            }
        }
        submitted
    }

    /// What it was sent.
    pub fn requests(&self) -> Vec<Request> {
        self.server.requests()
    }
}

fn respond(known: &mut Known, request: &Request, end: &dyn Fn(usize, &str) -> End) -> ResponseTemplate {
    let step = format!("{} {}", request.method, request.url.path());
    known.log.push(step.clone());
    let fault = known.faults.iter().position(|(at, _)| step.starts_with(at));
    let fault = fault.map(|at| known.faults.remove(at).1);
    let error =
        |status| ResponseTemplate::new(status).set_body_json(json!({"error": {"message": "a fault"}}));
    let never = Duration::from_mins(10);
    match fault {
        Some(Fault::Refuses(status)) => return error(status),
        Some(Fault::Hangs) => return ResponseTemplate::new(200).set_delay(never),
        _ => {}
    }
    let answer = answer(known, request, end);
    match fault {
        Some(Fault::Loses(status)) => error(status),
        Some(Fault::HangsAfter) => answer.set_delay(never),
        _ => answer,
    }
}

fn answer(known: &mut Known, request: &Request, end: &dyn Fn(usize, &str) -> End) -> ResponseTemplate {
    let path: Vec<&str> = request.url.path().trim_start_matches("/v1/").split('/').collect();
    let posted = request.method.as_str() == "POST";
    let json = |body: Value| ResponseTemplate::new(200).set_body_json(body);
    let lines = |text: String| ResponseTemplate::new(200).set_body_raw(text, "application/octet-stream");
    let id = known.batches.len() + 1;
    match path.as_slice() {
        ["files"] if posted => {
            known.uploads.push(uploaded(&request.body));
            json(json!({"id": format!("file-{}", known.uploads.len()), "object": "file", "purpose": "batch"}))
        }
        ["files", file, "content"] => {
            let (kind, number) = file.split_once('-').unwrap();
            let batch = &known.batches[number.parse::<usize>().unwrap() - 1];
            let end = end(number.parse::<usize>().unwrap() - 1, &batch.text);
            lines(if kind == "output" { end.1 } else { end.2 })
        }
        ["batches"] if posted => {
            let body: Value = request.body_json().unwrap();
            let upload = body["input_file_id"].as_str().unwrap().to_owned();
            assert_eq!(body["endpoint"], "/v1/chat/completions");
            let number: usize = upload.trim_start_matches("file-").parse().unwrap();
            let made = Made {
                id: format!("batch_{id}"),
                text: known.uploads[number - 1].clone(),
                upload: Some(upload),
                metadata: body["metadata"].clone(),
                looks: 0,
                is_refused: false,
            };
            enqueue(known, made).unwrap_or_else(|| json(told(known, id - 1, end)))
        }
        ["messages", "batches"] if posted => {
            let body: Value = request.body_json().unwrap();
            let requests = body["requests"].as_array().unwrap();
            let made = Made {
                id: format!("msgbatch_{id}"),
                text: requests
                    .iter()
                    .map(Value::to_string)
                    .collect::<Vec<_>>()
                    .join("\n"),
                upload: None,
                metadata: Value::Null,
                looks: 0,
                is_refused: false,
            };
            enqueue(known, made).unwrap_or_else(|| json(told(known, id - 1, end)))
        }
        ["batches"] | ["messages", "batches"] => json(page(known, request, end)),
        ["messages", "batches", id, "results"] => {
            let at = known.batches.iter().position(|batch| batch.id == *id).unwrap();
            let end = end(at, &known.batches[at].text);
            lines(end.1 + &end.2)
        }
        ["batches", id] | ["messages", "batches", id] => {
            let at = known.batches.iter().position(|batch| batch.id == *id).unwrap();
            known.batches[at].looks += 1;
            json(told(known, at, end))
        }
        _ => ResponseTemplate::new(404),
    }
}

/// What a request costs in the queue: about four bytes a token.
pub fn tokens(requests: &str) -> u64 {
    requests.len() as u64 / 4
}

/// Takes a batch into the queue, or refuses it; the answer where that is at once.
fn enqueue(known: &mut Known, made: Made) -> Option<ResponseTemplate> {
    let running: Vec<&Made> = known
        .batches
        .iter()
        .filter(|batch| batch.looks < 2 && !batch.is_refused)
        .collect();
    let at_once = running.len() + 1;
    let enqueued: u64 = running.iter().map(|batch| tokens(&batch.text)).sum();
    let enqueued = enqueued + tokens(&made.text);
    let full = known.queue.as_mut().and_then(|queue| {
        let is_occupied = queue.occupied > 0;
        queue.occupied = queue.occupied.saturating_sub(1);
        (is_occupied || enqueued > queue.tokens).then_some(*queue)
    });
    let Some(queue) = full else {
        known.most_at_once = known.most_at_once.max(at_once);
        known.batches.push(made);
        return None;
    };
    known.refusals += 1;
    known.faults.append(&mut known.later);
    match queue.refusal {
        Refusal::Fails => {
            known.batches.push(Made {
                is_refused: true,
                ..made
            });
            None
        }
        Refusal::Status(status) => {
            // Anthropic does not say how much its queue takes.
            let message = if made.upload.is_some() {
                queue_is_full(queue.tokens)
            } else {
                "This request would exceed your account's rate limit. Please try again later.".to_owned()
            };
            let error = json!({"type": "rate_limit_error", "message": message});
            Some(ResponseTemplate::new(status).set_body_json(json!({"type": "error", "error": error})))
        }
    }
}

/// `OpenAI`'s words.
fn queue_is_full(limit: u64) -> String {
    let limit = limit.to_string();
    let (thousands, rest) = limit.split_at(limit.len().saturating_sub(3));
    format!(
        "Enqueued token limit reached for test-model in organization org-1. Limit: {thousands},{rest} enqueued tokens. \
         Please try again once some in_progress batches have been completed."
    )
}

/// One batch a page, the latest first.
fn page(known: &Known, request: &Request, end: &dyn Fn(usize, &str) -> End) -> Value {
    let after = request
        .url
        .query_pairs()
        .find(|(name, _)| name.starts_with("after"))
        .map(|(_, id)| id.into_owned());
    let last = after.map_or(known.batches.len(), |id| {
        known.batches.iter().position(|batch| batch.id == id).unwrap()
    });
    let batch = last.checked_sub(1).map(|at| told(known, at, end));
    let id = batch.as_ref().map_or(Value::Null, |batch| batch["id"].clone());
    json!({
        "data": batch.into_iter().collect::<Vec<_>>(),
        "has_more": last > 1, "first_id": id, "last_id": id,
    })
}

/// A batch as it is told of: done when it is looked at for the second time.
fn told(known: &Known, at: usize, end: &dyn Fn(usize, &str) -> End) -> Value {
    let batch = &known.batches[at];
    let (state, output, errors) = end(at, &batch.text);
    let done = batch.looks > 1;
    let count = |text: &str| text.lines().count();
    let total = count(&batch.text);
    if batch.upload.is_none() {
        let counts = if done {
            json!({"processing": 0, "succeeded": count(&output), "errored": count(&errors), "canceled": 0, "expired": 0})
        } else {
            json!({"processing": total, "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0})
        };
        // Another host: where the key must not go.
        let url = format!("http://203.0.113.7/v1/messages/batches/{}/results", batch.id);
        return json!({
            "id": batch.id, "type": "message_batch", "request_counts": counts,
            "processing_status": if done { "ended" } else { "in_progress" },
            "results_url": done.then_some(url),
        });
    }
    let number = at + 1;
    if batch.is_refused {
        let message = queue_is_full(known.queue.unwrap().tokens);
        return json!({
            "id": batch.id, "object": "batch", "input_file_id": batch.upload, "metadata": batch.metadata,
            "status": "failed", "request_counts": {"total": 0, "completed": 0, "failed": 0},
            "errors": {"object": "list", "data": [{"code": "token_limit_exceeded", "message": message, "line": null}]},
        });
    }
    json!({
        "id": batch.id, "object": "batch", "input_file_id": batch.upload, "metadata": batch.metadata,
        "status": if done { state } else { "in_progress" },
        "request_counts": {"total": total, "completed": if done { count(&output) } else { 0 }, "failed": count(&errors)},
        "output_file_id": (done && !output.is_empty()).then(|| format!("output-{number}")),
        "error_file_id": (done && !errors.is_empty()).then(|| format!("errors-{number}")),
        "errors": (done && state == "failed").then(|| json!({"object": "list", "data": [
            {"code": "billing_hard_limit_reached", "message": "Billing hard limit has been reached."},
        ]})),
    })
}

/// The file in a form.
fn uploaded(form: &[u8]) -> String {
    let form = std::str::from_utf8(form).unwrap();
    assert!(form.contains("name=\"purpose\"\r\n\r\nbatch\r\n"));
    let file = form.split("application/jsonl\r\n\r\n").nth(1).unwrap();
    let (file, rest) = file.split_once("\r\n--").unwrap();
    assert!(rest.ends_with("--\r\n"));
    file.to_owned()
}
