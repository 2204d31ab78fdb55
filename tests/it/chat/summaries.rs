//! What a language model is asked and what its answers become: pieces, lengths, models, limits, each thing once.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::support::chat::{
    Server, answer_to, at_once, chat_settings, completion, limited, outcome, refusal, summarize,
    summarize_turns, summarizer, summary_of, turn, user_text,
};
use crate::support::counter;
use futures_util::future::{Either, join_all, select};
use serde_json::{Value, json};
use trajfit::internals::compress::anchors::Anchor;
use trajfit::internals::metrics::Prices;
use trajfit::internals::summarize::SummaryError;
use trajfit::internals::summarize::chat::api::Api;
use trajfit::internals::summarize::chat::{ApiKey, ChatSettings};
use trajfit::internals::summarize::spend::SpendLimits;
use trajfit::internals::trajectory::Role;
use wiremock::ResponseTemplate;

fn long_turns(count: usize) -> Vec<trajfit::internals::trajectory::TurnView<'static>> {
    let text = |number: usize| format!("Turn number {number} says something. ").repeat(60);
    (0..count)
        .map(|number| turn(number, Role::Assistant, &text(number)))
        .collect()
}

#[test]
fn a_request_is_what_chat_completions_ask_for() {
    let server = Server::start(|_, _| completion("Done."));
    let chat = summarizer(ChatSettings {
        key: Some(ApiKey {
            value: "k-1".to_owned(),
            variable: "K".to_owned(),
        }),
        headers: vec![("X-Title".to_owned(), "trajfit".to_owned())],
        body: json!({"provider": {"sort": "price"}})
            .as_object()
            .unwrap()
            .clone(),
        ..chat_settings(&server.url())
    });
    summarize(&chat, "text").unwrap();
    let request = &server.requests()[0];
    assert_eq!(request.url.path(), "/v1/chat/completions");
    assert_eq!(request.headers["authorization"], "Bearer k-1");
    assert_eq!(request.headers["x-title"], "trajfit");
    let body: Value = request.body_json().unwrap();
    assert_eq!(
        (&body["model"], &body["temperature"]),
        (&json!("first"), &json!(0.3))
    );
    assert_eq!(body["provider"], json!({"sort": "price"}));
    assert!(user_text(&body).contains("<turn index=\"3\" role=\"gpt\">\ntext\n</turn>"));
}

#[test]
fn anthropics_messages_carry_the_key_the_version_and_the_rules() {
    let server = Server::start(|_, _| {
        ResponseTemplate::new(200).set_body_json(json!({
            "content": [{"type": "text", "text": "Done."}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 10, "cache_read_input_tokens": 40, "output_tokens": 2},
        }))
    });
    let chat = summarizer(ChatSettings {
        api: Api::Anthropic,
        key: Some(ApiKey {
            value: "k-1".to_owned(),
            variable: "K".to_owned(),
        }),
        ..chat_settings(&server.url())
    });
    let summary = summarize(&chat, "text").unwrap();
    assert_eq!(
        (summary.usage.tokens.prompt, summary.usage.tokens.completion),
        (50, 2)
    );
    let request = &server.requests()[0];
    assert_eq!(request.url.path(), "/v1/messages");
    assert_eq!(
        (
            &request.headers["x-api-key"],
            &request.headers["anthropic-version"]
        ),
        (&"k-1".parse().unwrap(), &"2023-06-01".parse().unwrap())
    );
    let body: Value = request.body_json().unwrap();
    // The concise rules are too short for the server's cache, and carry no mark for it.
    assert!(
        body["system"]
            .as_str()
            .unwrap()
            .starts_with("You write the record")
    );
    assert!(body["max_tokens"].is_u64());
}

#[test]
fn a_region_larger_than_the_window_is_summarized_in_pieces_that_build_on_each_other() {
    let server = Server::start(|number, _| {
        completion(&format!("All that was done, as told in summary number {number}."))
    });
    let chat = summarizer(ChatSettings {
        context_window: Some(4000),
        ..chat_settings(&server.url())
    });
    let turns = long_turns(20);
    let summary = summarize_turns(&chat, &turns, &[]).unwrap();
    let bodies = server.bodies();
    assert!(bodies.len() > 2, "{}", bodies.len());
    assert_eq!(summary.usage.api_calls, bodies.len());
    assert!(
        summary
            .text
            .ends_with(&format!("summary number {}.", bodies.len() - 1))
    );
    for (number, body) in bodies.iter().enumerate() {
        let text = user_text(body);
        assert!(counter().count(&body["messages"].to_string()) < 4000);
        assert!(text.contains(&format!("this is part {}.", number + 1)));
        let before = number.wrapping_sub(1);
        let before = format!("<earlier_summary>\nAll that was done, as told in summary number {before}.\n");
        assert_eq!(text.contains(&before), number > 0);
    }
    let all: String = bodies.iter().map(user_text).collect();
    for number in 0..20 {
        assert!(all.contains(&format!("<turn index=\"{number}\"")), "{number}");
    }
}

#[test]
fn a_server_whose_window_is_smaller_gets_shorter_prompts() {
    for says in ["maximum context length is 3500 tokens", "the prompt is too long"] {
        let server = Server::start(move |_, request| {
            let body = String::from_utf8_lossy(&request.body).len();
            if body > 3500 * 4 {
                refusal(400, says)
            } else {
                completion("Thirty turns said something, and no more was done.")
            }
        });
        let chat = summarizer(chat_settings(&server.url()));
        let summary = summarize_turns(&chat, &long_turns(30), &[]).unwrap();
        assert!(summary.text.ends_with("was done.") && summary.usage.errors >= 1);
    }
}

#[test]
fn an_answer_that_is_too_long_is_asked_for_again_shorter_and_then_cut_at_a_line_end() {
    let server = Server::start(|_, _| {
        let lines = (0..80).map(|n| format!("Step {n} was done and it worked.\n"));
        completion(&lines.collect::<Vec<_>>().concat())
    });
    let chat = summarizer(chat_settings(&server.url()));
    let anchors = [Anchor::new("src/lost/one.rs", 2)];
    let summary = summarize_turns(&chat, &long_turns(3), &anchors).unwrap();
    let cost = counter().count(&summary.text);
    assert!(
        cost <= 190 && cost > 140 && summary.text.ends_with("it worked."),
        "{cost}"
    );
    let asked: Vec<usize> = server.bodies().iter().map(tokens_asked_for).collect();
    assert_eq!(asked.len(), 2);
    assert!(asked[1] < asked[0] / 2 && asked[0] < 200, "{asked:?}");
    assert!(user_text(&server.bodies()[0]).contains("<keep_verbatim>\nsrc/lost/one.rs\n</keep_verbatim>"));
}

fn tokens_asked_for(body: &Value) -> usize {
    let text = user_text(body);
    let after = text.split("in at most ").last().unwrap();
    after.split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn an_answer_that_the_token_limit_cut_is_asked_for_again_shorter() {
    let cut = json!({"choices": [{"message": {"content": "Did"}, "finish_reason": "length"}]});
    let server = Server::start(move |number, _| match number {
        0 => ResponseTemplate::new(200).set_body_json(&cut),
        _ => completion("Done."),
    });
    let chat = summarizer(chat_settings(&server.url()));
    assert_eq!(outcome(&summarize(&chat, "text")), "Done.");
    let asked: Vec<usize> = server.bodies().iter().map(tokens_asked_for).collect();
    assert!(asked[1] < asked[0]);
}

#[test]
fn another_model_is_asked_where_the_first_one_fails() {
    let server = Server::start(|_, request| {
        let body: Value = request.body_json().unwrap();
        match body["model"].as_str().unwrap() {
            "first" => refusal(502, "overloaded"),
            _ => completion("Done by the second."),
        }
    });
    let chat = summarizer(ChatSettings {
        fallback_model: Some("second".to_owned()),
        ..chat_settings(&server.url())
    });
    let summary = summarize(&chat, "text").unwrap();
    assert!(summary.text.ends_with("Done by the second."));
    assert_eq!((summary.usage.api_calls, summary.usage.errors), (4, 3));
    let reason = summary.instead_of.unwrap();
    assert_eq!(
        (reason.code, reason.detail.as_str()),
        ("summary_http_502", "overloaded; written by second")
    );
}

#[test]
fn the_same_prompt_is_sent_once_in_a_run_even_when_it_is_asked_for_at_once() {
    let server =
        Server::start(|_, request| completion(&answer_to(request)).set_delay(Duration::from_millis(100)));
    let chat = summarizer(chat_settings(&server.url()));
    let results = at_once(10, |_| summarize(&chat, "the same text").unwrap());
    assert_eq!(server.requests().len(), 1);
    assert_eq!(
        results.iter().map(|summary| summary.usage.cached).sum::<usize>(),
        9
    );
    assert!(results.iter().all(|summary| summary.text == results[0].text));
}

#[test]
fn limits_on_requests_and_money_end_the_run() {
    let server = Server::start(|_, request| completion(&answer_to(request)));
    let limits = SpendLimits {
        max_requests: Some(2),
        ..SpendLimits::default()
    };
    let (chat, spend) = limited(chat_settings(&server.url()), limits);
    let outcomes: Vec<_> = (0..4)
        .map(|n| summarize(&chat, &format!("text {n}")).is_ok())
        .collect();
    assert_eq!(outcomes, [true, true, false, false]);
    assert_eq!(
        (server.requests().len(), spend.requests.load(Ordering::Relaxed)),
        (2, 2)
    );

    let prices = Prices {
        prompt: 1000.0,
        completion: 5000.0,
        fallback_prompt: 1000.0,
        fallback_completion: 5000.0,
    };
    let limits = SpendLimits {
        max_cost: Some(10.0),
        prices: Some(prices),
        ..SpendLimits::default()
    };
    let (chat, spend) = limited(chat_settings(&server.url()), limits);
    let results = at_once(30, |n| summarize(&chat, &format!("text {n}")));
    let error = results.into_iter().find_map(Result::err).unwrap();
    let SummaryError::EndRun { message, help, .. } = error else {
        panic!("{error}");
    };
    assert!(message.contains("$10") && help.contains("--max-cost") && help.contains("--resume"));
    let cost = spend.cost().unwrap();
    assert!(cost > 3.0 && cost <= 10.0, "{cost}");
}

#[test]
fn no_more_requests_are_in_flight_than_allowed_and_rates_are_kept() {
    let server =
        Server::start(|_, request| completion(&answer_to(request)).set_delay(Duration::from_millis(100)));
    let chat = summarizer(ChatSettings {
        max_concurrent_requests: 2,
        ..chat_settings(&server.url())
    });
    let started = Instant::now();
    at_once(6, |n| summarize(&chat, &format!("text {n}")).unwrap());
    assert!(started.elapsed() >= Duration::from_millis(300));

    let chat = summarizer(ChatSettings {
        rpm: Some(600),
        ..chat_settings(&server.url())
    });
    let started = Instant::now();
    at_once(16, |n| summarize(&chat, &format!("other {n}")).unwrap());
    // Ten a second, after a burst of a second's worth at most.
    assert!(started.elapsed() >= Duration::from_millis(500));
}

#[test]
fn a_hanging_answer_delays_nobody_else() {
    let server = Server::start(|_, request| {
        let hangs = user_text(&request.body_json().unwrap()).contains("text 7\n");
        let delay = if hangs {
            Duration::from_mins(10)
        } else {
            Duration::ZERO
        };
        completion(&answer_to(request)).set_delay(delay)
    });
    let chat = summarizer(ChatSettings {
        timeout: Duration::from_mins(10),
        max_concurrent_requests: 4,
        ..chat_settings(&server.url())
    });
    summarize(&chat, "first").unwrap();
    let turns: Vec<_> = (0..40)
        .map(|number| [turn(3, Role::Assistant, &format!("text {number}"))])
        .collect();
    let ask = |number: usize| summary_of(&chat, &turns[number], &[]);
    let others = join_all((0..40).filter(|number| *number != 7).map(ask));
    // The one that hangs is asked first, and takes one of four places.
    let either = select(Box::pin(ask(7)), Box::pin(others));
    let Either::Right((results, _)) = pollster::block_on(either) else {
        panic!("it did not hang");
    };
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    let asked = server.bodies();
    let hangs = asked.iter().position(|body| user_text(body).contains("text 7\n"));
    assert!(asked.len() == 41 && hangs.is_some_and(|at| at < 10), "{hangs:?}");
}
