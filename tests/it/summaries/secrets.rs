//! A secret that redaction recognizes enters no summary, wherever it stands and however much later turns rely on it.

use std::sync::{Arc, Mutex};

use crate::support::secrets::{secrets, trajectory};
use crate::support::{fit, fitter, fitter_with, settings};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use trajfit::internals::fit::Strategy;
use trajfit::internals::summarize::{Summarizer, Summary, SummaryError, SummaryRequest};

fn summary(record: &str) -> String {
    let record: Value = serde_json::from_str(record).unwrap();
    let turns = record["conversations"].as_array().unwrap();
    let values = turns.iter().filter_map(|turn| turn["value"].as_str());
    values
        .filter(|value| value.starts_with("[CONTEXT SUMMARY]:"))
        .collect()
}

#[test]
fn a_secret_of_the_region_is_in_no_summary() {
    let fitter = fitter(settings(900, 250));
    for (text, secret) in secrets() {
        for place in ["human", "gpt", "answer", "arguments"] {
            let fitted = fit(&fitter, &trajectory(&text, place));
            let summary = summary(&fitted.text.unwrap());
            assert!(
                !summary.is_empty() && !summary.contains(&secret),
                "{place}: {summary}"
            );
            assert!(fitted.row.redactions > 0, "{place}: {text}");
        }
    }
}

#[test]
fn redaction_can_be_switched_off() {
    let mut settings = settings(900, 250);
    settings.redaction = false;
    let summarizer = trajfit::internals::summarize::extractive::Extractive { redaction: false };
    let fitter = crate::support::fitter_with(settings, std::sync::Arc::new(summarizer));
    let fitted = fit(
        &fitter,
        &trajectory("Authorization: Bearer q7RtZ2mVx9LpK4wNc8Hs", "human"),
    );
    assert!(summary(&fitted.text.unwrap()).contains("q7RtZ2mVx9LpK4wNc8Hs"));
    assert_eq!(fitted.row.redactions, 0);
}

/// A summarizer that notes all that it is given, and answers with a text.
struct Noting {
    given: Mutex<String>,
    answer: String,
}

impl Summarizer for Noting {
    fn name(&self) -> &'static str {
        "noting"
    }

    fn summarize<'a>(&'a self, request: SummaryRequest<'a>) -> BoxFuture<'a, Result<Summary, SummaryError>> {
        let mut given = self.given.lock().unwrap();
        for turn in request.turns.iter() {
            given.push_str(&turn.texts().collect::<String>());
            for call in &turn.calls {
                given.extend([call.name.as_ref(), call.arguments.as_ref()]);
            }
        }
        let anchors = request.anchors.iter().map(|anchor| anchor.text.as_str());
        let others = [request.previous, request.in_progress].into_iter().flatten();
        given.extend(anchors.chain(others));
        let text = format!("[CONTEXT SUMMARY]: {}", self.answer);
        Box::pin(std::future::ready(Ok(Summary {
            text,
            ..Summary::default()
        })))
    }
}

/// A trajectory that tells a secret by its name in one turn, and in its middle says it bare, escaped and in base64.
fn told_once(named: &str, forms: &[String], is_early: bool) -> String {
    let turn = |from: &str, value: &str| json!({"from": from, "value": value});
    let filler = "word ".repeat(120);
    let mut turns = vec![
        turn("system", "s"),
        turn("human", "Deploy it."),
        turn("gpt", "Yes."),
    ];
    let telling = turn("human", &format!("Here: {named}"));
    if is_early {
        turns.push(telling.clone());
    }
    for form in forms {
        let call = json!({"name": "terminal", "arguments": {"command": format!("run {form} now")}});
        turns.push(turn(
            "gpt",
            &format!("I found that it takes {form} here.\n<tool_call>\n{call}\n</tool_call>"),
        ));
        let answer =
            json!({"name": "terminal", "content": format!("error: no {form}\n{filler}\nexit code 1")});
        turns.push(turn(
            "tool",
            &format!("<tool_response>\n{answer}\n</tool_response>"),
        ));
        turns.push(turn("human", &format!("You must always use {form} for it.")));
    }
    turns.push(turn("gpt", &filler));
    if !is_early {
        turns.push(telling);
    }
    turns.push(turn("gpt", &format!("Using {} again.", forms.join(" and "))));
    turns.push(turn("human", "more"));
    turns.push(turn("gpt", &format!("{} as before.", forms.join(", "))));
    json!({"conversations": turns}).to_string()
}

#[test]
fn what_was_recognized_once_in_a_record_is_in_no_request_and_no_summary_of_it() {
    let letters = "q8Zt3LmX0vRb7YpKd2NwHs5JcGf9UeAo1TiVxM4k";
    for index in 0..20 {
        let part = letters.get(index..index + 10).unwrap();
        let secret = format!("{part}/&{index}");
        let encoded = base64::Engine::encode(
            &base64::engine::general_purpose::STANDARD,
            format!("bob:{secret}"),
        );
        let forms = [
            secret.clone(),
            secret.replace('/', "%2F").replace('&', "%26"),
            encoded,
        ];
        let named = match index % 4 {
            0 => format!("DB_PASSWORD={secret}"),
            1 => format!("password: \"{secret}\""),
            2 => format!("mysql -u root -p'{secret}' app"),
            _ => format!("Authorization: Basic {}", forms[2]),
        };
        for (is_early, strategy) in [
            (true, Strategy::Summarize),
            (false, Strategy::Summarize),
            (false, Strategy::Mask),
            (true, Strategy::MaskThenSummarize),
        ] {
            let mut settings = settings(700, 200);
            settings.strategy = strategy;
            let summarizer = Arc::new(Noting {
                given: Mutex::default(),
                answer: format!("it used {secret} and {}", forms[2]),
            });
            let record = told_once(&named, &forms, is_early);
            for fitter in [
                fitter(settings.clone()),
                fitter_with(settings, summarizer.clone()),
            ] {
                let fitted = fit(&fitter, &record);
                let text = fitted.text.unwrap_or_else(|| panic!("{named}: {:?}", fitted.row));
                let written: Value = serde_json::from_str(&text).unwrap();
                let new = written["conversations"].as_array().unwrap().iter();
                let new = new.map(|turn| turn["value"].as_str().unwrap());
                // Kept turns stay as they are: what is new is no turn of the record.
                let old: Value = serde_json::from_str(&record).unwrap();
                let old: Vec<&str> = old["conversations"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|turn| turn["value"].as_str().unwrap())
                    .collect();
                let new: String = new.filter(|value| !old.contains(value)).collect();
                assert!(!new.is_empty(), "{strategy:?}");
                for form in &forms {
                    let bare = form.trim_end_matches('=');
                    assert!(!new.contains(bare), "{named} {form} {strategy:?}: {new}");
                    let given = summarizer.given.lock().unwrap();
                    assert!(!given.contains(bare), "{named} {form} {strategy:?}: {given}");
                }
            }
        }
    }
}

#[test]
fn personal_data_is_replaced_where_that_is_asked_for() {
    let mail = "jane.doe@acme.io";
    let phone = "+49 30 1234567";
    for redact_pii in [false, true] {
        let mut settings = settings(900, 250);
        settings.redact_pii = redact_pii;
        let text = format!("mail to {mail} or call {phone}");
        let fitted = fit(&fitter(settings), &trajectory(&text, "human"));
        let summary = summary(&fitted.text.unwrap());
        assert_eq!(summary.contains(mail), !redact_pii, "{summary}");
        assert_eq!(summary.contains("[REDACTED:phone]"), redact_pii, "{summary}");
    }
}
