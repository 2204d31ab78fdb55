//! The number of threads makes no difference to a byte.

use crate::support::cli::{SMALL, Workspace, many_runs, quirks};
use trajfit::internals::metrics::Row;

#[test]
fn one_two_and_five_threads_write_the_same() {
    let workspace = Workspace::new();
    let mut lines = many_runs(3);
    for path in quirks() {
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            lines.extend(std::fs::read(path).unwrap());
            lines.push(b'\n');
        }
    }
    workspace.write("in.jsonl", lines);
    let run = |jobs: &str| {
        let output = format!("{jobs}.jsonl");
        let arguments = [&["in.jsonl", "-o", &output, "--jobs", jobs], &SMALL[..]].concat();
        workspace.compress(&arguments).exits(3);
        let mut summary = workspace.json(&format!("{jobs}.summary.json"));
        for changing in ["timing", "sources", "outputs"] {
            summary.as_object_mut().unwrap().remove(changing);
        }
        let rows: Vec<Row> = workspace
            .rows(&format!("{jobs}.metrics.csv"))
            .into_iter()
            .map(|row| Row {
                duration_ms: 0.0,
                ..row
            })
            .collect();
        let rejects = workspace.read(format!("{jobs}.rejects.jsonl"));
        (workspace.read(&output), rejects, rows, summary)
    };
    let one = run("1");
    assert!(one.2.iter().filter(|row| row.was_compressed).count() > 100);
    for jobs in ["2", "5"] {
        let other = run(jobs);
        assert!(other.0 == one.0 && other.1 == one.1, "{jobs} threads");
        assert_eq!((other.2, other.3), (one.2.clone(), one.3.clone()));
    }
}
