//! How a run begins: from nothing, where an earlier one left off, or not at all.

use std::fs::File;
use std::io::Read;

use super::RunError;
use super::journal::{Found, Journal, Milestone, RunIdentity};
use super::run::Job;
use super::source::Source;
use super::targets::{PARTIAL, appended};
use crate::metrics::{Totals, read_rows};
use crate::tokens::TokenizerIdentity;

/// How a run begins.
pub enum Start {
    /// It does not: an earlier one has done all of it.
    AlreadyFinished,
    /// From `milestone` on.
    Run {
        /// `None` where the run cannot be resumed.
        journal: Option<Journal>,
        /// Where it begins.
        milestone: Milestone,
        /// Whether that is where an earlier run left off.
        resumed: bool,
    },
}

/// What a run is, as far as its output depends on it.
pub fn identity(job: &Job, tokenizer: &TokenizerIdentity) -> Result<RunIdentity, RunError> {
    let mut settings = job.settings.clone();
    let limit = job
        .limit
        .map_or_else(|| "none".to_owned(), |limit| limit.to_string());
    settings.push(("--limit".to_owned(), limit));
    settings.push(("--sample, --seed".to_owned(), job.sample.to_string()));
    Ok(RunIdentity {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        settings,
        tokenizer: tokenizer.clone(),
        sources: job.sources.iter().map(Source::state).collect::<Result<_, _>>()?,
        outputs: job
            .targets
            .data_files()
            .iter()
            .map(|target| target.path.display().to_string())
            .collect(),
    })
}

/// Decides how a run begins, and locks its outputs.
pub fn start(job: &Job, identity: &RunIdentity) -> Result<Start, RunError> {
    let fresh = |journal| {
        Ok(Start::Run {
            journal,
            milestone: Milestone::default(),
            resumed: false,
        })
    };
    job.targets.refuse_inputs(&job.sources)?;
    if job.targets.to_stdout {
        return fresh(None);
    }
    let existing = job
        .targets
        .data_files()
        .into_iter()
        .find(|target| target.path.exists());
    let checkpoint = job.targets.checkpoint();
    let unfinished = checkpoint.exists();
    if job.resume && existing.is_some() && !unfinished {
        return already_finished(job, identity);
    }
    if let Some(target) = existing.filter(|_| !job.force && !unfinished) {
        return Err(RunError::usage(
            format!("the output {} exists already", target.path.display()),
            "overwrite it with --force, or name another with -o",
        ));
    }
    if let Some(folder) = checkpoint
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        std::fs::create_dir_all(folder).map_err(|error| RunError::output(folder, &error))?;
    }
    if job.dry_run {
        return fresh(None);
    }
    let opened = Journal::open(&checkpoint).map_err(|error| RunError::output(&checkpoint, &error))?;
    let Some(mut journal) = opened else {
        return Err(RunError::CannotGoOn {
            message: format!(
                "another run is writing {}",
                checkpoint.with_extension("").display()
            ),
            help: "wait for it to end, or name another output with -o".to_owned(),
        });
    };
    let found = journal
        .read()
        .map_err(|error| RunError::output(&checkpoint, &error))?;
    match found {
        Some(found) if job.resume => resume(found, journal, identity),
        Some(_) if !job.force => Err(RunError::usage(
            format!("an unfinished run left {}", checkpoint.display()),
            "go on with it by --resume, or start over with --force",
        )),
        _ => {
            journal
                .start(identity)
                .map_err(|error| RunError::half_way("write", &checkpoint, &error))?;
            fresh(Some(journal))
        }
    }
}

fn resume(found: Found, journal: Journal, identity: &RunIdentity) -> Result<Start, RunError> {
    refuse_differences("the unfinished run", &found.identity.differences(identity))?;
    let resumed = found.milestone.is_some();
    Ok(Start::Run {
        journal: Some(journal),
        milestone: found.milestone.unwrap_or_default(),
        resumed,
    })
}

fn refuse_differences(run: &str, differences: &[String]) -> Result<(), RunError> {
    if differences.is_empty() {
        return Ok(());
    }
    Err(RunError::usage(
        format!("cannot resume: this is not {run}\n  {}", differences.join("\n  ")),
        "run it as it was started, or start over with --force",
    ))
}

/// The output is there and nothing is left to do, provided that it came from the same run.
fn already_finished(job: &Job, identity: &RunIdentity) -> Result<Start, RunError> {
    let summary = std::fs::read(job.targets.summary()).unwrap_or_default();
    let summary: serde_json::Value = serde_json::from_slice(&summary).unwrap_or_default();
    let finished = summary
        .get("run")
        .cloned()
        .and_then(|run| serde_json::from_value::<RunIdentity>(run).ok());
    if let Some(finished) = finished {
        refuse_differences("the finished run", &finished.differences(identity))?;
    }
    Ok(Start::AlreadyFinished)
}

/// The totals of the rows that an earlier run has safely written.
pub fn totals_so_far(job: &Job, milestone: &Milestone) -> Result<Totals, RunError> {
    let mut totals = Totals::default();
    if milestone.metrics == 0 {
        return Ok(totals);
    }
    let path = appended(&job.targets.metrics(), PARTIAL);
    let file = File::open(&path).map_err(|error| RunError::half_way("read", &path, &error))?;
    for row in read_rows(file.take(milestone.metrics)) {
        let broken = |error| {
            RunError::usage(
                format!("cannot resume: {} is damaged: {error}", path.display()),
                "start over with --force",
            )
        };
        totals.add(&row.map_err(broken)?);
    }
    Ok(totals)
}

/// The error for an input whose beginning is not what the unfinished run read.
pub fn input_changed(source: &Source) -> RunError {
    RunError::usage(
        format!(
            "cannot resume: {} begins otherwise than when the run read it",
            source.name()
        ),
        "run it on the same input, or start over with --force",
    )
}
