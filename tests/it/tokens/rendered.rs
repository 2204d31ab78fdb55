//! Budgets on what the trainer sees: the chat as its template renders it.

use crate::support::cli::Workspace;
use crate::support::generate::made;
use crate::support::rendered::{STRICT, THINKING, rendered_fitter, template, thinking_run, words};
use crate::support::{counter, fit, fitter, settings};
use proptest::prelude::*;
use serde_json::{Value, json};
use trajfit::internals::compress::SummaryPlacement;
use trajfit::internals::fit::Fitter;
use trajfit::internals::metrics::Status;
use trajfit::internals::tokens::chat_template::ChatTemplate;
use trajfit::internals::trajectory;

/// What a line costs as rendered, by nothing but the template and the counter.
fn rendered_tokens(line: &str, template: &ChatTemplate) -> Result<usize, String> {
    let record = trajectory::parse(line.as_bytes(), None).unwrap();
    let chat = trajectory::chat(&record, trajfit::internals::fit::TemplateArguments::AsWritten)
        .map_err(|error| error.to_string())?;
    let text = template.render(&chat.messages, chat.tools.as_deref());
    Ok(counter().count(&text.map_err(|refusal| refusal.to_string())?))
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
fn a_schema_of_tools_after_the_system_turn_hides_no_turn() {
    let template = THINKING.replace(
        "{{- '<|im_end|>\\n' }}",
        "{%- if message.role == 'system' and tools %}{{ tools | tojson }}{% endif %}{{- '<|im_end|>\\n' }}",
    );
    let mut record: Value = serde_json::from_str(&thinking_run(20)).unwrap();
    let tool = |name: String| json!({"type": "function", "function": {"name": name, "description": words(200, "tool")}});
    record["tools"] = (0..20)
        .map(|tool_number| tool(format!("tool_{tool_number}")))
        .collect();
    let line = record.to_string();
    let template_only = rendered_fitter(&template, settings(100_000, 100));
    let whole = fit(&template_only, &line).row.original_tokens as usize;
    let fitted = fit(&rendered_fitter(&template, settings(whole - 500, 100)), &line);
    assert_eq!(fitted.row.status, Status::Compressed, "{}", fitted.row.reason);
    assert!(
        !fitted.row.still_over_limit && fitted.row.region_turns < 20,
        "{:?}",
        fitted.row
    );
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
    assert!(fitted.row.reason == "template_refuses", "{}", fitted.row.reason);
    assert!(
        fitted.row.reason_detail.contains("roles must alternate"),
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
        human.row.reason == "template_refuses_summary",
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
    let name = totals.pointer("/chat_template/name").unwrap().as_str().unwrap();
    assert!(name.contains("thinking.jinja"), "{name}");
}

/// Reads fields of the arguments, as the templates of GLM and Qwen3-Coder do.
const FIELDS: &str = "{%- for message in messages %}{{ message.role }}: {{ message.content }}
{%- for call in message.tool_calls or [] %}{% for name, value in call.function.arguments.items() %}
{{- name ~ '=' ~ value }}{% endfor %}{% endfor %}
{% endfor %}";

#[test]
fn arguments_reach_the_template_as_written_unless_they_are_to_be_parsed() {
    let workspace = Workspace::new();
    workspace.write("fields.jinja", FIELDS);
    workspace.write("in.jsonl", thinking_run(30));
    let run = |more: &[&str]| {
        let arguments = [
            "in.jsonl",
            "-o",
            "out.jsonl",
            "--force",
            "--count",
            "rendered",
            "--chat-template",
            "fields.jinja",
            "--target-max-tokens",
            "2000",
            "--summary-target-tokens",
            "100",
        ];
        workspace.compress(&[arguments.as_slice(), more].concat())
    };
    run(&[]).exits(3);
    let [row] = workspace.rows("out.metrics.csv").try_into().unwrap();
    assert_eq!(row.status, Status::Kept);
    assert!(row.reason == "template_refuses", "{}", row.reason);
    run(&["--template-arguments", "parsed"]).exits(0);
    let [row] = workspace.rows("out.metrics.csv").try_into().unwrap();
    assert_eq!(row.status, Status::Compressed);
    let totals = workspace.json("out.summary.json");
    assert_eq!(
        totals["configuration"]["tokenizer.template_arguments"],
        json!("parsed")
    );
}

#[test]
fn sums_hold_tokens_of_one_count_only() {
    let workspace = Workspace::new();
    workspace.write("strict.jinja", STRICT);
    let refused = talk(10, "gpt");
    workspace.write("in.jsonl", format!("{}\n{refused}\n", talk(20, "human")));
    let arguments = ["in.jsonl", "-o", "out.jsonl", "--chat-template", "strict.jinja"];
    let small = ["--target-max-tokens", "700", "--summary-target-tokens", "60"];
    let rendered = [&arguments[..], &small, &["--count", "rendered"]].concat();
    for more in [&["--dry-run"][..], &["--force"]] {
        let label = if more == ["--force"] {
            "Rendered after"
        } else {
            "Rendered planned"
        };
        workspace
            .compress(&[&rendered[..], more].concat())
            .exits(3)
            .says(label)
            .says("not compressed as asked, but left as they were");
        let rows = workspace.rows("out.metrics.csv");
        let counts: Vec<&str> = rows.iter().map(|row| row.count.as_str()).collect();
        assert_eq!(counts, ["rendered", "values"]);
        let totals = workspace.json("out.summary.json");
        assert_eq!(totals["count"], "rendered");
        assert_eq!(totals["original_tokens"], json!(rows[0].original_rendered_tokens));
        assert_eq!(
            totals["compressed_tokens"],
            json!(rows[0].compressed_rendered_tokens)
        );
        assert_eq!(
            totals["original_token_percentiles"]["max"],
            totals["original_tokens"]
        );
        assert_eq!(totals["uncounted_records"], 1);
        assert_eq!(
            totals["uncounted_value_tokens"],
            json!(rows[1].original_value_tokens)
        );
        assert_eq!(
            totals["both_counts"]["compressed_rendered_tokens"],
            totals["compressed_tokens"]
        );
    }
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
    #![proptest_config(crate::support::generate::config())]

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
