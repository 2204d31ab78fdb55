//! Runs through a Batch API: rounds, ends of every kind, limits.

use crate::support::batch::{
    self, QUICK, SETTINGS, answers, batch_run, demo, error, question, request, response, result,
};
use crate::support::cli::{Ran, Workspace};
use crate::support::vendor::{End, Fault, Vendor};
use serde_json::{Value, json};
use trajfit::internals::metrics::Status;

fn run(workspace: &Workspace, vendor: &Vendor, more: &[&str]) -> Ran {
    let url = vendor.url();
    let arguments = ["batch", "run", "in.jsonl", "-o", "out.jsonl", "--base-url", &url];
    workspace.run(&[&arguments[..], &SETTINGS, &QUICK, more].concat())
}

/// What a server that answers at once leads to.
fn chat() -> Vec<u8> {
    batch::chat(&[]).read("out.jsonl")
}

/// The requests of a batch, in two halves.
fn halves(text: &str) -> (String, Vec<String>) {
    let lines: Vec<&str> = text.lines().collect();
    let (first, second) = lines.split_at(lines.len().div_ceil(2));
    let ids = second.iter().map(|line| request(line).0).collect();
    (first.join("\n"), ids)
}

#[test]
fn a_run_asks_in_rounds_until_nothing_is_left_to_ask() {
    let expected = chat();
    let anthropic: &[&str] = &["--api", "anthropic"];
    for more in [&[], anthropic] {
        let vendor = Vendor::start();
        let workspace = demo();
        run(&workspace, &vendor, more)
            .exits(0)
            .says("Round 2")
            .says("submitted requests-1.jsonl");
        assert!(workspace.read("out.jsonl") == expected);
        assert!(vendor.batches().len() > 1);
        assert!(vendor.submitted().values().all(|times| *times == 1));
        let rows = workspace.rows("out.metrics.csv");
        assert!(
            rows.iter()
                .any(|row| row.status == Status::Compressed && row.summarizer == "batch")
        );
        assert!(!workspace.exists("out.missing.jsonl"));
        // What was paid for is kept, and nothing is asked again.
        let before = vendor.batches().len();
        run(&workspace, &vendor, more).exits(2).says("exists already");
        run(&workspace, &vendor, &[more, &["--force"]].concat()).exits(0);
        assert!(workspace.read("out.jsonl") == expected);
        assert_eq!(vendor.batches().len(), before);
    }
}

#[test]
fn large_files_are_split_into_several_batches() {
    let vendor = Vendor::start();
    let workspace = demo();
    run(&workspace, &vendor, &["--max-requests-per-file", "6"])
        .exits(0)
        .says("requests-1-3.jsonl");
    assert!(vendor.batches().len() > 3);
    assert!(
        vendor
            .batches()
            .iter()
            .all(|batch| batch.text.lines().count() <= 6)
    );
    assert!(workspace.read("out.jsonl") == chat());
}

#[test]
fn the_key_goes_to_the_vendor_and_nowhere_else() {
    for (api, header) in [("openai", "authorization"), ("anthropic", "x-api-key")] {
        let vendor = Vendor::start();
        let workspace = demo();
        let mut command = batch_run(&workspace, &vendor, &["--api", api, "--api-key-env", "MY_KEY"]);
        Ran::of(command.env("MY_KEY", "s3cr3t-k3y").output().unwrap()).exits(0);
        // Anthropic's results were told to lie at another host.
        for request in vendor.requests() {
            let value = request.headers[header].to_str().unwrap();
            assert!(value.ends_with("s3cr3t-k3y"), "{value}");
        }
        for file in workspace.files() {
            assert!(
                !String::from_utf8_lossy(&workspace.read(&file)).contains("s3cr3t"),
                "{file}"
            );
        }
    }
    let vendor = Vendor::start();
    vendor.fault("GET /v1/batches", Fault::Refuses(401));
    vendor.fault("POST /v1/files", Fault::Refuses(401));
    run(&demo(), &vendor, &[])
        .exits(4)
        .says("refuses (http_401)")
        .says("--api-key-env");
}

#[test]
fn what_expired_or_failed_is_asked_again_in_the_next_round() {
    // The first batch is answered by half; the rest expired, or failed on the vendor's side.
    let end = |before: usize, text: &str| -> End {
        if before > 0 {
            return ("completed", answers(text), String::new());
        }
        let (first, rest) = halves(text);
        let failed = rest.iter().enumerate().map(|(number, id)| match number % 3 {
            0 => response(id, 500, &json!({"error": {"message": "oh"}})),
            _ => error(id, "batch_expired"),
        });
        ("expired", answers(&first), failed.collect())
    };
    let vendor = Vendor::ending(end);
    let workspace = demo();
    run(&workspace, &vendor, &[]).exits(0).says("expired");
    assert!(workspace.read("out.jsonl") == chat());
    assert!(vendor.submitted().values().any(|times| *times == 2));
    let anthropic = |before: usize, text: &str| -> End {
        if before > 0 {
            return ("completed", answers(text), String::new());
        }
        let (first, rest) = halves(text);
        let overloaded = json!({"type": "error", "error": {"type": "overloaded_error", "message": "m"}});
        let kinds = [
            json!({"type": "expired"}),
            json!({"type": "canceled"}),
            json!({"type": "errored", "error": overloaded}),
        ];
        let failed = rest
            .iter()
            .zip(kinds.iter().cycle())
            .map(|(id, kind)| result(id, kind));
        ("completed", answers(&first), failed.collect())
    };
    let vendor = Vendor::ending(anthropic);
    let workspace = demo();
    run(&workspace, &vendor, &["--api", "anthropic"]).exits(0);
    assert!(workspace.read("out.jsonl") == chat());
}

#[test]
fn what_never_succeeds_is_given_up_and_told() {
    // One question is refused, another one fails each time.
    let end = |_: usize, text: &str| -> End {
        let mut lines = String::new();
        for line in text.lines() {
            let (id, body) = request(line);
            match batch::sum(&question(&body)) % 9 {
                1 => {
                    let refusal =
                        json!({"message": {"content": null, "refusal": "No."}, "finish_reason": "stop"});
                    lines.push_str(&response(&id, 200, &json!({"choices": [refusal]})));
                }
                2 => lines.push_str(&response(&id, 503, &Value::Null)),
                _ => lines.push_str(&answers(line)),
            }
        }
        ("completed", lines, String::new())
    };
    let vendor = Vendor::ending(end);
    let workspace = demo();
    run(&workspace, &vendor, &["--max-retries", "2"]).exits(3);
    let rows = workspace.rows("out.metrics.csv");
    for name in ["summary_refused", "summary_http_503"] {
        assert!(rows.iter().any(|row| row.reason_text().contains(name)), "{name}");
    }
    let most = vendor.submitted().into_values().max();
    assert_eq!(most, Some(3));
    assert!(!workspace.exists("out.missing.jsonl"));
}

#[test]
fn a_batch_that_failed_or_was_cancelled_ends_the_run_and_the_same_command_goes_on() {
    let end = |before: usize, text: &str| -> End {
        let (first, rest) = halves(text);
        let cancelled = rest.iter().map(|id| error(id, "batch_cancelled")).collect();
        match before {
            0 => ("failed", String::new(), String::new()),
            1 => ("cancelled", answers(&first), cancelled),
            _ => ("completed", answers(text), String::new()),
        }
    };
    let vendor = Vendor::ending(end);
    let workspace = demo();
    run(&workspace, &vendor, &[])
        .exits(4)
        .says("batch_1 failed as a whole: billing_hard_limit_reached: Billing hard limit has been reached.");
    run(&workspace, &vendor, &[])
        .exits(4)
        .says("batch_2 was cancelled");
    assert!(!workspace.exists("out.jsonl"));
    run(&workspace, &vendor, &[]).exits(0);
    assert!(workspace.read("out.jsonl") == chat());
}

#[test]
fn what_is_refused_for_how_it_is_written_is_written_otherwise() {
    // As OpenAI's reasoning models refuse, one parameter after the other.
    let end = |_: usize, text: &str| -> End {
        let mut lines = String::new();
        for line in text.lines() {
            let (id, body) = request(line);
            let refusal = |message: &str| response(&id, 400, &json!({"error": {"message": message}}));
            lines.push_str(&if body.get("max_tokens").is_some() {
                refusal("'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
            } else if body.get("temperature").is_some() {
                refusal("'temperature' does not support 0.3 with this model.")
            } else {
                answers(line)
            });
        }
        ("completed", lines, String::new())
    };
    let vendor = Vendor::ending(end);
    let workspace = demo();
    run(&workspace, &vendor, &[]).exits(0).says("--send-temperature");
    assert!(workspace.read("out.jsonl") == chat());
    let vendor = Vendor::ending(end);
    let told = [
        "--send-temperature",
        "false",
        "--token-limit-field",
        "max_completion_tokens",
    ];
    run(&demo(), &vendor, &told).exits(0);
    assert!(vendor.submitted().values().all(|times| *times == 1));
}

#[test]
fn a_run_without_any_answer_ends_instead_of_doing_without() {
    let end = |_: usize, text: &str| -> End {
        let missing = json!({"error": {"message": "no such model"}});
        let failed = text.lines().map(|line| response(&request(line).0, 404, &missing));
        ("completed", String::new(), failed.collect())
    };
    let vendor = Vendor::ending(end);
    let workspace = demo();
    run(&workspace, &vendor, &[])
        .exits(4)
        .says("no request was answered: summary_http_404")
        .says("--model");
    assert!(!workspace.exists("out.jsonl"));
    assert_eq!(vendor.batches().len(), 1);
}

#[test]
fn limits_hold_before_anything_is_submitted() {
    let vendor = Vendor::start();
    let workspace = demo();
    run(&workspace, &vendor, &["--max-requests", "5"])
        .exits(4)
        .says("over the limit of 5")
        .says("--max-requests");
    let prices = [
        "--price-prompt",
        "100",
        "--price-completion",
        "100",
        "--max-cost",
        "0.5",
    ];
    run(&workspace, &vendor, &prices).exits(4).says("--max-cost");
    assert_eq!((vendor.uploads(), vendor.batches().len()), (0, 0));
    run(&workspace, &vendor, &["--max-rounds", "1"])
        .exits(3)
        .says("--max-rounds is reached")
        .says("out.missing.jsonl");
    assert_eq!(vendor.batches().len(), 1);
    assert!(workspace.exists("out.missing.jsonl"));
    // What is missing is asked by the next run.
    run(&workspace, &vendor, &["--force"]).exits(0);
    assert!(workspace.read("out.jsonl") == chat() && !workspace.exists("out.missing.jsonl"));
    assert!(vendor.submitted().values().all(|times| *times == 1));
}

#[test]
fn passing_faults_are_sat_out() {
    let vendor = Vendor::start();
    for (step, fault) in [
        ("POST /v1/files", Fault::Refuses(503)),
        ("POST /v1/batches", Fault::Refuses(429)),
        ("GET /v1/batches/batch_1", Fault::Refuses(500)),
        ("GET /v1/batches/batch_1", Fault::Loses(502)),
        ("GET /v1/files/output-1", Fault::Refuses(500)),
    ] {
        vendor.fault(step, fault);
    }
    let workspace = demo();
    run(&workspace, &vendor, &[]).exits(0);
    assert!(workspace.read("out.jsonl") == chat());
    assert!(vendor.submitted().values().all(|times| *times == 1));
}

#[test]
fn streams_are_no_inputs_or_outputs_of_a_run_of_hours() {
    let workspace = demo();
    for arguments in [["-", "-o", "out.jsonl"], ["in.jsonl", "-o", "-"]] {
        let command = [&["batch", "run"], &arguments[..], &["--model", "m"]].concat();
        workspace.run(&command).exits(2).says("several times");
    }
}
