//! Rejects, metrics and totals: where they go, that no run takes another's, and who may read what a run leaves.
#![cfg(unix)]

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Stdio;

use crate::support::cli::{Workspace, many_runs, short};

/// Lines of which every third is bad.
fn lines(shard: usize, count: usize) -> String {
    let line = |number: usize| {
        let id = format!("{shard}-{number}");
        if number % 3 == 1 {
            format!("{{\"bad\": \"{id}\"\n")
        } else {
            short(&id) + "\n"
        }
    };
    (0..count).map(line).collect()
}

fn mode(workspace: &Workspace, name: &str) -> u32 {
    let path = workspace.path(name);
    path.symlink_metadata().unwrap().permissions().mode() & 0o777
}

fn set_mode(workspace: &Workspace, name: &str, mode: u32) {
    std::fs::set_permissions(workspace.path(name), PermissionsExt::from_mode(mode)).unwrap();
}

/// The rejects files in the workspace.
fn rejects_files(workspace: &Workspace) -> Vec<String> {
    let mut files = workspace.files();
    files.retain(|file| file.ends_with(".rejects.jsonl"));
    files
}

#[test]
fn shards_in_one_folder_keep_all_rejects() {
    let workspace = Workspace::new();
    let mut shards = Vec::new();
    for shard in 0..8 {
        workspace.write(format!("{shard}.txt"), lines(shard, 30));
        let input = std::fs::File::open(workspace.path(format!("{shard}.txt"))).unwrap();
        let mut command = workspace.command(&["compress", "-", "-q"]);
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        shards.push(command.spawn().unwrap());
    }
    for shard in shards {
        let output = shard.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(3));
        // Nothing else tells the name where the table is not printed.
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(told.matches(".rejects.jsonl").count(), 1, "{told}");
    }
    let files = rejects_files(&workspace);
    assert_eq!(files.len(), 8, "{files:?}");
    let mut kept: Vec<Vec<u8>> = Vec::new();
    for file in files {
        kept.extend(workspace.rejects(&file).into_iter().map(|reject| reject.3));
        assert_eq!(mode(&workspace, &file), 0o600);
    }
    kept.sort();
    kept.dedup();
    assert_eq!(kept.len(), 80);
}

#[test]
fn a_pipe_writes_the_files_that_are_named() {
    let workspace = Workspace::new();
    let named = [
        "-",
        "-q",
        "--rejects",
        "bad.jsonl",
        "--metrics",
        "new/rows.csv",
        "--summary",
        "totals.json",
    ];
    let ran = workspace.compress_stdin(&named, lines(0, 9).as_bytes()).exits(3);
    assert_eq!(String::from_utf8(ran.stdout.clone()).unwrap().lines().count(), 6);
    assert_eq!(ran.stderr, "");
    assert_eq!(workspace.rejects("bad.jsonl").len(), 3);
    assert_eq!(workspace.rows("new/rows.csv").len(), 9);
    assert_eq!(workspace.json("totals.json")["records_by_status"]["rejected"], 3);
    assert_eq!(workspace.files(), ["bad.jsonl", "new/rows.csv", "totals.json"]);
    // They are not taken from the run that wrote them, unless that is asked for.
    let ran = workspace
        .compress_stdin(&["-", "--rejects", "bad.jsonl"], b"")
        .exits(2);
    ran.says("bad.jsonl exists already").says("--force");
    let good = short("good");
    workspace
        .compress_stdin(&[&named[..], &["--force"]].concat(), good.as_bytes())
        .exits(0);
    assert_eq!(workspace.rows("new/rows.csv").len(), 1);
    assert!(!workspace.exists("bad.jsonl"));
}

#[test]
fn a_run_to_a_file_writes_the_files_that_are_named_and_resumes_with_them() {
    let workspace = Workspace::with_input(lines(0, 9));
    let run = [
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--metrics",
        "rows.csv",
        "--summary",
        "totals.json",
    ];
    workspace.compress(&run).exits(3);
    let files = [
        "in.jsonl",
        "out.jsonl",
        "out.rejects.jsonl",
        "rows.csv",
        "totals.json",
    ];
    assert_eq!(workspace.files(), files);
    workspace
        .compress(&[&run[..], &["--resume"]].concat())
        .exits(3)
        .says("already finished");
    // Another run does not take them.
    let other = ["in.jsonl", "-o", "other.jsonl", "--metrics", "rows.csv"];
    workspace
        .compress(&other)
        .exits(2)
        .says("rows.csv exists already")
        .says("--metrics");
    assert_eq!(workspace.files(), files);
    for twice in [
        "out.jsonl",
        "./totals.json",
        "out.rejects.jsonl",
        "out.checkpoint",
    ] {
        let ran = workspace.compress(
            &[
                &run[..3],
                &["--summary", "totals.json", "--metrics", twice, "--force"],
            ]
            .concat(),
        );
        ran.exits(2).says("two outputs");
    }
    workspace
        .compress(&[&run[..], &["--rejects", "in.jsonl", "--force"]].concat())
        .exits(2)
        .says("is an input");
}

#[test]
fn two_runs_never_write_one_file() {
    let workspace = Workspace::new();
    let named = ["-", "-q", "--rejects", "bad.jsonl"];
    let mut first = workspace.command(&[&["compress"], &named[..]].concat());
    let mut first = first.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    while !workspace.exists("bad.jsonl.partial") {
        std::thread::yield_now();
    }
    for force in [&[][..], &["--force"]] {
        let ran = workspace.compress_stdin(&[&named[..], force].concat(), b"{bad\n");
        assert!(ran.stdout.is_empty());
        ran.exits(4).says("bad.jsonl.partial");
    }
    std::io::Write::write_all(&mut first.stdin.take().unwrap(), b"{mine\n").unwrap();
    assert_eq!(first.wait().unwrap().code(), Some(3));
    assert_eq!(workspace.rejects("bad.jsonl")[0].3, b"{mine");
    assert_eq!(workspace.files(), ["bad.jsonl"]);
}

#[test]
fn a_pipe_that_could_not_keep_rejects_is_refused_before_the_first_byte() {
    let workspace = Workspace::new();
    let input = lines(0, 9);
    // Nobody, not even root, makes files there.
    let ran = workspace.compress_stdin(&["-", "--rejects", "/proc/trajfit/bad.jsonl"], input.as_bytes());
    assert!(ran.stdout.is_empty());
    ran.exits(4).says("/proc/trajfit/bad.jsonl");
    let script = "cd /proc/self && \"$0\" compress - -q";
    let ran = workspace.shell(&format!("printf '{{bad\\n' | ({script})"));
    assert!(ran.stdout.is_empty());
    ran.exits(4).says(".rejects.jsonl").says("--rejects FILE");
}

#[test]
fn an_open_file_of_the_process_takes_rows_as_they_come() {
    let workspace = Workspace::with_input(lines(0, 9));
    let named = "--metrics /dev/fd/3 --summary /dev/fd/4 --rejects /dev/fd/5";
    // Files behind the descriptors; pipes; and what was in a file before stays.
    workspace
        .shell(&format!(
            "echo before > bad; \"$0\" compress - -q {named} < in.jsonl 3> rows 4> totals 5>> bad > data"
        ))
        .exits(3);
    assert_eq!(workspace.rows("rows").len(), 9);
    assert_eq!(workspace.json("totals")["records_by_status"]["rejected"], 3);
    assert_eq!(workspace.text("bad").lines().count(), 4);
    assert_eq!(workspace.text("data").lines().count(), 6);
    let script = "{ { \"$0\" compress - -q --metrics /dev/fd/3 --rejects /dev/fd/4 < in.jsonl 3>&1 >&2 | cat > rows2; } 4>&1 2> data2 | cat > bad2; }";
    workspace.shell(script).exits(0);
    assert_eq!(workspace.read("data2"), workspace.read("data"));
    assert_eq!(workspace.text("rows2").lines().count(), 10);
    assert_eq!(workspace.text("bad2").lines().count(), 3);
    // Rejects among the messages, in the order in which they came.
    workspace
        .shell("\"$0\" compress in.jsonl -o - --rejects /dev/stderr > data3 2> messages")
        .exits(3);
    let messages = workspace.text("messages");
    assert!(
        messages.starts_with("{\"source\"") && messages.contains("Records "),
        "{messages}"
    );
    // Metrics among the data would be neither.
    let ran = workspace.shell("\"$0\" compress in.jsonl -o - --metrics /dev/stdout > mixed");
    ran.exits(2).says("is where the data goes");
    assert!(workspace.read("mixed").is_empty());
    // A reader that has gone is no quiet end.
    let ran = workspace.shell(
        "{ \"$0\" compress - -q --metrics /dev/fd/3 < in.jsonl 3>&1 >/dev/null; echo $? >&2; } | true",
    );
    assert!(!ran.stderr.contains("panicked"));
}

#[test]
fn no_output_takes_the_place_of_what_is_read_or_of_another() {
    let workspace = Workspace::with_input(lines(0, 9));
    let before = workspace.text("in.jsonl");
    for (script, message) in [
        (
            "\"$0\" compress - -q --rejects in.jsonl --force < in.jsonl > data",
            "is an input",
        ),
        (
            "\"$0\" compress - -q --metrics data --force < in.jsonl > data",
            "is where the data goes",
        ),
        (
            "\"$0\" compress - -q --metrics /dev/fd/3 --rejects /dev/fd/3 < in.jsonl 3> both > data",
            "two outputs",
        ),
        (
            "\"$0\" compress - -q --metrics /dev/fd/3 --summary /dev/fd/4 < in.jsonl 3> both 4>&3 > data",
            "two outputs",
        ),
        (
            "mkdir -p d; \"$0\" compress in.jsonl -o out.jsonl --metrics x --summary d/../x",
            "two outputs",
        ),
    ] {
        workspace.shell(script).exits(2).says(message);
        assert_eq!(workspace.text("in.jsonl"), before, "{script}");
    }
}

#[test]
fn a_run_with_a_stream_is_not_resumed_and_leaves_nothing_to_resume() {
    let workspace = Workspace::with_input(lines(0, 9));
    let run = "\"$0\" compress in.jsonl -o out.jsonl --metrics /dev/fd/3";
    let ran = workspace.shell(&format!("{run} --resume 3>rows"));
    ran.exits(2)
        .says("cannot resume: what went to /dev/fd/3")
        .says("--metrics");
    let ran = workspace.shell(&format!("{run} --on-invalid fail 3>rows"));
    ran.exits(4).says("in.jsonl:2");
    assert_eq!(workspace.files(), ["in.jsonl", "rows"]);
    workspace.shell(&format!("{run} 3>rows")).exits(3);
    assert_eq!(workspace.rows("rows").len(), 9);
    assert!(workspace.exists("out.jsonl") && !workspace.exists("out.metrics.csv"));
}

#[test]
fn a_pipe_that_stops_keeps_what_was_rejected_before() {
    let workspace = Workspace::new();
    let mut input = lines(0, 9);
    input.push_str(&lines(1, 3000));
    // Whoever reads stops early.
    workspace.write("in.jsonl", input);
    let ran = workspace.shell("\"$0\" compress - < in.jsonl | head -c 10 > /dev/null");
    let files = rejects_files(&workspace);
    if let [file] = files.as_slice() {
        assert!(!workspace.rejects(file).is_empty());
        assert!(ran.stderr.contains(file.as_str()), "{}", ran.stderr);
    }
    assert!(workspace.files().iter().all(|file| !file.ends_with(".partial")));
}

#[test]
fn an_output_is_no_more_readable_than_its_input() {
    let workspace = Workspace::with_input(lines(0, 9));
    let run = ["in.jsonl", "-o", "out.jsonl"];
    for (input, output) in [(0o600, 0o600), (0o644, 0o644), (0o444, 0o644), (0o755, 0o644)] {
        set_mode(&workspace, "in.jsonl", input);
        workspace.compress(&run).exits(3);
        for name in ["out.jsonl", "out.metrics.csv", "out.summary.json"] {
            // The mask of whoever runs this may take more away.
            assert_eq!(mode(&workspace, name) & !output, 0, "{name}");
            assert_eq!(mode(&workspace, name) & 0o600, 0o600, "{name}");
            std::fs::remove_file(workspace.path(name)).unwrap();
        }
        assert_eq!(mode(&workspace, "out.rejects.jsonl"), 0o600);
    }
    // The input may come by another way.
    set_mode(&workspace, "in.jsonl", 0o600);
    workspace
        .shell("\"$0\" compress - -o piped.jsonl < in.jsonl")
        .exits(3);
    assert_eq!(mode(&workspace, "piped.jsonl"), 0o600);
    // What is there keeps its mode.
    set_mode(&workspace, "in.jsonl", 0o600);
    workspace.write("out.jsonl", "old");
    set_mode(&workspace, "out.jsonl", 0o640);
    workspace.compress(&[&run[..], &["--force"]].concat()).exits(3);
    assert_eq!(mode(&workspace, "out.jsonl"), 0o640);
    assert_eq!(mode(&workspace, "out.metrics.csv"), 0o600);
    // Of several inputs, who may read all; in folders, each as its own.
    workspace.write("data/b.jsonl", short("b"));
    workspace.write("data/c.jsonl", short("c"));
    set_mode(&workspace, "data/b.jsonl", 0o644);
    set_mode(&workspace, "data/c.jsonl", 0o600);
    set_mode(&workspace, "data", 0o700);
    workspace
        .compress(&["data/b.jsonl", "data/c.jsonl", "-o", "both.jsonl"])
        .exits(0);
    assert_eq!(mode(&workspace, "both.jsonl"), 0o600);
    workspace.compress(&["data", "-o", "fitted"]).exits(0);
    assert_eq!(mode(&workspace, "fitted"), 0o700);
    assert_eq!(mode(&workspace, "fitted/c.jsonl"), 0o600);
    assert_eq!(mode(&workspace, "fitted.metrics.csv"), 0o600);
    assert_eq!(mode(&workspace, "fitted/b.jsonl") & !0o644, 0);
}

#[test]
fn nothing_half_written_is_followed_or_overwritten() {
    let workspace = Workspace::with_input(many_runs(1));
    workspace.write("precious", "precious");
    let run = ["in.jsonl", "-o", "out.jsonl"];
    let partials = [
        "out.jsonl",
        "out.metrics.csv",
        "out.summary.json",
        "out.rejects.jsonl",
    ];
    for partial in partials.map(|name| format!("{name}.partial")) {
        symlink("precious", workspace.path(&partial)).unwrap();
        workspace
            .compress(&run)
            .exits(4)
            .says(&partial)
            .says("is there already");
        assert_eq!(workspace.files(), ["in.jsonl", partial.as_str(), "precious"]);
        workspace.compress(&[&run[..], &["--force"]].concat()).exits(0);
        assert!(!Path::new(&workspace.path(&partial)).exists());
        for file in ["out.jsonl", "out.metrics.csv", "out.summary.json"] {
            std::fs::remove_file(workspace.path(file)).unwrap();
        }
    }
    symlink("precious", workspace.path("out.checkpoint")).unwrap();
    workspace.compress(&run).exits(4).says("out.checkpoint");
    assert_eq!(workspace.text("precious"), "precious");
}

#[test]
fn a_checkpoint_is_its_owners_alone() {
    let workspace = Workspace::with_input(lines(0, 9));
    let ran = workspace.compress(&["in.jsonl", "-o", "out.jsonl", "--on-invalid", "fail"]);
    ran.exits(4);
    assert_eq!(mode(&workspace, "out.checkpoint"), 0o600);
}
