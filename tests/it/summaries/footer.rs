//! Summaries of long work: what it is about, and the files it read and modified, kept over updates.

use crate::support::oracle::assert_sound;
use crate::support::{counter, fit, fitter, settings};
use serde_json::{Value, json};
use trajfit::internals::fit::FitSettings;

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
    // A word to go on is no request.
    let turns = record["messages"].as_array_mut().unwrap();
    turns.insert(9, json!({"role": "user", "content": "Yes, please go on."}));
    let confirmed = fit(&fitter(settings(3000, 300)), &record.to_string()).text;
    let summary = summary_of(&confirmed.unwrap());
    assert!(summary.starts_with(first_line), "{summary}");
    // Later its only witness is the earlier summary.
    let twice = fit(&fitter(settings(2200, 300)), &once).text.unwrap();
    let summary = summary_of(&twice);
    assert!(summary.starts_with(first_line), "{summary}");
}

#[test]
fn what_another_program_summarized_is_carried_on_and_no_request() {
    let mut record: Value = serde_json::from_str(&long_work(24)).unwrap();
    let turns = record["messages"].as_array_mut().unwrap();
    let earlier = "This session is being continued from a previous conversation that ran out of context.\n\nThe cause is in src/part_99.rs.";
    turns.insert(6, json!({"role": "user", "content": earlier}));
    turns.insert(
        turns.len() - 4,
        json!({"role": "user", "content": "And mind the docs."}),
    );
    let fitted = fit(&fitter(settings(2000, 400)), &record.to_string());
    let summary = summary_of(&fitted.text.unwrap());
    assert!(
        summary.starts_with("[CONTEXT SUMMARY]:\nEarlier:\n- The cause is in src/part_99.rs.\n"),
        "{summary}"
    );
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

/// What a person is told by an editor of lines.
fn shown(open: &str, what: &str) -> String {
    format!("{what}\n(Open file: {open})\n(Current directory: /w)\nbash-$")
}

#[test]
fn edits_of_the_open_file_name_it() {
    let long = "a line of text that is long enough to be replaced by a summary\n".repeat(12);
    let step = |command: &str, open: &str, what: &str| {
        [
            json!({"role": "assistant", "content": format!("Next.\n```\n{command}\n```")}),
            json!({"role": "user", "content": shown(open, what)}),
        ]
    };
    let mut turns = vec![
        json!({"role": "system", "content": "sys"}),
        json!({"role": "user", "content": "Fix the fields, please."}),
    ];
    turns.extend(step("ls", "n/a", &long));
    turns.extend(step("open src/fields.py 280", "/w/src/fields.py", &long));
    turns.extend(step(
        "edit 287:296\n    rm /w/never.py\nend_of_edit",
        "/w/src/fields.py",
        &format!("[File: /w/src/fields.py (300 lines total)]\n{long}"),
    ));
    turns.extend(step(
        "create reproduce.py",
        "/w/reproduce.py",
        "[File: /w/reproduce.py (1 lines total)]\n1:",
    ));
    turns.extend(step("edit 1:1\nprint(1)\nend_of_edit", "/w/reproduce.py", &long));
    turns.extend(step("open setup.py", "/w/setup.py", &long));
    turns.extend(step(
        "edit 3:3\n  broken(\nend_of_edit",
        "/w/setup.py",
        "Your proposed edit has introduced new syntax error(s). Please understand the fixes and retry your edit commmand.\n\nERRORS:\n- E999 IndentationError: unexpected indent",
    ));
    turns.extend(step("scroll_down", "/w/setup.py", &long));
    turns.extend(step("rm reproduce.py", "/w/setup.py", ""));
    turns.extend(step("ls", "/w/setup.py", &long));
    for _ in 0..4 {
        turns.extend(step("ls -la", "/w/setup.py", "x"));
    }
    let line = json!({"messages": turns}).to_string();
    let asked = FitSettings {
        file_footer: true,
        ..settings(700, 400)
    };
    let summary = summary_of(&fit(&fitter(asked), &line).text.unwrap());
    assert_eq!(
        files(&summary, "Files modified:"),
        ["/w/src/fields.py"],
        "{summary}"
    );
    assert_eq!(files(&summary, "Files read:"), ["/w/setup.py"], "{summary}");
}

#[test]
fn names_are_whole_scripts_are_read_and_what_is_changed_is_not_told_as_read() {
    let long = "a line of text that is long enough to be replaced by a summary\n".repeat(12);
    let mut turns = vec![
        json!({"from": "system", "value": "sys"}),
        json!({"from": "human", "value": "Fix L060."}),
    ];
    for command in [
        "ls",
        "cat src/rules/L060.py",
        "cat \"my file.txt\"",
        "cp src/rules/L060.py src/rules/L060.py.backup",
        "cd /testbed && python3 -c \"\nwith open('src/rules/L060.py', 'r') as f:\n    lines = f.readlines()\nwith open('src/rules/L060.py', 'w') as f:\n    f.writelines(lines)\n\" 2>&1 | head -5",
        "sed -n '40,45p' src/rules/L060.py",
        "sed -i s/a/b/ 'x y.py'",
        "cd /testbed && echo \"SELECT 1;\" > test_nvl.sql && cat test_nvl.sql",
        "rm -f src/rules/L060.py.backup test_*.sql",
        "ls",
        "ls",
        "ls",
    ] {
        let call = json!({"name": "bash", "arguments": {"command": command}});
        turns.push(json!({"from": "gpt", "value": format!("<tool_call>\n{call}\n</tool_call>")}));
        let answer = json!({"name": "bash", "content": format!("<returncode>0</returncode>\n<output>\n{long}</output>")});
        turns.push(json!({"from": "tool", "value": format!("<tool_response>\n{answer}\n</tool_response>")}));
    }
    turns.push(json!({"from": "gpt", "value": "Done."}));
    let line = json!({"conversations": turns}).to_string();
    let asked = FitSettings {
        file_footer: true,
        ..settings(1100, 400)
    };
    let text = fit(&fitter(asked), &line).text.unwrap();
    let record: Value = serde_json::from_str(&text).unwrap();
    let texts = record["conversations"].as_array().unwrap().iter();
    let mut texts = texts.filter_map(|turn| turn["value"].as_str());
    let summary = texts.find(|text| text.starts_with("[CONTEXT SUMMARY]:")).unwrap();
    assert_eq!(
        files(summary, "Files modified:"),
        ["x y.py", "src/rules/L060.py"],
        "{summary}"
    );
    assert_eq!(files(summary, "Files read:"), ["my file.txt"], "{summary}");
}
