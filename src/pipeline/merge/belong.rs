//! Runs that belong together: the shards of one data set, or runs with the same settings over different inputs.

use std::collections::BTreeMap;
use std::path::Path;

use super::finished_run::FinishedRun;
use crate::pipeline::write::journal::RunIdentity;
use crate::pipeline::{RunError, Shard};

/// Numbers of missing shards that a message names.
const NAMED: usize = 8;

/// The runs in the order of their records: shards by number, other runs as given. An error if they do not belong
/// together.
pub fn in_order(mut runs: Vec<FinishedRun>) -> Result<Vec<FinishedRun>, RunError> {
    let Some((first, others)) = runs.split_first() else {
        return Err(nothing());
    };
    for other in others {
        refuse_differences(first, other)?;
    }
    if first.shard.is_some() {
        refuse_incomplete(&runs)?;
        runs.sort_by_key(|run| run.shard.map(Shard::number));
    } else {
        refuse_read_twice(&runs)?;
    }
    Ok(runs)
}

/// The error if no run is named.
pub fn nothing() -> RunError {
    RunError::usage("no runs to merge", "name the metrics of all shards")
}

fn refuse_differences(first: &FinishedRun, other: &FinishedRun) -> Result<(), RunError> {
    let shards = |run: &FinishedRun| run.shard.map(Shard::count);
    let are_shards = first.shard.is_some() && other.shard.is_some();
    let mut differences = comparable(first, are_shards).differences(&comparable(other, are_shards));
    if shards(first) != shards(other) {
        let named = |run| shards(run).map_or("not sharded".to_owned(), |count| format!("one of {count}"));
        differences.push(format!("shard: was {}, is {}", named(first), named(other)));
    }
    let kind = |run: &FinishedRun| (run.columns, run.totals.dry_run);
    if kind(first) != kind(other) {
        differences.push("command: one is of compress and one of unroll, or one is a dry run".to_owned());
    }
    if differences.is_empty() {
        return Ok(());
    }
    Err(RunError::usage(
        format!(
            "cannot merge {} with {}: the runs differ\n  {}",
            other.metrics().display(),
            first.metrics().display(),
            differences.join("\n  ")
        ),
        "merge runs of one version with the same settings, tokenizer and, if they are shards, inputs",
    ))
}

/// The part of a run's identity that is equal in runs that belong together: with the inputs if they are shards, which may have
/// read copies of them, whose times differ.
fn comparable(run: &FinishedRun, are_shards: bool) -> RunIdentity {
    let mut identity = RunIdentity {
        configuration: run.settings(),
        outputs: Vec::new(),
        ..run.totals.run.clone()
    };
    if !are_shards {
        identity.sources.clear();
    }
    for source in &mut identity.sources {
        source.modified = 0;
    }
    identity
}

/// Refuses shards that are missing or there twice.
fn refuse_incomplete(runs: &[FinishedRun]) -> Result<(), RunError> {
    let mut found: BTreeMap<u64, &FinishedRun> = BTreeMap::new();
    let mut count = 0;
    for run in runs {
        let Some(shard) = run.shard else { continue };
        count = shard.count();
        if let Some(earlier) = found.insert(shard.number(), run) {
            return Err(RunError::usage(
                format!(
                    "cannot merge: the shard {shard} is there twice, in {} and in {}",
                    earlier.metrics().display(),
                    run.metrics().display()
                ),
                "name each shard once",
            ));
        }
    }
    let missing = count.saturating_sub(found.len() as u64);
    if missing == 0 {
        return Ok(());
    }
    let numbers = (1..=count).filter(|number| !found.contains_key(number));
    let named: Vec<String> = numbers
        .take(NAMED)
        .map(|number| format!("{number}/{count}"))
        .collect();
    let others = match missing.saturating_sub(NAMED as u64) {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    Err(RunError::usage(
        format!("cannot merge: no run of the shard {}{others}", named.join(", ")),
        format!("name the metrics of all {count} shards"),
    ))
}

/// Refuses runs that have read the same input.
fn refuse_read_twice(runs: &[FinishedRun]) -> Result<(), RunError> {
    let mut readers: BTreeMap<&str, &Path> = BTreeMap::new();
    for run in runs {
        for source in &run.totals.run.sources {
            if let Some(earlier) = readers.insert(&source.path, &run.stem) {
                return Err(RunError::usage(
                    format!(
                        "cannot merge {} with {}: both have read {}",
                        run.stem.display(),
                        earlier.display(),
                        source.path
                    ),
                    "merge runs over different inputs, or runs with --shard over the same",
                ));
            }
        }
    }
    Ok(())
}
