//! Faults of our own, and of summarizers: one record's, never the run's.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::support::{fitter_with, settings};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use trajfit::internals::fit::OnFailure;
use trajfit::internals::metrics::{Columns, Status};
use trajfit::internals::pipeline::{
    self, Counters, Job, OnInvalid, OutputFiles, RunError, RunReport, Sample, Source, Worker,
};
use trajfit::internals::summarize::{Summarizer, Summary, SummaryError, SummaryRequest};

/// What a summarizer does when a region holds the word `poison`; other regions get a short summary.
#[derive(Clone, Copy)]
enum Fault {
    Panics,
    Fails,
    /// Waits for another thread, as a network summarizer does.
    Waits,
}

struct Faulty(Fault);

impl Summarizer for Faulty {
    fn name(&self) -> &'static str {
        "faulty"
    }

    fn summarize<'a>(&'a self, request: SummaryRequest<'a>) -> BoxFuture<'a, Result<Summary, SummaryError>> {
        let poisoned = request
            .turns
            .iter()
            .any(|turn| turn.texts().any(|text| text.contains("poison")));
        let fine = Ok(Summary {
            text: "It went well.".to_owned(),
            ..Summary::default()
        });
        match self.0 {
            Fault::Panics if poisoned => panic!("a fault of ours"),
            Fault::Fails if poisoned => {
                std::future::ready(Err(SummaryError::BudgetTooSmall { max_tokens: 1 })).boxed()
            }
            Fault::Waits => {
                let (sender, receiver) = futures_channel::oneshot::channel();
                std::thread::spawn(move || {
                    std::thread::sleep(std::time::Duration::from_millis(30));
                    let _ = sender.send(());
                });
                async move {
                    let _ = receiver.await;
                    fine
                }
                .boxed()
            }
            _ => std::future::ready(fine).boxed(),
        }
    }
}

fn line(number: usize) -> String {
    let word = if number == 3 { "poison" } else { "fine" };
    let long = format!("{word} number {number} ").repeat(60);
    let turn = |from: &str, value: &str| format!("{{\"from\": \"{from}\", \"value\": \"{value}\"}}");
    let middle = vec![turn("gpt", &long); 6].join(", ");
    let turns = [
        turn("human", "task"),
        turn("gpt", "start"),
        middle,
        turn("human", "go on"),
        turn("gpt", "done"),
    ];
    format!(
        "{{\"id\": \"r{number}\", \"conversations\": [{}]}}\n",
        turns.join(", ")
    )
}

fn run(
    folder: &Path,
    fault: Fault,
    on_failure: OnFailure,
    jobs: usize,
) -> (Result<RunReport, RunError>, PathBuf) {
    let input = folder.join("in.jsonl");
    std::fs::write(&input, (0..40).map(line).collect::<String>()).unwrap();
    let sources = pipeline::sources(std::slice::from_ref(&input)).unwrap();
    let output = folder.join("out.jsonl");
    let targets = OutputFiles::of(&sources, &[input], Some(&output), "", None).unwrap();
    let mut settings = settings(600, 50);
    settings.on_failure = on_failure;
    let worker = Worker {
        fitter: fitter_with(settings, Arc::new(Faulty(fault))),
        on_invalid: OnInvalid::Reject,
        source_names: sources.iter().map(Source::name).collect(),
        csv_safe: false,
        makes_csv: true,
        unroll: None,
        merges_rows: false,
    };
    let job = Job {
        sources,
        targets,
        settings: std::collections::BTreeMap::default(),
        dry_run: false,
        is_estimate: false,
        limit: None,
        sample: Sample::ALL,
        max_record_bytes: trajfit::internals::pipeline::MAX_RECORD_BYTES,
        resume: false,
        force: true,
        jobs,
        requests: 0,
        prices: None,
        metrics: true,
        columns: Columns::Records,
        csv_safe: false,
        asks: None,
    };
    (
        pipeline::run(
            &job,
            worker,
            &Arc::new(Counters::default()),
            &Arc::new(AtomicBool::new(false)),
        ),
        output,
    )
}

#[test]
fn a_panic_in_one_record_is_that_records_failure() {
    std::panic::set_hook(Box::new(|_| {}));
    let folder = tempfile::tempdir().unwrap();
    let (report, output) = run(folder.path(), Fault::Panics, OnFailure::Fallback, 2);
    let totals = report.unwrap().totals;
    assert_eq!(
        (
            totals.with_status(Status::Failed),
            totals.with_status(Status::Compressed)
        ),
        (1, 39)
    );
    assert_eq!(totals.sums.degraded, 1);
    let written = std::fs::read_to_string(output).unwrap();
    assert_eq!(
        written.lines().nth(3),
        line(3).lines().next(),
        "the original is kept"
    );
    assert_eq!(written.lines().count(), 40);
}

#[test]
fn a_failed_summary_falls_back_to_the_embedded_one_and_is_marked() {
    let folder = tempfile::tempdir().unwrap();
    let (report, output) = run(folder.path(), Fault::Fails, OnFailure::Fallback, 2);
    let totals = report.unwrap().totals;
    assert_eq!(
        (totals.with_status(Status::Compressed), totals.sums.degraded),
        (40, 1)
    );
    assert_eq!(totals.sums.summarization_errors, 1);
    let written = std::fs::read_to_string(output).unwrap();
    assert!(
        written.lines().nth(3).unwrap().contains("poison"),
        "the embedded summarizer quotes"
    );
}

#[test]
fn a_failed_summary_can_keep_the_original() {
    let folder = tempfile::tempdir().unwrap();
    let (report, output) = run(folder.path(), Fault::Fails, OnFailure::Keep, 2);
    let totals = report.unwrap().totals;
    assert_eq!((totals.with_status(Status::Kept), totals.sums.degraded), (1, 1));
    assert_eq!(
        std::fs::read_to_string(output).unwrap().lines().nth(3),
        line(3).lines().next()
    );
}

#[test]
fn a_failed_summary_can_stop_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let (report, output) = run(folder.path(), Fault::Fails, OnFailure::Fail, 2);
    let Err(RunError::CannotGoOn { message, .. }) = report else {
        panic!("{report:?}")
    };
    assert!(message.contains("in.jsonl:4"), "{message}");
    assert!(!output.exists(), "nothing stands under the final name");
}

#[test]
fn records_wait_for_a_slow_summarizer_together() {
    let folder = tempfile::tempdir().unwrap();
    let started = std::time::Instant::now();
    let (report, _) = run(folder.path(), Fault::Waits, OnFailure::Fallback, 1);
    assert_eq!(report.unwrap().totals.with_status(Status::Compressed), 40);
    // One after the other they would wait 40 times 30 ms.
    assert!(started.elapsed().as_millis() < 1000, "{:?}", started.elapsed());
}
