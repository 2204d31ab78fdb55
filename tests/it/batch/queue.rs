//! Runs through a Batch API whose queue takes less than the run has to ask: it submits what fits, waits, and goes on by itself.

use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

use crate::support::batch::{self, batch_run, demo, export};
use crate::support::cli::{Ran, Workspace};
use crate::support::vendor::{Fault, Refusal, Vendor, tokens};

/// A run that repeats next to nothing: waiting for the queue is not a failure.
fn command(workspace: &Workspace, vendor: &Vendor, more: &[&str]) -> Command {
    batch_run(workspace, vendor, &[&["--max-retries", "1"], more].concat())
}

fn run(workspace: &Workspace, vendor: &Vendor, more: &[&str]) -> Ran {
    Ran::of(command(workspace, vendor, more).output().unwrap())
}

/// What all requests of the first round cost, and the most expensive one.
static COSTS: LazyLock<(u64, u64)> = LazyLock::new(|| {
    let workspace = demo();
    export(&workspace, &[]).exits(0);
    let text = workspace.text("requests.jsonl");
    let largest = text.lines().map(tokens).max().unwrap();
    (tokens(&text), largest)
});

/// What a server that answers at once leads to.
static EXPECTED: LazyLock<Vec<u8>> = LazyLock::new(|| batch::chat(&[]).read("out.jsonl"));

/// Everything was answered, and accepted once.
fn is_done(workspace: &Workspace, vendor: &Vendor) {
    assert!(workspace.read("out.jsonl") == *EXPECTED);
    assert!(vendor.submitted().values().all(|times| *times == 1));
    assert!(!workspace.exists("out.missing.jsonl"));
}

#[test]
fn what_does_not_fit_into_the_queue_is_split_and_waits() {
    let (all, largest) = *COSTS;
    let limit = (all / 3).max(2 * largest);
    for (refusal, more) in [
        (Refusal::Fails, &[][..]),
        (Refusal::Status(400), &[]),
        (Refusal::Status(429), &[]),
    ] {
        let vendor = Vendor::start();
        let workspace = demo();
        vendor.takes(limit, refusal, 0);
        run(&workspace, &vendor, more)
            .exits(0)
            .says("requests-1.jsonl waits, since the queue is full: ")
            .says("requests-1.jsonl is sent in");
        is_done(&workspace, &vendor);
        // Several at once, and it is learned quickly what fits.
        assert!(vendor.most_at_once() > 1, "{refusal:?}");
        assert!(vendor.refusals() < vendor.submitted().len(), "{refusal:?}");
    }
}

#[test]
fn what_the_user_allows_is_never_refused() {
    let (all, largest) = *COSTS;
    let limit = (all / 3).max(2 * largest);
    let vendor = Vendor::start();
    let workspace = demo();
    vendor.takes(limit, Refusal::Fails, 0);
    // Our tokens are not the vendor's.
    let allowed = (limit / 2).to_string();
    run(&workspace, &vendor, &["--max-enqueued-tokens", &allowed]).exits(0);
    is_done(&workspace, &vendor);
    assert_eq!(vendor.refusals(), 0);
    assert!(vendor.most_at_once() > 1);
}

#[test]
fn a_queue_that_others_fill_is_waited_for_however_long() {
    for (api, refusal) in [
        ("openai", Refusal::Fails),
        ("openai", Refusal::Status(400)),
        ("anthropic", Refusal::Status(429)),
    ] {
        let vendor = Vendor::start();
        let workspace = demo();
        vendor.takes(u64::MAX / 2, refusal, 6);
        run(&workspace, &vendor, &["--api", api]).exits(0);
        is_done(&workspace, &vendor);
        assert_eq!(vendor.refusals(), 6);
    }
}

#[test]
fn a_request_that_the_queue_can_never_take_is_asked_for_in_pieces() {
    let (_, largest) = *COSTS;
    let vendor = Vendor::start();
    let workspace = demo();
    vendor.takes(largest * 2 / 3, Refusal::Fails, 0);
    run(&workspace, &vendor, &[]).exits(0).says("is made in pieces");
    assert!(vendor.submitted().values().all(|times| *times == 1));
    let rows = workspace.rows("out.metrics.csv");
    assert!(rows.iter().all(|row| !row.degraded));
}

#[test]
fn a_run_killed_while_it_waits_goes_on_and_submits_nothing_twice() {
    let (all, largest) = *COSTS;
    let limit = (all / 3).max(2 * largest);
    for (refusal, step, fault) in [
        (Refusal::Fails, "POST /v1/batches", Fault::HangsAfter),
        (Refusal::Fails, "POST /v1/files", Fault::Hangs),
        (Refusal::Status(400), "POST /v1/batches", Fault::HangsAfter),
        (Refusal::Status(400), "GET /v1/batches/", Fault::Hangs),
    ] {
        let vendor = Vendor::start();
        let workspace = demo();
        vendor.takes(limit, refusal, 0);
        // Killed in the midst of what comes after the first refusal.
        vendor.fault_when_full(step, fault);
        let mut killed = command(&workspace, &vendor, &[]).spawn().unwrap();
        while vendor.faults_left() > 0 {
            assert!(killed.try_wait().unwrap().is_none(), "done too early");
            std::thread::sleep(Duration::from_millis(5));
        }
        killed.kill().unwrap();
        killed.wait().unwrap();
        run(&workspace, &vendor, &[]).exits(0);
        is_done(&workspace, &vendor);
    }
}
