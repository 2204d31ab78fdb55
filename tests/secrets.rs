//! A secret that redaction recognizes enters no summary, wherever it stands and however much later turns rely on it.
#![allow(clippy::unwrap_used)] // Tests may fail loudly.

mod support;

use serde_json::Value;
use support::secrets::{secrets, trajectory};
use support::{fit, fitter, settings};

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
    let summarizer = trajfit::summarize::extractive::Extractive { redaction: false };
    let fitter = support::fitter_with(settings, std::sync::Arc::new(summarizer));
    let fitted = fit(
        &fitter,
        &trajectory("Authorization: Bearer q7RtZ2mVx9LpK4wNc8Hs", "human"),
    );
    assert!(summary(&fitted.text.unwrap()).contains("q7RtZ2mVx9LpK4wNc8Hs"));
    assert_eq!(fitted.row.redactions, 0);
}
