//! What is made of a model's answers before anybody keeps them: what is no summary is asked for again, what stands around one goes.

use crate::support::chat::{
    Server, chat_settings, completion, keeping, outcome, summarize, summarize_turns, summarizer, turn,
};
use crate::support::cli::{Workspace, fixture_bytes};
use serde_json::json;
use trajfit::internals::summarize::chat::ChatSettings;
use trajfit::internals::trajectory::Role;

/// Answers that are no summaries, by the names of what they are.
const NO_SUMMARIES: [(&str, &str); 7] = [
    ("summary_refused", "I'm sorry, but I can't help with that."),
    ("summary_error_text", "Error: rate limit exceeded"),
    ("summary_html", "<!DOCTYPE html>\n<title>502</title>\n</html>"),
    ("summary_placeholder", "..."),
    ("summary_placeholder", "OK"),
    (
        "summary_tool_call",
        r#"{"name": "bash", "arguments": {"command": "ls"}}"#,
    ),
    ("summary_placeholder", "<|im_end|>"),
];

#[test]
fn what_is_no_summary_is_asked_for_again_and_then_fails_under_its_name() {
    for (name, answer) in NO_SUMMARIES {
        let server = Server::start(move |number, _| completion(if number < 2 { answer } else { "Did it." }));
        let chat = summarizer(chat_settings(&server.url()));
        let summary = summarize(&chat, "text").unwrap();
        assert_eq!(summary.text, "[CONTEXT SUMMARY]:\nDid it.", "{answer}");
        // All attempts count, with their tokens.
        let usage = summary.usage;
        assert_eq!(
            (usage.api_calls, usage.errors, usage.tokens.prompt),
            (3, 2, 3000),
            "{answer}"
        );

        let server = Server::start(move |_, _| completion(answer));
        let chat = summarizer(chat_settings(&server.url()));
        assert_eq!(outcome(&summarize(&chat, "text")), name, "{answer}");
        assert_eq!(server.requests().len(), 3, "{answer}");
    }
}

#[test]
fn next_to_nothing_is_a_summary_of_a_short_stretch_only() {
    let server = Server::start(|_, _| completion("Did it."));
    let chat = summarizer(ChatSettings {
        max_retries: 1,
        ..chat_settings(&server.url())
    });
    assert_eq!(outcome(&summarize(&chat, "text")), "Did it.");
    let long = "The agent read a file and found another. ".repeat(150);
    let turns = [turn(3, Role::Assistant, &long)];
    assert_eq!(outcome(&summarize_turns(&chat, &turns, &[])), "summary_too_short");
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn what_is_kept_is_the_summary_alone() {
    let server = Server::start(|number, _| {
        completion(if number == 0 {
            "OK"
        } else {
            "Here is the summary:\n```\nThe agent read src/app.py.\n```\n\nLet me know if it helps!<|im_end|>"
        })
    });
    let folder = tempfile::tempdir().unwrap();
    for cached in [0, 1] {
        let chat = keeping(chat_settings(&server.url()), folder.path());
        let summary = summarize(&chat, "text").unwrap();
        assert_eq!(summary.text, "[CONTEXT SUMMARY]:\nThe agent read src/app.py.");
        assert_eq!(summary.usage.cached, cached);
    }
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn special_tokens_of_the_runs_own_tokenizer_are_no_part_of_a_summary() {
    let server = Server::start(|_, _| {
        completion("The agent read src/app.py and met <|endofprompt|> in it.<|endoftext|>")
    });
    let chat = summarizer(chat_settings(&server.url()));
    assert_eq!(
        outcome(&summarize(&chat, "text")),
        "The agent read src/app.py and met \u{2039}|endofprompt|> in it."
    );
    let mine = json!({
        "added_tokens": [{"id": 3, "content": "<|mine|>", "special": true, "single_word": false, "lstrip": false,
            "rstrip": false, "normalized": false}],
        "normalizer": null, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null, "decoder": null,
        "model": {"type": "WordLevel", "vocab": {"a": 0, "b": 1, "?": 2, "<|mine|>": 3}, "unk_token": "?"},
    });
    let server = Server::start(|_, _| {
        completion("The agent read the files and ran the tests, <|mine|> among them.<|mine|>")
    });
    let workspace = Workspace::with_input(fixture_bytes("agent_runs.jsonl"));
    workspace.write("tokenizer.json", mine.to_string());
    let url = server.url();
    let flags = [
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--tokenizer",
        "tokenizer.json",
        "--max-tokens",
        "6000",
        "--summarizer",
        "chat",
        "--model",
        "m",
        "--base-url",
        &url,
    ];
    workspace.compress(&flags);
    let written = workspace.text("out.jsonl");
    assert!(written.contains("ran the tests, \u{2039}|mine|> among them."));
    assert!(!written.contains("<|mine|>"));
}

#[test]
fn rows_tell_what_the_model_named_itself_from_what_was_appended() {
    let server = Server::start(|_, _| {
        completion("The agent read the files, ran the tests, and said no names at all.")
    });
    let workspace = Workspace::with_input(fixture_bytes("agent_runs.jsonl"));
    let url = server.url();
    let flags = [
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--max-tokens",
        "12000",
        "--summarizer",
        "chat",
        "--model",
        "m",
        "--base-url",
        &url,
    ];
    workspace.compress(&flags).exits(0);
    let rows = workspace.rows("out.metrics.csv");
    let held: u64 = rows.iter().map(|row| row.anchors_held).sum();
    assert!(held > 10 && rows.iter().all(|row| row.anchors_written == 0));
    let totals = workspace.json("out.summary.json");
    assert_eq!(
        (&totals["anchors_held"], &totals["anchors_written"]),
        (&json!(held), &json!(0))
    );
    // The embedded summarizer names some itself.
    workspace
        .compress(&["in.jsonl", "-o", "own.jsonl", "--max-tokens", "12000"])
        .exits(0);
    let rows = workspace.rows("own.metrics.csv");
    assert!(rows.iter().any(|row| row.anchors_written > 0));
    assert!(rows.iter().all(|row| row.anchors_written <= row.anchors_held));
}
