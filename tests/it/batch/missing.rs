//! Batches by files where answers are missing, failed, broken, others', or come in any order.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::batch::{
    self, SETTINGS, answers, apply, chat, demo, error, export, question, request, requests, response, result,
};
use crate::support::cli::{Workspace, many_runs};
use crate::support::secrets::trajectory;
use futures_util::future::BoxFuture;
use serde_json::json;
use trajfit::internals::compress::Reason;
use trajfit::internals::fit::{Fitter, OnFailure};
use trajfit::internals::metrics::Row;
use trajfit::internals::summarize::answers::AnswerKey;
use trajfit::internals::summarize::{
    PendingRequest, Summarizer, Summary, SummaryError, SummaryRequest, Usage,
};

#[test]
fn what_is_missing_or_failed_is_told_by_name_and_asked_again() {
    let workspace = demo();
    export(&workspace, &[]).exits(0);
    let asked = requests(&workspace, "requests.jsonl");
    let ids: Vec<&str> = asked.iter().map(|(id, _)| id.as_str()).collect();
    let refused =
        json!({"choices": [{"message": {"content": null, "refusal": "No."}, "finish_reason": "stop"}]});
    let mut lines = String::new();
    lines.push_str(&response(ids[1], 500, &json!({"error": {"message": "oh"}})));
    lines.push_str(&error(ids[2], "batch_expired"));
    lines.push_str(&error(ids[3], "batch_cancelled"));
    lines.push_str(&result(ids[4], &json!({"type": "expired"})));
    lines.push_str(&response(ids[5], 200, &refused));
    lines.push_str(&response(
        ids[6],
        404,
        &json!({"error": {"message": "no such model"}}),
    ));
    lines.push_str("{\"half\": \n");
    lines.push_str(&response(&"0".repeat(64), 200, &batch::completion("Another's.")));
    lines.push_str(&response("request-7", 200, &batch::completion("Another's.")));
    workspace.write("answers/first.jsonl", lines);
    let good: Vec<&str> = ids[7..].to_vec();
    let text = workspace.text("requests.jsonl");
    let of_good: Vec<&str> = text
        .lines()
        .filter(|line| good.contains(&request(line).0.as_str()))
        .collect();
    workspace.write("answers/second.jsonl", answers(&of_good.join("\n")));
    apply(&workspace, &["answers"], &[])
        .exits(3)
        .says("first.jsonl:7: no response")
        .says("2 responses have an id that no request of this run has");
    let reasons = |rows: &[Row]| {
        let failed = rows.iter().filter(|row| row.reason_text().contains("summary_"));
        let mut names: Vec<String> = failed
            .map(|row| {
                assert!(row.degraded, "{row:?}");
                let reason = row.reason_text();
                let name = reason.split("summary_").nth(1).unwrap();
                name.split(':').next().unwrap().to_owned()
            })
            .collect();
        names.sort();
        names
    };
    let first = workspace.rows("out.metrics.csv");
    let names = reasons(&first);
    for name in [
        "canceled", "expired", "http_404", "http_500", "missing", "refused",
    ] {
        assert!(names.iter().any(|found| found == name), "{name}: {names:?}");
    }
    // What would be refused again is not asked again, unless that is wanted.
    let missing: BTreeSet<String> = requests(&workspace, "out.missing.jsonl")
        .into_iter()
        .map(|asked| asked.0)
        .collect();
    for (index, id) in ids.iter().enumerate().take(7) {
        assert_eq!(missing.contains(*id), !(5..7).contains(&index), "{index}");
    }
    assert!(!missing.contains(&"0".repeat(64)));
    let arguments = [
        "batch",
        "export",
        "in.jsonl",
        "-o",
        "more.jsonl",
        "--responses",
        "answers",
    ];
    let ran = workspace.run(&[&arguments[..], &SETTINGS].concat());
    ran.says("failed").says("summary_http_404 1, summary_refused 1");
    assert!(workspace.read("more.jsonl") == workspace.read("out.missing.jsonl"));
    apply(&workspace, &["answers"], &["--force", "--resend-failed"]).exits(3);
    let all = requests(&workspace, "out.missing.jsonl");
    assert!(ids[..7].iter().all(|id| all.iter().any(|asked| asked.0 == *id)));
    // The file can be sent as it is; then all of it together ends as if nothing had gone wrong.
    let mut round = 0;
    while workspace.exists("out.missing.jsonl") {
        round += 1;
        workspace.write(
            format!("answers/third{round}.jsonl"),
            answers(&workspace.text("out.missing.jsonl")),
        );
        apply(&workspace, &["answers"], &["--force", "--resend-failed"]);
        assert!(round < 10);
    }
    assert!(workspace.read("out.jsonl") == chat(&[]).read("out.jsonl"));
}

#[test]
fn answers_may_come_in_any_order_and_any_number_of_files() {
    let workspace = demo();
    export(&workspace, &["--max-requests-per-file", "7"])
        .exits(0)
        .says("requests-3.jsonl");
    let mut lines = Vec::new();
    for file in ["requests.jsonl", "requests-2.jsonl", "requests-3.jsonl"] {
        let text = workspace.text(file);
        assert!(text.lines().count() <= 7);
        lines.extend(answers(&text).lines().map(str::to_owned));
    }
    let mut outputs = Vec::new();
    for files in [1, 3, lines.len()] {
        let out = demo();
        lines.reverse();
        for (number, lines) in lines.chunks(lines.len().div_ceil(files)).enumerate() {
            out.write(format!("answers/{number:03}.jsonl"), lines.join("\n"));
        }
        apply(&out, &["answers"], &[]).exits(3);
        outputs.push((out.read("out.jsonl"), out.read("out.missing.jsonl")));
    }
    assert!(outputs[0] == outputs[1] && outputs[0] == outputs[2]);
}

#[test]
fn an_export_with_answers_asks_what_they_lead_to() {
    let workspace = demo();
    export(&workspace, &[]).exits(0);
    workspace.write("answers.jsonl", answers(&workspace.text("requests.jsonl")));
    apply(&workspace, &["answers.jsonl"], &[]).exits(3);
    let more = ["-o", "more.jsonl", "--responses", "answers.jsonl"];
    let arguments = ["batch", "export", "in.jsonl"];
    let ran = workspace.run(&[&arguments[..], &more, &SETTINGS].concat());
    assert!(!ran.exits(0).stderr.contains("failed"));
    assert!(workspace.read("more.jsonl") == workspace.read("out.missing.jsonl"));
    let first: BTreeSet<String> = requests(&workspace, "requests.jsonl")
        .into_iter()
        .map(|asked| question(&asked.1))
        .collect();
    assert!(
        requests(&workspace, "more.jsonl")
            .iter()
            .all(|(_, body)| !first.contains(&question(body)))
    );
}

#[test]
fn a_run_that_lets_nothing_go_without_writes_nothing_but_what_is_missing() {
    let workspace = demo();
    export(&workspace, &[]).exits(0);
    workspace.write("answers.jsonl", answers(&workspace.text("requests.jsonl")));
    let fail = ["--on-failure", "fail"];
    apply(&workspace, &["answers.jsonl"], &fail)
        .exits(4)
        .says("wait for an answer")
        .says("out.missing.jsonl");
    assert!(!workspace.exists("out.jsonl"));
    workspace.write("answers/1.jsonl", workspace.read("answers.jsonl"));
    workspace.write("answers/2.jsonl", answers(&workspace.text("out.missing.jsonl")));
    while workspace.exists("out.missing.jsonl") {
        let name = format!("answers/{}.jsonl", workspace.read("out.missing.jsonl").len());
        workspace.write(name, answers(&workspace.text("out.missing.jsonl")));
        apply(&workspace, &["answers"], &[&fail[..], &["--force"]].concat());
    }
    assert!(workspace.read("out.jsonl") == chat(&[]).read("out.jsonl"));
}

#[test]
fn settings_that_ask_otherwise_find_no_answers() {
    let workspace = demo();
    export(&workspace, &[]).exits(0);
    workspace.write("answers.jsonl", answers(&workspace.text("requests.jsonl")));
    apply(&workspace, &["answers.jsonl"], &["--style", "handoff"])
        .exits(3)
        .says("other records, settings or prompts");
    apply(&workspace, &["requests.jsonl"], &["--force"])
        .exits(3)
        .says("are requests: they have not been answered yet");
}

#[test]
fn a_killed_run_resumes_to_the_same_bytes_and_the_same_requests() {
    let input = many_runs(8);
    let answered = {
        let workspace = Workspace::with_input(&input);
        export(&workspace, &[]).exits(0);
        let text = workspace.text("requests.jsonl");
        let some: Vec<&str> = text.lines().step_by(3).collect();
        answers(&some.join("\n"))
    };
    let arguments = |more: &[&'static str]| {
        let run = [
            "batch",
            "apply",
            "in.jsonl",
            "-o",
            "out.jsonl",
            "--responses",
            "answers.jsonl",
        ];
        let few = ["--jobs", "1", "--max-requests-per-file", "5"];
        [&run[..], &SETTINGS, &few, more].concat()
    };
    let workspace = || {
        let workspace = Workspace::with_input(&input);
        workspace.write("answers.jsonl", &answered);
        workspace
    };
    let whole = workspace();
    whole.run(&arguments(&[])).exits(3).says("out.missing-2.jsonl");
    // Killed once it has got so far. Where the machine did something else until it was done, it is tried again.
    let killed_at = |milestones: usize| {
        let killed = workspace();
        let mut command = killed.command(&arguments(&[]));
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let journal = killed.path("out.checkpoint");
        let lines = || {
            std::fs::read_to_string(&journal)
                .unwrap_or_default()
                .lines()
                .count()
        };
        while lines() < milestones && child.try_wait().unwrap().is_none() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        child.kill().unwrap();
        let status = child.wait().unwrap();
        status.code().is_none().then_some(killed)
    };
    for milestones in [1, 3] {
        let killed = std::iter::repeat_with(|| killed_at(milestones)).find_map(|killed| killed);
        let killed = killed.unwrap();
        // With other answers it would be another run.
        killed.write("more.jsonl", batch::error(&"1".repeat(64), "batch_expired"));
        killed
            .run(
                &[
                    &arguments(&["--resume"])[..],
                    &["--responses", "answers.jsonl", "more.jsonl"],
                ]
                .concat(),
            )
            .exits(2);
        killed.run(&arguments(&["--resume"])).exits(3);
        assert_eq!(killed.files().len(), whole.files().len() + 1);
        for file in whole
            .files()
            .iter()
            .filter(|file| file.as_str() == "out.jsonl" || file.starts_with("out.missing"))
        {
            assert!(killed.read(file) == whole.read(file), "{file}");
        }
    }
}

/// Whose answers are still to come.
#[derive(Default)]
struct Waiting(AtomicUsize);

impl Summarizer for Waiting {
    fn name(&self) -> &'static str {
        "waiting"
    }

    fn summarize<'a>(&'a self, _: SummaryRequest<'a>) -> BoxFuture<'a, Result<Summary, SummaryError>> {
        let number = self.0.fetch_add(1, Ordering::Relaxed);
        let request = PendingRequest {
            key: AnswerKey::of(&[&number.to_string()]),
            line: b"{}\n".to_vec(),
            why: Reason::plain("summary_missing"),
            prompt_tokens: 1,
            completion_tokens: 1,
            by_fallback: false,
        };
        let usage = Usage::default();
        let pending = SummaryError::Pending {
            request: Box::new(request),
            usage,
        };
        Box::pin(std::future::ready(Err(pending)))
    }
}

/// One who writes more than asked for, so that another pass is needed.
struct Wordy;

impl Summarizer for Wordy {
    fn name(&self) -> &'static str {
        "wordy"
    }

    fn summarize<'a>(&'a self, request: SummaryRequest<'a>) -> BoxFuture<'a, Result<Summary, SummaryError>> {
        let text = format!("[CONTEXT SUMMARY]:\n{}", "many words ".repeat(request.max_tokens));
        let summary = Summary {
            text,
            ..Summary::default()
        };
        Box::pin(std::future::ready(Ok(summary)))
    }
}

#[test]
fn a_record_that_waits_asks_nothing_about_what_stands_in_for_the_answer() {
    for (on_failure, passes) in [(OnFailure::Fallback, 2..=3), (OnFailure::Keep, 0..=0)] {
        let waiting = Arc::new(Waiting::default());
        let mut settings = crate::support::settings(500, 60);
        settings.on_failure = on_failure;
        let fitter = Fitter {
            fallback: Arc::new(Wordy),
            ..crate::support::fitter_with(settings, Arc::clone(&waiting) as _)
        };
        let fitted = crate::support::fit(&fitter, &trajectory("nothing", "gpt"));
        assert_eq!(waiting.0.load(Ordering::Relaxed), 1);
        assert_eq!(fitted.pending.unwrap().key, AnswerKey::of(&["0"]));
        assert!(
            passes.contains(&fitted.row.passes) && fitted.row.degraded,
            "{:?}",
            fitted.row
        );
        assert!(
            fitted.row.reason_text().contains("summary_missing"),
            "{}",
            fitted.row.reason
        );
    }
}
