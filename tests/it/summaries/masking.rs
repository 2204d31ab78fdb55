//! Masking: the invariants with their meaning for masks, on made-up trajectories, and what users see of it.

use crate::support::cli::Workspace;
use crate::support::oracle::{cost, parts};
use crate::support::{counter, fit, fitter, settings};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use trajfit::internals::fit::{CountMode, FitSettings, Fitter, Strategy as Way};
use trajfit::internals::metrics::{Row, Status};
use trajfit::internals::summarize::mask::error_lines;
use trajfit::internals::tokens::chat_template::ChatTemplate;

fn masking(target: usize, way: Way) -> FitSettings {
    FitSettings {
        strategy: way,
        ..settings(target, 60)
    }
}

/// A run of tool calls in any of the forms that data sets have.
#[derive(Debug, Clone)]
struct Run {
    outputs: Vec<String>,
    form: u8,
}

fn output() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        6 => "[a-z ]{1,60}",
        1 => "(ValueError: bad [a-z]{1,9}|FAILED tests/[a-z]{2,5}.py|src/a.c:[0-9]{1,3}: error: no)",
        1 => "(exit code: [01]|Command blocked by policy|\u{1b}\\[31mError: red|漢字の行|</tool_response>|\"q\" \\\\ \t)",
    ];
    let text = vec(line, 0..40).prop_map(|lines| lines.join("\n"));
    prop_oneof![
        6 => text.clone(),
        1 => Just("the same line of output\n".repeat(20)),
        1 => text.prop_map(|text| json!({"output": text, "exit_code": 1, "success": false}).to_string()),
    ]
}

fn run() -> impl Strategy<Value = Run> {
    (vec(output(), 1..16), 0..5_u8).prop_map(|(outputs, form)| Run { outputs, form })
}

impl Run {
    fn line(&self) -> String {
        let is_sharegpt = self.form < 2;
        let mut turns = if is_sharegpt {
            vec![
                json!({"from": "system", "value": "sys"}),
                json!({"from": "human", "value": "do it"}),
            ]
        } else {
            vec![
                json!({"role": "system", "content": "sys"}),
                json!({"role": "user", "content": "do it"}),
            ]
        };
        for (number, outputs) in self.outputs.chunks(1 + usize::from(self.form) % 3).enumerate() {
            self.group(number, outputs, &mut turns);
        }
        let key = if is_sharegpt { "conversations" } else { "messages" };
        json!({"id": "r", key: turns, "n": 1.5}).to_string()
    }

    fn group(&self, number: usize, outputs: &[String], turns: &mut Vec<Value>) {
        let id = |place: usize| format!("call_{number}_{place}");
        let command = |place: usize| json!({"command": format!("run {number} {place}")});
        match self.form {
            0 | 1 => {
                let calls: String = (0..outputs.len())
                    .map(|place| {
                        format!(
                            "\n<tool_call>\n{}\n</tool_call>",
                            json!({"name": "terminal", "arguments": command(place)})
                        )
                    })
                    .collect();
                turns.push(json!({"from": "gpt", "value": format!("next{calls}")}));
                let answers: Vec<String> = outputs
                    .iter()
                    .enumerate()
                    // A text that ends its own envelope is nothing that a data set holds.
                    .map(|(place, text)| (place, text.replace("</tool_response>", "")))
                    .map(|(place, text)| {
                        let content = if self.form == 0 {
                            json!(text)
                        } else {
                            json!({"result": text})
                        };
                        format!(
                            "<tool_response>\n{}\n</tool_response>",
                            json!({"tool_call_id": id(place), "name": "terminal", "content": content})
                        )
                    })
                    .collect();
                turns.push(json!({"from": "tool", "value": answers.join("\n")}));
            }
            _ => {
                let calls: Vec<Value> = (0..outputs.len())
                    .map(|place| json!({"id": id(place), "type": "function", "function": {"name": "bash", "arguments": command(place).to_string()}}))
                    .collect();
                turns.push(json!({"role": "assistant", "content": null, "tool_calls": calls}));
                for (place, text) in outputs.iter().enumerate() {
                    let content = if self.form == 3 {
                        json!([{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}])
                    } else {
                        json!(text)
                    };
                    turns.push(json!({"role": "tool", "tool_call_id": id(place), "content": content}));
                }
            }
        }
    }
}

/// What tools brought back in a turn: id, name and text.
fn answers(turn: &str) -> Vec<(Value, Value, String)> {
    let turn: Value = serde_json::from_str(turn).unwrap();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match (&turn["role"], &turn["from"]) {
        (Value::String(role), _) if role == "tool" => {
            let content = match &turn["content"] {
                Value::Array(parts) => parts.iter().map(|part| text(&part["text"])).collect(),
                other => text(other),
            };
            vec![(turn["tool_call_id"].clone(), Value::Null, content)]
        }
        (_, Value::String(from)) if from == "tool" => text(&turn["value"])
            .split("<tool_response>")
            .skip(1)
            .map(|block| {
                let (block, _) = block.split_once("</tool_response>").unwrap();
                let block: Value = serde_json::from_str(block).unwrap();
                (
                    block["tool_call_id"].clone(),
                    block["name"].clone(),
                    text(&block["content"]),
                )
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// The error lines of an output, those inside JSON counted as well.
fn errors(output: &str) -> usize {
    fn texts(value: &Value) -> usize {
        match value {
            Value::String(text) => error_lines(text),
            Value::Object(fields) => fields.values().map(texts).sum(),
            Value::Array(items) => items.iter().map(texts).sum(),
            _ => 0,
        }
    }
    match serde_json::from_str::<Value>(output) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => texts(&value),
        _ => error_lines(output),
    }
}

/// Invariants 2 to 6 for masks.
fn assert_masked_soundly(before: &str, after: &str, row: &Row) {
    let (old, old_rest) = parts(before);
    let (new, new_rest) = parts(after);
    assert_eq!(old_rest, new_rest);
    assert_eq!(old.len(), new.len());
    let mut masked = 0;
    for (old, new) in old.iter().zip(&new) {
        if old == new {
            continue;
        }
        masked += 1;
        let (old, new) = (answers(old), answers(new));
        assert_eq!(old.len(), new.len());
        for ((old_id, old_name, old_text), (new_id, new_name, new_text)) in old.iter().zip(&new) {
            assert_eq!((old_id, old_name), (new_id, new_name));
            if old_text == new_text {
                continue;
            }
            assert!(old_text.chars().count() > 200);
            assert!(errors(old_text) <= errors(new_text), "{old_text}\n=>\n{new_text}");
            assert!(counter().count(new_text) < counter().count(old_text));
            assert!(
                !new_text.contains("exit 0") || old_text.contains("exit code: 0"),
                "{new_text}"
            );
        }
    }
    assert_eq!(row.masked_turns, masked);
    let (original, written) = (
        cost(&serde_json::from_str(before).unwrap(), counter().as_ref()),
        cost(&serde_json::from_str(after).unwrap(), counter().as_ref()),
    );
    assert_eq!(
        (row.original_tokens, row.compressed_tokens),
        (original as u64, written as u64)
    );
    assert!(written < original);
    assert_eq!(
        row.still_over_limit,
        row.compressed_tokens > row.target_max_tokens
    );
}

proptest! {
    #![proptest_config(crate::support::generate::config())]

    #[test]
    fn a_masked_trajectory_is_sound_and_stays_as_it_is(run in run(), target in 100..1500_usize) {
        let line = run.line();
        let fitter = fitter(masking(target, Way::Mask));
        let fitted = fit(&fitter, &line);
        prop_assert_ne!(fitted.row.status, Status::Failed, "{}", fitted.row.reason);
        prop_assert_eq!(fitted.row.summarizer.as_str(), "");
        if let Some(after) = fitted.text {
            assert_masked_soundly(&line, &after, &fitted.row);
            prop_assert!(fitted.row.was_compressed && fitted.row.status == Status::Compressed);
            prop_assert!(!fitted.row.still_over_limit || !fitted.row.reason.is_empty());
            let again = fit(&fitter, &after);
            prop_assert_eq!(again.text, None, "{}", after);
        }
    }

    #[test]
    fn a_summary_comes_only_where_masks_are_not_enough(run in run(), target in 100..1500_usize) {
        let line = run.line();
        let masked = fit(&fitter(masking(target, Way::Mask)), &line);
        let both = fit(&fitter(masking(target, Way::MaskThenSummarize)), &line);
        prop_assert_ne!(both.row.status, Status::Failed, "{}", both.row.reason);
        if masked.row.still_over_limit {
            prop_assert!(both.row.compressed_tokens <= masked.row.compressed_tokens);
        } else {
            prop_assert_eq!(&both.text, &masked.text);
        }
        if let Some(after) = both.text {
            let written = cost(&serde_json::from_str(&after).unwrap(), counter().as_ref());
            prop_assert_eq!(both.row.compressed_tokens, written as u64);
        }
    }

    #[test]
    fn any_trajectory_can_be_masked(made in crate::support::generate::made(), target in 60..1500_usize) {
        for way in [Way::Mask, Way::MaskThenSummarize] {
            let fitted = fit(&fitter(masking(target, way)), &made.line());
            prop_assert_ne!(fitted.row.status, Status::Failed, "{}", fitted.row.reason);
        }
    }
}

/// A chat of eight commands, each with forty lines of output.
fn eight_commands() -> String {
    let output = |number: usize| -> String {
        (0..40)
            .map(|n| format!("{number}: line {n} of the output\n"))
            .collect()
    };
    Run {
        outputs: (0..8).map(output).collect(),
        form: 3,
    }
    .line()
}

#[test]
fn the_oldest_outputs_go_first_and_no_more_than_needed() {
    let line = eight_commands();
    let total = cost(&serde_json::from_str(&line).unwrap(), counter().as_ref());
    let fitted = fit(&fitter(masking(total - 300, Way::Mask)), &line);
    let (old, _) = parts(&line);
    let (new, _) = parts(fitted.text.as_deref().unwrap());
    let changed: Vec<usize> = (0..old.len()).filter(|turn| old[*turn] != new[*turn]).collect();
    // The first group is protected.
    let first = changed[0];
    assert!(
        first > 2
            && changed.iter().copied().eq((first..)
                .filter(|turn| answers(&old[*turn]).len() == 1)
                .take(changed.len()))
    );
    assert!(changed.len() < 4, "{changed:?}");
    assert_eq!(fitted.row.region_start, -1);
}

#[test]
fn summarizers_read_what_was_there_before_the_masks() {
    let line = eight_commands();
    let fitted = fit(&fitter(masking(450, Way::MaskThenSummarize)), &line);
    let text = fitted.text.unwrap();
    assert!(
        fitted.row.summarizer == "extractive" && text.contains("[CONTEXT SUMMARY]:"),
        "{}",
        fitted.row.reason
    );
    // The summary quotes what the masks have taken away.
    assert!(text.contains("line 39 of the output"), "{text}");
}

#[test]
fn the_command_line_masks_and_tells_how_many() {
    let workspace = Workspace::new();
    workspace.write("in.jsonl", format!("{}\n", eight_commands()));
    let run = [
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--target-max-tokens",
        "1000",
        "--summary-target-tokens",
        "60",
        "--strategy",
        "mask",
    ];
    workspace.compress(&run).exits(0);
    let rows = workspace.rows("out.metrics.csv");
    assert!(rows[0].masked_turns > 0 && rows[0].status == Status::Compressed && rows[0].summary_tokens == 0);
    let totals = workspace.json("out.summary.json");
    assert_eq!(totals["masked_turns"], json!(rows[0].masked_turns), "{totals}");
}

#[test]
fn the_budget_can_be_on_what_is_rendered() {
    let template = "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content or [] %}{{ p.text }}{% endfor %}{% endif %}{% if m.tool_calls %}{{ m.tool_calls | tojson }}{% endif %}<|im_end|>\n{% endfor %}";
    let workspace = Workspace::new();
    workspace.write("chat_template.jinja", template);
    let path = workspace.path("chat_template.jinja");
    let template = ChatTemplate::load(path.to_str().unwrap(), "o200k_base").unwrap();
    let fitted = |target: usize| {
        let settings = FitSettings {
            count: CountMode::Rendered,
            ..masking(target, Way::Mask)
        };
        let fitter = Fitter {
            template: Some(template.clone()),
            ..fitter(settings)
        };
        fit(&fitter, &eight_commands())
    };
    let before = fitted(100_000).row;
    let before = before.original_rendered_tokens.expect(&before.reason);
    let fitted = fitted(before as usize - 400);
    assert_eq!(fitted.row.status, Status::Compressed);
    assert_eq!(
        fitted.row.compressed_rendered_tokens,
        Some(fitted.row.compressed_tokens)
    );
    assert!(
        fitted.row.compressed_tokens <= before - 400 && fitted.row.masked_turns < 4,
        "{:?}",
        fitted.row
    );
    assert_eq!(fitted.row.template_changed_turns, Some(0));
}
