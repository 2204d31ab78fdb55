//! Calls and answers that stand in content parts, as in Anthropic's messages and logs of Claude Code: they are calls and answers
//! like any other.

use crate::support::cli::Workspace;
use crate::support::structure::{chat, result, said, text, uses};
use crate::support::{fit, fitter, settings};
use proptest::prelude::*;
use serde_json::{Value, json};
use trajfit::internals::fit::{FitSettings, Strategy as Way};

/// A call and its answer: how many calls, how long the answers are, and how these are written.
type Group = (usize, usize, u8);

/// A record of these groups.
fn record(groups: &[Group]) -> Value {
    let mut turns = vec![
        json!({"role": "system", "content": "sys"}),
        json!({"role": "user", "content": "Mend the loader."}),
    ];
    for (number, &(calls, lines, form)) in groups.iter().enumerate() {
        let id = |call: usize| format!("t{number}_{call}");
        let output = |call: usize| {
            let output = format!("line of run {number} {call} in src/mod_{number}.rs\n").repeat(lines);
            if form % 2 == 0 {
                json!(output)
            } else {
                json!([text(&output)])
            }
        };
        let asked = (0..calls).map(|call| uses(&id(call), &format!("python run_{number}_{call}.py")));
        let asked: Vec<Value> = std::iter::once(text(&format!("Step {number}.")))
            .chain(asked)
            .collect();
        turns.push(said("assistant", &asked));
        let results: Vec<Value> = (0..calls).map(|call| result(&id(call), &output(call))).collect();
        let words = text(&format!("Please mind port 84{number:02}."));
        match form % 4 {
            // Each answer in a turn of its own, as logs have it.
            0 => turns.extend(
                results
                    .iter()
                    .map(|result| said("user", std::slice::from_ref(result))),
            ),
            1 => turns.push(said("user", &[&results[..], &[words]].concat())),
            _ => turns.push(said("user", &results)),
        }
    }
    turns.push(json!({"role": "assistant", "content": "Done."}));
    json!({"id": "r", "messages": turns, "n": 1.5})
}

/// The parts of a turn that have a key, by their values for it.
fn ids(turn: &Value, kind: &str, key: &str) -> Vec<String> {
    let parts = turn["content"].as_array().into_iter().flatten();
    let parts = parts.filter(|part| part["type"] == kind);
    parts
        .filter_map(|part| part[key].as_str().map(str::to_owned))
        .collect()
}

/// What is wrong with the calls and answers of a record: each answer follows its call, before the assistant speaks again.
fn parted(record: &Value) -> Option<String> {
    let mut open: Vec<String> = Vec::new();
    for turn in record["messages"].as_array().unwrap() {
        if turn["role"] == "assistant" {
            if !open.is_empty() {
                return Some(format!("no answer to {open:?} before {turn}"));
            }
            open = ids(turn, "tool_use", "id");
        }
        for id in ids(turn, "tool_result", "tool_use_id") {
            match open.iter().position(|call| *call == id) {
                Some(place) => open.remove(place),
                None => return Some(format!("no call of {id}")),
            };
        }
    }
    (!open.is_empty()).then(|| format!("no answer to {open:?}"))
}

fn summary_of(record: &Value) -> String {
    let turns = record["messages"].as_array().unwrap().iter();
    let mut texts = turns.filter_map(|turn| turn["content"].as_str());
    let summary = texts.find(|text| text.starts_with("[CONTEXT SUMMARY]:"));
    summary.unwrap_or_default().to_owned()
}

proptest! {
    #![proptest_config(crate::support::generate::config())]

    #[test]
    fn no_call_is_parted_from_its_answers(
        groups in prop::collection::vec((1..4_usize, 1..30_usize, 0..8_u8), 2..30),
        target in 200..4000_usize,
        way in prop::sample::select(vec![Way::Summarize, Way::Mask, Way::MaskThenSummarize]),
        last in 1..6_usize,
    ) {
        let record = record(&groups);
        prop_assert_eq!(parted(&record), None);
        let mut settings = FitSettings { strategy: way, ..settings(target, 80) };
        settings.protection.last_n_turns = last;
        let fitted = fit(&fitter(settings), &record.to_string());
        let Some(out) = fitted.text else { return Ok(()) };
        let out: Value = serde_json::from_str(&out).unwrap();
        prop_assert_eq!(parted(&out), None, "{}", out);
        prop_assert!(!summary_of(&out).contains("tool_result"), "{}", out);
    }
}

#[test]
fn a_summary_tells_calls_with_their_endings_and_what_people_said() {
    let mut groups = vec![(1, 6, 2); 12];
    groups[4] = (1, 2, 1);
    groups[5] = (2, 2, 0);
    // The last words of a person stay.
    groups[10] = (1, 2, 1);
    let mut record = record(&groups);
    let turns = record["messages"].as_array_mut().unwrap();
    let failing = turns
        .iter_mut()
        .find(|turn| ids(turn, "tool_result", "tool_use_id") == ["t8_0"]);
    failing.unwrap()["content"][0]["content"] = json!([text(
        "Traceback (most recent call last):\nValueError: no such port"
    )]);
    let fitted = fit(&fitter(settings(600, 300)), &record.to_string());
    let out: Value = serde_json::from_str(&fitted.text.unwrap()).unwrap();
    let summary = summary_of(&out);
    for told in [
        "In progress: Please mind port 8404.",
        "bash: python run_8_0.py -> failed: ValueError: no such port",
        "bash: python run_5_1.py -> line of run 5 1",
    ] {
        assert!(summary.contains(told), "{told}: {summary}");
    }
    assert!(
        !summary.contains("tool_use") && !summary.contains("\"type\""),
        "{summary}"
    );
}

#[test]
fn masks_take_the_place_of_results_and_all_else_stays() {
    let record = record(&[
        (1, 2, 2),
        (2, 20, 2),
        (1, 20, 1),
        (2, 20, 0),
        (1, 20, 3),
        (1, 1, 2),
        (1, 1, 2),
    ]);
    let workspace = Workspace::with_input(format!("{record}\n"));
    let masked = |from: &str, to: &str| {
        let budget = "--target-max-tokens 300 --summary-target-tokens 60 --strategy mask";
        let flags = [from, "-o", to].into_iter().chain(budget.split(' '));
        workspace.compress(&flags.collect::<Vec<_>>()).exits(0);
    };
    masked("in.jsonl", "out.jsonl");
    assert_eq!(workspace.rows("out.metrics.csv")[0].masked_turns, 5);
    let mut out: Value = serde_json::from_str(&workspace.text("out.jsonl")).unwrap();
    let mut expected = record;
    let mut masks = Vec::new();
    let turns = |record: &mut Value| record["messages"].as_array_mut().unwrap().clone();
    for (place, (new, old)) in turns(&mut out).iter().zip(turns(&mut expected)).enumerate() {
        for (part, (new, old)) in parts_of(new).iter().zip(parts_of(&old)).enumerate() {
            if *new != old {
                // A list of texts stays one.
                let content = &new["content"];
                masks.push(
                    content
                        .as_str()
                        .or(content[0]["text"].as_str())
                        .unwrap()
                        .to_owned(),
                );
                expected["messages"][place]["content"][part]["content"] = content.clone();
            }
        }
    }
    assert_eq!(out, expected);
    let mask = |run: &str| format!("[bash] ran \"python run_{run}.py\", 20 lines");
    assert_eq!(masks, ["1_0", "1_1", "2_0", "3_0", "3_1", "4_0"].map(mask));
    // Masks are known for what they are.
    masked("out.jsonl", "again.jsonl");
    assert_eq!(workspace.text("again.jsonl"), workspace.text("out.jsonl"));
}

fn parts_of(turn: &Value) -> Vec<Value> {
    turn["content"].as_array().cloned().unwrap_or_default()
}

#[test]
fn what_only_an_output_told_is_named_by_its_mask() {
    let mut record = record(&[(1, 1, 2), (1, 30, 2), (1, 30, 2), (1, 1, 2), (1, 1, 2)]);
    let told = format!(
        "found in lib/deep_one.rs\n{}",
        "nothing else to be seen here\n".repeat(30)
    );
    record["messages"][5]["content"][0]["content"] = json!(told);
    record["messages"][8]["content"][1]["input"]["command"] = json!("sed -n 1p lib/deep_one.rs");
    let fitted = fit(
        &fitter(FitSettings {
            strategy: Way::Mask,
            ..settings(300, 80)
        }),
        &record.to_string(),
    );
    let out: Value = serde_json::from_str(&fitted.text.unwrap()).unwrap();
    let mask = out["messages"][5]["content"][0]["content"].as_str().unwrap();
    assert!(mask.ends_with("; mentions lib/deep_one.rs"), "{mask}");
    assert_eq!((fitted.row.anchors_needed, fitted.row.anchors_held), (1, 1));
}

#[test]
fn files_of_such_calls_stand_in_the_footer() {
    let mut record = record(&[(1, 9, 2); 12]);
    for (turn, tool, path) in [
        (6, "Read", "src/read.rs"),
        (8, "Write", "src/made.rs"),
        (10, "Write", "src/no.rs"),
    ] {
        let input = json!({"path": path, "content": "x"});
        let call = &mut record["messages"][turn]["content"][1];
        (call["name"], call["input"]) = (json!(tool), input);
    }
    record["messages"][11]["content"][0]["content"] = json!("Error: permission denied");
    let settings = FitSettings {
        file_footer: true,
        ..settings(900, 300)
    };
    let out = fit(&fitter(settings), &record.to_string()).text.unwrap();
    let summary = summary_of(&serde_json::from_str(&out).unwrap());
    let footer = summary.lines().filter(|line| line.starts_with("Files "));
    let footer: Vec<&str> = footer.collect();
    assert_eq!(
        footer,
        ["Files modified: src/made.rs", "Files read: src/read.rs"],
        "{summary}"
    );
}

#[test]
fn show_and_explain_tell_calls_and_answers() {
    let workspace = Workspace::with_input(format!(
        "{}\n",
        record(&[(1, 3, 2), (1, 3, 1), (1, 40, 2), (1, 1, 2), (1, 1, 2)])
    ));
    let shown = workspace.run(&["show", "in.jsonl"]).exits(0);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    for told in [
        "-> bash {\"command\":\"python run_0_0.py\"}",
        "<- line of run 0 0",
        "Please mind port 8401.",
    ] {
        assert!(shown.contains(told), "{told}: {shown}");
    }
    assert!(!shown.contains("tool_result"), "{shown}");
    let explained = workspace
        .run(&["explain", "in.jsonl", "--target-max-tokens", "900"])
        .exits(0);
    let explained = String::from_utf8_lossy(&explained.stdout).into_owned();
    assert!(explained.contains("gpt + 1 tool"), "{explained}");
}

#[test]
fn roles_of_such_turns_stay_the_persons_for_a_template() {
    let line = chat(&[
        said("user", &[text("u")]),
        said("assistant", &[uses("a", "ls")]),
        said("user", &[result("a", &json!("x"))]),
    ])
    .to_string();
    let record = trajfit::internals::trajectory::parse(line.as_bytes(), None).unwrap();
    let messages: Value = serde_json::from_str(
        &trajfit::internals::trajectory::chat(
            &record,
            trajfit::internals::trajectory::TemplateArguments::AsWritten,
        )
        .unwrap()
        .messages,
    )
    .unwrap();
    assert_eq!(json!({"messages": messages}).to_string(), line);
}
