//! The folder of answers: where it is made, what may stand in it, what breaks it, and the command that looks after it.

use crate::support::asked::{Asked, RECORDS, run, workspace};
use crate::support::chat::completion;
use crate::support::cli::Ran;
use crate::support::secrets::secrets;
use rusqlite::Connection;
use serde_json::{Value, json};

#[test]
fn no_folder_is_made_where_none_is_wanted() {
    let (server, workspace) = (Asked::start(), workspace());
    run(&workspace, &server, &["--no-cache"]).exits(0);
    run(&workspace, &server, &["--dry-run", "--force"]).exits(0);
    let stdout = server.arguments("-");
    let stdout: Vec<&str> = stdout.iter().map(String::as_str).collect();
    workspace.run(&stdout).exits(0);
    // The output is there: it does not begin.
    run(&workspace, &server, &[]).exits(2);
    let embedded = [
        "compress",
        "in.jsonl",
        "-o",
        "other.jsonl",
        "--target-max-tokens",
        "600",
        "--summary-target-tokens",
        "100",
    ];
    workspace.run(&embedded).exits(0);
    workspace
        .run(&[&embedded[..], &["--cache", "shared", "--force"]].concat())
        .exits(0)
        .says("summarization.cache has no effect");
    assert!(
        !workspace
            .files()
            .iter()
            .any(|file| file.contains("answers.sqlite"))
    );
    workspace
        .run(&[&stdout[..], &["--cache", "shared"]].concat())
        .exits(0);
    assert!(workspace.exists("shared/answers.sqlite"));
    run(&workspace, &server, &["--no-cache", "--cache", "shared"]).exits(2);
}

#[test]
fn no_secret_that_a_model_writes_is_kept() {
    let all: Vec<String> = secrets().into_iter().map(|(text, _)| text).collect();
    let answer = format!("It used {} to log in.", all.join(" and "));
    let server = Asked::with(move |_, _| completion(&answer));
    let workspace = workspace();
    run(&workspace, &server, &[]).exits(0);
    let first: Vec<u64> = workspace
        .rows("out.metrics.csv")
        .iter()
        .map(|row| row.redactions)
        .collect();
    assert!(
        first
            .iter()
            .all(|redactions| *redactions >= secrets().len() as u64)
    );
    for file in workspace.files() {
        let bytes = workspace.read(&file);
        for (_, secret) in secrets() {
            assert!(
                memchr::memmem::find(&bytes, secret.as_bytes()).is_none(),
                "{file} holds {secret}"
            );
        }
    }
    run(&workspace, &server, &["--force"]).exits(0);
    let again: Vec<u64> = workspace
        .rows("out.metrics.csv")
        .iter()
        .map(|row| row.redactions)
        .collect();
    assert_eq!(again, first);
}

#[test]
fn a_store_that_takes_nothing_is_a_warning_and_no_failed_record() {
    let (server, workspace) = (Asked::start(), workspace());
    run(&workspace, &server, &["--limit", "2"]).exits(0);
    let file = Connection::open(workspace.path("out.cache/answers.sqlite")).unwrap();
    let full =
        "CREATE TRIGGER full BEFORE INSERT ON answers BEGIN SELECT RAISE(FAIL, 'the disk is full'); END";
    file.execute_batch(full).unwrap();
    drop(file);
    let ran = run(&workspace, &server, &["--force"]).exits(0);
    assert_eq!(
        ran.stderr.matches("warning: cannot write the cache").count(),
        1,
        "{}",
        ran.stderr
    );
    ran.says("the disk is full").says("for the time of this run");
    let ran = run(&workspace, &server, &["--force", "--quiet"]).exits(0);
    assert_eq!(ran.stderr, "");
    assert_eq!(workspace.json("out.summary.json")["cached_summaries"], 2);
}

#[test]
fn a_cache_that_cannot_be_had_is_told_at_once_and_leaves_nothing() {
    let (server, workspace) = (Asked::start(), workspace());
    workspace.write(
        "out.cache/answers.sqlite",
        "no database, but as long as one may be".repeat(50),
    );
    let before = workspace.files();
    run(&workspace, &server, &[])
        .exits(2)
        .says("out.cache/answers.sqlite is damaged")
        .says("--no-cache")
        .says("trajfit cache prune out.cache --all");
    run(&workspace, &server, &["--dry-run"])
        .exits(2)
        .says("is damaged");
    workspace
        .run(&["cache", "stats", "out.jsonl"])
        .exits(2)
        .says("is damaged")
        .says("--all");
    run(&workspace, &server, &["--cache", "/proc/trajfit"])
        .exits(2)
        .says("/proc/trajfit")
        .says("--no-cache");
    assert_eq!((workspace.files(), server.received()), (before, 0));
    workspace.run(&["cache", "prune", "out.cache", "--all"]).exits(0);
    run(&workspace, &server, &[]).exits(0);
}

#[test]
fn the_cache_command_looks_at_a_cache_and_prunes_it() {
    let (server, workspace) = (Asked::start(), workspace());
    run(&workspace, &server, &[]).exits(0);
    let stats = |place: &[&str]| -> Value {
        let ran = workspace
            .run(&[&["cache", "stats", "--json"], place].concat())
            .exits(0);
        serde_json::from_slice(&ran.stdout).unwrap()
    };
    let found = stats(&["out.jsonl"]);
    assert_eq!(
        (&found["schema"], &found["answers"]),
        (&json!("trajfit.cache/1"), &json!(RECORDS))
    );
    assert_eq!(found["models"][0]["model"], "test-model");
    assert_eq!(found["models"][0]["prompt_tokens"], RECORDS * 1000);
    assert_eq!(stats(&["out.cache"]), found);
    assert_eq!(stats(&["out.cache/answers.sqlite"]), found);
    let mut by_variable = workspace.command(&["cache", "stats", "--json"]);
    let by_variable = Ran::of(by_variable.env("TRAJFIT_CACHE", "out.cache").output().unwrap()).exits(0);
    assert_eq!(
        serde_json::from_slice::<Value>(&by_variable.stdout).unwrap(),
        found
    );
    let text = workspace.run(&["cache", "stats", "out.jsonl"]).exits(0);
    assert!(String::from_utf8(text.stdout).unwrap().starts_with("Answers "));
    workspace
        .run(&["cache", "prune", "out.jsonl", "--older-than", "1d"])
        .exits(0);
    assert_eq!(stats(&["out.jsonl"])["answers"], RECORDS);
    let pruned = workspace
        .run(&["cache", "prune", "out.jsonl", "--max-size", "10kB"])
        .exits(0);
    assert!(
        String::from_utf8(pruned.stdout)
            .unwrap()
            .starts_with("answers taken away: ")
    );
    let left = stats(&["out.jsonl"])["answers"].as_u64().unwrap();
    assert!(left < RECORDS as u64);
    run(&workspace, &server, &["--force"]).exits(0);
    assert_eq!(server.received() as u64, 2 * RECORDS as u64 - left);
    workspace.run(&["cache", "prune", "out.jsonl", "--all"]).exits(0);
    assert_eq!(stats(&["out.jsonl"])["answers"], 0);
    workspace
        .run(&["cache", "prune", "out.jsonl"])
        .exits(2)
        .says("--older-than");
    workspace
        .run(&["cache", "prune", "out.jsonl", "--older-than", "30"])
        .exits(2)
        .says("30d");
    workspace.run(&["cache", "stats"]).exits(2).says("which cache?");
    workspace
        .run(&["cache", "stats", "nothing.jsonl"])
        .exits(2)
        .says("nothing.cache");
}
