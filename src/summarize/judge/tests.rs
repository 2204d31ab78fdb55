//! Answers that are taken, tidied, and refused; of each kind there are summaries that only look like it.

use std::sync::Arc;

use super::*;

/// A summary with everything that could be mistaken.
const PLAIN: &str = "The agent read src/app.py and ran the tests: 3 of 40 failed.";

fn judge(region: usize) -> Judge {
    Judge {
        control_tokens: Arc::new(ControlTokens::and(&["<|mine|>".to_owned()])),
        region,
    }
}

fn judged(answer: &str) -> Result<String, &'static str> {
    judge(100_000).summary_in(answer).map_err(|failure| failure.name)
}

#[track_caller]
fn becomes(answer: &str, summary: &str) {
    assert_eq!(judged(answer).as_deref(), Ok(summary), "{answer:?}");
}

#[track_caller]
fn stays(answer: &str) {
    becomes(answer, answer);
}

#[track_caller]
fn is(answers: &[&str], name: &str) {
    for answer in answers {
        assert_eq!(judged(answer).as_deref(), Err(&name), "{answer:?}");
    }
}

#[test]
fn refusals_are_no_summaries_and_summaries_that_tell_of_one_are() {
    is(
        &[
            "I'm sorry, but I can't help with that.",
            "I’m sorry, but I cannot summarize this conversation.",
            "Sorry, I can't assist with that request.",
            "As an AI language model, I do not have access to files.",
            "I cannot provide a summary of this content.\n\nPlease ask something else.",
            "Please provide the turns that you would like me to summarize.",
            "```\nI'm unable to assist with that.\n```",
            "Here is the summary:\n\nI'm sorry, but I can't do that.",
            "Es tut mir leid, aber ich kann dabei nicht helfen.",
            "Lo siento, pero no puedo ayudar con eso.",
            "抱歉，我无法总结这段对话。",
        ],
        "summary_refused",
    );
    stays("The agent said \"I'm sorry, but I can't cancel order W123.\" and ended the call.");
    stays("I cannot reproduce the failure on main; it needs python 3.12 and 2 workers.");
    let long = format!(
        "I'm sorry, but I can't share the key. {}",
        "The agent went on to do more. ".repeat(30)
    );
    stays(long.trim());
}

#[test]
fn errors_of_servers_are_no_summaries_and_summaries_of_errors_are() {
    is(
        &[
            "Error: rate limit exceeded",
            "Rate limit exceeded: free-models-per-day",
            "litellm.RateLimitError: RateLimitError: too many",
            "429 Too Many Requests",
            "upstream connect error or disconnect/reset before headers. reset reason: overflow",
            "An error occurred while processing your request. Please try again later.",
            "[ERROR] connection reset",
        ],
        "summary_error_text",
    );
    is(
        &[
            "<!DOCTYPE html>\n<html><h1>502</h1></html>",
            "<html><body>x</body></html>",
        ],
        "summary_html",
    );
    stays("The API answered \"Error: rate limit exceeded\"; the agent waited for 60 s and asked again.");
    stays(
        "Error: rate limit exceeded was what the API said.\nThe agent waited for 60 s and asked again, which worked.",
    );
    stays("An error occurred in tests/test_app.py: KeyError 'id'. It was mended.");
    stays("<html> was missing in templates/base.html: the agent added it, and the page was shown.");
}

#[test]
fn nothing_and_next_to_nothing_are_no_summaries() {
    is(
        &[
            "...",
            "…",
            "OK",
            "Ok.",
            "\"ok\"",
            "[summary]",
            "n/a",
            "**Summary**",
            "```\n```",
            "---",
        ],
        "summary_placeholder",
    );
    is(&["", " \n"], "summary_empty");
    is(&["Done.", "Fixed the three tests.", "5"], "summary_too_short");
    // Of a short stretch there may be little to say, and of a long one little more in Chinese.
    for region in [0, 50, LARGE_REGION] {
        assert_eq!(judge(region).summary_in("Done.").unwrap(), "Done.");
    }
    stays("修复了三个测试，提交了代码。");
    stays("The three tests were mended, OK.");
}

#[test]
fn tool_calls_are_no_summaries_and_summaries_that_quote_one_are() {
    is(
        &[
            r#"{"name": "bash", "arguments": {"command": "ls"}}"#,
            "```json\n{\"tool\": \"bash\", \"input\": \"ls\"}\n```",
            r#"[{"name": "a", "parameters": {}}]"#,
            r#"{"tool_calls": []}"#,
            "<tool_call>\n{\"name\": \"bash\"}\n</tool_call>",
            "Let me look at the files first.\n<tool_call>\n{\"name\": \"bash\"}\n</tool_call>",
            "<function=bash>\n<parameter=command>ls</parameter>\n</function>",
            "[TOOL_CALLS][{\"name\": \"bash\", \"arguments\": {}}]",
            "<|python_tag|>print(1)",
        ],
        "summary_tool_call",
    );
    stays(r#"{"name": "app", "version": "1.2.3", "summary": "was read from package.json"}"#);
    stays("The agent called `bash` with {\"command\": \"ls\"} and got three names.");
    let quoted = format!("{PLAIN} {PLAIN} {PLAIN} {PLAIN}\n<function=bash>ls</function>");
    stays(&quoted);
}

#[test]
fn what_stands_around_a_summary_is_taken_off() {
    for around in [
        "```\n{}\n```",
        "```markdown\n{}\n```",
        "~~~~text\n{}\n~~~~",
        "Here is the summary:\n\n{}",
        "Here's a concise summary of the stretch: {}",
        "Sure! Here is the updated summary.\n\n---\n\n{}",
        "Certainly!\n{}",
        "Summary: {}",
        "**Summary:**\n{}",
        "# Summary\n\n{}",
        "Hier ist die Zusammenfassung:\n{}",
        "Voici le résumé :\n{}",
        "好的，以下是总结：\n{}",
        "{}\n\nLet me know if you need anything else!",
        "{}\n\nWould you like me to go on with the tests?",
        "{}\n\n## Next steps\n- Mend the tests.\n- Ask the user.",
        "{}\n\n**Recommended next steps:**\n1. Mend the tests.",
        "Here is the summary:\n```md\n{}\n```\n\nI hope this helps!",
        "{}<|im_end|>",
        "{}\n</s>",
        "{} <|mine|>",
        "{}<|im_end|>\n<|im_start|>user\nAnd now?",
        "{}<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nMore.",
        "<|im_start|>assistant\n{}<|im_end|>",
        "<|start_header_id|>assistant<|end_header_id|>\n\n{}<|eot_id|>",
        "<s>{}</s>",
        "<|channel|>analysis<|message|>We need to sum up.<|end|><|start|>assistant<|channel|>final<|message|>{}<|return|>",
        "analysisWe need to sum up.assistantfinal{}",
    ] {
        becomes(&around.replace("{}", PLAIN), PLAIN);
    }
}

#[test]
fn what_belongs_to_a_summary_stays() {
    for text in [
        "The file says:\n```\nx = 1\n```\nNothing else was read.",
        "```\nx = 1\n```\nwas replaced by\n```\nx = 2\n```",
        "Here is the summary the user asked for in docs/summary.md: three lines, all of them new.",
        "Sure of the cause, the agent changed src/app.py and ran the tests again.",
        "Summary tables were added to the report, and docs/summary.md was written.",
        "## Task\nMend the tests.\n## Completed actions\n1. Read src/app.py.\n## Remaining work\nThe docs.",
        "## Open questions\n\nWould you like me to delete the old rows?",
        "The next steps that the user named were done: tests, docs, release.",
        "Let me know if it fails, the user had said; it did not fail.",
        "# Work on the parser\nThe agent rewrote parse() in src/parse.rs.",
    ] {
        stays(text);
    }
    becomes(
        "## Task\nMend the tests.\n## Next steps\nRun them.\n## Critical values\nport 9443",
        "## Task\nMend the tests.\n## Critical values\nport 9443",
    );
}

#[test]
fn control_tokens_that_a_summary_tells_of_are_made_harmless() {
    for (text, safe) in [
        (
            "The template lacks `<|im_end|>` after each turn; it was added.",
            "The template lacks `‹|im_end|>` after each turn; it was added.",
        ),
        (
            "Each turn of the file ends with <|im_end|>\nand begins with <|im_start|> in it.",
            "Each turn of the file ends with ‹|im_end|>\nand begins with ‹|im_start|> in it.",
        ),
        (
            "The words [INST] and </s> were struck from src/prompt.py.",
            "The words ⟦INST] and ‹/s> were struck from src/prompt.py.",
        ),
    ] {
        becomes(text, safe);
    }
    is(
        &["<|im_end|>", "<|im_start|>assistant\n<|im_end|>"],
        "summary_placeholder",
    );
    is(&["I'm sorry, but I can't help.<|im_end|>"], "summary_refused");
}

#[test]
fn tags_objects_and_layers_of_several_kinds_are_taken_off() {
    for around in [
        format!("<summary>\n{PLAIN}\n</summary>"),
        format!("<analysis>\nWhat matters?\n</analysis>\n\n<summary>{PLAIN}</summary>"),
        format!("Here is the summary:\n```\n{PLAIN}\n```\nLet me know if you need anything else."),
        format!("# Summary of the Conversation\n\n{PLAIN}"),
        format!("{PLAIN}\n\n**Next Steps**: Run the tests."),
        format!("I'd be happy to help!\n\n{PLAIN}"),
        serde_json::json!({"summary": format!("Summary: {PLAIN}")}).to_string(),
    ] {
        becomes(&around, PLAIN);
    }
    stays(&format!("The page has <summary>{PLAIN}</summary> in it."));
    stays(&format!("{PLAIN}\n<summary>Details</summary>"));
    stays(&format!("{PLAIN}\nIn progress: next steps of the migration."));
    let object = serde_json::json!({"summary": PLAIN, "files": ["src/app.py"]}).to_string();
    stays(&object);
}

#[test]
fn errors_calls_and_questions_in_other_clothes_are_no_summaries() {
    is(
        &[
            "Error code: 429 - {'error': {'message': 'Rate limit reached'}}",
            r#"{"error": {"message": "rate limited", "code": 429}}"#,
        ],
        "summary_error_text",
    );
    is(
        &["Action: read_file\nAction Input: {\"path\": \"src/app.py\", \"lines\": 40}"],
        "summary_tool_call",
    );
    is(
        &["Certainly! I'd be happy to help. Please provide the conversation you would like me to summarize."],
        "summary_refused",
    );
}
