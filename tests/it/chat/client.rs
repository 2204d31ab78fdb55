//! The program with a language model: what a run writes, says and counts, and how it ends.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::chat::{Server, answer_to, arguments, completion, refusal, run, user_text};
use crate::support::cli::{Ran, Workspace, fixture_bytes};
use serde_json::Value;
use trajfit::internals::metrics::Status;

fn demo() -> Workspace {
    Workspace::with_input(fixture_bytes("agent_runs.jsonl"))
}

/// A number that looks like chance, between 0 and `most`.
fn spread(request: &wiremock::Request, salt: usize, most: u64) -> u64 {
    let sum = request.body.iter().fold(salt as u64, |sum, byte| {
        sum.wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(u64::from(*byte))
    });
    (sum >> 33) % most
}

#[test]
fn summaries_come_from_the_model_and_the_totals_say_what_they_took() {
    let server = Server::start(|_, request| completion(&answer_to(request)));
    let workspace = demo();
    let prices = ["--price-prompt", "2.5", "--price-completion", "10"];
    run(&workspace, &server.url(), &prices)
        .exits(0)
        .says("Requests")
        .says("$");
    let rows = workspace.rows("out.metrics.csv");
    let compressed: Vec<_> = rows
        .iter()
        .filter(|row| row.status == Status::Compressed)
        .collect();
    assert!(compressed.len() > 10);
    for row in &compressed {
        assert_eq!((row.summarizer.as_str(), row.degraded), ("chat", false));
        assert!(row.summary_tokens <= 750 && row.summarization_api_calls >= 1);
    }
    let requests = server.requests().len() as u64;
    let totals = workspace.json("out.summary.json");
    assert_eq!(totals["summarization_api_calls"], requests);
    assert_eq!(totals["prompt_tokens"], requests * 1000);
    let cost = totals["summarization_cost"].as_f64().unwrap();
    assert!((cost - requests as f64 * (1000.0 * 2.5 + 100.0 * 10.0) / 1e6).abs() < 1e-3);
    assert!(
        workspace
            .text("out.jsonl")
            .contains("The agent read the files and ran the tests")
    );
}

#[test]
fn the_fallback_model_is_paid_at_its_own_prices() {
    let server = Server::start(|_, request| {
        let body: serde_json::Value = request.body_json().unwrap();
        if body["model"] == "test-model" && !user_text(&body).starts_with("Answer with OK") {
            refusal(400, "no")
        } else {
            completion(&answer_to(request))
        }
    });
    let workspace = demo();
    let prices = ["--price-prompt", "1", "--price-completion", "1"];
    let fallback = ["--fallback-model", "spare", "--fallback-price-prompt", "1000"];
    run(&workspace, &server.url(), &[&prices[..], &fallback].concat()).exits(3);
    let totals = workspace.json("out.summary.json");
    let tokens = |name: &str| totals[name].as_u64().unwrap();
    assert!(tokens("fallback_prompt_tokens") > 10_000);
    // The first model answered nothing but a question of a few words.
    assert_eq!(tokens("fallback_prompt_tokens") + 1000, tokens("prompt_tokens"));
    // What has no price of its own costs as much as with the first model.
    let cost = totals["summarization_cost"].as_f64().unwrap();
    let expected =
        (tokens("fallback_prompt_tokens") * 1000 + 1000 + tokens("completion_tokens")) as f64 / 1e6;
    assert!((cost - expected).abs() < 1e-3, "{cost} {expected}");
    // A limit counts them alike.
    let limited = demo();
    let limit = ["--max-cost", "1.5"];
    run(
        &limited,
        &server.url(),
        &[&prices[..], &fallback, &limit].concat(),
    )
    .exits(4)
    .says("--max-cost");
}

#[test]
fn the_bytes_depend_on_the_answers_and_not_on_their_timing() {
    let mut outputs = Vec::new();
    for (salt, jobs) in [(1, "1"), (2, "2"), (3, "8")] {
        let server = Server::start(move |_, request| {
            let delay = Duration::from_millis(spread(request, salt, 150));
            completion(&answer_to(request)).set_delay(delay)
        });
        let workspace = demo();
        run(&workspace, &server.url(), &["--jobs", jobs]).exits(0);
        outputs.push(workspace.read("out.jsonl"));
    }
    assert!(outputs[0] == outputs[1] && outputs[0] == outputs[2]);
}

#[test]
fn a_record_whose_summary_fails_is_told_by_name_and_hurts_no_other() {
    let unlucky = |request: &wiremock::Request| spread(request, 5, 3) == 0;
    for (on_failure, status) in [("fallback", Status::Compressed), ("keep", Status::Kept)] {
        let server = Server::start(move |_, request| {
            if unlucky(request) {
                refusal(500, "no\nluck")
            } else {
                completion(&answer_to(request))
            }
        });
        let workspace = demo();
        run(&workspace, &server.url(), &["--on-failure", on_failure]).exits(3);
        let rows = workspace.rows("out.metrics.csv");
        assert_eq!(rows.len(), 40);
        let failed: Vec<_> = rows
            .iter()
            .filter(|row| row.reason_text().contains("summary_http_500"))
            .collect();
        let good = rows
            .iter()
            .filter(|row| row.summarizer == "chat" && !row.degraded)
            .count();
        assert!(!failed.is_empty() && good > 0, "{} {good}", failed.len());
        for row in failed {
            assert!(row.degraded && row.status == status, "{}", row.reason);
            assert_eq!((row.summarization_api_calls, row.summarization_errors), (4, 4));
            assert!(
                row.reason_text() == "summary_http_500: no luck" || row.still_over_limit,
                "{}",
                row.reason
            );
            let writer = if on_failure == "keep" {
                "chat"
            } else {
                "extractive"
            };
            assert_eq!(row.summarizer, writer);
        }
    }
}

#[test]
fn a_refused_key_ends_the_run_which_can_be_resumed_and_is_never_shown() {
    let server = Server::start(|number, request| {
        if number < 4 {
            completion(&answer_to(request))
        } else {
            refusal(401, "the key s3cr3t-k3y is not known")
        }
    });
    let workspace = demo();
    let run = |more: &[&str]| {
        let arguments = arguments(&server.url());
        let mut command = workspace.command(&[]);
        command.args(arguments).args(more).env("MY_KEY", "s3cr3t-k3y");
        Ran::of(command.args(["--api-key-env", "MY_KEY"]).output().unwrap())
    };
    let ended = run(&["--max-concurrent-requests", "1"])
        .exits(4)
        .says("HTTP 401")
        .says("MY_KEY")
        .says("--resume");
    assert!(!ended.stderr.contains("s3cr3t"), "{}", ended.stderr);
    assert!(!workspace.exists("out.jsonl") && workspace.exists("out.checkpoint"));
    for file in workspace.files() {
        assert!(
            !String::from_utf8_lossy(&workspace.read(&file)).contains("s3cr3t"),
            "{file}"
        );
    }
    let good = Server::start(|_, request| completion(&answer_to(request)));
    // Another address is another run, but for the same server behind another name; here it is started over.
    let arguments = arguments(&good.url());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    workspace
        .run(&[&arguments[..], &["--resume"]].concat())
        .exits(2)
        .says("base_url");
    workspace.run(&[&arguments[..], &["--force"]].concat()).exits(0);
}

#[test]
fn a_limit_ends_the_run_and_resuming_finishes_it_with_the_same_bytes() {
    let server = Server::start(|_, request| completion(&answer_to(request)));
    let whole = demo();
    run(&whole, &server.url(), &[]).exits(0);
    let workspace = demo();
    let limit = ["--max-requests", "12", "--max-concurrent-requests", "1"];
    run(&workspace, &server.url(), &limit)
        .exits(4)
        .says("the limit of 12 requests is reached")
        .says("--max-requests");
    run(&workspace, &server.url(), &["--resume"]).exits(0);
    assert!(workspace.read("out.jsonl") == whole.read("out.jsonl"));
}

#[test]
fn a_dry_run_tells_requests_tokens_and_money_and_sends_nothing() {
    let server = Server::start(|_, request| completion(&answer_to(request)));
    let workspace = demo();
    let prices = ["--price-prompt", "2.5", "--price-completion", "10"];
    run(&workspace, &server.url(), &[&prices[..], &["--dry-run"]].concat())
        .exits(0)
        .says("would read")
        .says("$");
    assert!(server.requests().is_empty());
    let planned = workspace.json("out.summary.json");
    let real = demo();
    run(&real, &server.url(), &[]).exits(0);
    let first_passes = server.bodies();
    let counter = crate::support::counter();
    let messages = |body: &Value| {
        let system = body["messages"][0]["content"].as_str().unwrap();
        (counter.count(system) + counter.count(&user_text(body))) as u64
    };
    let sent: u64 = first_passes.iter().map(messages).sum();
    // A real run may need another pass here and there.
    let planned_requests = planned["summarization_api_calls"].as_u64().unwrap();
    let planned_tokens = planned["prompt_tokens"].as_u64().unwrap();
    assert!(planned_requests <= first_passes.len() as u64 && planned_requests > 10);
    assert!(
        planned_tokens <= sent && planned_tokens * 2 > sent,
        "{planned_tokens} {sent}"
    );
    assert!(planned["summarization_cost"].as_f64().unwrap() > 0.0);
}

#[test]
fn what_is_asked_for_grows_with_what_is_replaced_within_its_bounds() {
    let server = Server::start(|_, request| completion(&answer_to(request)));
    let workspace = demo();
    let bounds = ["--summary-min-tokens", "100", "--summary-max-tokens", "500"];
    let ratio = [&["--summary-ratio", "0.08"][..], &bounds].concat();
    run(&workspace, &server.url(), &ratio).exits(0);
    let asked: Vec<usize> = server
        .bodies()
        .iter()
        .map(|body| {
            let text = user_text(body);
            let after = text.split("in at most ").last().unwrap();
            after.split(' ').next().unwrap().parse().unwrap()
        })
        .collect();
    // A tenth less is asked for, and the marker's tokens, since models count badly.
    let (least, most) = (asked.iter().min().unwrap(), asked.iter().max().unwrap());
    assert!(*least >= 80 && *most <= 450 && *most > 2 * *least, "{asked:?}");
    let fits = |workspace: &Workspace| {
        let rows = workspace.rows("out.metrics.csv").into_iter();
        rows.map(|row| !row.still_over_limit).collect::<Vec<_>>()
    };
    let fixed = demo();
    run(&fixed, &server.url(), &["--summary-target-tokens", "100"]).exits(0);
    assert_eq!(fits(&workspace), fits(&fixed));
    // The bounds say which values they bear.
    run(
        &demo(),
        &server.url(),
        &[&ratio[..2], &["--summary-max-tokens", "200"]].concat(),
    )
    .exits(2)
    .says("compression.summary_target_tokens, 750");
    run(&demo(), &server.url(), &["--summary-ratio", "1"])
        .exits(2)
        .says("from 0 to below 1");
}

#[test]
fn an_interrupted_run_does_not_wait_for_a_server_that_hangs() {
    let server = Server::start(|_, _| completion("Never.").set_delay(Duration::from_mins(5)));
    let workspace = demo();
    let mut command = workspace.command(&[]);
    command
        .args(arguments(&server.url()))
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    while server.requests().is_empty() {
        std::thread::sleep(Duration::from_millis(20));
    }
    let interrupted = Instant::now();
    let id = child.id().to_string();
    std::process::Command::new("kill")
        .args(["-INT", &id])
        .status()
        .unwrap();
    Ran::of(child.wait_with_output().unwrap())
        .exits(130)
        .says("--resume");
    // It takes two seconds; the answer would take minutes, and so would giving it up.
    assert!(interrupted.elapsed() < Duration::from_mins(1));
}

#[test]
fn a_model_must_be_named_and_an_address_be_one() {
    let workspace = demo();
    workspace
        .compress(&["in.jsonl", "--summarizer", "chat"])
        .exits(2)
        .says("--model");
    let with = |more: &[&str]| {
        workspace.compress(&[&["in.jsonl", "--summarizer", "chat", "--model", "m"], more].concat())
    };
    with(&["--base-url", "localhost:8000"]).exits(2).says("http://");
    let refused = with(&["--base-url", "https://user:k3y-of-mine@host/v1"]);
    let refused = refused.exits(2).says("no key in it");
    assert!(!refused.stderr.contains("k3y-of-mine"), "{}", refused.stderr);
    with(&["--max-cost", "5"]).exits(2).says("price_prompt");
    with(&["--prompt-template", "nowhere.jinja"])
        .exits(2)
        .says("nowhere.jinja");
    workspace.write("broken.jinja", "{% if %}");
    with(&["--prompt-template", "broken.jinja"]).exits(2);
}

#[test]
fn the_predecessors_file_names_model_and_endpoint() {
    let server = Server::start(|_, request| completion(&answer_to(request)));
    let workspace = demo();
    let file = format!(
        "tokenizer:\n  name: o200k_base\n  trust_remote_code: true\nsummarization:\n  model: google/gemini-flash\n  \
         base_url: {}\n  api_key_env: OPENROUTER_API_KEY\n  temperature: 0.3\n  max_retries: 3\n  retry_delay: 2\n  \
         headers:\n    X-Title: mine\n  body:\n    provider:\n      order: [a, b]\n",
        server.url()
    );
    workspace.write("hermes.yaml", file);
    let mut command = workspace.command(&[
        "compress",
        "in.jsonl",
        "--config",
        "hermes.yaml",
        "--summarizer",
        "chat",
    ]);
    Ran::of(command.env("OPENROUTER_API_KEY", "or-key").output().unwrap()).exits(0);
    let request = &server.requests()[0];
    let body: Value = request.body_json().unwrap();
    assert_eq!(
        (&body["model"], &body["provider"]["order"][1]),
        (&"google/gemini-flash".into(), &"b".into())
    );
    assert_eq!(request.headers["authorization"], "Bearer or-key");
    assert_eq!(request.headers["x-title"], "mine");
    let mut command = workspace.command(&["config", "--config", "hermes.yaml"]);
    let shown = command.output().unwrap();
    assert!(!String::from_utf8_lossy(&shown.stdout).contains("mine"));
}
