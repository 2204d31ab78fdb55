//! Nothing that redaction recognizes leaves the machine: not in turns, identifiers, earlier summaries, or the focus.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::chat::{Server, answer_to, chat_settings, completion, refusal, summarizer};
use crate::support::cli::{Ran, Workspace, fixture_bytes};
use crate::support::secrets::{secrets, trajectory};
use crate::support::{fit, fitter_with, settings};
use proptest::prelude::*;
use trajfit::internals::summarize::answers::InMemory;
use trajfit::internals::summarize::batch::{BatchAnswers, NoResponses, RequestShape};
use trajfit::internals::summarize::chat::api::Api;
use trajfit::internals::summarize::chat::{ApiKey, ChatSettings, ChatSummarizer};
use trajfit::internals::summarize::prompt::{Material, PromptSettings, Prompter, Style};
use trajfit::internals::summarize::redact::redact;

#[test]
fn no_secret_of_a_trajectory_is_in_a_request() {
    let server = Server::start(|_, request| completion(&answer_to(request)));
    let chat = summarizer(chat_settings(&server.url()));
    let fitter = fitter_with(settings(900, 250), Arc::new(chat));
    for (text, secret) in secrets() {
        for place in ["human", "gpt", "answer", "arguments"] {
            let once = fit(&fitter, &trajectory(&text, place));
            assert_eq!(once.row.summarizer, "chat", "{}", once.row.reason);
            // Once more, with a secret in the summary that is there already.
            let leaked = once.text.unwrap().replace("The agent read", &json_text(&text));
            fit(
                &fitter_with(settings(500, 100), fitter.summarizer.clone()),
                &leaked,
            );
            for request in server.requests() {
                let body = String::from_utf8(request.body).unwrap();
                assert!(!body.contains(&*json_text(&secret)), "{place}: {text}");
            }
        }
    }
    assert!(server.requests().len() > 40);
}

fn json_text(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap();
    quoted.trim_matches('"').to_owned()
}

#[test]
fn no_secret_of_a_trajectory_is_in_a_line_of_a_batch() {
    let postbox = || BatchAnswers {
        responses: Arc::new(NoResponses),
        manner: RequestShape::default(),
        resend_failed: false,
    };
    let mut lines = 0;
    for api in [Api::OpenAi, Api::Anthropic] {
        let settings = ChatSettings {
            api,
            ..chat_settings("http://localhost")
        };
        let (store, spend) = (Arc::new(InMemory::default()), Arc::default());
        let chat = ChatSummarizer::in_files(settings, store, spend, postbox()).unwrap();
        let fitter = fitter_with(crate::support::settings(900, 250), Arc::new(chat));
        for (text, secret) in secrets() {
            for place in ["human", "gpt", "answer", "arguments"] {
                let once = fit(&fitter, &trajectory(&text, place));
                // Once more, with a secret in the summary that is there already.
                let (marker, written) = ("[CONTEXT SUMMARY]:\\n", once.text.unwrap());
                let leaked = written.replace(marker, &format!("{marker}{} ", json_text(&text)));
                assert_ne!(leaked, written);
                let again = fit(
                    &fitter_with(crate::support::settings(500, 100), fitter.summarizer.clone()),
                    &leaked,
                );
                assert!(once.pending.is_some());
                for pending in once.pending.into_iter().chain(again.pending) {
                    lines += 1;
                    let line = String::from_utf8(pending.line).unwrap();
                    assert!(!line.contains(&*json_text(&secret)), "{place}: {text}");
                }
            }
        }
    }
    // Summaries that are there were read as well.
    assert!(lines > 2 * 8 * 4 + 20, "{lines}");
}

#[test]
fn a_secret_that_a_model_writes_enters_no_summary() {
    let (text, secret) = secrets().swap_remove(1);
    let answer = format!("The agent used {text} to log in.");
    let server = Server::start(move |_, _| completion(&answer));
    let chat = summarizer(chat_settings(&server.url()));
    let fitted = fit(
        &fitter_with(settings(600, 150), Arc::new(chat)),
        &trajectory("nothing", "gpt"),
    );
    let written = fitted.text.unwrap();
    assert!(written.contains("[REDACTED:github-token]") && !written.contains(&secret));
    assert!(fitted.row.redactions > 0);
}

#[test]
fn a_key_that_is_a_word_leaves_answers_as_they_are() {
    let server = Server::start(|_, _| completion("The test passed: a testing key opened the-long-key-9."));
    for key in ["test", "the-long-key-9"] {
        let chat = summarizer(ChatSettings {
            key: Some(ApiKey {
                value: key.to_owned(),
                variable: "OPENAI_API_KEY".to_owned(),
            }),
            ..chat_settings(&server.url())
        });
        let summary = crate::support::chat::summarize(&chat, "text").unwrap();
        let said = "[CONTEXT SUMMARY]:\nThe test passed: a testing key opened the-long-key-9.";
        assert_eq!(summary.text, said);
    }
}

#[test]
fn a_focus_with_a_secret_sends_none() {
    let (text, secret) = secrets().swap_remove(0);
    let server = Server::start(|_, _| completion("Done."));
    let mut settings: ChatSettings = chat_settings(&server.url());
    settings.prompt.focus = Some(format!("the use of {text}"));
    let chat = summarizer(settings);
    crate::support::chat::summarize(&chat, "text").unwrap();
    let body = String::from_utf8(server.requests()[0].body.clone()).unwrap();
    assert!(body.contains("the use of [REDACTED:") && !body.contains(&secret));
}

proptest! {
    #![proptest_config(crate::support::generate::config())]

    #[test]
    fn a_prompt_holds_no_secret_wherever_its_parts_do(
        which in 0..8_usize,
        place in 0..7_usize,
        before in "[a-z :=\\n\"']{0,12}",
        after in "[a-z \\n\"',;]{0,12}",
    ) {
        let (text, secret) = secrets().swap_remove(which);
        let text = format!("{before} {text} {after}");
        let part = |number: usize| if number == place { text.as_str() } else { "plain" };
        let settings = PromptSettings {
            style: Style::Handoff,
            focus: Some(if place == 6 { "auto" } else { part(0) }.to_owned()),
            template: None,
            redaction: true,
        };
        let prompt = Prompter::new(&settings).unwrap().prompt(&Material {
            turns: part(1),
            previous: Some(part(2)),
            in_progress: Some(part(4)),
            around: trajfit::internals::summarize::Around { task: Some(part(5)), asked_later: Some(part(6)) },
            keep: &[part(3)],
            max_tokens: 100,
            piece: (1, 1),
        }).unwrap();
        let whole = format!("{}\n{}", prompt.system, prompt.user);
        prop_assert!(!whole.contains(&secret), "{whole}");
        prop_assert_eq!(redact(&prompt.user).1, 0);
    }
}

/// Values of settings that nobody is told.
const SECRETS: [&str; 6] = [
    "hunter2-of-the-body",
    "hunter2-in-depth",
    "hunter2-of-a-header",
    "hunter2Path",
    "hunter2-of-the-query",
    "hunter2-of-the-command",
];

/// Flags of a run that asks the server at `url`, with secrets in all that take them.
fn asking(url: &str) -> Vec<String> {
    let [body, deep, header, path, query, _] = SECRETS;
    let flags = [
        "--summarizer",
        "chat",
        "--model",
        "m",
        "--body",
        &format!(r#"{{"api_secret": "{body}", "provider": {{"token": "{deep}"}}}}"#),
        "--headers",
        &format!(r#"{{"X-Api-Key": "{header}"}}"#),
        "--base-url",
        &format!("{url}/k/{path}/v1?api-key={query}"),
    ];
    flags.map(str::to_owned).to_vec()
}

/// Nothing that was said holds a secret.
#[track_caller]
fn check_words(ran: &Ran) {
    let stdout = String::from_utf8_lossy(&ran.stdout);
    for secret in SECRETS {
        assert!(
            !ran.stderr.contains(secret) && !stdout.contains(secret),
            "{}{stdout}",
            ran.stderr
        );
    }
}

#[test]
fn a_secret_of_the_settings_is_in_no_file_of_a_run() {
    use std::os::unix::fs::MetadataExt;
    let refuses = Arc::new(AtomicBool::new(false));
    let refusing = Arc::clone(&refuses);
    let server = Server::start(move |_, request| {
        if refusing.load(Ordering::Relaxed) {
            // A server that repeats what it was sent.
            let body = String::from_utf8_lossy(&request.body);
            refusal(401, &format!("{body} {:?} {}", request.headers, request.url))
        } else {
            completion(&answer_to(request))
        }
    });
    let workspace = Workspace::with_input(fixture_bytes("agent_runs.jsonl"));
    let asking = asking(&server.url());
    let run = |more: &[&str]| {
        let mut flags = vec!["in.jsonl", "-o", "out.jsonl"];
        flags.extend(asking.iter().map(String::as_str));
        if more.contains(&"--body") {
            flags.drain(7..9);
        }
        let ran = workspace.compress(&[&flags[..], more].concat());
        check_words(&ran);
        for file in workspace.files() {
            let bytes = workspace.read(&file);
            for secret in SECRETS {
                assert!(
                    memchr::memmem::find(&bytes, secret.as_bytes()).is_none(),
                    "{secret} in {file}"
                );
            }
        }
        ran
    };
    run(&["-v"]).exits(0);
    let cache = workspace.path("out.cache/answers.sqlite").metadata().unwrap();
    assert_eq!(cache.mode() & 0o777, 0o600);
    // Another body is another run, though neither is told.
    let other = run(&["--resume", "--body", r#"{"api_secret": "another"}"#]).exits(2);
    other.says("summarization.body: was set (check code ");
    refuses.store(true, Ordering::Relaxed);
    run(&["--force", "--no-cache"]).exits(4).says("refuses the key");
    assert!(workspace.exists("out.checkpoint"));
}

#[test]
fn a_secret_of_the_settings_is_shown_by_no_command_and_no_error() {
    let [_, _, header, path, _, command] = SECRETS;
    let workspace = Workspace::with_input(fixture_bytes("agent_runs.jsonl"));
    let asking = asking("http://localhost");
    let asking: Vec<&str> = asking.iter().map(String::as_str).collect();
    let program = format!("python3 x.py --password {command}");
    let program = ["--summarizer", "command", "--command", &program];
    for format in [&[][..], &["--as", "yaml"], &["--as", "json"]] {
        for settings in [&asking[..], &program] {
            check_words(&workspace.run(&[&["config"], settings, format].concat()).exits(0));
        }
    }
    let half = format!(r#"{{"X-Api-Key": "{header}""#);
    for wrong in ["--body", "--headers"] {
        check_words(&workspace.compress(&["in.jsonl", wrong, &half]).exits(2));
    }
    for address in [&format!("http://me:{path}@h/v1"), path] {
        let chat = [
            "in.jsonl",
            "--summarizer",
            "chat",
            "--model",
            "m",
            "--base-url",
            address,
        ];
        check_words(&workspace.compress(&chat).exits(2));
    }
    let file = format!("[summarization]\nheaders = {{ key = \"{header}\"\nx");
    workspace.write("bad.toml", file);
    let ran = workspace.compress(&["in.jsonl", "--config", "bad.toml"]).exits(2);
    check_words(&ran.says("at line "));
}
