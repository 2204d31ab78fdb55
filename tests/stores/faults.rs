//! What goes wrong with a store: servers that fail for a while, and what is missing, forbidden or changed.

use std::process::Stdio;

use super::proxy::{Fault, Proxy};
use super::s3::{ARGUMENTS, S3};
use crate::support::cli::{Ran, Workspace, fixture_bytes, many_runs, short};

#[test]
fn a_server_that_fails_now_and_then_is_asked_again() {
    let Some(mut s3) = S3::start() else { return };
    let runs = many_runs(22);
    s3.put("in.jsonl", &runs);
    let proxy = Proxy::start(&s3.address, |number, line| match number % 4 {
        1 => Fault::Unavailable,
        3 if line.starts_with("GET") => Fault::Cut(100_000),
        _ => Fault::None,
    });
    let workspace = Workspace::new();
    let mut command = s3.command_at(&proxy.address, &workspace, &ARGUMENTS);
    Ran::of(command.output().unwrap()).exits(0);
    assert!(proxy.connections() > 12, "{}", proxy.connections());
    assert!(s3.get("out.jsonl") == runs);
}

#[test]
fn a_part_that_cannot_be_sent_leaves_no_object_and_the_run_goes_on_later() {
    let Some(mut s3) = S3::start() else { return };
    let runs = many_runs(22);
    let workspace = Workspace::with_input(&runs);
    // The server takes the beginning of an upload, and none of its parts: it answers at once, and for ever.
    let proxy = Proxy::start(&s3.address, |_, line| {
        if line.contains("partNumber=2") {
            Fault::Cut(0)
        } else {
            Fault::None
        }
    });
    let mut arguments = ARGUMENTS;
    arguments[1] = "in.jsonl";
    let mut command = s3.command_at(&proxy.address, &workspace, &arguments);
    let ran = s3.without_secrets(&workspace, Ran::of(command.output().unwrap()));
    ran.exits(4)
        .says("cannot write s3://data/out.jsonl: ")
        .says("--resume");
    assert_eq!(s3.objects(), Vec::<String>::new());
    let resumed = [&arguments[..], &["--resume"]].concat();
    Ran::of(s3.command(&workspace, &resumed).output().unwrap()).exits(0);
    assert!(s3.get("out.jsonl") == runs);
    assert!(s3.uploads().is_empty());
}

#[test]
fn what_is_missing_or_forbidden_is_said_before_anything_is_done() {
    let Some(mut s3) = S3::start() else { return };
    s3.put("in.jsonl", short("a"));
    s3.put("empty/notes.txt", "x");
    let workspace = Workspace::with_input(short("a"));
    for (input, output, said) in [
        ("s3://data/none.jsonl", "out.jsonl", "there is no such object"),
        ("s3://none/in.jsonl", "out.jsonl", "there is no such bucket"),
        (
            "s3://data/none/",
            "out.jsonl",
            "there are no objects of that prefix",
        ),
        ("s3://data/empty/", "out.jsonl", "no data below s3://data/empty/"),
        (
            "s3://data/in.jsonl",
            "s3://none/out.jsonl",
            "there is no such bucket",
        ),
        ("s3://data/in.jsonl", "s3://data/in.jsonl", "is an input"),
        ("s3://data/in.jsonl", "s3://data", "whole bucket"),
        ("s3://data/in.jsonl", "https://127.0.0.1:1/out.jsonl", "read only"),
        ("s3://data/a//b.jsonl", "out.jsonl", "empty"),
        ("s3://data/../b.jsonl", "out.jsonl", "`..`"),
        ("s3://data/in.jsonl", "s3:/data/out.jsonl", "two slashes"),
        ("ftp://127.0.0.1/in.jsonl", "out.jsonl", "not known"),
        ("s3://me:word@data/in.jsonl", "out.jsonl", "bucket's name"),
    ] {
        let ran = s3.compress(&workspace, &[input, "-o", output]).says(said);
        assert!(
            matches!(ran.status, Some(2 | 4)),
            "{input} {output}: {:?} {}",
            ran.status,
            ran.stderr
        );
        assert!(!ran.stderr.contains("word"), "{}", ran.stderr);
    }
    let ran = s3.compress(
        &workspace,
        &["s3://data/in.jsonl", "s3://data/in.jsonl", "-o", "out.jsonl"],
    );
    ran.exits(2).says("given twice");
    for (variable, value, said) in [
        ("AWS_SECRET_ACCESS_KEY", "wrong", "SignatureDoesNotMatch"),
        ("AWS_ACCESS_KEY_ID", "AKIAWRONG", "InvalidAccessKeyId"),
        ("AWS_SESSION_TOKEN", "expired", "InvalidToken"),
    ] {
        for (input, output) in [
            ("s3://data/in.jsonl", "out.jsonl"),
            ("in.jsonl", "s3://data/out.jsonl"),
        ] {
            let mut command = s3.command(&workspace, &["compress", input, "-o", output]);
            let ran = Ran::of(command.env(variable, value).output().unwrap());
            assert!(
                matches!(ran.status, Some(2 | 4)),
                "{:?} {}",
                ran.status,
                ran.stderr
            );
            ran.says(said).says("AWS_PROFILE");
        }
    }
    let mut nowhere = s3.command(&workspace, &["count", "s3://data/in.jsonl"]);
    nowhere.env("AWS_ENDPOINT_URL", "nonsense");
    Ran::of(nowhere.output().unwrap())
        .exits(2)
        .says("check AWS_ENDPOINT_URL");
    let mut export = s3.command(
        &workspace,
        &["batch", "export", "in.jsonl", "-o", "s3://data/requests.jsonl"],
    );
    Ran::of(export.args(["--model", "m"]).output().unwrap())
        .exits(2)
        .says("on this machine");
    let mut without = s3.command(&workspace, &["compress", "s3://data/in.jsonl", "-o", "out.jsonl"]);
    without
        .env_remove("AWS_ACCESS_KEY_ID")
        .env_remove("AWS_SECRET_ACCESS_KEY")
        .env("AWS_EC2_METADATA_DISABLED", "true");
    Ran::of(without.output().unwrap())
        .exits(2)
        .says("no credentials were found");
    assert_eq!(workspace.files(), ["in.jsonl"]);
    assert_eq!(s3.objects(), ["empty/notes.txt", "in.jsonl"]);
}

#[test]
fn names_that_no_object_can_have_and_folders_that_are_no_objects() {
    let Some(mut s3) = S3::start() else { return };
    s3.put("in/a.jsonl", short("a"));
    s3.put("odd//a.jsonl", short("a"));
    let workspace = Workspace::new();
    let pattern = s3.compress(&workspace, &["s3://data/in/*.jsonl", "-o", "out.jsonl"]);
    pattern.exits(2).says("no such object").says("name a folder");
    let odd = s3.compress(&workspace, &["s3://data/odd/", "-o", "out.jsonl"]);
    odd.exits(2).says("odd//a.jsonl").says("rename");
    for flag in ["--state-dir", "--cache"] {
        let arguments = ["s3://data/in/", "-o", "s3://data/out/", flag, "s3://data/work"];
        s3.compress(&workspace, &arguments)
            .exits(2)
            .says("a folder on this machine");
    }
    assert_eq!(workspace.files(), Vec::<String>::new());
}

#[test]
fn keys_are_read_from_a_profile_too() {
    let Some(mut s3) = S3::start() else { return };
    s3.put("in.jsonl", short("a"));
    let workspace = Workspace::new();
    workspace.write(
        "home/.aws/credentials",
        format!(
            "[work]\naws_access_key_id = {}\naws_secret_access_key = {}\n",
            s3.key, s3.secret
        ),
    );
    let endpoint = format!(
        "[profile work]\nendpoint_url = {}\nregion = eu-west-1\n",
        s3.address
    );
    workspace.write("home/.aws/config", endpoint);
    let mut command = s3.command(&workspace, &["count", "s3://data/in.jsonl"]);
    for variable in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL"] {
        command.env_remove(variable);
    }
    Ran::of(command.env("AWS_PROFILE", "work").output().unwrap()).exits(0);
    let ran = Ran::of(command.env("AWS_PROFILE", "other").output().unwrap());
    ran.exits(2).says("there is no profile other");
}

#[test]
fn an_object_that_changes_or_goes_away_under_a_run_ends_it() {
    let Some(mut s3) = S3::start() else { return };
    let runs = fixture_bytes("agent_runs.jsonl");
    s3.put("in/a.jsonl", runs.repeat(3));
    for (new, said) in [
        (true, "changed while it was read"),
        (false, "there is no such object"),
    ] {
        s3.put("in/b.jsonl", &runs);
        let workspace = Workspace::new();
        // The list names both; the second one is not opened before the first is read.
        let (asked, gate) = std::sync::mpsc::channel();
        let proxy = Proxy::start(&s3.address, move |_, line| {
            if line.contains("in/a.jsonl") {
                let _ = asked.send(());
                std::thread::sleep(std::time::Duration::from_secs(2));
            }
            Fault::None
        });
        let arguments = ["compress", "s3://data/in/", "-o", "out.jsonl", "--jobs", "1"];
        let mut command = s3.command_at(&proxy.address, &workspace, &arguments);
        let child = command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        gate.recv().unwrap();
        if new {
            s3.put("in/b.jsonl", short("other"));
        } else {
            s3.delete("in/b.jsonl");
        }
        let ran = Ran::of(child.wait_with_output().unwrap());
        ran.exits(4).says("cannot read s3://data/in/b.jsonl").says(said);
        assert!(!workspace.exists("out.jsonl"));
    }
}
