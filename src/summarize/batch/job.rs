//! The state of a batch, as each vendor reports it: its progress, its outcome, and the location of its responses.

use serde_json::{Value, json};

use super::queue::QueueFull;
use super::request::ENDPOINT;
use crate::summarize::chat::api::Api;

/// The field of `OpenAI`'s metadata that names the file of requests by its hash.
pub const HASH: &str = "trajfit";

/// The phase of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Not done yet.
    Running,
    /// Done; single requests may have failed.
    Ended,
    /// Time ran out before all of it was done.
    Expired,
    /// Somebody cancelled it.
    Cancelled,
    /// It was refused as a whole.
    Failed,
}

/// A batch, as the vendor reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchJob {
    /// Its id.
    pub id: String,
    /// Its phase.
    pub phase: Phase,
    /// The phase in the vendor's word.
    pub word: String,
    /// Number of requests in it, as counted so far.
    pub requests: u64,
    /// Number of these that are answered.
    pub done: u64,
    /// Number of these that failed.
    pub failed: u64,
    /// The location of its responses: ids of files, or an address.
    pub outputs: Vec<String>,
    /// The reason why it failed as a whole, if reported.
    pub problem: Option<String>,
    /// Set if it failed because the vendor's queue is full.
    pub full: Option<QueueFull>,
    /// The file of requests that it was made from, if the vendor has such.
    pub input: Option<String>,
    /// The hash of that file, if we sent it along.
    pub hash: Option<String>,
}

/// Reads a vendor's report of a batch; `None` for anything else.
pub fn read(api: Api, body: &Value) -> Option<BatchJob> {
    match api {
        Api::OpenAi => openai(body),
        Api::Anthropic => anthropic(body),
    }
}

/// Reads a page of a list of batches, the latest first, and the id after which the next page begins.
pub fn read_list(api: Api, body: &Value) -> (Vec<BatchJob>, Option<String>) {
    let data = body.get("data").and_then(Value::as_array);
    let jobs: Vec<BatchJob> = data
        .into_iter()
        .flatten()
        .filter_map(|job| read(api, job))
        .collect();
    let more = body.get("has_more").and_then(Value::as_bool) == Some(true);
    let last = text(body, "last_id").or_else(|| jobs.last().map(|job| job.id.clone()));
    (jobs, last.filter(|_| more))
}

/// The body that creates a batch from an uploaded file.
pub fn submission(file: &str, hash: &str) -> Value {
    json!({
        "input_file_id": file,
        "endpoint": ENDPOINT,
        "completion_window": "24h",
        "metadata": {HASH: hash},
    })
}

fn openai(body: &Value) -> Option<BatchJob> {
    let word = text(body, "status")?;
    let phase = match word.as_str() {
        "completed" => Phase::Ended,
        "expired" => Phase::Expired,
        "cancelled" | "canceled" => Phase::Cancelled,
        "failed" => Phase::Failed,
        _ => Phase::Running,
    };
    let outputs = ["output_file_id", "error_file_id"];
    let problem = problem(body);
    let full = problem.as_deref().filter(|_| phase == Phase::Failed);
    Some(BatchJob {
        id: text(body, "id")?,
        phase,
        word,
        requests: count(body, "total"),
        done: count(body, "completed"),
        failed: count(body, "failed"),
        outputs: outputs.iter().filter_map(|field| text(body, field)).collect(),
        full: full.and_then(QueueFull::told),
        problem,
        input: text(body, "input_file_id"),
        hash: body.get("metadata").and_then(|metadata| text(metadata, HASH)),
    })
}

fn anthropic(body: &Value) -> Option<BatchJob> {
    let word = text(body, "processing_status")?;
    let counted = |fields: &[&str]| fields.iter().map(|field| count(body, field)).sum();
    Some(BatchJob {
        id: text(body, "id")?,
        phase: if word == "ended" {
            Phase::Ended
        } else {
            Phase::Running
        },
        word,
        requests: counted(&["processing", "succeeded", "errored", "canceled", "expired"]),
        done: counted(&["succeeded"]),
        failed: counted(&["errored", "canceled", "expired"]),
        outputs: text(body, "results_url").into_iter().collect(),
        problem: None,
        full: None,
        input: None,
        hash: None,
    })
}

/// The errors that a batch was refused for, in one line.
fn problem(body: &Value) -> Option<String> {
    let errors = body.pointer("/errors/data").and_then(Value::as_array)?;
    let told = errors.iter().filter_map(|error| {
        let message = text(error, "message")?;
        let line = error.get("line").and_then(Value::as_u64);
        let line = line.map_or_else(String::new, |line| format!(" (line {line})"));
        let code = text(error, "code").map_or_else(String::new, |code| format!("{code}: "));
        Some(format!("{code}{message}{line}"))
    });
    let told: Vec<String> = told.take(3).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

fn text(body: &Value, field: &str) -> Option<String> {
    let text = body.get(field)?.as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}

fn count(body: &Value, field: &str) -> u64 {
    let counts = body.get("request_counts");
    counts
        .and_then(|counts| counts.get(field)?.as_u64())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openai_tells_of_a_batch() {
        let body = json!({
            "id": "batch_1", "object": "batch", "status": "expired", "input_file_id": "file-1",
            "output_file_id": "file-2", "error_file_id": "file-3", "metadata": {"trajfit": "abc"},
            "request_counts": {"total": 10, "completed": 7, "failed": 1},
        });
        let job = read(Api::OpenAi, &body).unwrap();
        assert_eq!(
            (job.phase, job.requests, job.done, job.failed),
            (Phase::Expired, 10, 7, 1)
        );
        assert_eq!(job.outputs, ["file-2", "file-3"]);
        assert_eq!(
            (job.input.as_deref(), job.hash.as_deref()),
            (Some("file-1"), Some("abc"))
        );
        let refused = json!({
            "id": "batch_2", "status": "failed", "output_file_id": null, "metadata": null,
            "errors": {"object": "list", "data": [
                {"code": "invalid_json_line", "message": "This line is no JSON.", "line": 3},
            ]},
        });
        let job = read(Api::OpenAi, &refused).unwrap();
        assert_eq!(
            (job.phase, job.problem.as_deref()),
            (
                Phase::Failed,
                Some("invalid_json_line: This line is no JSON. (line 3)")
            )
        );
        assert_eq!(job.full, None);
        let full = json!({
            "id": "batch_3", "status": "failed",
            "errors": {"object": "list", "data": [
                {"code": "token_limit_exceeded", "line": null, "message": "Enqueued token limit reached. Limit: 90,000 enqueued tokens."},
            ]},
        });
        let job = read(Api::OpenAi, &full).unwrap();
        assert_eq!(job.full.unwrap().room.tokens, Some(90_000));
        for (word, phase) in [
            ("validating", Phase::Running),
            ("in_progress", Phase::Running),
            ("finalizing", Phase::Running),
            ("cancelling", Phase::Running),
            ("cancelled", Phase::Cancelled),
            ("completed", Phase::Ended),
        ] {
            let job = read(Api::OpenAi, &json!({"id": "b", "status": word})).unwrap();
            assert_eq!(job.phase, phase, "{word}");
        }
    }

    #[test]
    fn anthropic_tells_of_a_batch() {
        let body = json!({
            "id": "msgbatch_1", "type": "message_batch", "processing_status": "ended",
            "request_counts": {"processing": 0, "succeeded": 5, "errored": 1, "canceled": 2, "expired": 3},
            "results_url": "https://h/v1/messages/batches/msgbatch_1/results",
        });
        let job = read(Api::Anthropic, &body).unwrap();
        assert_eq!(
            (job.phase, job.requests, job.done, job.failed),
            (Phase::Ended, 11, 5, 6)
        );
        assert_eq!(job.outputs.len(), 1);
        let running = json!({"id": "m", "processing_status": "in_progress", "results_url": null});
        assert_eq!(read(Api::Anthropic, &running).unwrap().phase, Phase::Running);
    }

    #[test]
    fn lists_come_in_pages_and_what_is_no_batch_is_none() {
        let page = json!({
            "data": [{"id": "a", "status": "completed"}, {"what": 1}, {"id": "b", "status": "failed"}],
            "has_more": true, "last_id": "b",
        });
        let (jobs, next) = read_list(Api::OpenAi, &page);
        assert_eq!((jobs.len(), next.as_deref()), (2, Some("b")));
        let (jobs, next) = read_list(Api::Anthropic, &json!({"data": [], "has_more": false}));
        assert_eq!((jobs.len(), next), (0, None));
        assert_eq!(read(Api::OpenAi, &json!("text")), None);
        assert_eq!(read_list(Api::OpenAi, &json!(null)), (Vec::new(), None));
    }
}
