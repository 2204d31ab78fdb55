//! What `count` and `check` tell of one and the same survey, as people see it.

use std::time::Duration;

use super::*;
use crate::metrics::{Census, Measure, Measured, Parts, Unreadable};

fn measure(line: u64, tokens: u64, rendered: Option<Result<u64, String>>) -> Measure {
    let parts = Parts {
        system: 40,
        tools: if rendered.is_some() { 900 } else { 0 },
        tool_output: tokens - 100,
        assistant: 35,
        human: 25,
        other: 0,
    };
    Measure {
        line,
        id: format!("run-{line}"),
        format: "messages",
        tokens,
        rendered,
        turn_tokens: vec![40, 25, 35, tokens - 100],
        parts,
    }
}

/// Two hundred records and a few that are none, with a template that takes most of them or without one.
fn survey(by: Measured, template: bool) -> (Census, SurveyFigures) {
    let mut census = Census::new(by, 3);
    for line in 1..=200 {
        let tokens = 500 + line * line;
        let rendered = match line {
            _ if !template => None,
            77 | 199 => Some(Err("Conversation roles must alternate\nuser/assistant".to_owned())),
            _ => Some(Ok(tokens + 1000 - 4 * line)),
        };
        census.add("data/runs.jsonl", &measure(line, tokens, rendered));
    }
    for (line, code) in [
        (201, "invalid_json"),
        (202, "no_trajectory"),
        (203, "invalid_json"),
    ] {
        let error = "EOF while parsing a string at column 17".to_owned();
        census.add_unreadable("data/runs.jsonl", &Unreadable { line, code, error });
    }
    let tokenizer = Tokenizer {
        name: "o200k_base".to_owned(),
        ..Tokenizer::default()
    };
    let figures = SurveyFigures::of(&census, vec!["data/runs.jsonl".to_owned()], tokenizer);
    (census, figures)
}

fn counted(template: bool) -> String {
    let (census, figures) = survey(Measured::Values, template);
    let report = CountReport::new(figures, &census, 32_000, None);
    count_text(&report, Duration::from_millis(1500), 120_000_000)
}

fn checked(by: Measured, template: bool, limits: Limits) -> String {
    let (census, figures) = survey(by, template);
    check_text(&CheckOutcome::new(figures, &census, &limits, None))
}

const LIMITS: Limits = Limits {
    max_tokens: 32_000,
    max_over: MaxOver::Share(20_000_000),
    p99: Some(30_000),
    allow_unreadable: true,
    allow_refused: false,
};

#[test]
fn a_count_is_understood_at_a_glance() {
    insta::assert_snapshot!(counted(false), @"");
}

#[test]
fn a_count_with_a_template_shows_both_counts_and_how_far_apart_they_are() {
    insta::assert_snapshot!(counted(true), @"");
}

#[test]
fn a_check_names_every_gate_and_the_worst_records() {
    insta::assert_snapshot!(checked(Measured::Values, false, LIMITS), @"");
}

#[test]
fn a_check_of_what_a_template_renders_fails_where_it_refuses() {
    insta::assert_snapshot!(checked(Measured::Rendered, true, LIMITS), @"");
    let limits = Limits {
        p99: None,
        allow_refused: true,
        ..LIMITS
    };
    assert!(checked(Measured::Rendered, true, limits).ends_with("The check passed.\n"));
}
