//! Runs through a Batch API that are killed, or not told what became of a submission: nothing is submitted twice.

use std::process::{Child, Command};
use std::time::Duration;

use crate::support::batch::{batch_run, demo};
use crate::support::cli::{Ran, Workspace};
use crate::support::vendor::{Fault, Vendor};

const APIS: [(&str, &str); 2] = [("openai", "/v1/batches"), ("anthropic", "/v1/messages/batches")];

fn run(workspace: &Workspace, vendor: &Vendor, more: &[&str]) -> Ran {
    Ran::of(batch_run(workspace, vendor, more).output().unwrap())
}

/// What an undisturbed run writes.
fn undisturbed() -> Vec<u8> {
    let workspace = demo();
    run(&workspace, &Vendor::start(), &[]).exits(0);
    workspace.read("out.jsonl")
}

/// A run that hangs at that step.
fn hanging(workspace: &Workspace, vendor: &Vendor, step: &str, fault: Fault, more: &[&str]) -> Child {
    vendor.fault(step, fault);
    let before = vendor.asked(step);
    let mut child = batch_run(workspace, vendor, more).spawn().unwrap();
    while vendor.asked(step) == before {
        assert!(child.try_wait().unwrap().is_none(), "done too early");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

fn each_once(vendor: &Vendor) {
    assert!(vendor.submitted().values().all(|times| *times == 1));
}

#[test]
fn a_run_killed_at_any_step_goes_on_and_submits_nothing_twice() {
    let expected = undisturbed();
    for (api, batches) in APIS {
        let api = ["--api", api];
        let submit = format!("POST {batches}");
        let look = format!("GET {batches}/");
        let answers = if api[1] == "openai" {
            "GET /v1/files/".to_owned()
        } else {
            format!("{look}msgbatch_1/results")
        };
        for (step, fault) in [
            // The submission was not received, or was, and nobody was told.
            (submit.as_str(), Fault::Hangs),
            (&submit, Fault::HangsAfter),
            (&look, Fault::Hangs),
            (&answers, Fault::HangsAfter),
        ] {
            let vendor = Vendor::start();
            let workspace = demo();
            kill(hanging(&workspace, &vendor, step, fault, &api));
            assert!(!workspace.exists("out.jsonl"));
            // Once more: on the way again, or in the next round.
            kill(hanging(&workspace, &vendor, step, fault, &api));
            run(&workspace, &vendor, &api).exits(0);
            assert!(workspace.read("out.jsonl") == expected, "{step} {fault:?}");
            each_once(&vendor);
            if api[1] == "openai" {
                assert_eq!(vendor.uploads(), vendor.batches().len(), "{step} {fault:?}");
            }
        }
    }
}

#[test]
fn an_interrupted_run_says_how_to_go_on() {
    let vendor = Vendor::start();
    let workspace = demo();
    let child = hanging(&workspace, &vendor, "GET /v1/batches/", Fault::Hangs, &[]);
    let id = child.id().to_string();
    Command::new("kill").args(["-INT", &id]).status().unwrap();
    Ran::of(child.wait_with_output().unwrap())
        .exits(130)
        .says("submitted requests-1.jsonl")
        .says("run the same command again");
    run(&workspace, &vendor, &[]).exits(0);
    each_once(&vendor);
}

#[test]
fn a_submission_whose_answer_is_lost_is_looked_for_first() {
    for (api, batches) in APIS {
        let vendor = Vendor::start();
        let workspace = demo();
        vendor.fault(&format!("POST {batches}"), Fault::Loses(500));
        run(&workspace, &vendor, &["--api", api])
            .exits(0)
            .says("had been submitted as");
        each_once(&vendor);
        assert!(workspace.read("out.jsonl") == undisturbed());
    }
}

#[test]
fn a_run_that_cannot_tell_whether_it_submitted_does_not_submit() {
    let vendor = Vendor::start();
    let workspace = demo();
    let list = "GET /v1/batches";
    // The list before anything is submitted is not needed; the one after a loss is.
    vendor.fault(list, Fault::Refuses(404));
    vendor.fault("POST /v1/batches", Fault::Loses(500));
    vendor.fault(list, Fault::Refuses(404));
    run(&workspace, &vendor, &[])
        .exits(4)
        .says("may have been submitted")
        .says("state.json");
    run(&workspace, &vendor, &[])
        .exits(0)
        .says("had been submitted as");
    each_once(&vendor);
}

#[test]
fn batches_are_found_again_where_the_folder_is_lost() {
    let vendor = Vendor::start();
    let workspace = demo();
    run(&workspace, &vendor, &[]).exits(0);
    let (batches, uploads) = (vendor.batches().len(), vendor.uploads());
    std::fs::remove_dir_all(workspace.path("out.batch")).unwrap();
    run(&workspace, &vendor, &["--force", "--no-cache"])
        .exits(0)
        .says("had been submitted as batch_1");
    assert_eq!((vendor.batches().len(), vendor.uploads()), (batches, uploads));
}

#[test]
fn open_batches_are_not_left_for_other_settings() {
    let vendor = Vendor::start();
    let workspace = demo();
    kill(hanging(
        &workspace,
        &vendor,
        "GET /v1/batches/",
        Fault::Hangs,
        &[],
    ));
    run(&workspace, &vendor, &["--style", "handoff"])
        .exits(2)
        .says("summarization.style: was concise, is handoff")
        .says("state.json");
    run(&workspace, &vendor, &["--poll-interval", "0.02"])
        .exits(2)
        .says("cannot be used multiple times");
    run(&workspace, &vendor, &["--jobs", "1"]).exits(0);
}

#[test]
fn two_runs_exclude_each_other() {
    let vendor = Vendor::start();
    let workspace = demo();
    let first = hanging(&workspace, &vendor, "GET /v1/batches/", Fault::Hangs, &[]);
    run(&workspace, &vendor, &[])
        .exits(4)
        .says("another run is using");
    kill(first);
    run(&workspace, &vendor, &[]).exits(0);
}

#[test]
fn a_run_killed_while_it_writes_goes_on_writing() {
    let vendor = Vendor::start();
    let workspace = demo();
    run(&workspace, &vendor, &[]).exits(0);
    let expected = workspace.read("out.jsonl");
    // As a run leaves it that was killed before its first milestone.
    std::fs::remove_file(workspace.path("out.jsonl")).unwrap();
    std::fs::write(workspace.path("out.checkpoint"), "").unwrap();
    run(&workspace, &vendor, &[]).exits(0);
    assert!(workspace.read("out.jsonl") == expected);
    each_once(&vendor);
}
