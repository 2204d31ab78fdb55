//! Where records come from: files, directories and stdin, plain and compressed, whole or in part.

use std::io::Write;

use crate::support::cli::{Workspace, fixture_bytes, many_runs, short};

const MARK: &str = "\u{feff}";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn several_files_go_to_a_directory_under_their_names() {
    let workspace = Workspace::new();
    workspace.write("a.jsonl", short("a"));
    workspace.write("sub/b.jsonl", short("b"));
    workspace
        .compress(&["a.jsonl", "sub/b.jsonl", "-o", "out"])
        .exits(0);
    assert_eq!(workspace.text("out/a.jsonl"), short("a"));
    assert_eq!(workspace.text("out/b.jsonl"), short("b"));
    let sources: Vec<String> = workspace
        .rows("out.metrics.csv")
        .into_iter()
        .map(|row| row.source)
        .collect();
    assert_eq!(sources, ["a.jsonl", "sub/b.jsonl"]);
}

#[test]
fn two_inputs_of_one_name_are_refused_in_a_directory() {
    let workspace = Workspace::new();
    workspace.write("a.jsonl", short("a"));
    workspace.write("sub/a.jsonl", short("b"));
    let ran = workspace
        .compress(&["a.jsonl", "sub/a.jsonl", "-o", "out/"])
        .exits(2);
    ran.says("two inputs would be written to out/a.jsonl");
    // The same where only the compression keeps the names apart.
    workspace.write("data/x.jsonl", short("a"));
    workspace.write("data/x.jsonl-old.jsonl", short("b"));
    workspace.write("data/x.jsonl.gz", gzip(short("c").as_bytes()));
    let ran = workspace.compress(&["data", "--compress", "none"]).exits(2);
    ran.says("two inputs would be written to data_compressed/x.jsonl");
    assert!(!workspace.exists("data_compressed"));
    workspace
        .compress(&["a.jsonl", "a.jsonl", "-o", "out/"])
        .exits(2)
        .says("given twice");
    workspace
        .compress(&["a.jsonl", "sub/a.jsonl"])
        .exits(2)
        .says("no output named");
}

#[test]
fn a_file_that_two_inputs_stand_for_is_refused() {
    let workspace = Workspace::new();
    workspace.write("data/a.jsonl", short("a"));
    workspace.write("data/sub/b.jsonl", short("b"));
    for inputs in [
        ["data", "data/a.jsonl"],
        ["data/a.jsonl", "./data/a.jsonl"],
        ["data/sub", "data"],
    ] {
        for command in ["count", "check"] {
            let ran = workspace.run(&[command, inputs[0], inputs[1]]).exits(2);
            ran.says("is given twice, by");
        }
    }
    workspace.run(&["count", "data/a.jsonl", "data/sub"]).exits(0);
}

#[test]
fn files_merged_into_one_stay_lines() {
    let workspace = Workspace::new();
    workspace.write("a.jsonl", format!("{MARK}{}", short("a")));
    workspace.write("b.jsonl", format!("{MARK}{}\r\n", short("b")));
    workspace.write("c.jsonl", "");
    workspace.write("d.jsonl", format!("{MARK}\n{}", short("d")));
    workspace
        .compress(&["a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl", "-o", "out.jsonl"])
        .exits(0);
    let expected = format!("{MARK}{}\n{}\r\n\n{}\n", short("a"), short("b"), short("d"));
    assert_eq!(workspace.text("out.jsonl").trim_end(), expected.trim_end());
    let lines: Vec<u64> = workspace
        .rows("out.metrics.csv")
        .iter()
        .map(|row| row.line)
        .collect();
    assert_eq!(lines, [1, 1, 2]);
}

#[test]
fn an_array_cannot_be_merged() {
    let workspace = Workspace::new();
    workspace.write("a.jsonl", short("a"));
    workspace.write("b.json", format!("[{}]", short("b")));
    let ran = workspace
        .compress(&["a.jsonl", "b.json", "-o", "out.jsonl"])
        .exits(2);
    ran.says("cannot merge b.json").says("-o OUTDIR");
    assert_eq!(workspace.files(), ["a.jsonl", "b.json"]);
    workspace.compress(&["a.jsonl", "b.json", "-o", "out"]).exits(0);
    assert_eq!(workspace.text("out/b.json"), format!("[{}]", short("b")));
}

#[test]
fn a_directory_is_its_data_files_and_no_side_files() {
    let workspace = Workspace::new();
    workspace.write("data/z.jsonl", short("z"));
    workspace.write("data/deep/er/a.ndjson", short("a"));
    workspace.write("data/packed.jsonl.gz", gzip(short("p").as_bytes()));
    for side in [
        "z.rejects.jsonl",
        "z.summary.json",
        "z.metrics.csv",
        "z.jsonl.partial",
        "z.checkpoint",
        "notes.txt",
        ".hidden.jsonl",
    ] {
        workspace.write(format!("data/{side}"), "{");
    }
    std::os::unix::fs::symlink("..", workspace.path("data/deep/circle")).unwrap();
    workspace.compress(&["data/"]).exits(0);
    let made: Vec<String> = workspace
        .files()
        .into_iter()
        .filter(|file| file.starts_with("data_"))
        .collect();
    assert_eq!(
        made,
        [
            "data_compressed.metrics.csv",
            "data_compressed.summary.json",
            "data_compressed/deep/er/a.ndjson",
            "data_compressed/packed.jsonl.gz",
            "data_compressed/z.jsonl",
        ]
    );
}

#[test]
fn the_current_directory_has_a_name_as_well() {
    let workspace = Workspace::new();
    workspace.write("data/a.jsonl", short("a"));
    let ran = workspace.shell("cd data && exec \"$0\" compress .").exits(0);
    ran.says("data_compressed");
    assert_eq!(workspace.text("data_compressed/a.jsonl"), short("a"));
    workspace.write("work/here.txt", "");
    workspace
        .shell("cd work && exec \"$0\" compress ../data/a.jsonl -o .")
        .exits(0);
    assert_eq!(workspace.text("work/a.jsonl"), short("a"));
    assert!(workspace.exists("work.metrics.csv"), "{:?}", workspace.files());
}

#[test]
fn compression_is_told_by_content_and_all_of_it_is_read() {
    let runs = many_runs(1);
    let half = runs
        .iter()
        .take(900_000)
        .rposition(|byte| *byte == b'\n')
        .unwrap()
        + 1;
    let (first, second) = runs.split_at(half);
    let frame = |bytes: &[u8]| zstd::bulk::compress(bytes, 1).unwrap();
    let packed = [
        ("members.jsonl", [gzip(first), gzip(second)].concat()),
        ("frames.jsonl", [frame(first), frame(b""), frame(second)].concat()),
        ("plain.jsonl.gz", runs.clone()),
    ];
    for (name, bytes) in packed {
        let workspace = Workspace::new();
        workspace.write(name, &bytes);
        let large = ["--target-max-tokens", "1000000"];
        workspace
            .compress(&[&[name, "-o", "out.jsonl"], &large[..]].concat())
            .exits(0);
        assert!(workspace.read("out.jsonl") == runs, "{name}");
        let ran = workspace
            .compress_stdin(&[&["-"], &large[..]].concat(), &bytes)
            .exits(0);
        assert!(ran.stdout == runs, "{name}");
    }
}

#[test]
fn a_pipe_with_a_name_is_read_once() {
    let workspace = Workspace::with_input(short("one"));
    let script =
        "mkfifo pipe.jsonl; cat in.jsonl > pipe.jsonl & exec \"$0\" compress pipe.jsonl -o out.jsonl";
    workspace.shell(script).exits(0);
    assert_eq!(workspace.text("out.jsonl"), short("one"));
}

#[test]
fn a_limit_counts_records_over_all_files() {
    let workspace = Workspace::new();
    workspace.write("data/a.jsonl", format!("\n{}\n\n{}\n", short("1"), short("2")));
    workspace.write("data/b.jsonl", format!("{}\n{}\n", short("3"), short("4")));
    workspace
        .compress(&["data", "-o", "out.jsonl", "--limit", "3"])
        .exits(0);
    let ids: Vec<String> = workspace
        .rows("out.metrics.csv")
        .into_iter()
        .map(|row| row.id)
        .collect();
    assert_eq!(ids, ["1", "2", "3"]);
    let lines = workspace.text("out.jsonl");
    assert_eq!(
        lines.split_whitespace().count(),
        format!("{} ", short("1")).repeat(3).split_whitespace().count()
    );
    workspace
        .compress(&["data", "-o", "x.jsonl", "--limit", "0"])
        .exits(2);
}

#[test]
fn a_sample_is_the_same_every_time_and_in_order() {
    let records: Vec<String> = (0..500).map(|number| short(&number.to_string())).collect();
    let workspace = Workspace::with_input(records.join("\n") + "\n");
    let sample = |name: &str, more: &[&str]| -> Vec<usize> {
        let output = format!("{name}.jsonl");
        let arguments = [&["in.jsonl", "-o", &output, "--sample", "20"], more].concat();
        workspace.compress(&arguments).exits(0);
        let rows = workspace.rows(&format!("{name}.metrics.csv"));
        assert_eq!(workspace.text(&output).lines().count(), rows.len());
        rows.iter().map(|row| row.id.parse().unwrap()).collect()
    };
    let one = sample("one", &["--jobs", "1"]);
    assert!((60..140).contains(&one.len()), "{}", one.len());
    assert!(one.is_sorted());
    assert_eq!(one, sample("five", &["--jobs", "5"]));
    let other = sample("other", &["--seed", "1"]);
    assert!(other != one && other.is_sorted());
    // A limit counts what the sample takes.
    assert_eq!(sample("few", &["--limit", "7"]), one[..7]);
}

#[test]
fn the_demo_data_in_either_format_or_forced_to_one() {
    let workspace = Workspace::with_input(fixture_bytes("agent_runs_messages.jsonl"));
    workspace.compress(&["in.jsonl", "-o", "out.jsonl"]).exits(0);
    let formats: Vec<String> = workspace
        .rows("out.metrics.csv")
        .into_iter()
        .map(|row| row.format)
        .collect();
    assert!(formats.iter().all(|format| format == "messages"), "{formats:?}");
    let forced = ["in.jsonl", "-o", "forced.jsonl", "--format", "sharegpt"];
    workspace.compress(&forced).exits(3);
    let rejects = workspace.rejects("forced.rejects.jsonl");
    assert!(rejects.len() == 12 && rejects.iter().all(|reject| reject.2.starts_with("no_trajectory")));
}
