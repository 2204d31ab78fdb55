//! A trajectory whose head took a summary in, compressed again: the new summary takes the place of the earlier one.

use std::sync::{Arc, Mutex};

use crate::support::cli::Workspace;
use crate::support::oracle::{assert_one_summary_each, assert_sound};
use crate::support::{counter, fit, fitter, fitter_with, settings};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use trajfit::internals::compress::SummaryPlacement;
use trajfit::internals::fit::{FitSettings, SummarySize};
use trajfit::internals::summarize::{Summarizer, Summary, SummaryError, SummaryRequest};

/// A run of `steps` calls; the last assistant turn uses what only an early output tells.
fn long_run(steps: usize) -> Value {
    let mut turns = vec![
        json!({"from": "system", "value": "sys"}),
        json!({"from": "human", "value": "Find out why caf\u{e9} checkouts fail."}),
    ];
    for step in 0..steps {
        let call = json!({"name": "bash", "arguments": {"command": format!("cat /srv/part_{step}.py")}});
        turns.push(
            json!({"from": "gpt", "value": format!("Step {step}.\n<tool_call>\n{call}\n</tool_call>")}),
        );
        let key = if step == 2 { "key ZX99417 is wrong, " } else { "" };
        let content =
            format!("{key}line of part {step} and some more of it. ").repeat(if step == 0 { 2 } else { 25 });
        let answer = json!({"name": "bash", "content": content});
        turns.push(json!({"from": "tool", "value": format!("<tool_response>\n{answer}\n</tool_response>")}));
    }
    turns.push(json!({"from": "gpt", "value": "The cause is the key ZX99417."}));
    json!({"id": "r", "conversations": turns})
}

fn asked(target: usize, placement: SummaryPlacement) -> FitSettings {
    FitSettings {
        summary_placement: placement,
        file_footer: true,
        ..settings(target, 150)
    }
}

/// The text of the turn that takes summaries in: the answer to the first call.
fn taking(record: &str) -> String {
    let record: Value = serde_json::from_str(record).unwrap();
    record["conversations"][3]["value"].as_str().unwrap().to_owned()
}

#[test]
fn a_merged_summary_is_updated_where_it_stands() {
    for placement in [SummaryPlacement::Merge, SummaryPlacement::Auto] {
        let line = long_run(24).to_string();
        let once = fit(&fitter(asked(4000, SummaryPlacement::Merge)), &line)
            .text
            .unwrap();
        let first = taking(&once);
        assert!(first.contains("ZX99417"), "{first}");
        // Words after the summary are not its own.
        let mut record: Value = serde_json::from_str(&once).unwrap();
        record["conversations"][3]["value"] = json!(format!("{first}\n\nAnd mind the docs."));
        let once = record.to_string();
        let settings = asked(1500, placement);
        let notice = settings.notice.clone();
        let fitted = fit(&fitter(settings), &once);
        let twice = fitted.text.unwrap();
        assert_sound(&once, &twice, &fitted.row, notice.as_deref(), counter().as_ref());
        assert_one_summary_each(&twice);
        let second = taking(&twice);
        let own = first.split("\n\n[CONTEXT SUMMARY]:").next().unwrap();
        assert!(
            second.starts_with(&format!("{own}\n\n[CONTEXT SUMMARY]:\n")),
            "{second}"
        );
        assert!(
            second.ends_with("\n\n[END OF CONTEXT SUMMARY]\n\nAnd mind the docs."),
            "{second}"
        );
        // What the earlier summary held is needed still.
        assert!(
            second.contains("ZX99417") && fitted.row.anchors_needed > 0,
            "{second}"
        );
        assert_eq!(fitted.row.anchors_held, fitted.row.anchors_needed);
        assert_eq!(second.matches("Files read:").count(), 1, "{second}");
        assert!(!fitted.row.still_over_limit && fitted.row.passes == 1);
    }
}

#[test]
fn a_turn_with_another_summary_is_shown_as_the_turn_that_it_was() {
    let workspace = Workspace::with_input(format!("{}\n", long_run(24)));
    let compressed = |from: &str, to: &str, target: &str| {
        let sizes = ["--target-max-tokens", target, "--summary-target-tokens", "150"];
        let arguments = [from, "-o", to, "--summary-placement", "merge"];
        workspace.compress(&[&arguments[..], &sizes].concat()).exits(0);
    };
    compressed("in.jsonl", "once.jsonl", "4000");
    compressed("once.jsonl", "twice.jsonl", "1500");
    let show = ["show", "once.jsonl", "--compressed", "twice.jsonl", "--full"];
    let shown = String::from_utf8(workspace.run(&show).exits(0).stdout).unwrap();
    assert!(shown.contains("\n~ [3] tool  "), "{shown}");
    assert!(
        !shown.contains("\n- [3]") && !shown.contains("\n+ [3]"),
        "{shown}"
    );
    // What is scored afterwards is what the run told.
    let row = &workspace.rows("twice.metrics.csv")[0];
    let check = ["check", "--against", "once.jsonl", "twice.jsonl", "--json"];
    let checked: Value = serde_json::from_slice(&workspace.run(&check).exits(0).stdout).unwrap();
    assert!(row.anchors_needed > 0);
    assert_eq!(checked["anchors_needed"], json!(row.anchors_needed), "{checked}");
    assert_eq!(checked["anchors_held"], json!(row.anchors_held), "{checked}");
}

#[test]
fn a_turn_whose_summary_was_taken_out_is_shown_and_scored_as_the_turn_that_it_was() {
    let once = fit(
        &fitter(asked(4000, SummaryPlacement::Merge)),
        &long_run(24).to_string(),
    );
    let once = once.text.unwrap();
    let mut without: Value = serde_json::from_str(&once).unwrap();
    let own = taking(&once)
        .split("\n\n[CONTEXT SUMMARY]:")
        .next()
        .unwrap()
        .to_owned();
    without["conversations"][3]["value"] = json!(own);
    let workspace = Workspace::with_input(format!("{once}\n"));
    workspace.write("without.jsonl", format!("{without}\n"));
    let show = ["show", "in.jsonl", "--compressed", "without.jsonl", "--full"];
    let shown = String::from_utf8(workspace.run(&show).exits(0).stdout).unwrap();
    assert!(
        shown.contains("\n~ [3] tool  ") && shown.contains("~ extended or updated"),
        "{shown}"
    );
    assert!(
        !shown.contains("\n- [3]") && !shown.contains("\n+ [3]"),
        "{shown}"
    );
    // What only the summary told is not told any more; what the turn itself says still is.
    let check = ["check", "--against", "in.jsonl", "without.jsonl"];
    let check = [&check[..], &["--json"]].concat();
    let checked: Value = serde_json::from_slice(&workspace.run(&check).stdout).unwrap();
    assert!(checked["anchors_needed"].as_u64().unwrap() > 0, "{checked}");
    assert_eq!(checked["anchors_held"], json!(0), "{checked}");
    assert!(shown.contains("dangling: ZX99417"), "{shown}");
}

/// Tells what it was given.
#[derive(Default)]
struct Witness(Mutex<Vec<(Option<String>, String)>>);

impl Summarizer for Witness {
    fn name(&self) -> &'static str {
        "witness"
    }

    fn summarize<'a>(&'a self, request: SummaryRequest<'a>) -> BoxFuture<'a, Result<Summary, SummaryError>> {
        let texts = request
            .turns
            .iter()
            .flat_map(trajfit::internals::trajectory::TurnView::texts);
        let turns: Vec<&str> = texts.collect();
        let seen = (request.previous.map(str::to_owned), turns.join("\n"));
        self.0.lock().unwrap().push(seen);
        let summary = Summary {
            text: "told anew".to_owned(),
            ..Summary::default()
        };
        std::future::ready(Ok(summary)).boxed()
    }
}

#[test]
fn every_summarizer_is_given_the_earlier_one_as_what_it_is() {
    let once = fit(
        &fitter(asked(4000, SummaryPlacement::Merge)),
        &long_run(24).to_string(),
    );
    let once = once.text.unwrap();
    let earlier = taking(&once);
    let body = earlier.split("[CONTEXT SUMMARY]:\n").nth(1).unwrap();
    let body = body.split("\nFiles read:").next().unwrap();
    let witness = Arc::new(Witness::default());
    let fitted = fit(
        &fitter_with(asked(1500, SummaryPlacement::Merge), Arc::clone(&witness) as _),
        &once,
    );
    let seen = witness.0.lock().unwrap();
    assert!(seen[0].0.as_deref().unwrap().starts_with(body), "{seen:?}");
    assert!(!seen[0].1.contains("CONTEXT SUMMARY"), "{seen:?}");
    let text = fitted.text.unwrap();
    assert!(
        taking(&text).contains("\n\n[CONTEXT SUMMARY]:\ntold anew\n"),
        "{text}"
    );
}

#[test]
fn an_earlier_summary_that_goes_is_counted_as_room() {
    let line = long_run(24).to_string();
    let large = FitSettings {
        summary_size: SummarySize::fixed(900),
        summary_max_tokens: 1800,
        ..asked(4000, SummaryPlacement::Merge)
    };
    let once = fit(&fitter(large), &line).text.unwrap();
    let tokens = fit(&fitter(asked(1, SummaryPlacement::Merge)), &once)
        .row
        .original_tokens;
    // Little is over the target, and the earlier summary is larger than the next one: one group of turns is enough.
    let target = usize::try_from(tokens).unwrap() - 10;
    let settings = asked(target, SummaryPlacement::Merge);
    let fitted = fit(&fitter(settings), &once);
    assert_eq!(
        (fitted.row.region_turns, fitted.row.still_over_limit),
        (2, false),
        "{:?}",
        fitted.row
    );
}

#[test]
fn an_output_with_a_summary_behind_it_is_not_masked() {
    let long = "a line of an output that is long enough to be masked\n".repeat(30);
    let mut turns = vec![json!({"role": "user", "content": "Go on."})];
    for step in 0..6 {
        let id = format!("c{step}");
        let call = json!({"id": id, "type": "function", "function": {"name": "bash", "arguments": "{\"command\": \"ls\"}"}});
        turns.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        let summary = "\n\n[CONTEXT SUMMARY]:\nThe key is ZX99417.\n\n[END OF CONTEXT SUMMARY]";
        let content = format!("{step}\n{long}{}", if step == 0 { summary } else { "" });
        turns.push(json!({"role": "tool", "tool_call_id": id, "content": content}));
    }
    let mut asked = FitSettings {
        strategy: trajfit::internals::fit::Strategy::Mask,
        ..asked(100, SummaryPlacement::Merge)
    };
    asked.protection.first_gpt = false;
    asked.protection.first_tool = false;
    let fitted = fit(&fitter(asked), &json!({"messages": turns}).to_string());
    assert!(fitted.row.masked_turns >= 2, "{:?}", fitted.row);
    assert!(fitted.text.unwrap().contains("The key is ZX99417."));
}

#[test]
fn a_last_human_turn_with_an_envelope_in_it_survives_as_a_persons_words() {
    let said =
        "The page says\n<tool_response>\n{\"name\": \"x\", \"content\": \"y\"}\n</tool_response>\nGo on.";
    let mut record = long_run(24);
    let turns = record["conversations"].as_array_mut().unwrap();
    turns.insert(8, json!({"from": "human", "value": said}));
    let line = record.to_string();
    let settings = asked(1500, SummaryPlacement::Merge);
    let notice = settings.notice.clone();
    let fitted = fit(&fitter(settings), &line);
    assert!(
        fitted.row.reason.starts_with("placed_as_human_turn") && fitted.row.degraded,
        "{:?}",
        fitted.row
    );
    let text = fitted.text.unwrap();
    assert_sound(&line, &text, &fitted.row, notice.as_deref(), counter().as_ref());
    let written: Value = serde_json::from_str(&text).unwrap();
    let mut human = written["conversations"].as_array().unwrap().iter();
    let own = human.rfind(|turn| turn["from"] == "human").unwrap();
    assert!(own["value"].as_str().unwrap().ends_with(said), "{own}");
}

#[test]
fn the_last_message_of_the_user_is_marked_once_where_steps_followed_it() {
    let mut record = long_run(24);
    let turns = record["conversations"].as_array_mut().unwrap();
    turns.insert(8, json!({"from": "human", "value": "Use the second server."}));
    let compressed = |line: &str, target: usize| {
        let settings = asked(target, SummaryPlacement::Human);
        let text = fit(&fitter(settings), line).text.unwrap();
        let record: Value = serde_json::from_str(&text).unwrap();
        let mut turns = record["conversations"].as_array().unwrap().iter();
        let summary = turns.find(|turn| turn["value"].as_str().unwrap().starts_with("[CONTEXT SUMMARY]:"));
        let summary = summary.unwrap()["value"].as_str().unwrap().to_owned();
        (text, summary)
    };
    let (once, summary) = compressed(&record.to_string(), 4000);
    let (_, again) = compressed(&once, 1500);
    for summary in [summary, again] {
        let (_, behind) = summary.split_once("[END OF CONTEXT SUMMARY]").unwrap();
        assert_eq!(
            behind,
            "\n\n[USER MESSAGE; steps followed it]:\nUse the second server."
        );
    }
}

#[test]
fn a_message_of_the_user_behind_a_summary_goes_with_it_once_another_one_follows() {
    let mut record = long_run(24);
    let turns = record["conversations"].as_array_mut().unwrap();
    turns.insert(8, json!({"from": "human", "value": "Use the second server."}));
    let merged = |target: usize| asked(target, SummaryPlacement::Merge);
    let once = fit(&fitter(merged(4000)), &record.to_string()).text.unwrap();
    let message = "[USER MESSAGE; steps followed it]:\nUse the second server.";
    assert!(taking(&once).ends_with(message), "{}", taking(&once));
    let mut record: Value = serde_json::from_str(&once).unwrap();
    let turns = record["conversations"].as_array_mut().unwrap();
    turns.push(json!({"from": "human", "value": "Take the third server, port 9911."}));
    let more = long_run(12);
    turns.extend(more["conversations"].as_array().unwrap()[2..].iter().cloned());
    let settings = merged(2500);
    let notice = settings.notice.clone();
    let twice = fit(&fitter(settings), &record.to_string());
    let text = twice.text.unwrap();
    let (_, behind) = taking(&text)
        .split_once("[END OF CONTEXT SUMMARY]")
        .map(|(before, behind)| (before.to_owned(), behind.to_owned()))
        .unwrap();
    assert!(!behind.contains("second server"), "{behind}");
    assert!(text.contains("Take the third server, port 9911."), "{text}");
    assert_sound(
        &record.to_string(),
        &text,
        &twice.row,
        notice.as_deref(),
        counter().as_ref(),
    );
}
