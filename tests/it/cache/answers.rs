//! Nobody pays twice: answers on disk, over repeated, resumed and limited runs, and other processes.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::support::asked::{Asked, RECORDS, lines, run, workspace};
use crate::support::chat::{Server, answer_to, completion, refusal, user_text};
use crate::support::cli::{COMPRESS_SMALL, Workspace};
use serde_json::{Value, json};
use wiremock::ResponseTemplate;

#[test]
fn a_repeated_run_sends_nothing_and_says_so() {
    let (server, workspace) = (Asked::start(), workspace());
    run(&workspace, &server, &[]).exits(0);
    let first = workspace.read("out.jsonl");
    assert_eq!(server.prompts().len(), RECORDS);
    assert_eq!(
        workspace.files(),
        [
            "in.jsonl",
            "out.cache/answers.sqlite",
            "out.jsonl",
            "out.metrics.csv",
            "out.summary.json"
        ]
    );
    run(&workspace, &server, &["--force"])
        .exits(0)
        .says("24 summaries were known");
    assert_eq!(server.received(), RECORDS);
    assert!(workspace.read("out.jsonl") == first);
    let totals = workspace.json("out.summary.json");
    assert_eq!(
        (&totals["cached_summaries"], &totals["summarization_api_calls"]),
        (&json!(RECORDS), &json!(0))
    );
    assert!(
        workspace
            .rows("out.metrics.csv")
            .iter()
            .all(|row| row.cached_summary && row.summarizer == "chat")
    );
}

#[test]
fn a_model_that_never_says_the_same_twice_gives_the_same_bytes_in_a_repeated_run() {
    let server = Asked::with(|number, _| {
        completion(&format!("Answer number {number}: the tests were run and passed."))
    });
    let workspace = workspace();
    run(&workspace, &server, &[]).exits(0);
    let first = workspace.read("out.jsonl");
    run(&workspace, &server, &["--force"]).exits(0);
    assert!(workspace.read("out.jsonl") == first);
}

#[test]
fn a_dry_run_counts_what_is_there_and_changes_nothing() {
    let (server, workspace) = (Asked::start(), workspace());
    let planned = |workspace: &Workspace| {
        run(
            workspace,
            &server,
            &["--dry-run", "--force", "--price-prompt", "1"],
        )
        .exits(0);
        let totals = workspace.json("out.summary.json");
        let figure = |name: &str| totals[name].as_u64().unwrap();
        (
            figure("summarization_api_calls"),
            figure("prompt_tokens"),
            figure("cached_summaries"),
        )
    };
    let before = planned(&workspace);
    assert_eq!((before.0, before.2), (RECORDS as u64, 0));
    run(&workspace, &server, &["--force", "--limit", "10"]).exits(0);
    let file = workspace.read("out.cache/answers.sqlite");
    let after = planned(&workspace);
    assert_eq!((after.0, after.2), (RECORDS as u64 - 10, 10));
    assert!(after.1 < before.1 && after.1 > 0);
    assert!(workspace.read("out.cache/answers.sqlite") == file);
    assert_eq!(server.received(), 10);
}

#[test]
fn runs_that_a_limit_ends_pay_on_and_get_to_the_end() {
    for limit in [["--max-requests", "5"], ["--max-cost", "0.3"]] {
        let (server, workspace) = (Asked::start(), workspace());
        let undisturbed = self::workspace();
        run(&undisturbed, &Asked::start(), &[]).exits(0);
        // As many records as fit are under way when the limit is reached.
        let prices = ["--price-prompt", "50", "--price-completion", "50"];
        let more = [&limit[..], &prices, &["--max-concurrent-requests", "4"]].concat();
        let mut runs = 1;
        let mut ran = run(&workspace, &server, &more);
        while ran.status == Some(4) {
            ran.says("the limit of").says("--resume");
            assert!(runs < RECORDS, "no run gets anywhere");
            runs += 1;
            ran = run(&workspace, &server, &[&more[..], &["--resume"]].concat());
        }
        ran.exits(0);
        assert!(runs > 3, "{limit:?}: {runs} runs");
        assert_eq!(
            (server.received(), server.prompts().len()),
            (RECORDS, RECORDS),
            "{limit:?}"
        );
        assert!(workspace.read("out.jsonl") == undisturbed.read("out.jsonl"));
    }
}

#[test]
fn a_key_that_is_refused_half_way_loses_no_answer() {
    let server = Asked::with(|number, request| match number {
        8 => refusal(401, "no more"),
        _ => completion(&answer_to(request)).set_delay(Duration::from_millis(number as u64 * 20)),
    });
    let workspace = workspace();
    run(&workspace, &server, &["--max-concurrent-requests", "6"]).exits(4);
    run(&workspace, &server, &["--resume"]).exits(0);
    // The one that was refused is asked again, and no other.
    let twice: Vec<usize> = server
        .prompts()
        .into_values()
        .filter(|times| *times > 1)
        .collect();
    assert_eq!((server.received(), twice), (RECORDS + 1, vec![2]));
}

#[test]
fn refusals_and_answers_that_were_cut_are_not_paid_twice_either() {
    let server = Asked::with(|_, request| {
        let body: Value = request.body_json().unwrap();
        let text = user_text(&body);
        if text.contains("number 3 ") {
            return ResponseTemplate::new(200)
                .set_body_json(json!({"choices": [{"message": {"refusal": "I will not."}}]}));
        }
        // Some are cut until less is asked for.
        if text.contains("number 5 ") && body["max_tokens"] != "" && asked_for(&text) > 60 {
            return ResponseTemplate::new(200).set_body_json(
                json!({"choices": [{"message": {"content": "Did"}, "finish_reason": "length"}]}),
            );
        }
        completion(&answer_to(request))
    });
    let workspace = workspace();
    run(&workspace, &server, &[]).exits(3);
    let (output, received) = (workspace.read("out.jsonl"), server.received());
    assert_eq!(received, RECORDS + 1);
    run(&workspace, &server, &["--force"]).exits(3);
    assert_eq!(server.received(), received);
    assert!(workspace.read("out.jsonl") == output);
    let rows = workspace.rows("out.metrics.csv");
    let mut degraded = rows.iter().filter(|row| row.degraded);
    let reason = degraded.next().unwrap().reason_text();
    assert!(reason.contains("summary_refused"), "{reason}");
    assert_eq!(degraded.count(), 0);
}

fn asked_for(text: &str) -> usize {
    let after = text.split("in at most ").last().unwrap();
    after.split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn tokens_that_a_server_does_not_tell_are_counted() {
    let silent = json!({"choices": [{"message": {"content": "The tests were run in the end, and all passed."}, "finish_reason": "stop"}]});
    let server = Asked::with(move |_, _| ResponseTemplate::new(200).set_body_json(&silent));
    let workspace = workspace();
    run(&workspace, &server, &["--price-prompt", "1"]).exits(0);
    let counter = crate::support::counter();
    let totals = workspace.json("out.summary.json");
    let each = counter.count("The tests were run in the end, and all passed.") as u64;
    assert_eq!(totals["completion_tokens"], RECORDS as u64 * each);
    assert!(totals["prompt_tokens"].as_u64().unwrap() > RECORDS as u64 * 300);
    let by_record: BTreeMap<u64, usize> = workspace
        .rows("out.metrics.csv")
        .iter()
        .map(|row| (row.completion_tokens, 1))
        .collect();
    assert_eq!(by_record.len(), 1);
}

#[test]
fn the_servers_of_two_models_do_not_share_answers() {
    let (server, workspace) = (
        Server::start(|_, request| completion(&answer_to(request))),
        workspace(),
    );
    let with = |more: &[&str]| {
        let url = server.url();
        let arguments = ["--summarizer", "chat", "--base-url", &url];
        workspace
            .run(&[&COMPRESS_SMALL[..], &arguments, more, &["--force"]].concat())
            .exits(0);
        server.requests().len()
    };
    assert_eq!(with(&["--model", "a"]), RECORDS);
    assert_eq!(with(&["--model", "b"]), 2 * RECORDS);
    assert_eq!(with(&["--model", "a", "--temperature", "1"]), 3 * RECORDS);
    assert_eq!(with(&["--model", "a", "--style", "handoff"]), 4 * RECORDS);
    assert_eq!(
        with(&["--model", "b", "--timeout", "5", "--jobs", "1"]),
        4 * RECORDS
    );
}

#[test]
fn two_servers_do_not_share_answers_of_a_model_that_both_call_the_same() {
    let servers = [
        Asked::with(|_, _| completion("One server said this: the tests were run and passed.")),
        Asked::with(|_, _| completion("The other server said that: the tests were run and failed.")),
    ];
    let workspace = workspace();
    for (server, said) in servers.iter().zip(["One server", "The other server"]) {
        run(&workspace, server, &["--cache", "shared", "--force"]).exits(0);
        assert_eq!(server.received(), RECORDS);
        assert!(workspace.text("out.jsonl").contains(said));
    }
    // The same server by another spelling of its address.
    let arguments = servers[0].arguments("out.jsonl");
    let arguments = arguments
        .iter()
        .map(|argument| match argument.strip_prefix("http://") {
            Some(rest) => format!("http://{rest}/?version=1"),
            None => argument.clone(),
        });
    let arguments: Vec<String> = arguments.collect();
    let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    arguments.extend(["--cache", "shared", "--force"]);
    workspace.run(&arguments).exits(0).says("24 summaries were known");
    assert_eq!(servers[0].received(), RECORDS);
}

#[test]
fn a_run_that_ends_early_waits_for_the_answers_that_are_under_way() {
    // More than one batch: the first one asks twice and meets the limit while answers of the last are under way.
    const MANY: usize = 80;
    let server = Asked::with(|_, request| {
        let text = user_text(&request.body_json().unwrap());
        let number = text.split("record number ").nth(1).unwrap();
        match number.split(' ').next().unwrap().parse::<usize>().unwrap() {
            0..10 => completion(&"One step after the other was done here.\n".repeat(60)),
            60.. => completion(&answer_to(request)).set_delay(Duration::from_secs(2)),
            _ => completion(&answer_to(request)),
        }
    });
    let workspace = Workspace::with_input(lines(MANY));
    let limit = ["--max-requests", "80", "--max-concurrent-requests", "100"];
    run(&workspace, &server, &limit).exits(4).says("the limit of 80");
    let stats = workspace.run(&["cache", "stats", "out.jsonl", "--json"]).exits(0);
    let stats: Value = serde_json::from_slice(&stats.stdout).unwrap();
    assert_eq!(stats["answers"], MANY);
    run(&workspace, &server, &["--resume"]).exits(0);
    assert_eq!(server.received(), MANY + 10);
}
