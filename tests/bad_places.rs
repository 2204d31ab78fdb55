//! Inputs that cannot be read and outputs that cannot be written: path and cause, and nothing half-written under a
//! final name.
#![allow(clippy::unwrap_used)] // Tests may fail loudly.

mod support;

use support::cli::{Workspace, many_runs, short};

#[test]
fn an_input_that_is_not_there_is_named() {
    let workspace = Workspace::new();
    let ran = workspace.compress(&["gone.jsonl", "-o", "out.jsonl"]).exits(2);
    ran.says("gone.jsonl").says("no such file");
    let ran = workspace
        .compress(&["no/such/folder/a.jsonl", "-o", "out.jsonl"])
        .exits(2);
    ran.says("no/such/folder/a.jsonl");
    assert_eq!(workspace.files(), Vec::<String>::new());
}

#[test]
fn a_directory_without_data_is_refused() {
    let workspace = Workspace::new();
    workspace.write("data/readme.txt", "nothing");
    workspace.write("data/old.rejects.jsonl", "");
    let ran = workspace.compress(&["data", "-o", "out"]).exits(2);
    ran.says("no data in the directory data").says(".jsonl");
    assert!(!workspace.exists("out"));
}

#[test]
fn an_input_that_may_not_be_read_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let workspace = Workspace::with_input(short("one"));
    let path = workspace.path("in.jsonl");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&path).is_ok() {
        return; // Whoever runs this may read everything.
    }
    let ran = workspace.compress(&["in.jsonl", "-o", "out.jsonl"]).exits(2);
    ran.says("in.jsonl").says("ermission denied");
    assert!(!workspace.exists("out.jsonl"));
}

#[test]
fn a_file_in_a_place_that_is_no_folder_cannot_be_written() {
    let workspace = Workspace::with_input(short("one"));
    workspace.write("file", "x");
    let ran = workspace.compress(&["in.jsonl", "-o", "file/out.jsonl"]).exits(4);
    ran.says("file").says("help: check that the folder exists");
    assert_eq!(workspace.files(), ["file", "in.jsonl"]);
}

#[test]
fn a_folder_that_is_missing_is_made() {
    let workspace = Workspace::with_input(short("one"));
    workspace
        .compress(&["in.jsonl", "-o", "new/folder/out.jsonl"])
        .exits(0);
    assert_eq!(workspace.text("new/folder/out.jsonl"), short("one"));
}

#[test]
fn a_folder_that_may_not_be_written_is_named() {
    let workspace = Workspace::with_input(short("one"));
    // Nobody, not even root, makes files there.
    let ran = workspace.compress(&["in.jsonl", "-o", "/proc/trajfit/out.jsonl"]);
    ran.exits(4).says("/proc/trajfit");
}

#[test]
fn a_device_or_a_folder_is_never_replaced() {
    let workspace = Workspace::with_input(short("one"));
    for force in [&[][..], &["--force"]] {
        let arguments = [&["in.jsonl", "-o", "/dev/null"], force].concat();
        workspace.compress(&arguments).exits(2).says("no regular file");
    }
    std::fs::create_dir_all(workspace.path("out/in.jsonl")).unwrap();
    workspace
        .compress(&["in.jsonl", "-o", "out", "--force"])
        .exits(2)
        .says("out/in.jsonl");
}

#[test]
fn a_full_disk_stops_the_run_and_it_ends_with_the_same_bytes_once_there_is_room() {
    let workspace = Workspace::with_input(many_runs(8));
    let arguments = "compress in.jsonl --jobs 2 --target-max-tokens 12000";
    for (output, blocks) in [("out.jsonl", 17_000), ("out.jsonl", 1), ("out.jsonl.gz", 1200)] {
        workspace
            .shell(&format!("exec \"$0\" {arguments} -o whole-{output}"))
            .exits(0);
        // A limit in blocks of 512 bytes; a write beyond it fails as on a full disk.
        let limited = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" {arguments} -o {output}");
        let ran = workspace.shell(&limited).exits(4);
        ran.says("cannot write out.").says("--resume");
        assert!(!workspace.exists(output));
        workspace.shell(&limited.replace(" -o", " --resume -o")).exits(4);
        workspace
            .shell(&format!("exec \"$0\" {arguments} -o {output} --resume"))
            .exits(0);
        assert!(workspace.read(output) == workspace.read(format!("whole-{output}")));
        assert_eq!(
            workspace.rows("out.metrics.csv").len(),
            workspace.rows("whole-out.metrics.csv").len()
        );
        std::fs::remove_file(workspace.path(output)).unwrap();
        std::fs::remove_file(workspace.path(format!("whole-{output}"))).unwrap();
    }
}

#[test]
fn a_compressed_input_that_ends_early_stops_the_run() {
    let workspace = Workspace::new();
    let compressed = zstd::bulk::compress(&many_runs(1), 3).unwrap();
    workspace.write("in.jsonl.zst", &compressed[..compressed.len() / 2]);
    let ran = workspace.compress(&["in.jsonl.zst", "-o", "out.jsonl"]).exits(4);
    ran.says("cannot read in.jsonl.zst");
    assert!(!workspace.exists("out.jsonl"));
}
