//! A run to an object store that is killed leaves no object, and goes on with the same upload.

use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use super::proxy::{Fault, Proxy};
use super::s3::{ARGUMENTS, S3};
use crate::support::cli::{Ran, Workspace, many_runs, short};

/// Parts that the record of the upload has.
fn parts(workspace: &Workspace) -> usize {
    let record = workspace.path("home/.local/state/trajfit/s3/data/out.jsonl.partial.upload");
    let text = std::fs::read(record).unwrap_or_default();
    let record: Option<serde_json::Value> = serde_json::from_slice(&text).ok();
    record
        .and_then(|record| Some(record["parts"].as_array()?.len()))
        .unwrap_or_default()
}

/// Starts a run, and kills it when it has sent so many parts. Returns false if it was done before.
fn kill_after(s3: &S3, workspace: &Workspace, arguments: &[&str], sent: usize) -> bool {
    let mut command = s3.command(workspace, arguments);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while parts(workspace) < sent {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    true
}

#[test]
fn a_killed_run_leaves_no_object_and_goes_on_with_its_upload() {
    let Some(mut s3) = S3::start() else { return };
    let runs = many_runs(40);
    s3.put("in.jsonl", &runs);
    let workspace = Workspace::new();
    let resume = [&ARGUMENTS[..], &["--resume"]].concat();
    assert!(kill_after(&s3, &workspace, &ARGUMENTS, 1));
    assert_eq!(s3.objects(), ["in.jsonl"]);
    assert_eq!(s3.uploads(), ["out.jsonl"]);
    let again = Ran::of(s3.command(&workspace, &ARGUMENTS).output().unwrap());
    again.exits(2).says("an unfinished run left").says("--resume");
    kill_after(&s3, &workspace, &resume, 2);
    let sent = parts(&workspace);
    Ran::of(s3.command(&workspace, &resume).output().unwrap()).exits(0);
    assert!(sent > 0 && s3.get("out.jsonl") == runs);
    assert!(s3.uploads().is_empty());
    // A run that has finished is told from its objects.
    let done = Ran::of(s3.command(&workspace, &resume).output().unwrap());
    done.exits(0).says("already finished");
    assert!(
        !workspace
            .files()
            .iter()
            .any(|file| Path::new(file).starts_with("home"))
    );
}

#[test]
fn a_run_that_is_started_over_gives_the_upload_up() {
    let Some(mut s3) = S3::start() else { return };
    let runs = many_runs(40);
    s3.put("in.jsonl", &runs);
    let workspace = Workspace::new();
    assert!(kill_after(&s3, &workspace, &ARGUMENTS, 1));
    let over = [&ARGUMENTS[..], &["--force", "--limit", "3"]].concat();
    Ran::of(s3.command(&workspace, &over).output().unwrap()).exits(0);
    assert!(s3.uploads().is_empty());
    assert_eq!(String::from_utf8(s3.get("out.jsonl")).unwrap().lines().count(), 3);
}

#[test]
fn what_is_uploaded_takes_no_room_on_this_machine() {
    let Some(mut s3) = S3::start() else { return };
    s3.put("in.jsonl", many_runs(60));
    let workspace = Workspace::new();
    assert!(kill_after(&s3, &workspace, &ARGUMENTS, 4));
    let partial = workspace.path("home/.local/state/trajfit/s3/data/out.jsonl.partial");
    let file = std::fs::metadata(partial).unwrap();
    #[cfg(target_os = "linux")]
    {
        use std::os::linux::fs::MetadataExt;
        let on_disk = file.st_blocks() * 512;
        // Parts are taken out of the file at the milestone after the one that they were sent at.
        assert!(on_disk + 16_000_000 < file.len(), "{on_disk} of {}", file.len());
    }
}

#[test]
fn a_run_that_was_killed_between_its_reports_makes_all_of_them() {
    let Some(mut s3) = S3::start() else { return };
    let workspace = Workspace::with_input(format!("{}\nno record\n", short("a")));
    let (asked, gate) = mpsc::channel();
    let proxy = Proxy::start(&s3.address, move |_, line| {
        if line.starts_with("PUT") && line.contains("summary.json") {
            let _ = asked.send(());
            return Fault::Unavailable;
        }
        Fault::None
    });
    let mut arguments = ARGUMENTS;
    arguments[1] = "in.jsonl";
    let mut command = s3.command_at(&proxy.address, &workspace, &arguments);
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    gate.recv().unwrap();
    // Time for the other reports, if they do not wait.
    std::thread::sleep(Duration::from_secs(1));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!s3.objects().contains(&"out.metrics.csv".to_owned()));
    let resume = [&arguments[..], &["--resume"]].concat();
    Ran::of(s3.command(&workspace, &resume).output().unwrap()).exits(3);
    assert_eq!(
        s3.objects(),
        [
            "out.jsonl",
            "out.metrics.csv",
            "out.rejects.jsonl",
            "out.summary.json"
        ]
    );
    let totals: serde_json::Value = serde_json::from_slice(&s3.get("out.summary.json")).unwrap();
    assert_eq!(totals["records"], 2);
}

#[test]
fn a_run_that_was_killed_once_its_object_was_whole_is_finished_by_resuming() {
    let Some(mut s3) = S3::start() else { return };
    let runs = many_runs(11);
    let workspace = Workspace::with_input(&runs);
    // The object is made of its parts, and the answer does not come.
    let proxy = Proxy::start(&s3.address, |_, line| {
        if line.starts_with("POST") && line.contains("uploadId=") {
            Fault::Cut(0)
        } else {
            Fault::None
        }
    });
    let mut arguments = ARGUMENTS;
    arguments[1] = "in.jsonl";
    let mut command = s3.command_at(&proxy.address, &workspace, &arguments);
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    while !s3.objects().contains(&"out.jsonl".to_owned()) {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let resume = [&arguments[..], &["--resume"]].concat();
    Ran::of(s3.command(&workspace, &resume).output().unwrap()).exits(0);
    assert!(s3.get("out.jsonl") == runs);
}
