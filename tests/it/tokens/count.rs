//! `trajfit count`: a line a record, totals and a table, of whatever `compress` reads.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::cli::{Ran, Workspace, fixture_bytes, many_runs, quirks, short};
use serde_json::{Value, json};

/// A template that writes headers, and refuses some chats.
const CHAT: &str = "{% for message in messages %}{% if 'refuse' in message['content'] %}\
    {{ raise_exception('not that') }}{% endif %}<{{ message['role'] }}>\n{{ message['content'] }}\n{% endfor %}";

fn lines(ran: &Ran) -> Vec<Value> {
    let text = std::str::from_utf8(&ran.stdout).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

/// The demo data and all quirks in one file.
fn everything() -> Workspace {
    let mut lines = fixture_bytes("agent_runs.jsonl");
    lines.extend(fixture_bytes("agent_runs_messages.jsonl"));
    for path in quirks() {
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            lines.extend(std::fs::read(path).unwrap());
            lines.push(b'\n');
        }
    }
    Workspace::with_input(lines)
}

fn numbers(value: &Value) -> Vec<u64> {
    let list = value.as_array().unwrap();
    list.iter().map(|number| number.as_u64().unwrap()).collect()
}

#[test]
fn a_line_says_what_the_metrics_of_compress_say() {
    let workspace = everything();
    let ran = workspace.run(&["count", "in.jsonl", "--per-record"]).exits(3);
    let counted = lines(&ran);
    workspace.compress(&["in.jsonl", "-o", "out.jsonl"]).exits(3);
    let rows = workspace.rows("out.metrics.csv");
    assert_eq!(counted.len(), rows.len());
    for (line, row) in counted.iter().zip(rows) {
        assert_eq!(
            (line["source"].as_str(), line["line"].as_u64()),
            (Some("in.jsonl"), Some(row.line))
        );
        if line.get("error").is_some() {
            assert_eq!(line["code"], row.reason, "{line}");
            assert_eq!(line["error"], row.reason_detail, "{line}");
            continue;
        }
        assert_eq!(
            (line["id"].as_str(), line["format"].as_str()),
            (Some(&*row.id), Some(&*row.format))
        );
        assert_eq!(line["tokens"], row.original_tokens, "{line}");
        assert_eq!(line["turns"], row.original_turns, "{line}");
        assert_eq!(line["rendered_tokens"], Value::Null);
        assert_eq!(numbers(&line["turn_tokens"]).len() as u64, row.original_turns);
        let parts = line["parts"].as_object().unwrap();
        let in_the_sum = parts.iter().filter(|(name, _)| *name != "tools");
        let sum: u64 = in_the_sum.map(|(_, tokens)| tokens.as_u64().unwrap()).sum();
        assert_eq!(sum, row.original_tokens, "{line}");
    }
    assert_eq!(workspace.files().len(), 5, "{:?}", workspace.files());
}

#[test]
fn the_totals_are_what_the_lines_add_up_to() {
    let workspace = everything();
    let counted = lines(&workspace.run(&["count", "in.jsonl", "--per-record"]).exits(3));
    let arguments = [
        "count",
        "in.jsonl",
        "--json",
        "--max-tokens",
        "5000",
        "--largest",
        "3",
    ];
    let ran = workspace.run(&arguments).exits(3);
    let totals: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let (bad, good): (Vec<&Value>, Vec<&Value>) =
        counted.iter().partition(|line| line.get("error").is_some());
    assert_eq!(totals["schema"], "trajfit.count/1");
    assert_eq!(
        (&totals["records"], &totals["unreadable"]["records"]),
        (&json!(good.len()), &json!(bad.len()))
    );
    assert_eq!(totals["unreadable"]["first"][0]["line"], bad[0]["line"]);
    let mut tokens: Vec<u64> = good.iter().map(|line| line["tokens"].as_u64().unwrap()).collect();
    tokens.sort_unstable();
    assert_eq!(totals["tokens"]["total"], tokens.iter().sum::<u64>());
    for (name, percent) in [
        ("min", 0),
        ("p50", 50),
        ("p90", 90),
        ("p95", 95),
        ("p99", 99),
        ("max", 100),
    ] {
        let rank = (tokens.len() * percent).div_ceil(100).max(1);
        assert_eq!(totals["tokens"]["percentiles"][name], tokens[rank - 1], "{name}");
    }
    let over = |limit: u64| tokens.iter().filter(|tokens| **tokens > limit).count();
    assert_eq!(totals["over_max_tokens"], over(5000));
    for bin in totals["histogram"].as_array().unwrap() {
        let from = bin["over"].as_u64().map_or(tokens.len(), over);
        assert_eq!(bin["records"], from - bin["to"].as_u64().map_or(0, over), "{bin}");
    }
    let turns = |line: &Value| line["turns"].as_u64().unwrap();
    assert_eq!(totals["turns"], good.iter().map(|line| turns(line)).sum::<u64>());
    for part in ["system", "tools", "tool_output", "assistant", "human", "other"] {
        let sum: u64 = good
            .iter()
            .map(|line| line["parts"][part].as_u64().unwrap())
            .sum();
        assert_eq!(totals["parts"][part], sum, "{part}");
    }
    let mut largest = good.clone();
    largest.sort_by_key(|line| std::cmp::Reverse(line["tokens"].as_u64()));
    for (listed, line) in totals["largest"].as_array().unwrap().iter().zip(&largest) {
        for key in ["source", "line", "id", "tokens", "turns", "parts"] {
            assert_eq!(listed[key], line[key], "{key}");
        }
    }
    assert_eq!(totals["largest"].as_array().unwrap().len(), 3);
}

#[test]
fn whatever_the_threads_the_lines_come_in_input_order() {
    let workspace = Workspace::with_input(many_runs(3));
    let run = |jobs| {
        workspace
            .run(&["count", "in.jsonl", "--per-record", "--jobs", jobs])
            .exits(0)
            .stdout
    };
    let one = run("1");
    assert!(one == run("2") && one == run("5"));
}

#[test]
fn files_directories_pipes_arrays_and_compressed_data_are_read() {
    let workspace = Workspace::new();
    workspace.write("data/a.jsonl", short("a"));
    let packed = zstd::bulk::compress(short("b").as_bytes(), 1).unwrap();
    workspace.write("data/b.jsonl.zst", packed);
    workspace.write("data/sub/c.json", format!("[{},\n {}]", short("c"), short("d")));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(format!("\n{}\n", short("e")).as_bytes()).unwrap();
    workspace.write("e", gzip.finish().unwrap());
    let ran = workspace.run(&["count", "data", "e", "--per-record"]).exits(0);
    let places: Vec<String> = lines(&ran)
        .iter()
        .map(|line| {
            format!(
                "{}:{} {}",
                line["source"].as_str().unwrap(),
                line["line"],
                line["id"].as_str().unwrap()
            )
        })
        .collect();
    let expected = [
        "data/a.jsonl:1 a",
        "data/b.jsonl.zst:1 b",
        "data/sub/c.json:1 c",
        "data/sub/c.json:2 d",
        "e:2 e",
    ];
    assert_eq!(places, expected);
    let ran = workspace
        .shell("cat e | exec \"$0\" count - --per-record")
        .exits(0);
    assert_eq!(lines(&ran)[0]["source"], "-");
}

#[test]
fn a_line_that_cannot_be_read_is_told_and_what_becomes_of_it_can_be_chosen() {
    let workspace = Workspace::with_input(format!("{}\n{{\"a\": 1}}\n{}\n", short("a"), short("b")));
    let ran = workspace
        .run(&["count", "in.jsonl", "--per-record"])
        .exits(3)
        .says("could not be read: 1");
    let counted = lines(&ran);
    assert_eq!(counted.len(), 3);
    let error =
        "expected an object with a list `conversations` or `messages`, found an object without either";
    assert_eq!(
        counted[1],
        json!({"source": "in.jsonl", "line": 2, "error": error, "code": "no_trajectory"})
    );
    workspace
        .run(&["count", "in.jsonl", "--on-invalid", "pass"])
        .exits(0);
    let fail = ["count", "in.jsonl", "--per-record", "--on-invalid", "fail"];
    let ran = workspace
        .run(&fail)
        .exits(4)
        .says("(in.jsonl:2)")
        .says("--on-invalid");
    assert_eq!(lines(&ran).len(), 2);
}

#[test]
fn limit_and_sample_take_the_records_that_compress_takes() {
    let records: Vec<String> = (0..300).map(|number| short(&number.to_string())).collect();
    let workspace = Workspace::with_input(records.join("\n"));
    for choice in [
        &["--limit", "7"][..],
        &["--sample", "20", "--seed", "3"],
        &["--sample", "20", "--limit", "5"],
    ] {
        let counted = lines(
            &workspace
                .run(&[&["count", "in.jsonl", "--per-record"], choice].concat())
                .exits(0),
        );
        workspace
            .compress(&[&["in.jsonl", "-o", "out.jsonl", "--force"], choice].concat())
            .exits(0);
        let taken: Vec<String> = workspace
            .rows("out.metrics.csv")
            .into_iter()
            .map(|row| row.id)
            .collect();
        let ids: Vec<&str> = counted.iter().map(|line| line["id"].as_str().unwrap()).collect();
        assert_eq!(ids, taken, "{choice:?}");
    }
}

#[test]
fn the_limit_is_the_configurations_budget_unless_told() {
    let workspace = Workspace::with_input(short("one"));
    workspace.write(
        "run.yaml",
        "compression:\n  target_max_tokens: 4000\nsummarization:\n  model: m\noutput:\n  compress: gzip\n",
    );
    let limit = |arguments: &[&str]| {
        let ran = workspace
            .run(&[&["count", "in.jsonl", "--json"], arguments].concat())
            .exits(0);
        assert_eq!(ran.stderr, "");
        serde_json::from_slice::<Value>(&ran.stdout).unwrap()["max_tokens"].clone()
    };
    assert_eq!(limit(&[]), 15_250);
    assert_eq!(limit(&["--config", "run.yaml"]), 4000);
    assert_eq!(limit(&["--config", "run.yaml", "--max-tokens", "5"]), 5);
    workspace.write("wrong.yaml", "compression:\n  target_max_token: 4000\n");
    let ran = workspace
        .run(&["count", "in.jsonl", "--config", "wrong.yaml"])
        .exits(2);
    ran.says("did you mean compression.target_max_tokens?");
}

#[test]
fn the_table_of_nothing_says_so() {
    let workspace = Workspace::with_input("\n");
    let ran = workspace.run(&["count", "in.jsonl"]).exits(0);
    assert!(ran.stdout.starts_with(b"Records           0\n"), "{ran:?}");
}

#[test]
fn an_id_cannot_steer_the_terminal() {
    let workspace = Workspace::with_input(short("a\\u001b[2Jb\\n"));
    let ran = workspace.run(&["count", "in.jsonl"]).exits(0);
    let text = String::from_utf8(ran.stdout).unwrap();
    assert!(
        text.contains("a\\u{1b}[2Jb\\n") && !text.contains('\u{1b}'),
        "{text}"
    );
}

#[test]
fn who_reads_the_lines_may_leave() {
    let workspace = Workspace::with_input(many_runs(20));
    let script = "{ \"$0\" count in.jsonl --per-record; echo $? > status; } | head -n 1";
    let ran = workspace.shell(script).exits(0);
    assert_eq!((lines(&ran).len(), ran.stderr.as_str()), (1, ""));
    assert_eq!(workspace.text("status"), "0\n");
}

#[test]
fn a_signal_ends_it_though_the_pipe_stays_open() {
    let workspace = Workspace::new();
    let mut command = workspace.command(&["count", "-", "--per-record"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let stdin = child.stdin.take().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let kill = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    let ran = Ran::of(child.wait_with_output().unwrap()).exits(130);
    ran.says("error: interrupted").says("help: run it again");
    drop(stdin);
}

#[test]
fn damaged_input_ends_it_and_says_where() {
    let workspace = Workspace::new();
    let packed = zstd::bulk::compress(&many_runs(1), 1).unwrap();
    workspace.write("in.jsonl.zst", &packed[..packed.len() / 2]);
    let ran = workspace
        .run(&["count", "in.jsonl.zst"])
        .exits(4)
        .says("cannot read in.jsonl.zst");
    assert!(!ran.stderr.contains("--resume"), "{}", ran.stderr);
    workspace
        .run(&["count", "missing.jsonl"])
        .exits(2)
        .says("no such file");
}

#[test]
fn with_a_template_both_counts_are_told_and_a_refusal_with_its_reason() {
    let workspace = Workspace::with_input(format!("{}\n{}\n", short("a"), short("refuse me")));
    workspace.write("chat.jinja", CHAT);
    let arguments = ["count", "in.jsonl", "--chat-template", "chat.jinja"];
    let ran = workspace
        .run(&[&arguments[..], &["--per-record"]].concat())
        .exits(0);
    let counted = lines(&ran);
    let rendered = counted[0]["rendered_tokens"].as_u64().unwrap();
    assert!(rendered > counted[0]["tokens"].as_u64().unwrap(), "{counted:?}");
    assert_eq!(counted[0].get("rendered_error"), None);
    assert_eq!(counted[1]["rendered_tokens"], Value::Null);
    let refusal = counted[1]["rendered_error"].as_str().unwrap();
    assert!(refusal.contains("not that"), "{refusal}");
    let ran = workspace
        .run(&[&arguments[..], &["--json", "--count", "rendered"]].concat())
        .exits(0);
    let totals: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(totals["judged_by"], "rendered");
    assert_eq!(totals["rendered_tokens"]["total"], rendered);
    assert_eq!(
        (&totals["records"], &totals["refused"]["records"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(totals["refused"]["first"][0]["line"], 2);
    assert!(totals["rendered_to_tokens"]["total"].as_f64().unwrap() > 1.0);
    let ran = workspace.run(&arguments).exits(0);
    let text = String::from_utf8(ran.stdout).unwrap();
    assert!(
        text.contains("Tokens rendered") && text.contains("Refused"),
        "{text}"
    );
}
