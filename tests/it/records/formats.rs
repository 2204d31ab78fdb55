//! Every form the data comes in: what is not compressed keeps its bytes, what is compressed is sound, and an array
//! stays an array.

use std::path::Path;

use crate::support::cli::{SMALL, Workspace, fixture, fixture_bytes, quirks, short};
use crate::support::counter;
use crate::support::oracle::{assert_sound, cost};
use serde_json::Value;
use trajfit::internals::metrics::{Row, Status};

/// Quirks whose turns the oracle, which reads generated trajectories, cannot read.
const BEYOND_THE_ORACLE: [&str; 6] = [
    "duplicate_keys.jsonl",
    "float_1e400.jsonl",
    "from_missing_null_number.jsonl",
    "lone_surrogate_escape.jsonl",
    "turn_is_a_string_or_null.jsonl",
    "value_of_any_type.jsonl",
];

/// The record on a line: without line end and byte-order mark.
fn record(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line)
}

fn records(bytes: &[u8]) -> Vec<&[u8]> {
    bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !record(line).trim_ascii().is_empty())
        .collect()
}

/// The oracle prints what is no string anew before it counts it; as written it may have other white space. There its
/// figure is compared with itself.
fn assert_line_sound(before: &str, after: &str, row: &Row, notice: &str, name: &str) {
    let cost = |text: &str| cost(&serde_json::from_str(text).unwrap(), counter().as_ref()) as u64;
    let mut row = row.clone();
    if cost(before) != row.original_tokens {
        let printed_anew = ["\"arguments\": {", "\"arguments\":{", "\"type\": "];
        assert!(
            printed_anew.iter().any(|written| before.contains(written)),
            "{name}:{}: {} tokens, {} expected",
            row.line,
            row.original_tokens,
            cost(before)
        );
        row.compressed_tokens = cost(after);
    }
    assert_sound(before, after, &row, Some(notice), counter().as_ref());
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// Runs a file of lines at a small budget and checks every record; returns those compressed, with their rows.
fn check_lines(path: &Path, budget: &[&str]) -> Vec<(Row, String)> {
    let name = file_name(path);
    let workspace = Workspace::new();
    let input = std::fs::read(path).unwrap();
    let arguments = [&[path.to_str().unwrap(), "-o", "out.jsonl"], budget].concat();
    let ran = workspace.compress(&arguments);
    assert!(matches!(ran.status, Some(0 | 3)), "{name}: {ran:?}");
    let rows = workspace.rows("out.metrics.csv");
    let output = workspace.read("out.jsonl");
    let rejected = rows.iter().filter(|row| row.status == Status::Rejected).count();
    assert_eq!(ran.status, Some(if rejected > 0 { 3 } else { 0 }), "{name}");
    let (old, new) = (records(&input), records(&output));
    assert_eq!(rows.len(), old.len(), "{name}: a row a record");
    assert_eq!(new.len() + rejected, old.len(), "{name}: rows in are rows out");
    let settings = workspace.json("out.summary.json")["configuration"].clone();
    let notice = settings["output.summary_notice_text"]
        .as_str()
        .unwrap()
        .to_owned();
    let (mut written, mut compressed) = (new.into_iter(), Vec::new());
    for (before, row) in old.into_iter().zip(rows) {
        assert_ne!(row.status, Status::Failed, "{name}: {}", row.reason);
        if row.status == Status::Rejected {
            continue;
        }
        let after = written.next().unwrap();
        if row.status != Status::Compressed {
            assert_eq!(after, before, "{name}: {}", row.line);
            continue;
        }
        let text = |bytes| std::str::from_utf8(record(bytes)).unwrap().to_owned();
        if !BEYOND_THE_ORACLE.contains(&name.as_str()) {
            assert_line_sound(&text(before), &text(after), &row, &notice, &name);
        }
        compressed.push((row, text(after)));
    }
    compressed
}

#[test]
fn every_quirk_is_compressed_soundly_or_keeps_its_bytes() {
    let mut compressed = 0;
    for path in quirks() {
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            compressed += check_lines(&path, &SMALL).len();
        }
    }
    assert!(compressed > 30, "{compressed}");
}

#[test]
fn the_demo_data_is_compressed_soundly_at_several_budgets() {
    for budget in ["2000", "6000", "15250"] {
        for file in ["agent_runs.jsonl", "agent_runs_messages.jsonl"] {
            let arguments = ["--target-max-tokens", budget, "--summary-target-tokens", "300"];
            assert!(!check_lines(&fixture(file), &arguments).is_empty());
        }
    }
}

/// What a change of the summaries does to a reader: to be looked at, not only counted.
#[test]
fn compressed_records_read_as_before() {
    for (file, budget) in [
        ("parallel_calls.jsonl", &SMALL[..]),
        ("languages.jsonl", &SMALL[..]),
        ("several_responses_in_one_turn.jsonl", &SMALL[..]),
        ("last_human_turn_in_the_middle.jsonl", &SMALL[..]),
    ] {
        let compressed = check_lines(&fixture("quirks").join(file), budget);
        let (row, text) = compressed.first().unwrap();
        let value: Value = serde_json::from_str(text).unwrap();
        let turns = value.get("conversations").or(value.get("messages")).unwrap();
        let summary = usize::try_from(row.region_start).unwrap();
        let turn = turns.get(summary).unwrap();
        let shown = format!(
            "turns {}..{} of {}, {} -> {} tokens\n{}",
            row.region_start,
            row.region_end,
            row.original_turns,
            row.original_tokens,
            row.compressed_tokens,
            turn.get("value")
                .or(turn.get("content"))
                .unwrap()
                .as_str()
                .unwrap()
        );
        insta::assert_snapshot!(file.trim_end_matches(".jsonl"), shown);
    }
}

#[test]
fn a_file_in_which_all_fits_is_copied_byte_for_byte() {
    for path in quirks() {
        let name = file_name(&path);
        if name.starts_with("reject_") || name.contains("broken.json") && !name.ends_with('l') {
            continue;
        }
        let workspace = Workspace::new();
        let arguments = [path.to_str().unwrap(), "-o", "out.jsonl"];
        workspace
            .compress(&[&arguments[..], &["--target-max-tokens", "1000000"]].concat())
            .exits(0);
        assert!(
            workspace.read("out.jsonl") == std::fs::read(&path).unwrap(),
            "{name}"
        );
    }
}

fn long(id: &str) -> String {
    let turns: Vec<String> = (0..40)
        .map(|turn| {
            let from = if turn % 2 == 0 { "human" } else { "gpt" };
            let text = format!(
                "Turn {turn} of {id}: parcel {} lies in lane {}. ",
                turn * 7,
                turn % 5
            )
            .repeat(4);
            format!(r#"{{"from": "{from}", "value": "{text}"}}"#)
        })
        .collect();
    format!(r#"{{"id": "{id}", "conversations": [{}]}}"#, turns.join(", "))
}

#[test]
fn an_array_stays_an_array_whatever_becomes_of_its_elements() {
    let (fits, over, bad) = (short("fits"), long("over"), "{\"no\": 1}".to_owned());
    let all = [&fits, &over, &bad];
    for elements in (0..27).map(|number| [all[number % 3], all[number / 3 % 3], all[number / 9]]) {
        let input = format!("[\n  {}\n]\n", elements.map(String::as_str).join(",\n  "));
        let workspace = Workspace::new();
        workspace.write("in.json", &input);
        let arguments = [&["in.json", "-o", "out.json"], &SMALL[..]].concat();
        let rejected = elements.iter().filter(|element| ***element == bad).count();
        workspace
            .compress(&arguments)
            .exits(if rejected > 0 { 3 } else { 0 });
        let output: Vec<Value> = serde_json::from_slice(&workspace.read("out.json")).unwrap();
        let ids: Vec<&str> = output
            .iter()
            .map(|record| record["id"].as_str().unwrap())
            .collect();
        let expected: Vec<&str> = elements
            .iter()
            .filter(|element| ***element != bad)
            .map(|element| if **element == fits { "fits" } else { "over" })
            .collect();
        assert_eq!(ids, expected);
        assert_eq!(workspace.rows("out.metrics.csv").len(), 3);
        if rejected > 0 {
            let rejects = workspace.rejects("out.rejects.jsonl");
            assert!(rejects.iter().all(|reject| reject.3 == bad.as_bytes()));
        }
    }
}

#[test]
fn what_is_left_of_a_broken_array_is_an_array() {
    for on_invalid in ["reject", "pass"] {
        let workspace = Workspace::new();
        let input = fixture_bytes("quirks/top_level_array_broken.json");
        workspace.write("in.json", &input);
        workspace
            .compress(&["in.json", "-o", "out.json", "--on-invalid", on_invalid])
            .exits(3);
        let output: Vec<Value> = serde_json::from_slice(&workspace.read("out.json")).unwrap();
        assert_eq!(output.len(), 1);
        let rejects = workspace.rejects("out.rejects.jsonl");
        assert!(rejects.len() == 1 && input.ends_with(&rejects[0].3));
    }
}

#[test]
fn an_array_cut_at_an_element_border_is_not_taken_for_whole() {
    for (array, kept, rejected) in [
        (r#"[{"conversations": []}, {"conversations": []},"#, 2, 1),
        (r#"[{"conversations": []}, {"conversations": []},]"#, 2, 1),
        (r#"[{"conversations": []}, , {"conversations": []}]"#, 2, 1),
        (r#"[{"conversations": []}"#, 1, 1),
        ("[ ]", 0, 0),
    ] {
        let workspace = Workspace::new();
        workspace.write("in.json", array.as_bytes());
        let ran = workspace.compress(&["in.json", "-o", "out.json"]);
        let output: Vec<Value> = serde_json::from_slice(&workspace.read("out.json")).unwrap();
        assert_eq!(output.len(), kept, "{array}");
        if rejected > 0 {
            ran.exits(3);
            assert_eq!(workspace.rejects("out.rejects.jsonl").len(), rejected, "{array}");
        }
    }
}

#[test]
fn an_array_is_one_however_its_bytes_come_in() {
    let records = format!("\u{feff}  [ \n\n\t {} , {} ]  \n", short("one"), long("two"));
    let workspace = Workspace::with_input(&records);
    workspace
        .compress(&[&["in.jsonl", "-o", "out.json"], &SMALL[..]].concat())
        .exits(0);
    let expected = workspace.read("out.json");
    let text = String::from_utf8(expected.clone()).unwrap();
    let output: Vec<Value> = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap();
    assert_eq!(output.len(), 2);
    assert!(text.contains("[CONTEXT SUMMARY]"));
    let arguments = SMALL.join(" ");
    let slowly = "dd if=in.jsonl bs=1 status=none";
    let ran = workspace
        .shell(&format!("{slowly} | \"$0\" compress - -o - -q {arguments}"))
        .exits(0);
    assert!(ran.stdout == expected);
    let ran = workspace
        .shell(&format!(
            "gzip -c in.jsonl | \"$0\" compress - -o - -q {arguments}"
        ))
        .exits(0);
    assert!(ran.stdout == expected);
}

#[test]
fn an_array_cut_off_by_a_limit_is_an_array() {
    let array = |from: usize| {
        format!(
            "[{},{}]\n",
            short(&format!("{from}")),
            short(&format!("{}", from + 1))
        )
    };
    let workspace = Workspace::new();
    workspace.write("data/a.json", array(1));
    workspace.write("data/b.json", array(3));
    for limit in 1..=4_usize {
        let limit_text = limit.to_string();
        workspace
            .compress(&["data", "-o", "out", "--limit", &limit_text, "--force"])
            .exits(0);
        let length = |name: &str| {
            serde_json::from_slice::<Vec<Value>>(&workspace.read(name))
                .unwrap()
                .len()
        };
        assert_eq!(length("out/a.json"), limit.min(2));
        assert_eq!(length("out/b.json"), limit.saturating_sub(2));
    }
}
