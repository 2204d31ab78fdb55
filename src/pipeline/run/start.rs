//! The start of a run: from nothing, where an earlier one left off, or not at all.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use super::job::Job;
use super::row_outputs;
use crate::columns::RowFormat;
use crate::files;
use crate::fit::Fitter;
use crate::metrics::{Sums, Totals, read_rows_written};
use crate::pipeline::paths::existing::{self, first_taken};
use crate::pipeline::paths::streams::is_stream;
use crate::pipeline::read::batch::Position;
use crate::pipeline::read::reader::BatchReader;
use crate::pipeline::write::journal::{Journal, JournalContent, Milestone, RunIdentity};
use crate::pipeline::{RequestFileSet, RunError, Sample, Source};
use crate::stores;

/// The start of a run.
pub enum Start {
    /// An earlier run has done all of it, with these totals, as far as its exit code depends on them.
    AlreadyFinished(Box<Totals>),
    /// It begins at `milestone`.
    Run {
        /// `None` if the data goes to stdout.
        journal: Option<Journal>,
        /// The point at which it begins.
        milestone: Milestone,
        /// True if that is where an earlier run left off.
        resumed: bool,
    },
}

/// The identity of a run: everything that its output depends on.
pub fn identity(job: &Job, fitter: &Fitter) -> Result<RunIdentity, RunError> {
    let mut configuration = job.settings.clone();
    configuration.insert("--limit".to_owned(), job.limit.into());
    configuration.insert("--sample".to_owned(), job.sample.percent().into());
    configuration.insert("--seed".to_owned(), job.sample.seed().into());
    Ok(RunIdentity {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        configuration,
        tokenizer: fitter.counter.identity().clone(),
        chat_template: fitter
            .template
            .as_ref()
            .map(|template| template.identity().clone()),
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
    job.targets.refuse_named_files()?;
    job.targets.refuse_inputs(&job.sources)?;
    if job.resume {
        job.targets.refuse_to_resume()?;
    }
    if let Some(asks) = &job.asks {
        existing::refuse_inputs(asks.existing().into_iter(), &job.sources)?;
        refuse_existing_requests(job)?;
    }
    refuse_merged_arrays(job)?;
    row_outputs::refuse(job)?;
    job.targets.prepare_remote(!job.dry_run)?;
    if job.targets.to_stdout {
        if !job.force {
            job.targets.refuse_existing_named()?;
        }
        return Ok(fresh(None));
    }
    job.targets.refuse_special_files()?;
    let checkpoint = job.targets.checkpoint();
    if !checkpoint.exists()
        && let Some(totals) = already_finished(job, identity)?
    {
        return Ok(Start::AlreadyFinished(totals));
    }
    let first = job.sources.first().map(|source| source.path.as_path());
    files::create_folders_of(&checkpoint, first).map_err(|error| RunError::output(&checkpoint, &error))?;
    let opened = Journal::open(&checkpoint).map_err(|error| RunError::output(&checkpoint, &error))?;
    let Some(mut journal) = opened else {
        return Err(RunError::CannotGoOn {
            message: format!("another run is writing {}", names(job)),
            help: "wait for it to end, or name another output with -o".to_owned(),
        });
    };
    match read(&mut journal)? {
        Some(found) if job.resume => return resume(found, journal, identity),
        Some(_) if !job.force => {
            return Err(RunError::usage(
                format!("an unfinished run left {}", checkpoint.display()),
                "go on with it by --resume, or start over with --force",
            ));
        }
        Some(_) => {}
        // The existing output was finished by a run that ended just now or long ago: this one made only the lock.
        None => match already_finished(job, identity) {
            Ok(None) => {}
            Ok(Some(totals)) => {
                let _ = journal.remove();
                return Ok(Start::AlreadyFinished(totals));
            }
            Err(refused) => {
                let _ = journal.remove();
                return Err(refused);
            }
        },
    }
    let started = if job.is_resumable() {
        journal.start(identity)
    } else {
        journal.clear()
    };
    started.map_err(|error| RunError::half_way("write", &checkpoint, &error))?;
    Ok(fresh(Some(journal)))
}

/// Refuses to begin if files that the job would write exist already. For work before a run that costs money.
pub fn refuse_existing(job: &Job) -> Result<(), RunError> {
    if job.force || job.resume {
        return Ok(());
    }
    match first_taken(&data_paths(job))? {
        Some(existing) => Err(RunError::usage(
            format!("the output {} exists already", existing.display()),
            "overwrite it with --force, or name another with -o",
        )),
        None => refuse_existing_requests(job),
    }
}

fn data_paths(job: &Job) -> Vec<&Path> {
    let files = job.targets.data_files().into_iter();
    files.map(|target| target.path.as_path()).collect()
}

fn refuse_existing_requests(job: &Job) -> Result<(), RunError> {
    let existing = job
        .asks
        .as_ref()
        .map(RequestFileSet::existing)
        .unwrap_or_default();
    match existing.first().filter(|_| !job.force && !job.resume) {
        Some(existing) => Err(RunError::usage(
            format!("{} exists already", existing.display()),
            "overwrite it with --force, or name another output with -o",
        )),
        None => Ok(()),
    }
}

fn fresh(journal: Option<Journal>) -> Start {
    Start::Run {
        journal,
        milestone: Milestone::default(),
        resumed: false,
    }
}

/// The outputs of a run, in a few words.
fn names(job: &Job) -> String {
    match job.targets.data_files().as_slice() {
        [] => job.targets.checkpoint().display().to_string(),
        [target] => target.path.display().to_string(),
        [target, ..] => format!("{} and others", target.path.display()),
    }
}

fn read(journal: &mut Journal) -> Result<Option<JournalContent>, RunError> {
    journal.read().map_err(|error| {
        if error.kind() != io::ErrorKind::InvalidData {
            return RunError::half_way("read", journal.path(), &error);
        }
        let message = format!("cannot read {}: {error}", journal.path().display());
        RunError::usage(message, "move it away, or name another output with -o")
    })
}

fn resume(found: JournalContent, journal: Journal, identity: &RunIdentity) -> Result<Start, RunError> {
    let Some(then) = found.identity else {
        return Err(RunError::usage(
            format!(
                "cannot resume: another version wrote {}",
                journal.path().display()
            ),
            "resume it with that version, or start over with --force",
        ));
    };
    refuse_differences("the unfinished run", &then.differences(identity))?;
    let resumed = found.milestone.is_some();
    Ok(Start::Run {
        journal: Some(journal),
        milestone: found.milestone.unwrap_or_default(),
        resumed,
    })
}

/// Refuses to merge arrays, which would be neither an array nor lines.
fn refuse_merged_arrays(job: &Job) -> Result<(), RunError> {
    if !job.targets.merged() {
        return Ok(());
    }
    // An input that cannot be opened is reported when it is read; a pipe can be read only once.
    let array = job
        .sources
        .iter()
        .filter(|source| source.path.is_file())
        .find(|source| {
            let opened = source.open(&Arc::default());
            let reader = opened
                .and_then(|opened| BatchReader::open(opened, 0, Position::default(), Sample::ALL, None));
            reader.is_ok_and(|reader| reader.is_some_and(|reader| reader.is_array()))
        });
    array.map_or(Ok(()), |source| Err(merged_array(source)))
}

/// The error for an array among inputs that are merged.
pub fn merged_array(source: &Source) -> RunError {
    RunError::usage(
        format!("cannot merge {}: it is a JSON array", source.name()),
        "write each input to a file of its own with -o OUTDIR",
    )
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

/// The part of the totals file of a finished run that is read back.
#[derive(serde::Deserialize)]
struct Finished {
    #[serde(flatten)]
    run: RunIdentity,
    records_by_status: BTreeMap<String, u64>,
    #[serde(flatten)]
    sums: Sums,
}

impl Finished {
    /// The totals, as far as the exit code depends on them.
    fn totals(self) -> Totals {
        let mut totals = Totals::default();
        totals.sums = self.sums;
        for (status, count) in &mut totals.by_status {
            *count = self.records_by_status.get(*status).copied().unwrap_or_default();
        }
        totals
    }
}

fn finished(job: &Job) -> Option<Finished> {
    let path = job.targets.summary().filter(|path| !is_stream(path))?;
    serde_json::from_slice(&existing::read(&path).ok()?).ok()
}

/// The totals, if the output exists and, with --resume, is from this very run. Any other existing output is only
/// overwritten with --force.
fn already_finished(job: &Job, identity: &RunIdentity) -> Result<Option<Box<Totals>>, RunError> {
    if job.force {
        return Ok(None);
    }
    let finished = finished(job);
    let files = data_paths(job);
    let Some(existing) = first_taken(&files)? else {
        let others = finished.map(|finished| finished.run.outputs).unwrap_or_default();
        return match others.iter().find(|other| existing::exists(Path::new(other))) {
            Some(other) if !identity.outputs.contains(other) => Err(RunError::usage(
                format!("the metrics of {other} would be overwritten"),
                "overwrite them with --force, or name another output with -o",
            )),
            _ => job.targets.refuse_existing_named().map(|()| None),
        };
    };
    match finished {
        Some(finished) if job.resume && files.iter().all(|path| existing::exists(path)) => {
            refuse_differences("the finished run", &finished.run.differences(identity))?;
            Ok(Some(Box::new(finished.totals())))
        }
        _ => Err(RunError::usage(
            format!("the output {} exists already", existing.display()),
            "overwrite it with --force, or name another with -o",
        )),
    }
}

/// The totals of the rows that an earlier run has safely written.
pub fn totals_so_far(job: &Job, milestone: &Milestone) -> Result<Totals, RunError> {
    let mut totals = Totals::default();
    if milestone.metrics == 0 {
        return Ok(totals);
    }
    let Some(metrics) = job.targets.metrics() else {
        return Ok(totals);
    };
    let mut path = job.targets.partial(&metrics);
    if milestone.complete && !path.exists() {
        // The run was stopped between the final names.
        path = metrics;
        if stores::is_url(&path) || !path.exists() || RowFormat::of_name(&path).is_some() {
            // Unwanted metrics are removed, and others made to rows, once the totals have their name.
            return Ok(finished(job).map_or(totals, Finished::totals));
        }
    }
    let file = File::open(&path).map_err(|error| RunError::half_way("read", &path, &error))?;
    for row in read_rows_written(file.take(milestone.metrics), job.columns, job.csv_safe) {
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
