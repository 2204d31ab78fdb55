//! Responses of every kind that vendors put into their files.

use serde_json::{Value, json};

use super::*;

fn outcome(line: &Value) -> String {
    match read(line.to_string().as_bytes()) {
        Ok(response) => match response.outcome {
            ResponseOutcome::Answer(answer) => answer.text,
            ResponseOutcome::Failed(failed) => failed.name().to_owned(),
        },
        Err(NoResponse::Request) => "request".to_owned(),
        Err(NoResponse::Broken(_)) => "broken".to_owned(),
    }
}

fn completion(content: &Value) -> Value {
    json!({
        "choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2},
    })
}

#[test]
fn openai_answers_and_failures_have_their_names() {
    let with = |status: u16, body: Value| json!({"id": "batch_req_1", "custom_id": "x", "response": {"status_code": status, "request_id": "r", "body": body}, "error": null});
    let error = |message: &str| json!({"error": {"message": message}});
    for (line, expected) in [
        (with(200, completion(&json!("Done."))), "Done."),
        (with(200, completion(&json!(""))), "summary_empty"),
        (with(200, json!({"choices": []})), "summary_wrong_shape"),
        (with(400, error("context_length_exceeded")), "summary_http_400"),
        (with(500, error("oh")), "summary_http_500"),
        (with(429, Value::Null), "summary_http_429"),
    ] {
        assert_eq!(outcome(&line), expected, "{line}");
    }
    let without = |code: &str| {
        let error = json!({"code": code, "message": "m"});
        json!({"id": "b", "custom_id": "x", "response": null, "error": error})
    };
    assert_eq!(outcome(&without("batch_expired")), "summary_expired");
    assert_eq!(outcome(&without("batch_cancelled")), "summary_canceled");
    assert_eq!(outcome(&without("other")), "summary_batch_error");
}

#[test]
fn vllm_leaves_the_body_out_where_there_is_an_error() {
    let line = json!({
        "id": "vllm-1", "custom_id": "x",
        "response": {"status_code": 400, "request_id": "vllm-batch-1", "body": null},
        "error": {"error": {"message": "This model's maximum context length is 4096 tokens.", "code": 400}},
    });
    let response = read(line.to_string().as_bytes()).unwrap();
    let ResponseOutcome::Failed(failed) = response.outcome else {
        panic!("an answer")
    };
    let verdict = failed.verdict(RequestShape::default());
    assert!(
        matches!(verdict, RetryVerdict::Shorten(_, Some(4096))),
        "{verdict:?}"
    );
    let text = json!({
        "id": "vllm-1", "custom_id": "x", "error": "Request must not be sent in stream mode",
        "response": {"status_code": 400, "request_id": "r"},
    });
    assert_eq!(outcome(&text), "summary_http_400");
}

#[test]
fn anthropic_answers_and_failures_have_their_names() {
    let with = |result: Value| json!({"custom_id": "x", "result": result});
    let errored = |kind: &str| {
        let error = json!({"type": "error", "error": {"type": kind, "message": "m"}});
        with(json!({"type": "errored", "error": error}))
    };
    let message =
        json!({"type": "message", "content": [{"type": "text", "text": "Done."}], "stop_reason": "end_turn"});
    let refused = json!({"type": "message", "content": [], "stop_reason": "refusal"});
    for (line, expected) in [
        (with(json!({"type": "succeeded", "message": message})), "Done."),
        (
            with(json!({"type": "succeeded", "message": refused})),
            "summary_refused",
        ),
        (errored("invalid_request_error"), "summary_http_400"),
        (errored("overloaded_error"), "summary_http_529"),
        (errored("something_new"), "summary_http_500"),
        (
            with(json!({"type": "errored", "error": {"type": "invalid_request", "message": "m"}})),
            "summary_http_400",
        ),
        (with(json!({"type": "expired"})), "summary_expired"),
        (with(json!({"type": "canceled"})), "summary_canceled"),
        (with(json!({"type": "else"})), "broken"),
        (with(json!({"type": "succeeded"})), "broken"),
    ] {
        assert_eq!(outcome(&line), expected, "{line}");
    }
}

#[test]
fn what_is_no_response_is_told_from_a_request() {
    for request in [
        json!({"custom_id": "x", "method": "POST", "url": "/v1/chat/completions", "body": {}}),
        json!({"custom_id": "x", "params": {"model": "m"}}),
    ] {
        assert_eq!(outcome(&request), "request");
    }
    for broken in [
        json!({"custom_id": "x"}),
        json!([]),
        json!("x"),
        json!({"response": {"status_code": 200, "body": {}}}),
        json!({"custom_id": 5, "result": {"type": "expired"}}),
    ] {
        assert_eq!(outcome(&broken), "broken", "{broken}");
    }
    assert!(read(b"{\"custom_id\":").is_err() && read(b"\xff\xfe").is_err() && read(b"").is_err());
}

#[test]
fn a_refused_parameter_is_a_lesson() {
    let lesson = |message: &str| {
        let body = json!({"error": {"message": message}});
        let line = json!({"custom_id": "x", "response": {"status_code": 400, "body": body}});
        read(line.to_string().as_bytes()).unwrap().outcome.lesson()
    };
    assert_eq!(
        lesson("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        Some(DialectFix::CompletionLimit)
    );
    assert_eq!(
        lesson("Unsupported value: 'temperature'"),
        Some(DialectFix::NoTemperature)
    );
    assert_eq!(lesson("no such model"), None);
}
