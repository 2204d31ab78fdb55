//! Inputs that cannot be read and outputs that cannot be written: path and cause, and nothing half-written under a
//! final name.

use crate::support::cli::{Ran, Workspace, many_runs, short};

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
fn a_subfolder_that_may_not_be_looked_into_is_named() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let workspace = Workspace::new();
    workspace.write("data/one.jsonl", short("one"));
    workspace.write("data/sub/deep/two.jsonl", short("two"));
    let allow = |path: &str, mode: u32| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(workspace.path(path), permissions).unwrap();
    };
    allow("", 0o755);
    // None of its entries, and entries of which nothing else is told: both may be folders with data.
    for mode in [0o000, 0o444] {
        allow("data/sub", mode);
        let mut count = workspace.command(&["count", "data"]);
        if std::fs::metadata(workspace.path("data/sub/deep")).is_ok() {
            // Root may look into everything, nobody may not.
            count.uid(65534).gid(65534);
        }
        let ran = count.output();
        allow("data/sub", 0o755);
        let Ok(ran) = ran else {
            return; // Nobody may not run the program where it was built.
        };
        let ran = Ran::of(ran).exits(2).says("data/sub").says("ermission denied");
        assert!(ran.stdout.is_empty());
    }
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
    for (file, flag) in [
        ("rejects.jsonl", "--rejects"),
        ("metrics.csv", "--metrics"),
        ("summary.json", "--summary"),
    ] {
        let folder = workspace.path(format!("new.{file}"));
        std::fs::create_dir(&folder).unwrap();
        let ran = workspace.compress(&["in.jsonl", "-o", "new.jsonl", "--force"]);
        ran.exits(2).says(&format!("new.{file} is there")).says(flag);
        std::fs::remove_dir(&folder).unwrap();
    }
    // A checkpoint and half-written files have no flag.
    for file in ["checkpoint", "jsonl.partial"] {
        let folder = workspace.path(format!("new.{file}"));
        std::fs::create_dir(&folder).unwrap();
        for force in [&[][..], &["--force"]] {
            let arguments = [&["in.jsonl", "-o", "new.jsonl"], force].concat();
            let ran = workspace.compress(&arguments).exits(4);
            ran.says(&format!("new.{file}")).says("move the directory away");
        }
        std::fs::remove_dir(&folder).unwrap();
    }
    workspace.compress(&["in.jsonl", "-o", "new.jsonl"]).exits(0);
}

#[cfg(unix)]
#[test]
fn a_link_where_an_output_goes_is_an_output_that_is_there() {
    let workspace = Workspace::with_input(short("one"));
    std::os::unix::fs::symlink("nowhere", workspace.path("out.jsonl")).unwrap();
    let run = ["in.jsonl", "-o", "out.jsonl"];
    workspace.compress(&run).exits(2).says("out.jsonl exists already");
    // It gives way; what it leads to is not written.
    workspace.compress(&[&run[..], &["--force"]].concat()).exits(0);
    assert!(!workspace.path("out.jsonl").is_symlink() && !workspace.exists("nowhere"));
}

#[cfg(target_os = "linux")]
#[test]
fn few_open_files_are_enough_for_many_outputs() {
    let workspace = Workspace::new();
    for number in 0..150 {
        workspace.write(format!("data/{number}.jsonl"), short("a"));
    }
    workspace
        .shell("ulimit -n 32; \"$0\" compress data -o out/ -q --jobs 1")
        .exits(0);
    assert_eq!(workspace.rows("out.metrics.csv").len(), 150);
    assert_eq!(std::fs::read_dir(workspace.path("out")).unwrap().count(), 150);
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

/// Runs with a folder where one of the files is written: nothing is, until it is out of the way, and no record is written twice.
#[track_caller]
fn in_the_way(inputs: &[(&str, String)], arguments: &[&str], place: &str, whole: &[&str]) {
    let (undisturbed, workspace) = (Workspace::new(), Workspace::new());
    for (name, bytes) in inputs {
        undisturbed.write(name, bytes);
        workspace.write(name, bytes);
    }
    let status = undisturbed.compress(arguments).status.unwrap();
    workspace.write(format!("{place}/folder"), "");
    let resume = [arguments, &["--resume"]].concat();
    for arguments in [arguments, &resume] {
        workspace.compress(arguments).exits(4).says(place);
        for file in whole {
            let begun = std::fs::read(workspace.path(format!("{file}.partial")));
            assert!(begun.unwrap_or_default().is_empty(), "{file} was begun");
        }
    }
    std::fs::remove_dir_all(workspace.path(place)).unwrap();
    workspace.compress(&resume).exits(status);
    assert_eq!(workspace.files(), undisturbed.files());
    for file in whole {
        assert!(workspace.read(file) == undisturbed.read(file), "{file}");
    }
    let rows = |workspace: &Workspace| workspace.rows("out.metrics.csv").len();
    assert_eq!(rows(&workspace), rows(&undisturbed));
}

#[test]
fn rejects_that_cannot_be_written_stop_a_run_before_its_first_record() {
    let mut lines: Vec<String> = (1..=41).map(|number| short(&number.to_string())).collect();
    lines[30] = "{broken".to_owned();
    let inputs = [("in.jsonl", lines.join("\n"))];
    let whole = ["out.jsonl", "out.rejects.jsonl"];
    let arguments = ["in.jsonl", "-o", "out.jsonl"];
    for name in ["rejects.jsonl", "metrics.csv", "summary.json"] {
        in_the_way(&inputs, &arguments, &format!("out.{name}.partial"), &whole);
    }
    let workspace = Workspace::with_input(&lines[0]);
    workspace.write("set_aside.jsonl.partial/folder", "");
    let ran = workspace
        .compress(&["in.jsonl", "-o", "-", "--rejects", "set_aside.jsonl"])
        .exits(4);
    assert!(ran.stdout.is_empty());
}

#[test]
fn an_output_of_a_directory_that_cannot_be_written_stops_it_before_its_first_record() {
    let inputs = [
        ("data/a.jsonl", short("a")),
        ("data/b/b.jsonl", short("b")),
        ("data/c.jsonl", short("c")),
    ];
    let whole = ["out/a.jsonl", "out/b/b.jsonl", "out/c.jsonl"];
    for file in &whole[1..] {
        in_the_way(
            &inputs,
            &["data", "-o", "out"],
            &format!("{file}.partial"),
            &whole,
        );
    }
}
