//! Shards of a data set: any number of them, merged, is what one run writes.

use std::io::{Read, Write};

use super::same_runs::compare;
use crate::support::cli::{Ran, SMALL, Workspace, fixture_bytes, many_runs, quirks, short};

/// Runs all shards of a command, each with an output of its own below `shards/`, and merges them into `killed/`.
fn shards_merged(workspace: &Workspace, command: &[&str], count: usize, output: &str) -> Ran {
    let mut metrics = Vec::new();
    for number in 1..=count {
        let shard = format!("{number}/{count}");
        let out = format!("shards/{number}/{output}");
        let ran = workspace.run(&[command, &["--shard", &shard, "-o", &out]].concat());
        assert!(matches!(ran.status, Some(0 | 3)), "{}", ran.stderr);
        let stem = out
            .strip_suffix(".jsonl")
            .unwrap_or(out.trim_end_matches('/'))
            .to_owned();
        metrics.push(format!("{stem}.metrics.csv"));
    }
    // In any order.
    metrics.reverse();
    let metrics: Vec<&str> = metrics.iter().map(String::as_str).collect();
    let out = format!("killed/{output}");
    workspace.run(&[&["merge"], &metrics[..], &["-o", &out]].concat())
}

/// The command's single run into `whole/` is what so many shards come to, for each of the counts.
fn same_as_one_run(workspace: &Workspace, command: &[&str], output: &str, counts: &[usize]) {
    let one = workspace.run(&[command, &["-o", &format!("whole/{output}")]].concat());
    let one = one.status;
    assert!(matches!(one, Some(0 | 3)));
    for &count in counts {
        let merged = shards_merged(workspace, command, count, output);
        assert_eq!(merged.status, one, "{}", merged.stderr);
        compare(workspace);
        for folder in ["shards", "killed"] {
            std::fs::remove_dir_all(workspace.path(folder)).unwrap();
        }
    }
}

/// All quirks in a folder, arrays and empty files among them.
fn quirks_folder() -> Workspace {
    let workspace = Workspace::new();
    for quirk in quirks() {
        let name = quirk.file_name().unwrap().to_string_lossy().into_owned();
        workspace.write(format!("in/{name}"), std::fs::read(quirk).unwrap());
    }
    workspace
}

#[test]
fn shards_of_a_folder_are_its_files_and_their_rows() {
    // In the end there are more shards than records.
    same_as_one_run(
        &quirks_folder(),
        &[&["compress", "in"], &SMALL[..]].concat(),
        "out/",
        &[1, 2, 3, 8, 150],
    );
}

#[test]
fn shards_of_unrolled_trajectories_are_too() {
    let workspace = quirks_folder();
    workspace.write("in/runs.jsonl", fixture_bytes("agent_runs.jsonl"));
    for (more, counts) in [
        (&[][..], &[1, 3, 40][..]),
        (&["--rows", "trajectories", "--csv-safe"], &[8]),
    ] {
        let command = [&["unroll", "in", "--max-tokens", "9000"], more].concat();
        same_as_one_run(&workspace, &command, "out/", counts);
        std::fs::remove_dir_all(workspace.path("whole")).unwrap();
    }
}

#[test]
fn shards_of_files_that_are_merged_make_the_same_file() {
    let workspace = Workspace::new();
    // Lines without an end, byte-order marks, blank lines and lines that cannot be read, at all boundaries.
    let lines: Vec<String> = (0..40).map(|number| short(&format!("a{number}"))).collect();
    workspace.write("a.jsonl", lines.join("\n \r\n\n"));
    workspace.write("b.jsonl", format!("\u{feff}{}\n{{\"broken\n", short("b")));
    workspace.write("c.jsonl", "");
    workspace.write("d.jsonl", format!("\n\n\n{}", short("d")));
    workspace.write("e.jsonl", "\u{feff}");
    let inputs = ["a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl", "e.jsonl"];
    let command = [&["compress"], &inputs[..], &["--sample", "80%", "--jobs", "2"]].concat();
    same_as_one_run(&workspace, &command, "out.jsonl", &[1, 2, 3, 8, 60]);
}

#[test]
fn shards_of_compressed_files_hold_each_record_once() {
    let workspace = Workspace::new();
    let runs = fixture_bytes("agent_runs.jsonl");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&runs).unwrap();
    workspace.write("in.jsonl.gz", gzip.finish().unwrap());
    workspace
        .run(&["compress", "in.jsonl.gz", "-o", "whole.jsonl"])
        .exits(0);
    for number in 1..=4 {
        let (shard, out) = (format!("{number}/4"), format!("{number}.jsonl.gz"));
        workspace
            .run(&["compress", "in.jsonl.gz", "--shard", &shard, "-o", &out])
            .exits(0);
        let rows = workspace.rows(&format!("{number}.metrics.csv"));
        assert!((1..40).contains(&rows.len()), "{} rows", rows.len());
    }
    let shards = ["1.jsonl.gz", "2.jsonl.gz", "3.jsonl.gz", "4.jsonl.gz"];
    workspace
        .run(&[&["merge"], &shards[..], &["-o", "all.jsonl"]].concat())
        .exits(2)
        .says("format differs");
    workspace
        .run(&[&["merge"], &shards[..], &["-o", "all.jsonl.gz"]].concat())
        .exits(0);
    let merged = workspace.read("all.jsonl.gz");
    let mut text = Vec::new();
    let mut decoder = flate2::read::MultiGzDecoder::new(merged.as_slice());
    decoder.read_to_end(&mut text).unwrap();
    assert!(text == workspace.read("whole.jsonl"));
}

#[test]
fn a_shard_is_killed_and_resumed_as_any_run_and_only_as_itself() {
    let workspace = Workspace::with_input(many_runs(3));
    let shard = |number: &str, more: &[&str]| {
        let run = ["compress", "in.jsonl", "--shard", number, "-o", "out.jsonl"];
        workspace.run(&[&run[..], more].concat())
    };
    shard("2/3", &[]).exits(0);
    let whole = workspace.read("out.jsonl");
    shard("1/3", &[]).exits(2).says("exists already");
    shard("1/3", &["--resume"])
        .exits(2)
        .says("--shard: was 2/3, is 1/3");
    shard("2/3", &["--resume"]).exits(0).says("already finished");
    // A checkpoint without a milestone is that of a run that was killed at once.
    let mut identity = workspace.json("out.summary.json");
    let keys = [
        "version",
        "configuration",
        "tokenizer",
        "chat_template",
        "sources",
        "outputs",
    ];
    let fields: Vec<String> = keys
        .iter()
        .map(|key| format!("\"{key}\":{}", identity[*key].take()))
        .collect();
    for file in ["out.jsonl", "out.metrics.csv", "out.summary.json"] {
        std::fs::remove_file(workspace.path(file)).unwrap();
    }
    workspace.write("out.checkpoint", format!("{{{}}}\n", fields.join(",")));
    shard("3/3", &["--resume"])
        .exits(2)
        .says("--shard: was 2/3, is 3/3");
    shard("2/3", &["--resume"]).exits(0);
    assert!(workspace.read("out.jsonl") == whole);
}

#[test]
fn what_does_not_belong_together_is_not_merged() {
    let workspace = Workspace::with_input(many_runs(1));
    let run = |shard: &str, out: &str, more: &[&str]| {
        let run = ["compress", "in.jsonl", "--shard", shard, "-o", out];
        workspace.run(&[&run[..], more].concat()).exits(0);
    };
    run("1/2", "a.jsonl", &[]);
    run("2/2", "b.jsonl", &[]);
    run("2/2", "twice.jsonl", &[]);
    run("2/2", "settings.jsonl", &["--max-tokens", "20k"]);
    run("2/2", "tokenizer.jsonl", &["--tokenizer", "cl100k_base"]);
    run("2/3", "thirds.jsonl", &[]);
    run("2/2", "dry.jsonl", &["--dry-run"]);
    workspace
        .run(&["compress", "in.jsonl", "-o", "all.jsonl"])
        .exits(0);
    let merge = |runs: &[&str]| workspace.run(&[&["merge"], runs, &["-o", "out.jsonl"]].concat());
    merge(&["a.metrics.csv"]).exits(2).says("no run of the shard 2/2");
    merge(&["a.jsonl", "b.jsonl", "twice.jsonl"])
        .exits(2)
        .says("the shard 2/2 is there twice, in b.metrics.csv and in twice.metrics.csv");
    for (other, why) in [
        (
            "settings.jsonl",
            "compression.target_max_tokens: was 15250, is 20000",
        ),
        ("tokenizer.jsonl", "tokenizer: was o200k_base, is cl100k_base"),
        ("thirds.jsonl", "shard: was one of 2, is one of 3"),
        ("dry.jsonl", "a dry run"),
        ("all.jsonl", "shard: was one of 2, is not sharded"),
        ("missing.jsonl", "missing.summary.json cannot be read"),
    ] {
        merge(&["a.jsonl", other]).exits(2).says(why);
    }
    merge(&["all.jsonl", "all.metrics.csv"])
        .exits(2)
        .says("both have read in.jsonl");
    // Rows or data that are not those of the run.
    let rows = workspace.text("b.metrics.csv");
    let fewer: Vec<&str> = rows.lines().take(3).collect();
    workspace.write("b.metrics.csv", fewer.join("\n") + "\n");
    merge(&["a.jsonl", "b.jsonl"]).exits(2).says("it has 2 rows");
    workspace.write("b.metrics.csv", rows);
    let data = workspace.read("a.jsonl");
    workspace.write("a.jsonl", &data[..data.len() - 1]);
    merge(&["a.jsonl", "b.jsonl"])
        .exits(2)
        .says("its last line has no end");
    workspace.write("a.jsonl", data);
    let data = workspace.read("b.jsonl");
    let lines: Vec<&[u8]> = data.split_inclusive(|byte| *byte == b'\n').collect();
    for (cut, why) in [
        (lines[1..].concat(), "records, and the totals tell of"),
        (Vec::new(), "has 0 records"),
    ] {
        workspace.write("b.jsonl", &cut);
        merge(&["a.jsonl", "b.jsonl"]).exits(2).says(why);
    }
    workspace.write("b.jsonl", &data);
    workspace
        .run(&["merge", "a.jsonl", "b.jsonl", "-o", "out/"])
        .exits(2)
        .says("not merged into a directory");
    std::fs::rename(workspace.path("b.jsonl"), workspace.path("elsewhere.jsonl")).unwrap();
    merge(&["a.jsonl", "b.jsonl"]).exits(2).says("--reports-only");
    let written = workspace
        .files()
        .into_iter()
        .filter(|file| file.starts_with("out"));
    assert_eq!(written.collect::<Vec<_>>(), Vec::<String>::new());
    merge(&["a.jsonl", "b.jsonl", "--reports-only"]).exits(0);
    assert!(!workspace.exists("out.jsonl"));
    merge(&["a.jsonl", "b.jsonl", "--reports-only"])
        .exits(2)
        .says("exists already");
    merge(&["a.jsonl", "b.jsonl", "--reports-only", "--force"]).exits(0);
    workspace
        .run(&[
            "merge",
            "a.jsonl",
            "b.jsonl",
            "--reports-only",
            "-o",
            "a",
            "--force",
        ])
        .exits(2)
        .says("is an input");
}

#[test]
fn reports_that_flags_named_are_found_beside_the_totals_or_where_they_were_written() {
    let workspace = Workspace::new();
    workspace.write("in.jsonl", [&many_runs(1)[..], b"no record\n"].concat());
    workspace
        .run(&["compress", "in.jsonl", "-o", "whole/out.jsonl"])
        .exits(3);
    for (number, folder) in [("1", ""), ("2", "reports/")] {
        let file = |name: &str| format!("{folder}{number}.{name}");
        let (metrics, rejects, totals) = (file("csv"), file("rejects"), file("json"));
        let named = ["--metrics", &metrics, "--rejects", &rejects, "--summary", &totals];
        let (shard, output) = (format!("{number}/2"), format!("{number}.jsonl"));
        let run = ["compress", "in.jsonl", "--shard", &shard, "-o", &output];
        workspace.run(&[&run[..], &named].concat());
    }
    let merge = |more: &[&str]| workspace.run(&[&["merge", "1.json", "reports/2.json"], more].concat());
    merge(&["-o", "killed/out.jsonl"]).exits(3);
    compare(&workspace);
    workspace
        .run(&["compress", "in.jsonl", "-o", "off.jsonl", "--metrics", "off"])
        .exits(3);
    merge(&["off.jsonl", "-o", "none.jsonl"])
        .exits(2)
        .says("no metrics");
}

#[test]
fn runs_over_different_inputs_are_merged_in_the_order_given() {
    let workspace = Workspace::new();
    for name in ["a", "b"] {
        workspace.write(format!("{name}.jsonl"), many_runs(1));
        let out = format!("{name}.out.jsonl");
        workspace
            .run(&["compress", &format!("{name}.jsonl"), "-o", &out])
            .exits(0);
    }
    let merge = |more: &[&str]| {
        workspace.run(&[&["merge", "b.out.jsonl", "a.out.jsonl", "-o", "all"], more].concat())
    };
    merge(&[]).exits(2).says("--reports-only");
    merge(&["--reports-only"]).exits(0);
    let rows = workspace.rows("all.metrics.csv");
    let sources: Vec<&str> = rows.iter().map(|row| row.source.as_str()).collect();
    assert_eq!(sources, [["b.jsonl"; 40], ["a.jsonl"; 40]].concat());
    assert_eq!(workspace.json("all.summary.json")["records"], 80);
}

#[test]
fn commands_that_write_nothing_take_shards_too() {
    let workspace = Workspace::with_input(many_runs(1));
    let records = |command: &str, more: &[&str]| -> u64 {
        let count = |shard: &str| {
            let ran = workspace.run(&[&[command, "in.jsonl", "--json", "--shard", shard], more].concat());
            let report: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
            let records = &report["records"];
            records["records"].as_u64().or(records.as_u64()).unwrap()
        };
        ["1/3", "2/3", "3/3"].iter().map(|shard| count(shard)).sum()
    };
    assert_eq!(records("count", &[]), 40);
    assert_eq!(records("check", &[]), 40);
    assert_eq!(records("lint", &["--trainer", "axolotl"]), 40);
}

#[test]
fn a_shard_needs_files_and_a_number_that_there_is() {
    let workspace = Workspace::with_input(many_runs(1));
    workspace
        .run(&["compress", "in.jsonl", "--shard", "0/4"])
        .exits(2)
        .says("shards are counted from 1 to 4");
    workspace
        .run(&["compress", "in.jsonl", "--shard", "1/4", "--limit", "3"])
        .exits(2);
    workspace
        .compress_stdin(&["-", "--shard", "1/4", "-o", "out.jsonl"], &many_runs(1))
        .exits(2)
        .says("cannot take a shard of standard input");
    workspace
        .run(&["compress", "in.jsonl", "--shard", "2/12"])
        .exits(0);
    assert!(workspace.exists("in_compressed_02-of-12.jsonl"));
}
