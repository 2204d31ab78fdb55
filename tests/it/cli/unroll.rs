//! `trajfit unroll` over files: threads, arrays, line ends, rows, rejects, and the proof that something is missing.

use serde_json::Value;

use crate::support::cli::{Workspace, fixture_bytes, many_runs, short};
use crate::support::rendered::named_steps;

const BUDGET: [&str; 2] = ["--max-tokens", "8000"];

#[test]
fn any_number_of_threads_writes_the_same_bytes() {
    let workspace = Workspace::with_input(many_runs(3));
    for jobs in ["1", "4"] {
        let output = format!("{jobs}.jsonl");
        let run = [
            &["unroll", "in.jsonl", "-o", &output, "--jobs", jobs, "--quiet"],
            &BUDGET[..],
        ]
        .concat();
        workspace.run(&run).exits(0);
    }
    assert!(workspace.read("1.jsonl") == workspace.read("4.jsonl"));
    assert!(workspace.read("1.metrics.csv") == workspace.read("4.metrics.csv"));
}

#[test]
fn lines_keep_their_ends_and_arrays_stay_arrays() {
    let runs = String::from_utf8(fixture_bytes("agent_runs.jsonl")).unwrap();
    let workspace = Workspace::with_input(&runs);
    workspace
        .run(&[&["unroll", "in.jsonl", "-o", "lines.jsonl"], &BUDGET[..]].concat())
        .exits(0);
    let lines: Vec<Value> = workspace
        .text("lines.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    workspace.write("crlf.jsonl", runs.replace('\n', "\r\n"));
    workspace
        .run(&[&["unroll", "crlf.jsonl", "-o", "out.jsonl"], &BUDGET[..]].concat())
        .exits(0);
    assert_eq!(
        workspace.text("out.jsonl").replace("\r\n", "\n"),
        workspace.text("lines.jsonl")
    );
    workspace.write(
        "runs.json",
        format!("[{}]", runs.trim_end().replace('\n', ",\n ")),
    );
    workspace
        .run(&[&["unroll", "runs.json", "-o", "array.json"], &BUDGET[..]].concat())
        .exits(0);
    let array: Vec<Value> = serde_json::from_slice(&workspace.read("array.json")).unwrap();
    assert_eq!(array, lines);
    // A last line without its end has several records as well.
    workspace.write("open.jsonl", runs.trim_end());
    workspace
        .run(&[&["unroll", "open.jsonl", "-o", "open_out.jsonl"], &BUDGET[..]].concat())
        .exits(0);
    assert_eq!(
        workspace.text("open_out.jsonl"),
        workspace.text("lines.jsonl").trim_end()
    );
}

#[test]
fn a_row_for_each_trajectory_adds_up_to_the_same() {
    let workspace = Workspace::with_input(fixture_bytes("agent_runs.jsonl"));
    let totals = |rows: &str| {
        let run = [
            "unroll",
            "in.jsonl",
            "-o",
            "out.jsonl",
            "--force",
            "--with-summaries=all",
            "--rows",
            rows,
        ];
        workspace.run(&[&run[..], &BUDGET].concat()).exits(0);
        let mut totals = workspace.json("out.summary.json");
        for key in [
            "configuration",
            "timing",
            "records_by_status",
            "records_by_format",
            "over_limit_reasons",
            "reasons",
            "sources",
            "still_over_limit",
        ] {
            totals.as_object_mut().unwrap().remove(key);
        }
        (totals, workspace.text("out.metrics.csv").lines().count() - 1)
    };
    let (segments, rows) = totals("segments");
    let (trajectories, of_trajectories) = totals("trajectories");
    assert_eq!(segments, trajectories);
    let records = ["segments", "summary_records"].map(|key| segments[key].as_u64().unwrap());
    assert!(records[1] > 0);
    assert_eq!((rows as u64, of_trajectories), (records.iter().sum(), 40));
}

#[test]
fn a_limit_counts_trajectories_and_what_cannot_be_read_is_rejected() {
    let lines = [
        named_steps(15),
        "{broken".to_owned(),
        short("last"),
        named_steps(15),
    ]
    .join("\n");
    let workspace = Workspace::with_input(lines);
    let run = [
        "unroll",
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--max-tokens",
        "1500",
        "--limit",
        "3",
    ];
    workspace.run(&run).exits(3);
    let totals = workspace.json("out.summary.json");
    assert_eq!(
        (&totals["trajectories"], &totals["records_by_status"]["rejected"]),
        (&Value::from(2), &Value::from(1))
    );
    assert_eq!(workspace.rejects("out.rejects.jsonl").len(), 1);
    assert!(totals["segments"].as_u64() > Some(3));
}

#[test]
fn whole_trajectories_are_rejected_where_a_record_stays_over_the_budget() {
    let large = named_steps(4).replace(
        "says no more; ",
        "says no more at all, however long one looks at it; ",
    );
    let workspace = Workspace::with_input([large, short("small")].join("\n"));
    let run = [
        "unroll",
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--max-tokens",
        "250",
        "--over-limit",
        "reject",
    ];
    workspace.run(&run).exits(3);
    let (_, line, reason, _) = workspace.rejects("out.rejects.jsonl").remove(0);
    assert!(line == 1 && reason.contains("group_exceeds_budget"), "{reason}");
    assert_eq!(workspace.text("out.jsonl").lines().count(), 1);
    let check = ["check", "--unrolled-from", "in.jsonl", "out.jsonl"];
    let failed = workspace.run(&check).exits(1);
    let answer = String::from_utf8(failed.stdout).unwrap();
    assert!(
        answer.contains("in.jsonl:1: turn 1 of the trajectory is trained in no record"),
        "{answer}"
    );
}

#[test]
fn the_proof_finds_what_was_changed() {
    let workspace = Workspace::with_input(named_steps(15) + "\n");
    workspace
        .run(&["unroll", "in.jsonl", "-o", "out.jsonl", "--max-tokens", "1500"])
        .exits(0);
    let check = ["check", "--unrolled-from", "in.jsonl", "changed.jsonl"];
    let whole = workspace.text("out.jsonl");
    let mut lines: Vec<&str> = whole.lines().collect();
    let other = whole.replacen("Now src/made_3.rs", "Now src/made_0.rs", 1);
    let twice = whole.replacen("\"train\": false", "\"train\": true", 9);
    lines.remove(1);
    for changed in [other, twice, lines.join("\n")] {
        workspace.write("changed.jsonl", changed);
        workspace.run(&check).exits(1);
    }
    workspace.write("changed.jsonl", &whole);
    workspace.run(&check).exits(0);
}

#[test]
fn restored_turns_are_those_of_the_trajectories() {
    let workspace = Workspace::with_input(fixture_bytes("agent_runs_messages.jsonl"));
    let originals: Vec<Vec<String>> = workspace
        .text("in.jsonl")
        .lines()
        .map(|line| {
            let turns = crate::support::oracle::parts(line).0.into_iter();
            turns
                .filter(|turn| serde_json::from_str::<Value>(turn).unwrap()["role"] == "assistant")
                .collect()
        })
        .collect();
    let ways: [&[&str]; 3] = [&[], &["--mark", "none"], &["--with-summaries=all"]];
    for more in ways {
        let run = [
            &["unroll", "in.jsonl", "-o", "out.jsonl", "--force"],
            &BUDGET[..],
            more,
        ]
        .concat();
        workspace.run(&run).exits(0);
        let mark = if more.contains(&"none") { "none" } else { "train" };
        let restore = ["restore", "--from-unrolled", "out.jsonl", "--mark", mark];
        let restored = String::from_utf8(workspace.run(&restore).exits(0).stdout).unwrap();
        assert_eq!(restored.lines().count(), originals.len());
        for (line, original) in restored.lines().zip(&originals) {
            assert!(serde_json::from_str::<Value>(line).is_ok());
            assert!(line.ends_with(&format!("\"assistant_turns\": [{}]}}", original.join(", "))));
        }
        workspace
            .run(&[
                "check",
                "--unrolled-from",
                "in.jsonl",
                "out.jsonl",
                "--mark",
                mark,
            ])
            .exits(0);
    }
    // A record that is gone is missed, in the middle and at the end.
    let whole = workspace.text("out.jsonl");
    let lines: Vec<&str> = whole.lines().collect();
    let segment = |line: &str| serde_json::from_str::<Value>(line).unwrap()["segment"].as_u64();
    let second = lines.iter().position(|line| segment(line) == Some(2)).unwrap();
    for kept in [
        [&lines[..second], &lines[second + 1..]].concat(),
        lines[..second].to_vec(),
    ] {
        workspace.write("cut.jsonl", kept.join("\n"));
        let restore = ["restore", "--from-unrolled", "cut.jsonl"];
        workspace.run(&restore).exits(2).says("is missing");
    }
}
