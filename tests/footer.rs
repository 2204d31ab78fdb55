//! Summaries of long work: what it is about, and the files it read and modified, kept over updates.
#![allow(clippy::unwrap_used)] // Tests may fail loudly.

mod support;

use serde_json::{Value, json};
use support::oracle::assert_sound;
use support::{counter, fit, fitter, settings};
use trajfit::fit::FitSettings;

/// One request and `steps` calls for it, reading and writing in turns.
fn long_work(steps: usize) -> String {
    let mut turns = vec![
        json!({"role": "system", "content": "sys"}),
        json!({"role": "user", "content": "Rename `load_cfg` to `load_config` in src/config.rs everywhere."}),
    ];
    for step in 0..steps {
        let (name, arguments) = if step % 2 == 0 {
            ("read_file", json!({"path": format!("src/part_{step}.rs")}))
        } else {
            (
                "write_file",
                json!({"path": format!("src/part_{}.rs", step / 4), "content": "x"}),
            )
        };
        let call = json!({"id": format!("c{step}"), "type": "function", "function": {"name": name, "arguments": arguments.to_string()}});
        turns.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        let output = format!("some line of text that is long enough, {step}\n").repeat(12);
        turns.push(json!({"role": "tool", "tool_call_id": format!("c{step}"), "content": output}));
    }
    json!({"messages": turns}).to_string()
}

fn summary_of(text: &str) -> String {
    let record: Value = serde_json::from_str(text).unwrap();
    let turns = record["messages"].as_array().unwrap().iter();
    let texts = turns.filter_map(|turn| turn["content"].as_str());
    texts
        .filter(|text| text.starts_with("[CONTEXT SUMMARY]:"))
        .collect::<Vec<_>>()
        .join("\n===\n")
}

fn files(summary: &str, label: &str) -> Vec<String> {
    let line = summary
        .lines()
        .find_map(|line| line.strip_prefix(label))
        .unwrap_or_default();
    line.split(", ").map(|file| file.trim().to_owned()).collect()
}

#[test]
fn the_footer_names_files_within_the_budget_and_an_update_keeps_them() {
    let line = long_work(24);
    let asked = |target: usize| FitSettings {
        file_footer: true,
        summary_max_tokens: 400,
        ..settings(target, 400)
    };
    let notice = asked(1).notice;
    let once = fit(&fitter(asked(3000)), &line);
    let text = once.text.unwrap();
    assert_sound(&line, &text, &once.row, notice.as_deref(), counter().as_ref());
    assert!(once.row.summary_tokens <= 400);
    let first = summary_of(&text);
    assert!(!first.contains("\nFiles:"), "{first}");
    let (modified, read) = (files(&first, "Files modified:"), files(&first, "Files read:"));
    assert!(
        modified.contains(&"src/part_0.rs".to_owned()) && read.contains(&"src/part_2.rs".to_owned()),
        "{first}"
    );
    let twice = fit(&fitter(asked(2000)), &text);
    let text_twice = twice.text.unwrap();
    let second = summary_of(&text_twice);
    assert_eq!(second.matches("Files modified:").count(), 1, "{second}");
    let later = files(&second, "Files modified:");
    assert!(
        modified.iter().all(|file| later.contains(file)) && later.len() > modified.len(),
        "{second}"
    );
    assert!(twice.row.summary_tokens <= 400);
}

#[test]
fn without_asking_there_is_no_footer() {
    let fitted = fit(&fitter(settings(3000, 300)), &long_work(24));
    assert!(!summary_of(&fitted.text.unwrap()).contains("Files modified:"));
}

#[test]
fn what_is_in_progress_is_told_where_the_request_does_not_stand_before_the_summary() {
    let once = fit(&fitter(settings(3000, 300)), &long_work(24));
    let summary = summary_of(&once.text.unwrap());
    assert!(!summary.contains("In progress:"), "{summary}");

    let mut record: Value = serde_json::from_str(&long_work(24)).unwrap();
    let turns = record["messages"].as_array_mut().unwrap();
    turns.insert(
        6,
        json!({"role": "user", "content": "Now rename `save_cfg` as well, please."}),
    );
    turns.insert(
        turns.len() - 4,
        json!({"role": "user", "content": "And mind the docs."}),
    );
    let line = record.to_string();
    let first_line = "[CONTEXT SUMMARY]:\nIn progress: Now rename `save_cfg` as well, please.\n";
    let once = fit(&fitter(settings(3000, 300)), &line).text.unwrap();
    let summary = summary_of(&once);
    assert!(summary.starts_with(first_line), "{summary}");
    assert_eq!(summary.matches("save_cfg").count(), 1, "{summary}");
    // Later its only witness is the earlier summary.
    let twice = fit(&fitter(settings(2200, 300)), &once).text.unwrap();
    let summary = summary_of(&twice);
    assert!(summary.starts_with(first_line), "{summary}");
}

#[test]
fn what_a_person_said_after_an_earlier_summary_is_kept() {
    let mut record: Value = serde_json::from_str(&long_work(24)).unwrap();
    let turns = record["messages"].as_array_mut().unwrap();
    turns.insert(30, json!({"role": "user", "content": "Go on with the rest."}));
    let said = "Now please also fix the German translation, but never the Polish one.";
    let earlier = format!(
        "[CONTEXT SUMMARY]:\nFindings:\n- The cause is in src/part_99.rs.\n[END OF CONTEXT SUMMARY]\n\n{said}"
    );
    turns.insert(6, json!({"role": "user", "content": earlier}));
    let fitted = fit(&fitter(settings(2000, 400)), &record.to_string());
    let summary = summary_of(&fitted.text.unwrap());
    assert!(
        summary.contains(said) && summary.contains("The cause is in src/part_99.rs."),
        "{summary}"
    );
}
