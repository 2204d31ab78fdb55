//! `trajfit check`: what passes, what fails, and what it says of either.

use crate::support::cli::{Ran, Workspace, fixture_bytes, short};
use serde_json::{Value, json};

/// A record of so many tokens: a word a token.
fn record(id: &str, tokens: usize) -> String {
    let text = " a".repeat(tokens);
    format!("{{\"id\": \"{id}\", \"conversations\": [{{\"from\": \"human\", \"value\": \"{text}\"}}]}}\n")
}

/// Records of these tokens, in this order.
fn records(tokens: impl IntoIterator<Item = usize>) -> Workspace {
    let records = tokens.into_iter().enumerate();
    let lines: String = records
        .map(|(number, tokens)| record(&format!("r{number}"), tokens))
        .collect();
    Workspace::with_input(lines)
}

fn check(workspace: &Workspace, arguments: &[&str]) -> Ran {
    workspace.run(&[&["check", "in.jsonl"], arguments].concat())
}

fn text(ran: &Ran) -> &str {
    std::str::from_utf8(&ran.stdout).unwrap()
}

#[test]
fn a_record_at_the_limit_passes_and_one_over_it_fails_by_name() {
    let workspace = records([10, 100, 7]);
    check(&workspace, &["--max-tokens", "100"]).exits(0);
    let ran = check(&workspace, &["--max-tokens", "99"]).exits(1);
    assert!(
        text(&ran).contains("FAIL  records over 99 tokens: 1, 33.3 % (at most 0)\n"),
        "{}",
        text(&ran)
    );
    assert!(
        text(&ran).contains("\n  in.jsonl:2: 100 tokens (limit 99)\n"),
        "{}",
        text(&ran)
    );
    assert_eq!(ran.stderr, "");
    assert_eq!(workspace.files(), ["in.jsonl"]);
}

#[test]
fn some_records_may_be_over_by_number_or_by_share() {
    let workspace = records((1..=200).map(|number| if number > 199 { 50 } else { 5 }));
    let over = |most: &str| check(&workspace, &["--max-tokens", "49", "--max-over", most]);
    over("0").exits(1);
    over("1").exits(0);
    over("0.5%").exits(0);
    over("0.49%").exits(1);
    over("half").exits(2).says("--max-over");
}

#[test]
fn the_99th_percentile_is_exact_where_three_digits_would_not_do() {
    // Of 200 records the 198th is the 99th percentile: 8,001 tokens, which is 8,000 in three digits.
    let workspace = records((1..=200).map(|number| if number >= 198 { 8001 } else { 20 }));
    let p99 = |limit: &str| check(&workspace, &["--p99", limit]);
    p99("8001").exits(0);
    let ran = p99("8000").exits(1);
    assert!(
        text(&ran).contains("FAIL  99th percentile: 8,001 tokens (at most 8,000)\n"),
        "{}",
        text(&ran)
    );
    assert!(
        text(&ran).contains("in.jsonl:198: 8,001 tokens (limit 8,000)\n"),
        "{}",
        text(&ran)
    );
}

#[test]
fn what_cannot_be_read_fails_unless_it_is_allowed() {
    let workspace = Workspace::with_input(format!("{}\n{{\n", short("one")));
    let ran = check(&workspace, &[]).exits(1);
    assert!(
        text(&ran).contains("FAIL  records that cannot be read: 1 (at most 0)\n"),
        "{}",
        text(&ran)
    );
    assert!(
        text(&ran).contains("in.jsonl:2: invalid_json: "),
        "{}",
        text(&ran)
    );
    let ran = check(&workspace, &["--on-invalid", "pass"]).exits(0);
    assert!(
        text(&ran).contains("PASS  records that cannot be read: 1 (any number is allowed)\n"),
        "{}",
        text(&ran)
    );
    check(&workspace, &["--on-invalid", "fail"])
        .exits(4)
        .says("in.jsonl:2");
}

#[test]
fn a_check_that_saw_no_record_fails() {
    let workspace = Workspace::with_input("\n");
    let ran = check(&workspace, &[]).exits(1);
    assert!(
        text(&ran).starts_with("FAIL  records: 0 (at least 1)\n"),
        "{}",
        text(&ran)
    );
    workspace.write("in.jsonl", "{\n");
    check(&workspace, &["--on-invalid", "pass"]).exits(1);
    workspace
        .run(&["check", "missing.jsonl"])
        .exits(2)
        .says("no such file");
}

#[test]
fn the_json_has_the_promised_keys() {
    let workspace = records([10, 300, 20, 200]);
    let arguments = [
        "--json",
        "--max-tokens",
        "150",
        "--max-over",
        "25%",
        "--p99",
        "250",
        "--largest",
        "1",
    ];
    let ran = check(&workspace, &arguments).exits(1);
    let mut outcome: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(outcome["tokenizer"]["sha256"].as_str().unwrap().len(), 64);
    for changing in ["version", "tokenizer"] {
        outcome.as_object_mut().unwrap().remove(changing);
    }
    let parts = |human: u64| json!({"system": 0, "tools": 0, "tool_output": 0, "assistant": 0, "human": human, "other": 0});
    let expected = json!({
        "schema": "trajfit.check/1",
        "passed": false,
        "gates": [
            {"name": "records", "limit": 1, "actual": 4, "passed": true},
            {"name": "unreadable", "limit": 0, "actual": 0, "passed": true},
            {"name": "over", "limit": 1, "actual": 2, "passed": false},
            {"name": "p99", "limit": 250, "actual": 300, "passed": false},
        ],
        "max_tokens": 150,
        "judged": 4,
        "offender_limit": 150,
        "offender_records": 2,
        "offenders": [
            {"source": "in.jsonl", "line": 2, "id": "r1", "tokens": 300, "rendered_tokens": null, "turns": 1, "parts": parts(300)},
        ],
        "inputs": ["in.jsonl"],
        "judged_by": "values",
        "records": 4,
        "unreadable": {"records": 0, "first": []},
        "refused": {"records": 0, "first": []},
        "turns": 4,
        "tokens": {"total": 530, "percentiles": {"min": 10, "p50": 20, "p90": 300, "p95": 300, "p99": 300, "max": 300}},
        "rendered_tokens": null,
        "rendered_to_tokens": null,
        "parts": parts(530),
        "tokenizer_note": null,
    });
    assert_eq!(outcome, expected);
}

#[test]
fn a_list_of_offenders_is_bounded_and_the_rest_counted() {
    let workspace = records([300; 25]);
    let ran = check(&workspace, &["--max-tokens", "5"]).exits(1);
    assert_eq!(text(&ran).matches("300 tokens (limit 5)").count(), 10);
    assert!(text(&ran).contains("\n  and 15 more\n"), "{}", text(&ran));
}

#[test]
fn a_limit_below_any_summary_is_a_limit_all_the_same() {
    let workspace = records([3]);
    check(&workspace, &["--max-tokens", "3"]).exits(0);
    check(&workspace, &["--max-tokens", "0"]).exits(2);
}

#[test]
fn what_compress_brought_under_the_budget_passes() {
    let workspace = Workspace::with_input(fixture_bytes("agent_runs.jsonl"));
    check(&workspace, &[]).exits(1);
    workspace.compress(&["in.jsonl", "-o", "out.jsonl"]).exits(0);
    let check = |most: &str| workspace.run(&["check", "out.jsonl", "--max-over", most]);
    check("1").exits(1);
    check("2").exits(0);
}

#[test]
fn the_gate_reads_a_pipe() {
    let workspace = records([30]);
    workspace
        .shell("cat in.jsonl | exec \"$0\" check - --max-tokens 30")
        .exits(0);
    workspace
        .shell("cat in.jsonl | exec \"$0\" check - --max-tokens 29")
        .exits(1);
}

#[test]
fn the_rendered_count_judges_where_it_is_told_to_and_a_refusal_fails() {
    let workspace = records([40, 50]);
    let chat = "{% for message in messages %}{{ message['content'] }} a a a a a{% endfor %}";
    workspace.write("chat.jinja", chat);
    let limit = ["--chat-template", "chat.jinja", "--max-tokens", "50"];
    let ran = check(&workspace, &limit).exits(0);
    assert!(text(&ran).contains("As rendered: min 45,"), "{}", text(&ran));
    assert!(
        text(&ran).contains("Judged by the sum of the turns\n"),
        "{}",
        text(&ran)
    );
    let ran = check(&workspace, &[&limit[..], &["--count", "rendered"]].concat()).exits(1);
    assert!(
        text(&ran).contains("in.jsonl:2: 55 tokens (limit 50)\n"),
        "{}",
        text(&ran)
    );
    workspace.write("chat.jinja", format!("{{% if 'a a' in messages[0]['content'] and messages | length == 1 %}}{{{{ raise_exception('alone') }}}}{{% endif %}}{chat}"));
    let ran = check(&workspace, &limit).exits(1);
    assert!(
        text(&ran).contains("FAIL  records that the chat template refuses: 2 (at most 0)\n"),
        "{}",
        text(&ran)
    );
    assert!(
        text(&ran).contains("in.jsonl:1: template_refuses: "),
        "{}",
        text(&ran)
    );
    check(&workspace, &[&limit[..], &["--allow-refused"]].concat()).exits(0);
    // Where the rendered count judges, there is nothing left that it could judge.
    check(
        &workspace,
        &[&limit[..], &["--allow-refused", "--count", "rendered"]].concat(),
    )
    .exits(1);
}
