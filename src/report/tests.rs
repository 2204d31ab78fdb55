//! Tests of the texts of `count` and `check` about the same survey.

use std::time::Duration;

use super::*;
use crate::metrics::{Census, ComparedCount, Measure, Parts, Unreadable};

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

/// A survey of 200 records and a few unreadable ones, with a template that takes most of them or without one.
fn survey(by: ComparedCount, template: bool) -> (Census, SurveyFigures) {
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
    let (census, figures) = survey(ComparedCount::Values, template);
    let report = CountReport::new(figures, &census, 32_000, None);
    count_text(&report, Duration::from_millis(1500), 120_000_000)
}

fn checked(by: ComparedCount, template: bool, limits: CheckLimits) -> String {
    let (census, figures) = survey(by, template);
    check_text(&CheckOutcome::new(figures, &census, &limits, None))
}

const LIMITS: CheckLimits = CheckLimits {
    max_tokens: 32_000,
    max_over: Allowance::Share(20_000_000),
    p99: Some(30_000),
    allow_unreadable: true,
    allow_refused: false,
};

#[test]
fn a_count_is_understood_at_a_glance() {
    insta::assert_snapshot!(counted(false), @r"
    Records            200
    Turns              800
    Tokens       2,786,700
    Over 32,000         23  11.5 %
    Unreadable           3  invalid_json 2, no_trajectory 1
    Time            1.50 s  120.0 MB, 80.0 MB/s

    Tokens a record
      min     501
      p50  10,500
      p90  32,900
      p95  36,600
      p99  39,704
      max  40,500

    Records by tokens
      to     4,000  59  29.5 %  ████████████████████████████████████████
      to     8,000  27  13.5 %  ███████████████████
      to    12,000  21  10.5 %  ███████████████
      to    16,000  17   8.5 %  ████████████
      to    20,000  15   7.5 %  ███████████
      to    24,000  14   7.0 %  ██████████
      to    28,000  12   6.0 %  █████████
      to    32,000  12   6.0 %  █████████
      ------------ the limit
      to    40,000  21  10.5 %  ███████████████
      to    48,000   2   1.0 %  ██

    What the tokens are
      tool output    2,766,700  99.3 %
      system prompt      8,000   0.3 %
      assistant          7,000   0.3 %
      human              5,000   0.2 %

    Largest
      data/runs.jsonl:200  run-200  40,500 tokens  4 turns
          tool output 40,400 (99.8 %), system prompt 40 (0.1 %), assistant 35 (0.1 %), human 25 (0.1 %)
      data/runs.jsonl:199  run-199  40,101 tokens  4 turns
          tool output 40,001 (99.8 %), system prompt 40 (0.1 %), assistant 35 (0.1 %), human 25 (0.1 %)
      data/runs.jsonl:198  run-198  39,704 tokens  4 turns
          tool output 39,604 (99.7 %), system prompt 40 (0.1 %), assistant 35 (0.1 %), human 25 (0.1 %)

    Unreadable
      data/runs.jsonl:201: invalid_json: EOF while parsing a string at column 17 (2 records)
      data/runs.jsonl:202: no_trajectory: EOF while parsing a string at column 17
    ");
}

#[test]
fn a_count_with_a_template_shows_both_counts_and_how_far_apart_they_are() {
    insta::assert_snapshot!(counted(true), @r"
    Records                200
    Turns                  800
    Tokens           2,786,700
    Tokens rendered  2,858,874  +4.3 % on the turns; by record +0.4 % to +198.8 %, median +5.5 %
    Over 32,000             23  11.5 %
    Unreadable               3  invalid_json 2, no_trajectory 1
    Refused                  2  by the chat template
    Time                1.50 s  120.0 MB, 80.0 MB/s

    Tokens a record
            turns  rendered
      min     501     1,496
      p50  10,500    11,100
      p90  32,900    33,180
      p95  36,600    36,840
      p99  39,704    39,912
      max  40,500    40,700

    Records by tokens
      to     4,000  59  29.5 %  ████████████████████████████████████████
      to     8,000  27  13.5 %  ███████████████████
      to    12,000  21  10.5 %  ███████████████
      to    16,000  17   8.5 %  ████████████
      to    20,000  15   7.5 %  ███████████
      to    24,000  14   7.0 %  ██████████
      to    28,000  12   6.0 %  █████████
      to    32,000  12   6.0 %  █████████
      ------------ the limit
      to    40,000  21  10.5 %  ███████████████
      to    48,000   2   1.0 %  ██

    What the tokens are
      tool output    2,766,700  99.3 %
      system prompt      8,000   0.3 %
      assistant          7,000   0.3 %
      human              5,000   0.2 %
      tools schema     180,000  beside the turns

    Largest
      data/runs.jsonl:200  run-200  40,500 tokens  40,700 rendered  4 turns
          tool output 40,400 (99.8 %), system prompt 40 (0.1 %), assistant 35 (0.1 %), human 25 (0.1 %), beside them tools schema 900
      data/runs.jsonl:199  run-199  40,101 tokens          refused  4 turns
          tool output 40,001 (99.8 %), system prompt 40 (0.1 %), assistant 35 (0.1 %), human 25 (0.1 %), beside them tools schema 900
      data/runs.jsonl:198  run-198  39,704 tokens  39,912 rendered  4 turns
          tool output 39,604 (99.7 %), system prompt 40 (0.1 %), assistant 35 (0.1 %), human 25 (0.1 %), beside them tools schema 900

    Unreadable
      data/runs.jsonl:201: invalid_json: EOF while parsing a string at column 17 (2 records)
      data/runs.jsonl:202: no_trajectory: EOF while parsing a string at column 17

    Refused
      data/runs.jsonl:77: template_refuses: Conversation roles must alternate\nuser/assistant (2 records)
    ");
}

#[test]
fn a_check_names_every_gate_and_the_worst_records() {
    insta::assert_snapshot!(checked(ComparedCount::Values, false, LIMITS), @r"
    PASS  records: 200 (at least 1)
    PASS  records that cannot be read: 3 (any number is allowed)
    PASS  records over 32,000 tokens: 23, 11.5 % (at most 40)
    FAIL  99th percentile: 39,704 tokens (at most 30,000)
    Tokens a record: min 501, p50 10,500, p90 32,900, p99 39,704, max 40,500, total 2,786,700
    Over 30,000:
      data/runs.jsonl:200: 40,500 tokens (limit 30,000)
      data/runs.jsonl:199: 40,101 tokens (limit 30,000)
      data/runs.jsonl:198: 39,704 tokens (limit 30,000)
      and 26 more
    Unreadable:
      data/runs.jsonl:201: invalid_json: EOF while parsing a string at column 17 (2 records)
      data/runs.jsonl:202: no_trajectory: EOF while parsing a string at column 17
    The check failed: 1 of 4 gates.
    ");
}

#[test]
fn a_check_of_what_a_template_renders_fails_where_it_refuses() {
    insta::assert_snapshot!(checked(ComparedCount::Rendered, true, LIMITS), @r"
    PASS  records: 198 (at least 1)
    PASS  records that cannot be read: 3 (any number is allowed)
    FAIL  records that the chat template refuses: 2 (at most 0)
    PASS  records over 32,000 tokens: 23, 11.6 % (at most 39)
    FAIL  99th percentile: 39,912 tokens (at most 30,000)
    Tokens a record: min 501, p50 10,500, p90 32,900, p99 39,704, max 40,500, total 2,786,700
    As rendered: min 1,496, p50 11,100, p90 33,180, p99 39,912, max 40,700, total 2,858,874
    Judged by what the chat template renders
    Over 30,000:
      data/runs.jsonl:200: 40,700 tokens (limit 30,000)
      data/runs.jsonl:198: 39,912 tokens (limit 30,000)
      data/runs.jsonl:197: 39,521 tokens (limit 30,000)
      and 26 more
    Unreadable:
      data/runs.jsonl:201: invalid_json: EOF while parsing a string at column 17 (2 records)
      data/runs.jsonl:202: no_trajectory: EOF while parsing a string at column 17
    Refused:
      data/runs.jsonl:77: template_refuses: Conversation roles must alternate\nuser/assistant (2 records)
    The check failed: 2 of 5 gates.
    ");
    let limits = CheckLimits {
        p99: None,
        allow_refused: true,
        ..LIMITS
    };
    assert!(checked(ComparedCount::Rendered, true, limits).ends_with("The check passed.\n"));
}
