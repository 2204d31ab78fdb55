//! Budgets on what the trainer sees: the chat as its template renders it.
#![allow(clippy::unwrap_used)] // Tests may fail loudly.

mod support;

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use support::cli::Workspace;
use support::generate::made;
use support::{counter, fit, fitter, settings};
use trajfit::compress::SummaryPlacement;
use trajfit::fit::{CountMode, FitSettings, Fitter};
use trajfit::metrics::Status;
use trajfit::tokens::chat_template::ChatTemplate;
use trajfit::trajectory;

/// In the manner of models that think: what was thought before the last thing that a person said is dropped.
const THINKING: &str = "\
{%- set ns = namespace(last=-1) %}
{%- for message in messages %}
{%- if message.role == 'user' %}{% set ns.last = loop.index0 %}{% endif %}
{%- endfor %}
{{- bos_token }}
{%- for message in messages %}
{{- '<|im_start|>' + message.role + '\\n' }}
{%- if message.role == 'assistant' and message.reasoning_content and loop.index0 > ns.last %}
{{- '<think>\\n' + message.reasoning_content + '\\n</think>\\n\\n' }}
{%- endif %}
{%- if message.content is string %}{{ message.content }}{% endif %}
{%- for call in message.tool_calls or [] %}
{{- '\\n<tool_call>\\n' + (call.function | tojson) + '\\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- endfor %}";

/// In the manner of models that know two roles, in turns.
const STRICT: &str = "\
{%- for message in messages if message.role != 'system' %}
{%- if (message.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}
{{- message.role + ': ' + message.content + '\\n' }}
{%- endfor %}";

fn template(text: &str) -> Arc<ChatTemplate> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chat_template.jinja");
    std::fs::write(&path, text).unwrap();
    ChatTemplate::load(path.to_str().unwrap(), "o200k_base").unwrap()
}

fn rendered_fitter(text: &str, settings: FitSettings) -> Fitter {
    Fitter {
        template: Some(template(text)),
        ..fitter(FitSettings {
            count: CountMode::Rendered,
            ..settings
        })
    }
}

/// What a line costs as rendered, by nothing but the template and the counter.
fn rendered_tokens(line: &str, template: &ChatTemplate) -> Result<usize, String> {
    let record = trajectory::parse(line.as_bytes(), None).unwrap();
    let chat = trajectory::chat(&record).map_err(|error| error.to_string())?;
    let text = template.render(&chat.messages, chat.tools.as_deref());
    Ok(counter().count(&text.map_err(|refusal| refusal.to_string())?))
}

fn words(count: usize, word: &str) -> String {
    vec![word; count].join(" ")
}

/// One question, and steps in which the model thinks, calls a tool and reads its answer.
fn thinking_run(steps: usize) -> String {
    let mut messages = vec![
        json!({"role": "system", "content": "You are careful."}),
        json!({"role": "user", "content": "Please mend the build."}),
    ];
    for step in 0..steps {
        let id = format!("call_{step}");
        messages.push(json!({
            "role": "assistant", "content": format!("Step {step}."), "reasoning_content": words(30, "thinking"),
            "tool_calls": [{"id": id, "type": "function", "function": {"name": "run", "arguments": "{\"step\": 1}"}}],
        }));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": words(60, "output")}));
    }
    messages
        .push(json!({"role": "assistant", "content": "Done.", "reasoning_content": words(20, "finally")}));
    json!({"messages": messages}).to_string()
}

#[test]
fn the_budget_is_on_what_the_template_renders() {
    let line = thinking_run(20);
    let template = template(THINKING);
    let (values, rendered) = (
        fit(&fitter(settings(100_000, 50)), &line).row.original_tokens,
        rendered_tokens(&line, &template).unwrap() as u64,
    );
    assert!(rendered > values + 200, "{rendered} {values}");
    // Between the two: by values it fits, as rendered it does not.
    let target = (values + rendered) as usize / 2;
    assert_eq!(
        fit(&fitter(settings(target, 100)), &line).row.status,
        Status::UnderTarget
    );
    let fitted = fit(&rendered_fitter(THINKING, settings(target, 100)), &line);
    assert_eq!(fitted.row.status, Status::Compressed);
    assert_eq!(fitted.row.original_tokens, rendered);
    let written = rendered_tokens(&fitted.text.unwrap(), &template).unwrap() as u64;
    assert_eq!(fitted.row.compressed_tokens, written);
    assert!(written <= target as u64);
    // As few turns as needed: not more than a step and a summary too much.
    assert!(written + 400 > target as u64, "{written} of {target}");
    assert_eq!(fitted.row.passes, 1);
    assert_eq!(fitted.row.original_value_tokens, Some(values));
    assert_eq!(fitted.row.compressed_rendered_tokens, Some(written));
}

#[test]
fn thinking_that_the_summary_would_drop_is_reported_and_auto_keeps_it() {
    let line = thinking_run(20);
    let with = |placement| {
        let mut settings = settings(1500, 100);
        settings.summary_placement = placement;
        fit(&rendered_fitter(THINKING, settings), &line)
    };
    let human = with(SummaryPlacement::Human);
    assert_eq!(human.row.template_changed_turns, Some(1));
    assert!(
        human.row.reason.starts_with("template_changes_kept_turns"),
        "{}",
        human.row.reason
    );
    let auto = with(SummaryPlacement::Auto);
    assert_eq!(
        (auto.row.template_changed_turns, auto.row.reason.as_str()),
        (Some(0), "")
    );
    assert_eq!(auto.row.status, Status::Compressed);
    let written: Value = serde_json::from_str(&auto.text.unwrap()).unwrap();
    let merged = written.pointer("/messages/3/content").unwrap().as_str().unwrap();
    assert!(merged.contains("[CONTEXT SUMMARY]:"), "{merged}");
}

/// People and model in turns, `pairs` times.
fn talk(pairs: usize, first: &str) -> String {
    let mut turns = Vec::new();
    for number in 0..pairs {
        turns
            .push(json!({"from": if number == 0 { first } else { "human" }, "value": words(40, "question")}));
        turns.push(json!({"from": "gpt", "value": words(40, "answer")}));
    }
    json!({"conversations": turns}).to_string()
}

#[test]
fn a_template_that_refuses_a_trajectory_is_that_record_s_reason() {
    let refused = talk(10, "gpt");
    let fitted = fit(&rendered_fitter(STRICT, settings(300, 50)), &refused);
    assert_eq!((fitted.row.status, fitted.text), (Status::Kept, None));
    assert!(
        fitted.row.reason.starts_with("template_refuses: "),
        "{}",
        fitted.row.reason
    );
    assert!(
        fitted.row.reason.contains("roles must alternate"),
        "{}",
        fitted.row.reason
    );
    assert!(fitted.row.degraded && fitted.row.still_over_limit);
    assert_eq!(fitted.row.original_rendered_tokens, None);
    // By values it is compressed all the same; the template was only asked for its opinion.
    let by_values = Fitter {
        template: Some(template(STRICT)),
        ..fitter(settings(300, 50))
    };
    assert_eq!(fit(&by_values, &refused).row.status, Status::Compressed);
}

#[test]
fn a_summary_that_the_template_refuses_goes_where_it_is_accepted_or_nowhere() {
    let line = talk(12, "human");
    let with = |placement| {
        let mut settings = settings(700, 60);
        settings.summary_placement = placement;
        settings.protection.last_n_turns = 3;
        settings.protection.first_gpt = false;
        fit(&rendered_fitter(STRICT, settings), &line)
    };
    let human = with(SummaryPlacement::Human);
    assert_eq!(human.row.status, Status::Kept);
    assert!(
        human.row.reason.starts_with("template_refuses_summary: "),
        "{}",
        human.row.reason
    );
    assert!(human.row.degraded);
}

#[test]
fn totals_and_rows_tell_both_counts() {
    let workspace = Workspace::new();
    workspace.write("thinking.jinja", THINKING);
    workspace.write("in.jsonl", format!("{}\n{}\n", thinking_run(30), thinking_run(2)));
    let arguments = [
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--count",
        "rendered",
        "--chat-template",
        "thinking.jinja",
    ];
    let small = ["--target-max-tokens", "2000", "--summary-target-tokens", "100"];
    workspace
        .compress(&[arguments.as_slice(), &small].concat())
        .exits(0)
        .says("Rendered before");
    let rows = workspace.rows("out.metrics.csv");
    assert!(
        rows.iter()
            .all(|row| row.original_value_tokens < row.original_rendered_tokens)
    );
    let totals = workspace.json("out.summary.json");
    let sum: u64 = rows.iter().filter_map(|row| row.original_rendered_tokens).sum();
    assert_eq!(
        totals.pointer("/both_counts/original_rendered_tokens"),
        Some(&json!(sum))
    );
    assert_eq!(totals.pointer("/both_counts/records"), Some(&json!(2)));
    assert!(totals["rendered_to_values_before"].as_f64().unwrap() > 1.0);
    let name = totals
        .pointer("/run/chat_template/name")
        .unwrap()
        .as_str()
        .unwrap();
    assert!(name.contains("thinking.jinja"), "{name}");
}

#[test]
fn a_run_is_not_resumed_with_another_template() {
    let workspace = Workspace::new();
    workspace.write("a.jinja", THINKING);
    workspace.write("in.jsonl", thinking_run(3));
    let arguments = [
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--chat-template",
        "a.jinja",
        "--resume",
    ];
    workspace.compress(&arguments).exits(0);
    workspace.compress(&arguments).exits(0).says("already finished");
    workspace.write("a.jinja", STRICT);
    workspace.compress(&arguments).exits(2);
}

proptest! {
    #![proptest_config(support::generate::config())]

    #[test]
    fn what_is_reported_as_rendered_is_what_the_written_record_renders_to(
        made in made(),
        target in 150..1500_usize,
        placement in prop_oneof![Just(SummaryPlacement::Human), Just(SummaryPlacement::Merge), Just(SummaryPlacement::Auto)],
    ) {
        let line = made.line();
        let mut settings = settings(target, 60);
        settings.summary_placement = placement;
        let fitter = rendered_fitter(THINKING, settings);
        let fitted = fit(&fitter, &line);
        let template = fitter.template.as_deref().unwrap();
        match rendered_tokens(&line, template) {
            Ok(before) => prop_assert_eq!(fitted.row.original_tokens, before as u64),
            Err(_) => prop_assert!(fitted.row.reason.starts_with("template_refuses") || fitted.row.status == Status::Rejected),
        }
        let written = fitted.text.as_deref().unwrap_or(&line);
        if let Ok(after) = rendered_tokens(written, template) {
            prop_assert_eq!(fitted.row.compressed_tokens, after as u64);
            prop_assert_eq!(fitted.row.still_over_limit, after > target);
        }
        if fitted.row.was_compressed {
            prop_assert!(fitted.row.compressed_tokens < fitted.row.original_tokens);
        }
    }
}
