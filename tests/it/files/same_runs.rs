//! Files of two runs held against each other, times left out.

use crate::support::cli::Workspace;
use serde_json::Value;
use trajfit::internals::metrics::Row;

/// Everything that a row says but the time it took.
fn timeless(rows: Vec<Row>) -> Vec<Row> {
    rows.into_iter()
        .map(|row| Row {
            duration_ms: 0.0,
            ..row
        })
        .collect()
}

fn totals(workspace: &Workspace, name: &str) -> Value {
    let mut totals = workspace.json(name);
    totals.as_object_mut().unwrap().remove("timing");
    totals.as_object_mut().unwrap().remove("sources");
    totals.as_object_mut().unwrap().remove("outputs");
    totals
}

pub fn is_data(file: &str) -> bool {
    [".jsonl", ".json", ".gz", ".zst"]
        .iter()
        .any(|ending| file.ends_with(ending))
        && !file.ends_with(".rejects.jsonl")
        && !file.ends_with(".summary.json")
}

#[track_caller]
pub fn compare(workspace: &Workspace) {
    let below = |folder: &str| -> Vec<String> {
        let files = workspace.files();
        files
            .iter()
            .filter_map(|file| file.strip_prefix(folder).map(str::to_owned))
            .collect()
    };
    let whole = below("whole/");
    assert_eq!(whole, below("killed/"));
    for file in whole {
        let (whole, killed) = (format!("whole/{file}"), format!("killed/{file}"));
        if file.ends_with(".metrics.csv") && workspace.text(&whole).contains(",duration_ms,") {
            assert_eq!(
                timeless(workspace.rows(&killed)),
                timeless(workspace.rows(&whole))
            );
        } else if file.ends_with(".summary.json") {
            assert_eq!(totals(workspace, &killed), totals(workspace, &whole));
        } else {
            assert!(workspace.read(&whole) == workspace.read(&killed), "{file}");
        }
    }
}
