//! Places for summaries: no order of roles that held breaks, whatever the form, and what is compressed again holds one summary.

use crate::support::cli::Workspace;
use crate::support::generate::made;
use crate::support::oracle::{assert_in_order, assert_one_summary_each, assert_sound};
use crate::support::rendered::{STRICT, rendered_fitter};
use crate::support::{counter, fit, fitter, settings};
use proptest::prelude::*;
use serde_json::{Value, json};
use trajfit::internals::compress::SummaryPlacement;
use trajfit::internals::fit::{FitSettings, Fitted, PairScorer};
use trajfit::internals::metrics::Status;

/// The forms in which trajectories are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    ShareGpt,
    Chat,
    /// Outputs as text parts.
    ChatParts,
    /// Calls and results among the parts of a content.
    Blocks,
}

/// A record of these sides, each answered by the assistant: `h` for a person, `t`, `tt` for one answer or two.
fn record(form: Form, sides: &[&str], ends_with_human: bool) -> String {
    let filler = |number: usize| format!("line {number} of what there is to say. ").repeat(8);
    // What is found is used two turns later.
    let found = |number: usize| format!("see /srv/part_{number}.py and KEY{}", 70_000 + number);
    let mut turns = match form {
        Form::ShareGpt => vec![json!({"from": "system", "value": "You are careful."})],
        Form::Blocks => vec![],
        _ => vec![json!({"role": "system", "content": "You are careful."})],
    };
    for (number, side) in sides.iter().enumerate() {
        let said = format!("{} {}", filler(number), found(number));
        let calls = sides.get(number + 1).map_or(0, |next| next.matches('t').count());
        if *side == "h" {
            turns.push(match form {
                Form::ShareGpt => json!({"from": "human", "value": said}),
                Form::Blocks => json!({"role": "user", "content": [{"type": "text", "text": said}]}),
                _ => json!({"role": "user", "content": said}),
            });
        } else {
            turns.extend(answers(form, number, side.len(), &said));
        }
        let used = number.checked_sub(2).map(found).unwrap_or_default();
        turns.push(asking(form, number + 1, calls, &format!("Step {number}. {used}")));
    }
    if ends_with_human {
        turns.push(match form {
            Form::ShareGpt => json!({"from": "human", "value": "And now?"}),
            _ => json!({"role": "user", "content": "And now?"}),
        });
    }
    let key = if form == Form::ShareGpt {
        "conversations"
    } else {
        "messages"
    };
    json!({"id": "r", key: turns}).to_string()
}

fn asking(form: Form, number: usize, calls: usize, text: &str) -> Value {
    let id = |call: usize| format!("c{number}_{call}");
    let command = json!({"command": format!("cat /srv/part_{number}.py")});
    match form {
        Form::ShareGpt => {
            let call = json!({"name": "bash", "arguments": command});
            let block = format!("\n<tool_call>\n{call}\n</tool_call>");
            json!({"from": "gpt", "value": format!("{text}{}", block.repeat(calls))})
        }
        Form::Blocks => {
            let calls = (0..calls)
                .map(|call| json!({"type": "tool_use", "id": id(call), "name": "bash", "input": command}));
            let parts: Vec<Value> = [json!({"type": "text", "text": text})]
                .into_iter()
                .chain(calls)
                .collect();
            json!({"role": "assistant", "content": parts})
        }
        _ if calls == 0 => json!({"role": "assistant", "content": text}),
        _ => {
            let calls = (0..calls).map(|call| {
                let function = json!({"name": "bash", "arguments": command.to_string()});
                json!({"id": id(call), "type": "function", "function": function})
            });
            json!({"role": "assistant", "content": text, "tool_calls": calls.collect::<Vec<_>>()})
        }
    }
}

fn answers(form: Form, number: usize, count: usize, text: &str) -> Vec<Value> {
    let answer = |call: usize| {
        let id = format!("c{number}_{call}");
        match form {
            Form::ShareGpt => {
                let response = json!({"name": "bash", "content": text});
                json!({"from": "tool", "value": format!("<tool_response>\n{response}\n</tool_response>")})
            }
            Form::Chat => json!({"role": "tool", "tool_call_id": id, "content": text}),
            Form::ChatParts => {
                json!({"role": "tool", "tool_call_id": id, "content": [{"type": "text", "text": text}]})
            }
            Form::Blocks => {
                json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": text}]})
            }
        }
    };
    (0..count).map(answer).collect()
}

fn form() -> impl Strategy<Value = Form> {
    prop_oneof![
        Just(Form::ShareGpt),
        Just(Form::Chat),
        Just(Form::ChatParts),
        Just(Form::Blocks)
    ]
}

fn sides() -> impl Strategy<Value = Vec<&'static str>> {
    let side = prop_oneof![3 => Just("h"), 5 => Just("t"), 1 => Just("tt")];
    proptest::collection::vec(side, 3..16).prop_map(|sides| [&["h"][..], &sides].concat())
}

fn asked(target: usize) -> FitSettings {
    FitSettings {
        summary_placement: SummaryPlacement::Auto,
        max_passes: 4,
        ..settings(target, 60)
    }
}

/// Checks what became of a record, and returns it.
fn checked(settings: FitSettings, line: &str) -> Fitted {
    let notice = settings.notice.clone();
    let fitted = fit(&fitter(settings.clone()), line);
    assert!(
        matches!(
            fitted.row.status,
            Status::Compressed | Status::Kept | Status::UnderTarget
        ),
        "{:?}",
        fitted.row
    );
    if let Some(text) = &fitted.text {
        assert_sound(line, text, &fitted.row, notice.as_deref(), counter().as_ref());
        assert_in_order(line, text);
        assert_one_summary_each(text);
        let score = PairScorer { format: None }
            .score(line.as_bytes(), text.as_bytes())
            .unwrap();
        let row = &fitted.row;
        let dangling = score.needed.len() - score.held();
        assert_eq!(row.anchors_needed - row.anchors_held, dangling as u64, "{text}");
        let explained = pollster::block_on(fitter(settings).explain(line.as_bytes())).unwrap();
        let region = explained.region.unwrap();
        // A quotation at the end of another turn is no turn any more, and a summary may begin with the earlier one.
        if !line.contains("[CONTEXT SUMMARY]:")
            && explained.last_human.is_none_or(|last| !region.contains(&last))
        {
            assert_eq!(row.anchors_needed, score.needed.len() as u64, "{text}");
        }
    }
    fitted
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..crate::support::generate::config() })]

    #[test]
    fn a_trajectory_in_turn_stays_in_turn_and_holds_one_summary_each(
        form in form(),
        sides in sides(),
        ends_with_human in any::<bool>(),
        protect in any::<[bool; 3]>(),
        last_n_turns in 0..5_usize,
        target in 150..900_usize,
    ) {
        let line = record(form, &sides, ends_with_human);
        let mut settings = asked(target);
        settings.protection.first_human = protect[0];
        settings.protection.first_gpt = protect[1];
        settings.protection.first_tool = protect[2];
        settings.protection.last_n_turns = last_n_turns;
        let once = checked(settings.clone(), &line);
        if let Some(text) = once.text {
            let again = FitSettings { target_max_tokens: target * 2 / 3, ..settings };
            checked(again, &text);
        }
    }

    #[test]
    fn a_sanitized_output_needs_no_sanitizing(made in made(), target in 100..700_usize, then in 60..400_usize) {
        let sanitizing = |target| FitSettings { sanitize: true, ..asked(target) };
        let neighbours = |line: &str| fit(&fitter(sanitizing(then)), line).row.same_role_neighbours;
        let line = made.line();
        let mended = fit(&fitter(sanitizing(1_000_000)), &line).text.unwrap_or(line);
        let compressed = fit(&fitter(sanitizing(target)), &mended).text.unwrap_or_default();
        if !compressed.is_empty() {
            prop_assert!(neighbours(&compressed) <= neighbours(&mended), "{} -> {}", mended, compressed);
        }
    }
}

/// The content of a turn as JSON, and where the summary stands.
fn placed(settings: FitSettings, line: &str) -> (Value, String) {
    let fitted = checked(settings, line);
    let text = fitted.text.unwrap_or_else(|| panic!("{:?}", fitted.row));
    let record: Value = serde_json::from_str(&text).unwrap();
    let key = if record.get("messages").is_some() {
        "messages"
    } else {
        "conversations"
    };
    (record[key].clone(), fitted.row.placement)
}

#[test]
fn a_summary_stands_behind_the_answer_before_it() {
    let line = record(Form::ShareGpt, &["h", "t", "t", "t", "t", "t", "t", "t"], false);
    let (turns, placement) = placed(asked(700), &line);
    assert_eq!(placement, "tool-before");
    let host = turns[3]["value"].as_str().unwrap();
    let old: Value = serde_json::from_str(&line).unwrap();
    let old = old["conversations"][3]["value"].as_str().unwrap();
    assert!(
        host.starts_with(&format!("{old}\n\n[CONTEXT SUMMARY]:\n")),
        "{host}"
    );
    assert!(host.ends_with("\n\n[END OF CONTEXT SUMMARY]"), "{host}");
}

#[test]
fn a_summary_stands_in_front_of_what_a_person_says_next() {
    let line = record(Form::Chat, &["h", "h", "h", "h", "h", "h", "h", "h"], false);
    let mut placed = (400..1000).step_by(20).map(|target| placed(asked(target), &line));
    let (turns, _) = placed.find(|(_, placement)| placement == "human-after").unwrap();
    let host = turns[3]["content"].as_str().unwrap();
    let old: Value = serde_json::from_str(&line).unwrap();
    let kept = old["messages"].as_array().unwrap().iter().rev();
    let kept: Vec<&str> = kept.filter_map(|turn| turn["content"].as_str()).collect();
    assert!(host.starts_with("[CONTEXT SUMMARY]:\n"), "{host}");
    let (_, said) = host.split_once("\n\n[END OF CONTEXT SUMMARY]\n\n").unwrap();
    assert!(kept.contains(&said), "{said}");
}

/// The text of a result, which is a string or a list of parts.
fn text_of_result(result: &Value) -> String {
    let content = &result["content"];
    content
        .as_str()
        .or_else(|| content[0]["text"].as_str())
        .unwrap()
        .to_owned()
}

#[test]
fn a_summary_is_appended_to_the_last_result_and_the_next_one_takes_its_place() {
    let line = record(
        Form::Blocks,
        &["h", "t", "t", "t", "t", "t", "t", "t", "t"],
        false,
    );
    let (turns, placement) = placed(asked(900), &line);
    assert_eq!(placement, "tool-before");
    let old: Value = serde_json::from_str(&line).unwrap();
    let content = turns[2]["content"].as_array().unwrap();
    assert_eq!(content.len(), 1);
    let before = text_of_result(&old["messages"][2]["content"][0]);
    let first = text_of_result(&content[0]);
    let first = first.strip_prefix(&before).unwrap();
    assert!(first.starts_with("\n\n[CONTEXT SUMMARY]:\n") && first.ends_with("\n\n[END OF CONTEXT SUMMARY]"));

    let workspace = Workspace::with_input(format!("{line}\n"));
    for (from, to, target) in [
        ("in.jsonl", "once.jsonl", "900"),
        ("once.jsonl", "twice.jsonl", "700"),
    ] {
        let arguments = [from, "-o", to, "--target-max-tokens", target];
        workspace
            .compress(&[&arguments[..], &["--summary-target-tokens", "60"]].concat())
            .exits(0);
        let row = &workspace.rows(&to.replace(".jsonl", ".metrics.csv"))[0];
        assert_eq!(row.placement, "tool-before");
        let show = ["show", from, "--compressed", to, "--full"];
        let shown = String::from_utf8(workspace.run(&show).exits(0).stdout).unwrap();
        assert!(shown.contains("\n~ [2] "), "{shown}");
        assert!(
            !shown.contains("\n- [2]") && !shown.contains("\n+ [2]"),
            "{shown}"
        );
        let check = ["check", "--against", from, to, "--json"];
        let checked: Value = serde_json::from_slice(&workspace.run(&check).exits(0).stdout).unwrap();
        assert!(row.anchors_needed > 0);
        assert_eq!(checked["anchors_needed"], json!(row.anchors_needed), "{checked}");
        assert_eq!(checked["anchors_held"], json!(row.anchors_held), "{checked}");
    }
    let twice: Value = serde_json::from_slice(&workspace.read("twice.jsonl")).unwrap();
    let content = twice["messages"][2]["content"].as_array().unwrap();
    assert_eq!(content.len(), 1);
    let second = text_of_result(&content[0]);
    assert!(second.starts_with(&before) && !second.ends_with(first));
}

#[test]
fn a_region_is_moved_where_its_summary_would_have_no_place() {
    // Between the first answer and what a person says next there is none.
    let line = record(Form::Chat, &["h", "t", "t", "h", "t", "t", "t", "h", "t"], false);
    let mut moved = 0;
    for target in (300..900).step_by(20) {
        let fitted = checked(asked(target), &line);
        assert_eq!(
            fitted.row.status,
            Status::Compressed,
            "{target}: {:?}",
            fitted.row
        );
        moved += usize::from(fitted.row.region_moved);
    }
    assert!(moved > 0);
}

#[test]
fn a_record_without_a_place_for_its_summary_is_kept_and_says_so() {
    let mut record: Value =
        serde_json::from_str(&record(Form::Chat, &["h", "t", "t", "t", "t", "t"], false)).unwrap();
    for turn in record["messages"].as_array_mut().unwrap() {
        if turn["role"] == "tool" {
            turn["content"] = Value::Null;
        }
        if turn["role"] == "assistant" {
            turn["content"] = json!("I go on. ".repeat(60));
        }
    }
    let line = record.to_string();
    let fitted = fit(&fitter(asked(600)), &line);
    assert_eq!((fitted.row.status, fitted.text), (Status::Kept, None));
    assert!(
        fitted.row.reason.starts_with("no_place_for_summary"),
        "{}",
        fitted.row.reason
    );
    assert!(!fitted.row.degraded && fitted.row.placement.is_empty());
    // Without a rule, a turn of its own is a place.
    let anywhere = FitSettings {
        role_orders: Vec::new(),
        ..asked(600)
    };
    assert_eq!(fit(&fitter(anywhere), &line).row.placement, "own");
}

#[test]
fn a_template_that_wants_turns_is_served() {
    let line = record(Form::Chat, &["h"; 12], false);
    for last_n_turns in 2..5 {
        for first_gpt in [false, true] {
            let mut settings = asked(600);
            settings.protection.last_n_turns = last_n_turns;
            settings.protection.first_gpt = first_gpt;
            let fitted = fit(&rendered_fitter(STRICT, settings), &line);
            assert_eq!(fitted.row.status, Status::Compressed, "{:?}", fitted.row);
            assert!(
                !fitted.row.degraded && !fitted.row.still_over_limit,
                "{:?}",
                fitted.row
            );
        }
    }
}

#[test]
fn a_template_decides_where_no_order_of_the_record_does() {
    // It refuses two tool or human turns in a row; the record has two assistant turns in one place.
    const NO_PAIRS: &str = "{%- for message in messages %}
        {%- if loop.previtem and loop.previtem.role == 'tool' and message.role == 'user' %}{{ raise_exception('no') }}{% endif %}
        {{- message.role + ': ' + (message.content or '') }}
        {%- for call in message.tool_calls or [] %}{{ call.function | tojson }}{%- endfor %}
        {%- endfor %}";
    let mut record: Value =
        serde_json::from_str(&record(Form::Chat, &["h", "t", "t", "t", "t", "t", "t"], false)).unwrap();
    let turns = record["messages"].as_array_mut().unwrap();
    turns.insert(turns.len() - 1, json!({"role": "assistant", "content": "So."}));
    let fitted = fit(&rendered_fitter(NO_PAIRS, asked(700)), &record.to_string());
    assert_eq!(fitted.row.placement, "tool-before", "{:?}", fitted.row);
    let human = FitSettings {
        summary_placement: SummaryPlacement::Human,
        ..asked(700)
    };
    let fitted = fit(&rendered_fitter(NO_PAIRS, human), &record.to_string());
    assert!(
        fitted.row.reason.starts_with("template_refuses_summary"),
        "{:?}",
        fitted.row
    );
}
