//! Compactions of unrolled trajectories by a program: asked once each, kept for the next run, replaced where they fail.

use serde_json::Value;

use crate::support::cli::Workspace;
use crate::support::program::{asked, program};
use crate::support::rendered::named_steps;

fn unroll(workspace: &Workspace, program: &str, more: &[&str]) -> crate::support::cli::Ran {
    let arguments = [
        "unroll",
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--max-tokens",
        "1500",
        "--summary-target-tokens",
        "100",
        "--summarizer",
        "command",
        "--command",
        program,
    ];
    workspace.run(&[&arguments[..], more].concat())
}

#[test]
fn a_program_is_asked_once_for_each_compaction() {
    let workspace = Workspace::with_input(named_steps(20) + "\n");
    unroll(&workspace, &program(""), &[]).exits(0);
    let totals = workspace.json("out.summary.json");
    let compactions = totals["compactions"].as_u64().unwrap();
    assert!(compactions > 3, "{totals}");
    assert_eq!(totals["summarization_api_calls"], compactions);
    let requests = asked(&workspace);
    assert!(requests.len() as u64 == compactions && requests.values().all(|times| *times == 1));
    let first = workspace.read("out.jsonl");
    // What is known is not asked again, on any number of threads.
    std::fs::remove_file(workspace.path("asked.log")).unwrap();
    unroll(&workspace, &program(""), &["--force", "--jobs", "2"]).exits(0);
    assert!(workspace.read("out.jsonl") == first && !workspace.exists("asked.log"));
    // A dry run asks nobody, and says how often a run would.
    unroll(&workspace, &program(""), &["--force", "--no-cache"]).exits(2);
    let cold = ["--force", "--cache", "off", "--dry-run"];
    unroll(&workspace, &program(""), &cold).exits(0);
    assert!(!workspace.exists("asked.log"));
    assert!(workspace.json("out.summary.json")["summarization_api_calls"].as_u64() > Some(3));
}

#[test]
fn a_program_sees_nothing_that_came_later() {
    let workspace = Workspace::with_input(named_steps(20) + "\n");
    let tee = "import sys,json\nfor line in sys.stdin:\n open('seen.jsonl','a').write(line)\n \
               print(json.dumps({'summary': 'It was done step by step, and each of the files was read.'}), flush=True)";
    let quoted = shlex::try_quote(tee).unwrap().into_owned();
    unroll(&workspace, &format!("python3 -c {quoted}"), &["--jobs", "1"]).exits(0);
    let records: Vec<Value> = workspace
        .text("out.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let seen = workspace.text("seen.jsonl");
    let mut trained = 0;
    for (request, record) in seen.lines().zip(&records) {
        let turns = record["messages"].as_array().unwrap();
        trained += turns.iter().filter(|turn| turn["train"] == true).count();
        assert!(request.contains(&format!("made_{}.rs", trained - 3)));
        for later in trained..20 {
            assert!(!request.contains(&format!("made_{later}.rs")), "{later}");
        }
    }
    assert_eq!(seen.lines().count(), records.len() - 1);
}

#[test]
fn a_failed_compaction_is_replaced_and_told() {
    let line = named_steps(20).replace("src/made_4.rs", "FAIL") + "\n";
    let workspace = Workspace::with_input(&line);
    unroll(&workspace, &program(""), &[]).exits(3);
    let totals = workspace.json("out.summary.json");
    assert_eq!(
        (&totals["degraded"], &totals["still_over_limit"]),
        (&Value::from(1), &Value::from(0))
    );
    assert_eq!(totals["trained_share"], 1.0);
    let check = ["check", "--unrolled-from", "in.jsonl", "out.jsonl"];
    workspace.run(&check).exits(0);
    // Without a fallback the context stays as it is, and over the budget.
    unroll(&workspace, &program(""), &["--force", "--on-failure", "keep"]).exits(3);
    assert!(workspace.json("out.summary.json")["still_over_limit"].as_u64() > Some(0));
    workspace.run(&check).exits(0);
    unroll(&workspace, &program(""), &["--force", "--on-failure", "fail"]).exits(4);
}
