//! Nothing that redaction recognizes leaves the machine: not in turns, identifiers, earlier summaries, or the focus.
#![allow(clippy::unwrap_used)] // Tests may fail loudly.

mod support;

use std::sync::Arc;

use proptest::prelude::*;
use support::chat::{Server, answer_to, chat_settings, completion, summarizer};
use support::secrets::{secrets, trajectory};
use support::{fit, fitter_with, settings};
use trajfit::summarize::answers::InMemory;
use trajfit::summarize::batch::{Manner, NoResponses, Postbox};
use trajfit::summarize::chat::api::Api;
use trajfit::summarize::chat::{ChatSettings, ChatSummarizer};
use trajfit::summarize::prompt::{Material, PromptSettings, Prompter, Style};
use trajfit::summarize::redact::redact;

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
    let postbox = || Postbox {
        responses: Arc::new(NoResponses),
        manner: Manner::default(),
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
        let fitter = fitter_with(support::settings(900, 250), Arc::new(chat));
        for (text, secret) in secrets() {
            for place in ["human", "gpt", "answer", "arguments"] {
                let once = fit(&fitter, &trajectory(&text, place));
                // Once more, with a secret in the summary that is there already.
                let (marker, written) = ("[CONTEXT SUMMARY]:\\n", once.text.unwrap());
                let leaked = written.replace(marker, &format!("{marker}{} ", json_text(&text)));
                assert_ne!(leaked, written);
                let again = fit(
                    &fitter_with(support::settings(500, 100), fitter.summarizer.clone()),
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
fn a_focus_with_a_secret_sends_none() {
    let (text, secret) = secrets().swap_remove(0);
    let server = Server::start(|_, _| completion("Done."));
    let mut settings: ChatSettings = chat_settings(&server.url());
    settings.prompt.focus = Some(format!("the use of {text}"));
    let chat = summarizer(settings);
    support::chat::summarize(&chat, "text").unwrap();
    let body = String::from_utf8(server.requests()[0].body.clone()).unwrap();
    assert!(body.contains("the use of [REDACTED:") && !body.contains(&secret));
}

proptest! {
    #![proptest_config(support::generate::config())]

    #[test]
    fn a_prompt_holds_no_secret_wherever_its_parts_do(
        which in 0..8_usize,
        place in 0..4_usize,
        before in "[a-z :=\\n\"']{0,12}",
        after in "[a-z \\n\"',;]{0,12}",
    ) {
        let (text, secret) = secrets().swap_remove(which);
        let text = format!("{before} {text} {after}");
        let part = |number: usize| if number == place { text.as_str() } else { "plain" };
        let settings = PromptSettings {
            style: Style::Handoff,
            focus: Some(part(0).to_owned()),
            template: None,
            redaction: true,
        };
        let prompt = Prompter::new(&settings).unwrap().prompt(&Material {
            turns: part(1),
            previous: Some(part(2)),
            in_progress: None,
            keep: &[part(3)],
            max_tokens: 100,
            piece: (1, 1),
        }).unwrap();
        let whole = format!("{}\n{}", prompt.system, prompt.user);
        prop_assert!(!whole.contains(&secret), "{whole}");
        prop_assert_eq!(redact(&prompt.user).1, 0);
    }
}
