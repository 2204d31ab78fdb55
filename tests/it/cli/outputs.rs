//! Where records go: names, stdout, compression, what is refused, and what the exit code says.

use std::io::{BufRead, Read, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::cli::{Workspace, fixture, fixture_bytes, many_runs, short};
use trajfit::internals::metrics::Row;

fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes)
        .read_to_end(&mut plain)
        .unwrap();
    plain
}

#[test]
fn without_a_name_the_output_stands_beside_the_input() {
    let workspace = Workspace::new();
    workspace.write("data/in.v2.jsonl", short("one"));
    workspace.compress(&["data/in.v2.jsonl"]).exits(0);
    let files = [
        "data/in.v2.jsonl",
        "data/in.v2_compressed.jsonl",
        "data/in.v2_compressed.metrics.csv",
        "data/in.v2_compressed.summary.json",
    ];
    assert_eq!(workspace.files(), files);
}

#[test]
fn the_output_is_never_an_input() {
    let workspace = Workspace::new();
    workspace.write("data/in.jsonl", short("one"));
    std::os::unix::fs::symlink("in.jsonl", workspace.path("data/link.jsonl")).unwrap();
    std::os::unix::fs::symlink("data", workspace.path("other")).unwrap();
    for output in [
        "data/in.jsonl",
        "./data/../data/in.jsonl",
        "data/link.jsonl",
        "other/in.jsonl",
        "data",
        "other/",
    ] {
        for force in [&[][..], &["--force"]] {
            let arguments = [&["data/in.jsonl", "-o", output], force].concat();
            workspace.compress(&arguments).exits(2).says("is an input");
        }
    }
    // A hard link has another name, and is the same file.
    std::fs::hard_link(workspace.path("data/in.jsonl"), workspace.path("v.jsonl.partial")).unwrap();
    let ran = workspace
        .compress(&["data/in.jsonl", "-o", "v.jsonl", "--force"])
        .exits(2);
    ran.says("is an input");
    // Not through the side files either.
    workspace.write("out.rejects.jsonl", "{\n");
    let ran = workspace
        .compress(&["out.rejects.jsonl", "-o", "out.jsonl"])
        .exits(2);
    ran.says("out.rejects.jsonl is an input");
    assert_eq!(workspace.text("data/in.jsonl"), short("one"));
    assert_eq!(workspace.text("out.rejects.jsonl"), "{\n");
}

#[test]
fn an_output_that_is_there_is_overwritten_only_by_force() {
    let workspace = Workspace::with_input(format!("{}\n{{bad\n", short("one")));
    workspace.write("out.jsonl", "precious");
    let ran = workspace.compress(&["in.jsonl", "-o", "out.jsonl"]).exits(2);
    ran.says("out.jsonl exists already").says("--force");
    assert_eq!(workspace.text("out.jsonl"), "precious");
    assert_eq!(workspace.files(), ["in.jsonl", "out.jsonl"]);
    workspace
        .compress(&["in.jsonl", "-o", "out.jsonl", "--force"])
        .exits(3);
    assert_eq!(workspace.text("out.jsonl"), format!("{}\n", short("one")));
    // The rejects of an earlier run do not outlive it.
    workspace.write("in.jsonl", short("two"));
    workspace
        .compress(&["in.jsonl", "-o", "out.jsonl", "--force"])
        .exits(0);
    assert!(!workspace.exists("out.rejects.jsonl"));
}

#[test]
fn stdin_goes_to_stdout_and_all_words_to_stderr() {
    let workspace = Workspace::new();
    let input = format!("{}\n{{bad\n{}\n", short("one"), short("two"));
    let good = format!("{}\n{}\n", short("one"), short("two"));
    for arguments in [&["-"][..], &["-", "-o", "-"]] {
        let ran = workspace.compress_stdin(arguments, input.as_bytes()).exits(3);
        assert_eq!(String::from_utf8(ran.stdout).unwrap(), good);
        assert!(ran.stderr.contains("Records"), "{}", ran.stderr);
        // What was rejected is in a file even so, and its name is told.
        let files = workspace.files();
        let [rejects] = files.as_slice() else {
            panic!("{files:?}")
        };
        assert_eq!(workspace.rejects(rejects)[0].3, b"{bad");
        assert!(ran.stderr.contains(rejects.as_str()), "{}", ran.stderr);
        std::fs::remove_file(workspace.path(rejects)).unwrap();
    }
    let ran = workspace.compress_stdin(&["-", "-q"], good.as_bytes()).exits(0);
    assert_eq!((ran.stdout, ran.stderr), (good.into_bytes(), String::new()));
    workspace
        .compress(&["-", "-o", "-", "--resume"])
        .exits(2)
        .says("cannot be resumed");
}

#[test]
fn a_run_to_stdout_leaves_the_files_of_other_runs_alone() {
    let workspace = Workspace::with_input(format!("{{bad\n{}\n", short("one")));
    workspace.compress(&["in.jsonl"]).exits(3);
    let before = workspace.read("in_compressed.rejects.jsonl");
    workspace.write("in_compressed.rejects.jsonl.partial", "of an unfinished run");
    workspace.write("in.jsonl", format!("{}\n{{worse\n", short("one")));
    let ran = workspace.compress(&["in.jsonl", "-o", "-"]).exits(3);
    assert_eq!(ran.stdout, format!("{}\n", short("one")).as_bytes());
    assert_eq!(workspace.read("in_compressed.rejects.jsonl"), before);
    assert_eq!(
        workspace.text("in_compressed.rejects.jsonl.partial"),
        "of an unfinished run"
    );
    assert!(ran.stderr.contains(".rejects.jsonl"), "{}", ran.stderr);
}

#[test]
fn a_standard_output_that_is_closed_is_an_error() {
    let workspace = Workspace::with_input(many_runs(1));
    for command in [
        "compress in.jsonl -o - -q",
        "compress - -q < in.jsonl",
        "count in.jsonl",
        "count in.jsonl --per-record",
        "show in.jsonl",
        "check in.jsonl --against in.jsonl",
        "config",
        "--version",
        "--help",
    ] {
        let ran = workspace.shell(&format!("\"$0\" {command} >&-")).exits(4);
        ran.says("cannot write to standard output: it is closed");
    }
    for side_file in [
        "--rejects -",
        "--metrics -",
        "--summary -",
        "--metrics /dev/stdout",
        "--metrics /dev/fd/1",
    ] {
        let ran = workspace.shell(&format!(
            "\"$0\" compress in.jsonl -o lost.jsonl -q {side_file} >&-"
        ));
        ran.exits(4)
            .says("/dev/")
            .says("it is closed")
            .says("or name a file");
        assert_eq!(workspace.files(), ["in.jsonl"], "{side_file}");
    }
    // Where nothing is written to it, it is not missed.
    workspace
        .shell("\"$0\" compress in.jsonl -o out.jsonl -q >&-")
        .exits(0);
    assert!(workspace.exists("out.jsonl"));
    // A device that takes everything is not a closed one, however it was opened.
    workspace.shell("\"$0\" count in.jsonl 1<>/dev/null").exits(0);
}

#[test]
fn a_standard_input_that_is_closed_is_no_empty_one() {
    let workspace = Workspace::new();
    for command in [
        "compress - -o out.jsonl",
        "compress -",
        "count -",
        "check -",
        "count /dev/stdin",
        "show -",
    ] {
        let ran = workspace.shell(&format!("\"$0\" {command} <&-")).exits(2);
        ran.says("cannot read").says("it is closed");
    }
    assert!(workspace.files().is_empty());
    workspace.shell("\"$0\" count - </dev/null").exits(0);
}

#[cfg(target_os = "linux")]
#[test]
fn help_that_cannot_be_written_is_an_error() {
    let workspace = Workspace::new();
    for flag in ["--version", "--help", "compress --help"] {
        let ran = workspace.shell(&format!("\"$0\" {flag} > /dev/full"));
        ran.exits(4).says("cannot write to standard output");
    }
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let workspace = Workspace::with_input(many_runs(3));
    let script =
        "{ \"$0\" compress in.jsonl -o - --target-max-tokens 99999999; echo \"status $?\" >&2; } | head -n 1";
    let ran = workspace.shell(script).exits(0);
    assert_eq!(ran.stdout.lines().count(), 1);
    assert_eq!(ran.stderr, "status 0\n");
    // Also where the input never ends.
    let started = Instant::now();
    let mut endless = workspace.command(&["compress", "-", "-q", "--target-max-tokens", "99999999"]);
    let mut child = endless
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut start = [0; 10];
    std::thread::scope(|scope| {
        scope.spawn(|| stdin.write_all(&many_runs(8)));
        stdout.read_exact(&mut start).unwrap();
        drop(stdout);
        assert!(child.wait().unwrap().success());
    });
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[test]
fn compressed_output_holds_the_bytes_of_the_plain_one() {
    let workspace = Workspace::with_input(many_runs(4));
    workspace.compress(&["in.jsonl", "-o", "plain.jsonl"]).exits(0);
    let plain = workspace.read("plain.jsonl");
    let unzstd = |bytes: &[u8]| zstd::decode_all(bytes).unwrap();
    workspace
        .compress(&["in.jsonl", "-o", "packed.jsonl.gz"])
        .exits(0);
    assert!(gunzip(&workspace.read("packed.jsonl.gz")) == plain);
    // It would share its metrics with the other.
    let zstd = ["in.jsonl", "-o", "packed.jsonl.zst"];
    workspace.compress(&zstd).exits(2).says("packed.jsonl.gz");
    let members = workspace.read("packed.jsonl.gz");
    workspace.compress(&[&zstd[..], &["--force"]].concat()).exits(0);
    assert!(unzstd(&workspace.read("packed.jsonl.zst")) == plain);
    workspace
        .compress(&["in.jsonl", "-o", "asked.jsonl", "--compress", "zstd"])
        .exits(0);
    assert!(unzstd(&workspace.read("asked.jsonl.zst")) == plain);
    workspace
        .compress(&["in.jsonl", "-o", "none.jsonl.gz", "--compress", "none"])
        .exits(0);
    assert!(workspace.read("none.jsonl") == plain);
    let ran = workspace
        .compress(&["in.jsonl", "-o", "-", "--compress", "gzip"])
        .exits(0);
    assert!(gunzip(&ran.stdout) == plain);
    // In members, so that a run can be resumed between them.
    let mut first = flate2::bufread::GzDecoder::new(members.as_slice());
    let mut start = Vec::new();
    first.read_to_end(&mut start).unwrap();
    assert!(plain.starts_with(&start) && !first.into_inner().is_empty());
}

#[test]
fn a_dry_run_says_what_would_happen_and_writes_no_data() {
    let workspace = Workspace::new();
    let input = fixture("agent_runs.jsonl");
    let run = ["compress", input.to_str().unwrap(), "-o", "out.jsonl"];
    let dry = [&run[..], &["--dry-run"]].concat();
    workspace
        .run(&dry)
        .exits(0)
        .says("Summaries               19  would be written, reading")
        .says("Written (dry run)");
    assert_eq!(workspace.files(), ["out.metrics.csv", "out.summary.json"]);
    let summary = workspace.json("out.summary.json");
    assert_eq!(summary["dry_run"], true);
    assert!(summary["summary_input_tokens"].as_u64().unwrap() > 50_000);
    let planned = workspace.rows("out.metrics.csv");
    assert_eq!(planned.len(), 40);
    // Again, and then for real, unasked: there is nothing to lose yet.
    workspace.run(&dry).exits(0);
    workspace.run(&run).exits(0);
    assert_eq!(workspace.json("out.summary.json")["dry_run"], false);
    let real = workspace.rows("out.metrics.csv");
    // The embedded summarizer asks nobody: what is planned is what comes.
    for (planned, real) in planned.iter().zip(&real) {
        let told = Row {
            reason: real.reason.clone(),
            reason_detail: real.reason_detail.clone(),
            duration_ms: real.duration_ms,
            ..planned.clone()
        };
        assert_eq!(told, *real);
    }
    // The metrics of a real run are not given up for those of a dry one.
    workspace.run(&dry).exits(2).says("exists already");
    assert_eq!(workspace.rows("out.metrics.csv"), real);
    workspace.run(&[&dry[..], &["--force"]].concat()).exits(0);
}

#[test]
fn what_is_over_the_limit_is_kept_rejected_or_fails_the_run() {
    let workspace = Workspace::with_input(fixture_bytes("agent_runs.jsonl"));
    let run =
        |more: &[&str]| workspace.compress(&[&["in.jsonl", "-o", "out.jsonl", "--force"], more].concat());
    run(&[]).exits(0).says("Still over 15,250        2");
    let kept = workspace.read("out.jsonl");
    run(&["--over-limit", "keep"]).exits(0);
    assert!(workspace.read("out.jsonl") == kept);
    for fail in [&["--over-limit", "fail"][..], &["--fail-over-limit"]] {
        run(fail).exits(1);
        assert!(workspace.read("out.jsonl") == kept);
    }
    run(&["--over-limit", "reject"]).exits(3);
    let rejects = workspace.rejects("out.rejects.jsonl");
    let lines: Vec<u64> = rejects.iter().map(|reject| reject.1).collect();
    assert_eq!(lines, [14, 39]);
    let input = fixture_bytes("agent_runs.jsonl");
    let original: Vec<&[u8]> = input.split(|byte| *byte == b'\n').collect();
    assert!(
        rejects
            .iter()
            .all(|reject| reject.3 == original[reject.1 as usize - 1])
    );
    assert!(
        rejects
            .iter()
            .all(|reject| reject.2.contains("protected_turns_exceed_budget"))
    );
    assert_eq!(workspace.text("out.jsonl").lines().count(), 38);
}
