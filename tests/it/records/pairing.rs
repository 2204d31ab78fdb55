//! Which compressed record was made of which original: `check --against` and `show --compressed`.

use crate::support::cli::{Ran, Workspace, fixture_bytes};
use serde_json::{Value, json};
use trajfit::internals::metrics::{Row, Status};

/// Settings under which some of the demo records are compressed, some rejected, and some fit.
const FIT: [&str; 8] = [
    "--target-max-tokens",
    "8000",
    "--summary-target-tokens",
    "20",
    "--summary-max-tokens",
    "20",
    "--over-limit",
    "reject",
];

/// The demo records as rollouts of three tasks, with a line among them that is no record.
fn rollouts() -> Vec<u8> {
    let runs = String::from_utf8(fixture_bytes("agent_runs.jsonl")).unwrap();
    let with_id = |(number, line): (usize, &str)| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        record["id"] = json!(format!("task-{}", number % 3));
        record.to_string()
    };
    let mut lines: Vec<String> = runs.lines().enumerate().map(with_id).collect();
    lines.insert(1, "{\"no record".to_owned());
    (lines.join("\n") + "\n").into_bytes()
}

fn json_of(ran: &Ran) -> Value {
    serde_json::from_slice(&ran.stdout).unwrap()
}

fn check(workspace: &Workspace, arguments: &[&str]) -> Ran {
    workspace.run(&[&["check", "--json", "--against"], arguments].concat())
}

fn text(ran: Ran) -> String {
    String::from_utf8(ran.stdout).unwrap()
}

/// How many of the rows are about rejected records.
fn rejected(rows: &[Row]) -> u64 {
    rows.iter().filter(|row| row.status == Status::Rejected).count() as u64
}

#[test]
fn rollouts_of_one_run_pair_by_line_and_those_rejected_are_counted() {
    let workspace = Workspace::with_input(rollouts());
    workspace
        .compress(&[&["in.jsonl", "-o", "out.jsonl"][..], &FIT].concat())
        .exits(3);
    let (rows, totals) = (
        workspace.rows("out.metrics.csv"),
        workspace.json("out.summary.json"),
    );
    let count = rejected(&rows);
    assert!(count > 2 && rows.iter().filter(|row| row.was_compressed).count() > 10);
    let outcome = json_of(&check(&workspace, &["in.jsonl", "out.jsonl"]).exits(1));
    assert_eq!(
        (&outcome["matched_by"], &outcome["metrics"]),
        (&json!("metrics"), &json!("out.metrics.csv"))
    );
    assert_eq!(outcome["records"], rows.len() as u64 - count);
    assert_eq!(outcome["anchors_needed"], totals["anchors_needed"]);
    assert_eq!(outcome["anchors_held"], totals["anchors_held"]);
    assert_eq!(outcome["changed_assistant_turns"], 0);
    assert_eq!(
        (&outcome["unjudged"], &outcome["originals_rejected"]),
        (&json!(count), &json!(count))
    );
    for (allowed, status) in [(count, 0), (count - 1, 1)] {
        let allowed = allowed.to_string();
        check(
            &workspace,
            &["in.jsonl", "out.jsonl", "--allow-unjudged", &allowed],
        )
        .exits(status);
    }
    check(&workspace, &["in.jsonl", "out.jsonl", "--allow-unjudged", "100%"]).exits(0);
    check(
        &workspace,
        &[
            "in.jsonl",
            "out.jsonl",
            "--allow-unjudged",
            "100%",
            "--min-grounding",
            "1",
        ],
    )
    .exits(1);
    let show = |row: &Row| {
        let line = row.line.to_string();
        workspace.run(&["show", "in.jsonl", "--line", &line, "--compressed", "out.jsonl"])
    };
    let (left_out, written): (Vec<&Row>, Vec<&Row>) =
        rows.iter().partition(|row| row.status == Status::Rejected);
    for row in &left_out[..2] {
        show(row)
            .exits(2)
            .says(&format!("the run rejected in.jsonl:{}", row.line));
    }
    for (place, row) in written.iter().enumerate().step_by(9) {
        let shown = text(show(row).exits(0));
        assert!(
            shown.contains(&format!("after:  out.jsonl:{}", place + 1)),
            "{shown}"
        );
    }
}

#[test]
fn files_of_directories_and_inputs_of_merged_outputs_are_found() {
    let workspace = Workspace::new();
    let all = String::from_utf8(rollouts()).unwrap();
    let lines: Vec<&str> = all.lines().collect();
    workspace.write("data/a.jsonl", lines[..15].join("\n"));
    workspace.write("data/sub/a.jsonl", lines[15..].join("\n"));
    let gzip = ["data", "-o", "fitted/", "--compress", "gzip"];
    workspace.compress(&[&gzip[..], &FIT].concat()).exits(3);
    workspace
        .compress(&[&["data", "-o", "merged.jsonl"][..], &FIT].concat())
        .exits(3);
    let rows = workspace.rows("merged.metrics.csv");
    let of = |source: &str| {
        rejected(
            &rows
                .iter()
                .filter(|row| row.source == source)
                .cloned()
                .collect::<Vec<_>>(),
        )
    };
    let (first, second) = (of("data/a.jsonl"), of("data/sub/a.jsonl"));
    let all = 41 - first - second;
    for (arguments, records, unjudged) in [
        (&["data", "fitted"][..], all, first + second),
        (&["data", "merged.jsonl"], all, first + second),
        (
            &["data/sub/a.jsonl", "--against", "data/a.jsonl", "merged.jsonl"],
            all,
            first + second,
        ),
        (
            &["data/sub/a.jsonl", "fitted/sub/a.jsonl.gz"],
            26 - second,
            second,
        ),
        (&["data/sub", "fitted/sub"], 26 - second, second),
        // Nothing is known of the records of the other input.
        (&["data/a.jsonl", "merged.jsonl"], 15 - first, first + 26 - second),
    ] {
        let outcome = json_of(&check(&workspace, arguments).exits(1));
        assert_eq!(
            (&outcome["matched_by"], &outcome["records"], &outcome["unjudged"]),
            (&json!("metrics"), &json!(records), &json!(unjudged)),
            "{arguments:?}"
        );
    }
    let last = rows.last().unwrap();
    assert_eq!((last.source.as_str(), last.line), ("data/sub/a.jsonl", 26));
    for (output, place) in [("merged.jsonl", all), ("fitted/sub/a.jsonl.gz", 26 - second)] {
        let arguments = ["show", "data/sub/a.jsonl", "--line", "26", "--compressed", output];
        let shown = text(workspace.run(&arguments).exits(0));
        assert!(shown.contains(&format!("after:  {output}:{place}")), "{shown}");
    }
}

#[test]
fn records_that_a_run_did_not_read_are_no_failure() {
    let workspace = Workspace::with_input(fixture_bytes("agent_runs.jsonl"));
    for part in [["--limit", "7"], ["--sample", "30"]] {
        workspace
            .compress(&[&["in.jsonl", "-o", "out.jsonl", "--force"][..], &part].concat())
            .exits(0);
        let taken = workspace.rows("out.metrics.csv").len();
        let outcome = json_of(&check(&workspace, &["in.jsonl", "out.jsonl"]).exits(0));
        assert_eq!(
            (
                &outcome["records"],
                &outcome["originals_not_taken"],
                &outcome["unjudged"]
            ),
            (&json!(taken), &json!(40 - taken), &json!(0))
        );
        assert!(taken < 40);
    }
    workspace
        .compress(&["in.jsonl", "-o", "out.jsonl", "--force", "--limit", "7"])
        .exits(0);
    workspace
        .run(&["show", "in.jsonl", "--line", "8", "--compressed", "out.jsonl"])
        .exits(2)
        .says("the run did not read in.jsonl:8");
}

#[test]
fn metrics_of_other_data_are_refused() {
    let workspace = Workspace::with_input(rollouts());
    workspace
        .compress(&[&["in.jsonl", "-o", "out.jsonl"][..], &FIT].concat())
        .exits(3);
    let written = workspace.text("out.jsonl");
    let mut lines: Vec<&str> = written.lines().collect();
    for (name, change) in [("reversed", 0), ("shorter", 1), ("longer", 2)] {
        match change {
            0 => lines.reverse(),
            1 => lines.truncate(lines.len() - 1),
            _ => lines = [written.lines().collect(), vec![lines[0]]].concat(),
        }
        workspace.write("out.jsonl", lines.join("\n"));
        let ran = check(&workspace, &["in.jsonl", "out.jsonl"]).exits(1);
        let ran = ran.says("out.metrics.csv is not about these data sets");
        assert_ne!(json_of(&ran)["matched_by"], "metrics", "{name}");
    }
    // The input of the run, in another place and by another name, is its input.
    workspace.write("out.jsonl", &written);
    workspace.write("kept/elsewhere.jsonl", rollouts());
    let outcome = json_of(&check(&workspace, &["kept/elsewhere.jsonl", "out.jsonl"]).exits(1));
    assert_eq!(outcome["matched_by"], "metrics");
}

fn record(id: Option<&str>, name: &str) -> String {
    let turns = json!([
        {"from": "human", "value": "mend it"},
        {"from": "gpt", "value": format!("I look at {name}")},
        {"from": "gpt", "value": format!("now lib/{name}_core.py")},
    ]);
    match id {
        Some(id) => json!({"id": id, "conversations": turns}),
        None => json!({ "conversations": turns }),
    }
    .to_string()
}

/// Two data sets of which nothing but the records is known.
fn of_strangers(before: &[String], after: &[String]) -> Workspace {
    let workspace = Workspace::new();
    workspace.write("before.jsonl", before.join("\n"));
    workspace.write("after.jsonl", after.join("\n"));
    workspace
}

#[test]
fn repeated_ids_pair_by_order_where_both_have_as_many() {
    let before =
        ["a", "b", "c", "d", "e"].map(|name| record(Some(if name < "c" { "x" } else { name }), name));
    let [a, b, c, d, _] = before.clone();
    let workspace = of_strangers(&before[..4], &[d.clone(), a.clone(), c.clone(), b.clone()]);
    let outcome = json_of(&check(&workspace, &["before.jsonl", "after.jsonl"]).exits(0));
    assert_eq!(
        (
            &outcome["matched_by"],
            &outcome["records"],
            &outcome["changed_records"]
        ),
        (&json!("ids_and_order"), &json!(4), &json!(0))
    );
    let workspace = of_strangers(&before, &[c, d, a]);
    let arguments = ["before.jsonl", "after.jsonl"];
    let outcome = json_of(&check(&workspace, &arguments).exits(1));
    let counts = [
        "records",
        "records_without_original",
        "originals_left_out",
        "unjudged",
    ];
    assert_eq!(counts.map(|count| outcome[count].as_u64().unwrap()), [2, 1, 3, 4]);
    check(
        &workspace,
        &[&arguments[..], &["--allow-unjudged", "66%"]].concat(),
    )
    .exits(1);
    check(
        &workspace,
        &[&arguments[..], &["--allow-unjudged", "67%"]].concat(),
    )
    .exits(0);
    let said = workspace.run(&[&["check", "--against"], &arguments[..]].concat());
    assert!(text(said.exits(1)).contains("FAIL  4 not judged, 0 allowed (--allow-unjudged)"));
    workspace
        .run(&[
            "show",
            "before.jsonl",
            "--line",
            "2",
            "--compressed",
            "after.jsonl",
        ])
        .exits(2)
        .says("is not known: it has 1 with the id x, before.jsonl 2");
}

#[test]
fn records_without_ids_are_not_paired_where_their_numbers_differ() {
    let before = ["a", "b"].map(|name| record(None, name));
    let workspace = of_strangers(&before, &before[1..]);
    let outcome = json_of(&check(&workspace, &["before.jsonl", "after.jsonl"]).exits(1));
    assert_eq!(
        (&outcome["records"], &outcome["unjudged"]),
        (&json!(0), &json!(3))
    );
    workspace
        .run(&["show", "before.jsonl", "--compressed", "after.jsonl"])
        .exits(2)
        .says(
            "which record of after.jsonl was made of before.jsonl:1 is not known: it has 1, before.jsonl 2",
        );
    workspace
        .run(&["show", "-", "--compressed", "after.jsonl"])
        .exits(2);
}

#[test]
fn a_pair_without_an_assistant_turn_in_common_is_not_judged() {
    let rollouts = ["a", "b", "c"].map(|name| record(Some("x"), name));
    let [a, b, c] = rollouts.clone();
    let workspace = of_strangers(&rollouts, &[b, a, c]);
    let arguments = ["before.jsonl", "after.jsonl", "--min-grounding", "1"];
    let outcome = json_of(&check(&workspace, &arguments).exits(1));
    let counts = ["records", "records_without_kept_turns", "unjudged"];
    assert_eq!(counts.map(|count| outcome[count].as_u64().unwrap()), [1, 2, 2]);
}

#[test]
fn a_record_is_named_by_its_id_where_no_other_has_it() {
    let records = [
        record(Some("x"), "a"),
        record(Some("y"), "b"),
        record(Some("y"), "c"),
    ];
    let workspace = of_strangers(&records, &records);
    let shown = workspace.run(&["show", "before.jsonl", "--id", "x", "--compressed", "after.jsonl"]);
    let shown = text(shown.exits(0));
    assert!(shown.contains("before: before.jsonl:1") && shown.contains("after:  after.jsonl:1"));
    let explained = workspace.run(&["explain", "before.jsonl", "--id", "x"]);
    assert!(text(explained.exits(0)).contains("before.jsonl:1, id x"));
    let show = |id: &str| workspace.run(&["show", "before.jsonl", "--id", id]).exits(2);
    show("y").says("2 records of before.jsonl have the id y, at lines 2, 3");
    show("z").says("before.jsonl has no record with the id z");
    workspace
        .run(&["show", "before.jsonl", "--id", "x", "--line", "1"])
        .exits(2)
        .says("cannot be used with");
}
