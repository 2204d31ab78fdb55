//! Limits of servers and of accounts: what is not taken now, and what no request would be taken for.

use std::time::{Duration, Instant};

use crate::support::chat::{
    Server, answer_to, at_once, chat_settings, completion, outcome, refusal, summarize, summarizer, user_text,
};
use serde_json::json;
use trajfit::internals::summarize::chat::{ChatSettings, ChatSummarizer};
use wiremock::ResponseTemplate;

/// A server that answers the first requests with `failure` and the others well, and a summarizer for it.
fn failing(times: usize, failure: ResponseTemplate) -> (Server, ChatSummarizer) {
    let server = Server::failing(times, failure);
    let chat = summarizer(ChatSettings {
        retry_delay: Duration::from_micros(100),
        ..chat_settings(&server.url())
    });
    (server, chat)
}

/// Ways to say that no requests are taken now.
fn busy() -> Vec<ResponseTemplate> {
    let body = json!({"error": {"message": "overloaded", "code": 503}});
    vec![
        refusal(429, "slow down"),
        ResponseTemplate::new(503).set_body_string("<html>down</html>"),
        refusal(529, "overloaded"),
        ResponseTemplate::new(200).set_body_json(body),
    ]
}

#[test]
fn what_is_not_taken_now_costs_no_attempt() {
    for failure in busy() {
        let (server, chat) = failing(9, failure);
        assert_eq!(outcome(&summarize(&chat, "text")), "Done.");
        assert_eq!(server.requests().len(), 10);
    }
}

#[test]
fn a_server_that_takes_nothing_for_too_long_ends_the_run() {
    for failure in busy() {
        let (server, chat) = failing(99, failure);
        let error = summarize(&chat, "text").unwrap_err();
        assert!(error.to_string().contains("takes no requests for now"), "{error}");
        assert!((10..20).contains(&server.requests().len()));
    }
    let tomorrow = refusal(429, "come back tomorrow").insert_header("retry-after", "86400");
    let (server, chat) = failing(99, tomorrow);
    let error = summarize(&chat, "text").unwrap_err();
    assert!(error.to_string().contains("86400 s"), "{error}");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn what_is_wrong_for_all_requests_ends_the_run_and_degrades_nothing() {
    for (status, message, what) in [
        (400, "roles must alternate", "refuses every request"),
        (405, "no such method", "refuses every request"),
        (404, "no such page", "is not there"),
        (
            429,
            "You exceeded your current quota, please check your plan and billing details.",
            "to be paid",
        ),
        (
            400,
            "Your credit balance is too low to access the Anthropic API.",
            "to be paid",
        ),
        (400, "gpt-9 is not a valid model ID", "no such model"),
        (403, "not on your plan", "does not allow"),
    ] {
        let server = Server::start(move |_, _| refusal(status, message));
        let chat = summarizer(chat_settings(&server.url()));
        let results = at_once(20, |number| summarize(&chat, &format!("text {number}")));
        for result in &results {
            assert_eq!(outcome(result), "end of the run", "{message}");
        }
        let told = results[0].as_ref().unwrap_err().to_string();
        assert!(told.contains(what), "{told}");
    }
    // A model that is gone in mid-run is gone for all.
    let server = Server::start(|number, _| match number {
        0 => completion("Done."),
        _ => refusal(404, "model_not_found"),
    });
    let chat = summarizer(chat_settings(&server.url()));
    assert_eq!(outcome(&summarize(&chat, "one")), "Done.");
    assert_eq!(outcome(&summarize(&chat, "two")), "end of the run");
}

#[test]
fn a_server_that_says_when_to_come_back_is_obeyed() {
    let later = refusal(429, "slow down").insert_header("retry-after", "1");
    let (_server, chat) = failing(1, later);
    let started = Instant::now();
    assert_eq!(outcome(&summarize(&chat, "text")), "Done.");
    assert!(started.elapsed() >= Duration::from_millis(950));
    let soon = refusal(429, "slow down")
        .insert_header("retry-after", "60")
        .insert_header("retry-after-ms", "100");
    let (_server, chat) = failing(1, soon);
    assert_eq!(outcome(&summarize(&chat, "text")), "Done.");
}

#[test]
fn what_a_server_says_is_left_is_not_asked_for_again() {
    // Nothing is left for a second after the first answer.
    let server = Server::start(|number, request| {
        let left = if number == 0 { "0" } else { "1000" };
        completion(&answer_to(request))
            .insert_header("x-ratelimit-remaining-requests", left)
            .insert_header("x-ratelimit-reset-requests", "1s")
    });
    let chat = summarizer(chat_settings(&server.url()));
    let started = Instant::now();
    assert!(summarize(&chat, "first").is_ok());
    assert!(summarize(&chat, "second").is_ok());
    assert!(started.elapsed() >= Duration::from_millis(900));
}

#[test]
fn few_requests_a_second_are_enough_and_nothing_fails() {
    // Ten requests in each half second.
    let taken = std::sync::Mutex::new(std::collections::BTreeMap::<u128, usize>::new());
    let began = Instant::now();
    let server = Server::start(move |_, request| {
        let mut taken = taken.lock().unwrap();
        let taken = taken.entry(began.elapsed().as_millis() / 500).or_default();
        *taken += 1;
        if *taken > 10 {
            return refusal(429, "slow down").insert_header("retry-after-ms", "500");
        }
        completion(&answer_to(request))
    });
    let chat = summarizer(ChatSettings {
        max_retries: 0,
        max_concurrent_requests: 50,
        ..chat_settings(&server.url())
    });
    let results = at_once(60, |number| summarize(&chat, &format!("text {number}")));
    // How few requests that takes is measured where the clock is the test's own: in the tests of the flow.
    assert!(results.iter().all(Result::is_ok), "{results:?}");
}

#[test]
fn tokens_that_a_server_does_not_count_are_counted() {
    for usage in [json!({"prompt_tokens": 0, "completion_tokens": 0}), json!(null)] {
        let server = Server::start(move |_, _| {
            let choice = json!({"message": {"content": "It is done."}, "finish_reason": "stop"});
            ResponseTemplate::new(200).set_body_json(json!({"choices": [choice], "usage": usage}))
        });
        let chat = summarizer(chat_settings(&server.url()));
        let usage = summarize(&chat, "text").unwrap().usage;
        assert!(
            usage.tokens.prompt > 100 && usage.tokens.completion == 4,
            "{usage:?}"
        );
    }
}

#[test]
fn a_404_of_one_request_among_others_does_not_end_the_run() {
    let server = Server::start(|number, _| match number {
        0 => completion("Done."),
        _ => refusal(404, "gone"),
    });
    let chat = summarizer(chat_settings(&server.url()));
    assert_eq!(outcome(&summarize(&chat, "one")), "Done.");
    assert_eq!(outcome(&summarize(&chat, "two")), "summary_http_404");
}

#[test]
fn a_model_that_is_gone_without_a_word_of_it_ends_the_run_too() {
    let server = Server::start(|number, _| match number {
        0 => completion("Done."),
        _ => refusal(404, "gone"),
    });
    let chat = summarizer(chat_settings(&server.url()));
    assert_eq!(outcome(&summarize(&chat, "one")), "Done.");
    for text in ["two", "three"] {
        assert_eq!(outcome(&summarize(&chat, text)), "summary_http_404");
    }
    assert_eq!(outcome(&summarize(&chat, "four")), "end of the run");
}

#[test]
fn a_record_that_a_server_does_not_allow_is_its_own_failure() {
    let server = Server::start(|_, request| {
        if user_text(&request.body_json().unwrap()).contains("forbidden") {
            refusal(403, "your input was flagged")
        } else {
            completion("Done.")
        }
    });
    let chat = summarizer(chat_settings(&server.url()));
    for text in ["forbidden one", "forbidden two", "forbidden three"] {
        assert_eq!(outcome(&summarize(&chat, text)), "summary_http_403");
    }
    assert_eq!(outcome(&summarize(&chat, "allowed")), "Done.");
}

#[test]
fn an_error_under_200_ends_the_run_or_waits_as_its_name_says() {
    let error = |code: &str| {
        let error = json!({"error": {"message": "no", "type": "invalid_request_error", "code": code}});
        ResponseTemplate::new(200).set_body_json(error)
    };
    let (_server, chat) = failing(9, error("insufficient_quota"));
    assert_eq!(outcome(&summarize(&chat, "text")), "end of the run");
    let upstream =
        json!({"choices": [{"error": {"message": "busy", "code": 429}, "message": {"content": ""}}]});
    for busy in [
        error("rate_limit_exceeded"),
        ResponseTemplate::new(200).set_body_json(upstream),
    ] {
        let (server, chat) = failing(9, busy);
        assert_eq!(outcome(&summarize(&chat, "text")), "Done.");
        assert_eq!(server.requests().len(), 10);
    }
}
