//! What is done when a language model's server does not answer, or not usably: every row of the retry table.

use std::time::Duration;

use crate::support::chat::{
    Server, answer_to, at_once, chat_settings, completion, outcome, raw_server, refusal, summarize,
    summarizer, user_text,
};
use serde_json::{Value, json};
use trajfit::internals::summarize::SummaryError;
use trajfit::internals::summarize::chat::{ApiKey, ChatSettings, ChatSummarizer};
use wiremock::ResponseTemplate;

/// A server that answers the first requests with `failure` and the others well, and a summarizer for it.
fn failing(times: usize, failure: ResponseTemplate) -> (Server, ChatSummarizer) {
    let server = Server::failing(times, failure);
    let chat = summarizer(chat_settings(&server.url()));
    (server, chat)
}

fn message(content: &Value, finish: &str) -> ResponseTemplate {
    let choice = json!({"message": {"content": content}, "finish_reason": finish});
    ResponseTemplate::new(200).set_body_json(json!({"choices": [choice]}))
}

/// Failures that are worth another attempt.
fn passing() -> Vec<(&'static str, ResponseTemplate)> {
    let status = |status| refusal(status, "not now");
    vec![
        ("summary_http_408", status(408)),
        ("summary_http_409", status(409)),
        ("summary_http_425", status(425)),
        ("summary_http_500", status(500)),
        ("summary_http_502", status(502)),
        ("summary_empty", message(&json!(""), "stop")),
        ("summary_empty", message(&json!(null), "stop")),
        (
            "summary_reasoning_only",
            message(&json!("<think>hm</think>"), "stop"),
        ),
        (
            "summary_invalid_json",
            ResponseTemplate::new(200).set_body_string("{\"choices\": ["),
        ),
        (
            "summary_wrong_shape",
            ResponseTemplate::new(200).set_body_json(json!({"choices": []})),
        ),
        (
            "summary_html",
            ResponseTemplate::new(200).set_body_string("<html><h1>Bad gateway</h1></html>"),
        ),
        ("summary_finish_error", message(&json!("Did"), "error")),
        ("summary_tool_call", message(&json!("Let me see."), "tool_calls")),
        (
            "summary_error_body",
            ResponseTemplate::new(200)
                .set_body_json(json!({"error": {"message": "bad gateway", "code": 502}})),
        ),
    ]
}

/// Failures that would come again.
fn lasting() -> Vec<(&'static str, ResponseTemplate)> {
    vec![
        ("summary_http_400", refusal(400, "roles must alternate")),
        ("summary_http_422", refusal(422, "no such field")),
        (
            "summary_http_redirect",
            ResponseTemplate::new(301).insert_header("location", "/elsewhere"),
        ),
        ("summary_refused", message(&json!(""), "content_filter")),
        (
            "summary_streamed",
            ResponseTemplate::new(200).set_body_string("data: {\"choices\": []}\n\ndata: [DONE]\n"),
        ),
    ]
}

#[test]
fn what_may_pass_is_asked_again_and_every_attempt_is_counted_once() {
    for (name, failure) in passing() {
        let (server, chat) = failing(2, failure);
        let summary = summarize(&chat, "text").unwrap();
        assert_eq!(summary.text, "[CONTEXT SUMMARY]:\nDone.", "{name}");
        assert_eq!((summary.usage.api_calls, summary.usage.errors), (3, 2), "{name}");
        assert_eq!(server.requests().len(), 3, "{name}");
    }
}

#[test]
fn what_does_not_pass_fails_under_its_own_name_after_so_many_attempts() {
    let attempts = [(passing(), 3), (lasting(), 1)];
    for (failures, attempts) in attempts {
        for (name, failure) in failures {
            // It fails at this one; a question of a few words it answers.
            let server = Server::start(move |_, request| {
                if user_text(&request.body_json().unwrap()).contains("unlucky") {
                    failure.clone()
                } else {
                    completion("OK")
                }
            });
            let chat = summarizer(chat_settings(&server.url()));
            let result = summarize(&chat, "unlucky");
            assert_eq!(outcome(&result), name);
            let usage = result.unwrap_err().usage();
            assert_eq!(usage.errors, attempts, "{name}");
            // Of a model that has taken nothing yet it is found out whether it takes anything.
            let found_out = usize::from(attempts == 1 && name.starts_with("summary_http"));
            assert_eq!(usage.api_calls, attempts + found_out, "{name}");
            assert_eq!(server.requests().len(), attempts + found_out, "{name}");
        }
    }
}

#[test]
fn tokens_of_answers_that_were_no_use_are_summed_too() {
    let server = Server::start(|number, _| {
        let content = if number == 0 { "" } else { "Done." };
        completion(content)
    });
    let chat = summarizer(chat_settings(&server.url()));
    let usage = summarize(&chat, "text").unwrap().usage;
    assert_eq!((usage.tokens.prompt, usage.tokens.completion), (2000, 200));
}

#[test]
fn what_ends_the_run_says_what_to_look_at_and_never_the_key() {
    for (status, what) in [
        (401, "refuses the key"),
        (402, "wants to be paid"),
        (403, "does not allow"),
    ] {
        let server = Server::start(move |_, _| {
            refusal(
                status,
                "key xyzzy-9000 and plugh/7000 are no good, nor is frobozz-4",
            )
        });
        let address = server.url().replace("http://", "http://me:grue-5@");
        let chat = summarizer(ChatSettings {
            headers: vec![
                ("Proxy-Authorization".to_owned(), "Bearer plugh/7000".to_owned()),
                ("X-Team-Key".to_owned(), "frobozz-4".to_owned()),
            ],
            key: Some(ApiKey {
                value: "xyzzy-9000".to_owned(),
                variable: "MY_KEY".to_owned(),
            }),
            ..chat_settings(&address)
        });
        let error = summarize(&chat, "text").unwrap_err();
        let SummaryError::EndRun { message, help, .. } = &error else {
            panic!("{error}");
        };
        assert!(
            message.contains(what) && help.contains("MY_KEY") && help.contains("--base-url"),
            "{message}"
        );
        for secret in ["xyzzy-9000", "plugh", "frobozz", "grue"] {
            assert!(!format!("{error:?}").contains(secret), "{error:?}");
        }
        // Nobody asks again.
        assert_eq!(outcome(&summarize(&chat, "other")), "end of the run");
        // What is not allowed may be one record's: it is found out.
        assert_eq!(server.requests().len(), if status == 403 { 2 } else { 1 });
    }
}

#[test]
fn a_redirect_is_not_followed_so_that_the_key_stays_where_it_was_sent() {
    let elsewhere = Server::start(|_, _| completion("Done."));
    let target = elsewhere.url();
    let server = Server::start(move |_, _| {
        ResponseTemplate::new(307).insert_header("location", format!("{target}/chat/completions"))
    });
    let chat = summarizer(ChatSettings {
        key: Some(ApiKey {
            value: "xyzzy-9000".to_owned(),
            variable: "MY_KEY".to_owned(),
        }),
        ..chat_settings(&server.url())
    });
    // A question of a few words is not answered there either.
    assert_eq!(outcome(&summarize(&chat, "text")), "end of the run");
    assert_eq!((server.requests().len(), elsewhere.requests().len()), (2, 0));
}

#[test]
fn a_server_that_is_not_there_hangs_or_hangs_up_has_its_own_names() {
    let nobody = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/v1", listener.local_addr().unwrap())
    };
    let half = raw_server(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"choices\"");
    let cases = [
        (nobody, "summary_connection"),
        (raw_server(b""), "summary_connection"),
        (raw_server(b"no HTTP at all\r\n\r\n"), "summary_connection"),
        (half, "summary_decoding"),
    ];
    for (url, name) in cases {
        assert_eq!(
            outcome(&summarize(&summarizer(chat_settings(&url)), "text")),
            name
        );
    }
    let server = Server::start(|_, _| completion("Late.").set_delay(Duration::from_mins(10)));
    let chat = summarizer(ChatSettings {
        timeout: Duration::from_millis(200),
        max_retries: 1,
        ..chat_settings(&server.url())
    });
    assert_eq!(outcome(&summarize(&chat, "text")), "summary_timeout");
}

#[test]
fn how_the_server_wants_to_be_asked_is_learned_once_in_a_run() {
    let server = Server::start(|_, request| {
        let body: Value = request.body_json().unwrap();
        if body.get("max_tokens").is_some() {
            refusal(
                400,
                "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
            )
        } else if body.get("temperature").is_some() {
            refusal(
                400,
                "Unsupported value: 'temperature' does not support 0.3 with this model.",
            )
        } else {
            completion(&answer_to(request))
        }
    });
    let chat = summarizer(chat_settings(&server.url()));
    let results = at_once(20, |number| summarize(&chat, &format!("text {number}")));
    assert!(results.iter().all(Result::is_ok));
    assert_eq!(server.requests().len(), 22);
}

#[test]
fn a_server_that_is_down_is_waited_for_by_all_and_costs_nobody_their_attempts() {
    // All that are in flight are refused, or those that look whether it is back; no run is given up for so few refusals in a
    // row, whatever they are of.
    let server = Server::start(|number, request| {
        if (1..=10).contains(&number) {
            refusal(503, "down").set_delay(Duration::from_millis(50))
        } else {
            completion(&answer_to(request))
        }
    });
    let chat = summarizer(ChatSettings {
        max_retries: 0,
        max_concurrent_requests: 10,
        ..chat_settings(&server.url())
    });
    assert_eq!(summarize(&chat, "first").unwrap().usage.errors, 0);
    let results = at_once(30, |number| summarize(&chat, &format!("text {number}")));
    let lost: Vec<_> = results.iter().filter(|result| result.is_err()).collect();
    assert!(lost.is_empty(), "{lost:?}");
}

#[test]
fn records_that_always_fail_do_not_make_a_server_count_as_down() {
    let server = Server::start(|_, request| {
        if user_text(&request.body_json().unwrap()).contains("unlucky") {
            refusal(500, "no luck")
        } else {
            completion(&answer_to(request))
        }
    });
    let chat = summarizer(ChatSettings {
        max_concurrent_requests: 10,
        ..chat_settings(&server.url())
    });
    assert!(summarize(&chat, "lucky").is_ok());
    let results = at_once(30, |number| summarize(&chat, &format!("unlucky {number}")));
    assert!(
        results.iter().all(|result| outcome(result) == "summary_http_500"),
        "{results:?}"
    );
    assert!(summarize(&chat, "lucky again").is_ok());
}

#[test]
fn a_server_that_stays_down_ends_the_run() {
    let server = Server::start(|_, _| refusal(503, "down"));
    let chat = summarizer(chat_settings(&server.url()));
    let results = at_once(30, |number| summarize(&chat, &format!("text {number}")));
    let ended = results
        .iter()
        .filter(|result| outcome(result) == "end of the run")
        .count();
    assert!(ended > 20, "{ended}");
    assert!(server.requests().len() < 60);
}
