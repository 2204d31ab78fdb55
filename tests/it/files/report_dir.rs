//! Metrics, totals and rejects in a folder of their own, so that a folder of data holds nothing else.

use crate::support::cli::{Workspace, short};

fn workspace() -> Workspace {
    let workspace = Workspace::new();
    workspace.write("in/a.jsonl", short("a") + "\nnone\n");
    workspace.write("in/b.jsonl", short("b") + "\n");
    workspace
}

fn new_files(workspace: &Workspace) -> Vec<String> {
    let mut files = workspace.files();
    files.retain(|file| !file.starts_with("in/"));
    files
}

#[test]
fn a_folder_of_data_holds_only_data() {
    let reports = |stem: &str| {
        ["metrics.csv", "rejects.jsonl", "summary.json"].map(|end| format!("reports/{stem}.{end}"))
    };
    for (arguments, data, stem) in [
        (
            &["in", "-o", "data/"][..],
            &["data/a.jsonl", "data/b.jsonl"][..],
            "data",
        ),
        (
            &["in/a.jsonl", "-o", "data/out.jsonl.gz"],
            &["data/out.jsonl.gz"],
            "out",
        ),
        (
            &["in/a.jsonl", "in/b.jsonl", "-o", "data/out.jsonl.zst"],
            &["data/out.jsonl.zst"],
            "out",
        ),
    ] {
        let workspace = workspace();
        let ran = workspace.run(&[&["compress", "--report-dir", "reports"], arguments].concat());
        assert_eq!(ran.status, Some(3), "{}", ran.stderr);
        let expected: Vec<String> = data
            .iter()
            .map(ToString::to_string)
            .chain(reports(stem))
            .collect();
        assert_eq!(new_files(&workspace), expected);
        // It is the same run, finished.
        let again =
            workspace.run(&[&["compress", "--resume", "--report-dir", "reports"], arguments].concat());
        assert!(
            again.status == Some(3) && again.stderr.contains("already finished"),
            "{}",
            again.stderr
        );
    }
}

#[test]
fn names_that_flags_give_win_and_other_runs_keep_their_reports() {
    let workspace = workspace();
    let run = |output: &str, more: &[&str]| {
        let arguments = ["compress", "in/b.jsonl", "-o", output, "--report-dir", "r"];
        workspace.run(&[&arguments, more].concat())
    };
    let ran = run("x/out.jsonl", &["--metrics", "m.csv"]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert_eq!(
        new_files(&workspace),
        ["m.csv", "r/out.summary.json", "x/out.jsonl"]
    );
    let refused = run("y/out.jsonl", &[]);
    assert_eq!(refused.status, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("x/out.jsonl"), "{}", refused.stderr);
    let ran = run("-", &[]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let mut files = new_files(&workspace);
    files.retain(|file| file.contains("stdout"));
    assert_eq!(files, ["r/b_stdout.metrics.csv", "r/b_stdout.summary.json"]);
    assert_eq!(run("-", &[]).status, Some(2));
}
