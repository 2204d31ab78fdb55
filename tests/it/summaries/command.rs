//! Summaries by a program: what it is asked, and what becomes of its answers.

use crate::support::asked::lines;
use crate::support::chat::{Server, completion, user_text};
use crate::support::cli::Workspace;
use crate::support::program::{asked, program, row_of, run, run_with, with_words};
use crate::support::secrets::secrets;
use serde_json::Value;
use trajfit::internals::metrics::Status;

#[test]
fn a_program_writes_the_summaries_and_is_asked_once_for_each() {
    let workspace = Workspace::with_input(lines(30));
    run(&workspace, &["--jobs", "3"]).exits(0);
    let rows = workspace.rows("out.metrics.csv");
    assert_eq!(rows.len(), 30);
    for row in &rows {
        assert_eq!(
            (
                row.summarizer.as_str(),
                row.summarization_api_calls,
                row.prompt_tokens
            ),
            ("command", 1, 100)
        );
        assert!(!row.degraded && row.status == Status::Compressed);
    }
    assert!(asked(&workspace).len() == 30 && asked(&workspace).values().all(|times| *times == 1));
    let log = workspace.text("asked.log");
    let ended = log.lines().filter(|line| *line == "end").count();
    assert!(
        (1..=3).contains(&ended),
        "programs end at the end of their input: {ended}"
    );
    let first = workspace.read("out.jsonl");
    // On any number of programs the same bytes; what is known is not asked again.
    run(&workspace, &["--jobs", "1", "--force", "--no-cache"]).exits(0);
    assert!(workspace.read("out.jsonl") == first);
    std::fs::remove_file(workspace.path("asked.log")).unwrap();
    run(&workspace, &["--force"])
        .exits(0)
        .says("30 summaries were known");
    assert!(workspace.read("out.jsonl") == first && !workspace.exists("asked.log"));
    run(&workspace, &["--force", "--dry-run"]).exits(0);
    assert_eq!(workspace.json("out.summary.json")["summarization_api_calls"], 0);
}

#[test]
fn a_request_holds_the_turns_and_the_prompt_without_secrets() {
    let workspace = Workspace::new();
    // A program that writes down what it sees, and answers with a secret.
    let tee = "import sys,json\nfor line in sys.stdin:\n open('seen.jsonl','a').write(line)\n \
               print(json.dumps({'summary': 'It used ' + sys.argv[1]}), flush=True)";
    for (text, secret) in secrets() {
        workspace.write(
            "in.jsonl",
            crate::support::secrets::trajectory(&text, "arguments"),
        );
        let quote = |text: &str| shlex::try_quote(text).unwrap().into_owned();
        let program = format!("python3 -c {} {}", quote(tee), quote(&text));
        let focus = format!("--focus=the use of {text}");
        run_with(&workspace, &program, &["--force", &focus]).exits(0);
        let quoted = serde_json::to_string(&secret).unwrap();
        assert!(
            !workspace.text("seen.jsonl").contains(quoted.trim_matches('"')),
            "{text}"
        );
        let cache = workspace.read("out.cache/answers.sqlite");
        assert!(
            memchr::memmem::find(&cache, secret.as_bytes()).is_none(),
            "{text}"
        );
    }
    let seen = workspace.text("seen.jsonl");
    let request: Value = serde_json::from_str(seen.lines().last().unwrap()).unwrap();
    assert_eq!(
        (request["version"].as_u64(), request["style"].as_str()),
        (Some(1), Some("concise"))
    );
    assert!(request["id"].is_string() && request["keep"].is_array() && request["previous"].is_null());
    assert!(request["max_tokens"].as_u64() < request["most_tokens"].as_u64());
    let turns = request["turns"].as_array().unwrap();
    assert!(turns.iter().any(|turn| turn["calls"][0]["tool"] == "terminal"));
    assert!(
        turns
            .iter()
            .any(|turn| turn["role"] == "tool" && turn["results"][0]["tool"] == "terminal")
    );
    assert!(
        request["prompt"]["user"]
            .as_str()
            .unwrap()
            .contains("<turn index=")
    );
    assert!(!request["prompt"]["system"].as_str().unwrap().is_empty());
}

#[test]
fn a_veto_keeps_the_record_and_says_why_and_is_no_failure() {
    let workspace = with_words(&["VETO"]);
    for force in [&[][..], &["--force"]] {
        run(&workspace, force).exits(0);
        let row = row_of(&workspace);
        assert_eq!(
            row.reason_text(),
            "summary_vetoed: the middle matters in this one"
        );
        assert_eq!(
            (row.status, row.degraded, row.still_over_limit),
            (Status::Kept, false, true)
        );
        let (before, after) = (workspace.text("in.jsonl"), workspace.text("out.jsonl"));
        assert_eq!(before.lines().nth(1), after.lines().nth(1));
    }
    assert!(
        asked(&workspace).values().all(|times| *times == 1),
        "a veto is kept as well"
    );
}

#[test]
fn a_whole_summary_stands_as_it_is_up_to_what_a_summary_may_have() {
    let workspace = with_words(&["WHOLE"]);
    run(&workspace, &[]).exits(0);
    let row = row_of(&workspace);
    // Over the target for summaries, within the most.
    assert!(
        row.summary_tokens > 100 && row.summary_tokens <= 200 && !row.degraded,
        "{row:?}"
    );
    let whole: Vec<String> = (0..25)
        .map(|number| format!("Line {number} as it is.\\n"))
        .collect();
    let whole = whole.concat();
    let summary = format!("[CONTEXT SUMMARY]:\\n{}\"", whole.strip_suffix("\\n").unwrap());
    assert!(
        workspace.text("out.jsonl").contains(&summary),
        "{}",
        workspace.text("out.jsonl")
    );

    let workspace = with_words(&["WHOLE-LONG"]);
    run(&workspace, &[]).exits(3);
    let row = row_of(&workspace);
    assert!(row.summary_tokens <= 200 && row.degraded, "{row:?}");
    assert!(
        row.reason_text().contains("summary_command_cut"),
        "{}",
        row.reason
    );
    let limit = ["--summary-max-tokens", "600", "--force"];
    run(&workspace, &limit).exits(0);
    assert!(row_of(&workspace).summary_tokens > 400);
}

#[test]
fn an_answer_that_is_too_long_is_asked_for_again_and_shorter() {
    let workspace = with_words(&["CHATTY"]);
    run(&workspace, &[]).exits(0);
    let row = row_of(&workspace);
    assert_eq!((row.summarization_api_calls, row.degraded), (2, false));
    assert!(row.summary_tokens <= 100);
}

#[test]
fn a_command_is_words_and_never_a_shell() {
    let workspace = with_words(&["fine"]);
    workspace
        .run(&["compress", "in.jsonl", "--summarizer", "command"])
        .exits(2)
        .says("--command");
    for wrong in ["'never closed", ""] {
        run_with(&workspace, wrong, &[])
            .exits(2)
            .says("summarization.command");
    }
    let path = format!("{}/tests/it/support/program.py", env!("CARGO_MANIFEST_DIR"));
    let file =
        format!("summarization:\n  summarizer: command\n  command: [python3, {path}, --log, $(id) > x]\n");
    workspace.write("run.yaml", file);
    workspace
        .compress(&["in.jsonl", "--config", "run.yaml", "--target-max-tokens", "800"])
        .exits(0);
    assert!(workspace.exists("$(id) > x") && !workspace.exists("x"));
    let shown = workspace
        .run(&["config", "--config", "run.yaml", "--as", "yaml"])
        .exits(0);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(
        !shown.contains("python3") && !shown.contains("base_url"),
        "{shown}"
    );
    let shown = shown.replace("\"command\"", "\"extractive\"");
    workspace.write("again.yaml", shown);
    workspace.run(&["config", "--config", "again.yaml"]).exits(0);
}

#[test]
fn a_secret_on_the_command_line_stands_in_no_file() {
    let workspace = with_words(&["fine"]);
    let (_, secret) = secrets().swap_remove(1);
    run_with(&workspace, &program(&format!("--key {secret}")), &[]).exits(0);
    for file in workspace.files() {
        assert!(
            memchr::memmem::find(&workspace.read(&file), secret.as_bytes()).is_none(),
            "{file}"
        );
    }
}

#[test]
fn the_example_asks_a_language_model() {
    let server = Server::start(|_, request| {
        let text = user_text(&request.body_json().unwrap());
        assert!(text.contains("<turn index="));
        completion("The agent read the files.")
    });
    let example = format!("{}/docs/command_example.py", env!("CARGO_MANIFEST_DIR"));
    let program = format!(
        "python3 '{example}' --base-url {} --model some-model",
        server.url()
    );
    let workspace = with_words(&["fine", "DO NOT SUMMARIZE"]);
    run_with(&workspace, &program, &[]).exits(0);
    let rows = workspace.rows("out.metrics.csv");
    assert_eq!(rows[2].reason_text(), "summary_vetoed: marked by hand");
    assert_eq!(
        (rows[1].prompt_tokens, rows[1].status),
        (1000, Status::Compressed)
    );
    assert_eq!(server.bodies().len(), 3);
    assert_eq!(server.bodies()[0]["model"], "some-model");
    assert!(workspace.text("out.jsonl").contains("The agent read the files."));
}
