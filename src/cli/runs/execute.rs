//! Runs a compression from checked options, and turns its report into a table and an exit code.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::running;
use super::summarizer::{self, RunSummarizers};
use crate::cli::flags::compress_options::CompressOptions;
use crate::cli::settings::Settings;
use crate::cli::terminal::progress::{Progress, ProgressStyle, compressing};
use crate::cli::terminal::stdout;
use crate::cli::{CliError, ExitStatus, errors};
use crate::config::SummarizerKind;
use crate::fit::{CountMode, Fitter, OverLimit};
use crate::metrics::{Columns, Status, Totals, is_grounded, share_held};
use crate::pipeline::{self, Job, OutputFiles, RunError, RunReport, SHARD_SETTING, Sample, Source, Worker};
use crate::report::{
    DryRunFigures, OverLimitFigures, Reasons, RecordFigures, RequestFigures, RunFigures, summary_table,
};

/// Runs the compression that the options ask for.
pub fn execute(options: &CompressOptions) -> Result<ExitStatus, CliError> {
    let job = job(options)?;
    let counter = running::tokenizer(&options.settings)?;
    let chosen = summarizer::chosen(options, job.targets.cache(), &counter)?;
    run(options, job, chosen)
}

/// The worker that fits the records of these sources, with the chosen summarizers.
pub fn worker(settings: &Settings, sources: &[Source], chosen: &RunSummarizers) -> Result<Worker, CliError> {
    Ok(Worker {
        fitter: Fitter {
            settings: settings.fit.clone(),
            counter: Arc::clone(&chosen.counter),
            template: running::template(settings)?,
            summarizer: Arc::clone(&chosen.summarizer),
            fallback: Arc::clone(&chosen.fallback),
        },
        on_invalid: settings.on_invalid,
        source_names: sources.iter().map(Source::name).collect(),
        csv_safe: settings.files.csv_safe,
        makes_csv: true,
        unroll: None,
        merges_rows: false,
    })
}

/// Runs a job and reports its result.
pub fn run(options: &CompressOptions, job: Job, chosen: RunSummarizers) -> Result<ExitStatus, CliError> {
    let worker = worker(&options.settings, &job.sources, &chosen)?;
    let (job, ended) = ended(options, job, worker, chosen)?;
    match ended {
        Ok(report) => Ok(tell(options, &report, job.cost(&report.totals.sums))),
        Err(RunError::OutputClosed) => Ok(ExitStatus::Done),
        Err(error) => Err(running::cli_error(error)),
    }
}

/// Runs a job to its end, with signals and progress around it.
pub fn ended(
    options: &CompressOptions,
    mut job: Job,
    mut worker: Worker,
    chosen: RunSummarizers,
) -> Result<(Job, Result<RunReport, RunError>), CliError> {
    worker.fitter.settings.dry_run = options.dry_run;
    job.settings.extend(chosen.wording);
    let stop = running::stop_on_signals()?;
    let counters = running::counters(&job.sources);
    let progress = Progress::start(
        ProgressStyle::detect(options.quiet, options.verbose),
        Arc::clone(&counters),
        compressing,
        chosen.spend,
    );
    let ended = pipeline::run(&job, worker, &counters, &stop);
    progress.finish();
    // The name is shown nowhere else if the table is not printed.
    if job.targets.to_stdout
        && options.settings.files.named.rejects.is_none()
        && (options.quiet || ended.is_err())
        && job.targets.rejects().exists()
    {
        errors::warn(&[format!(
            "records were rejected; they are in {}",
            job.targets.rejects().display()
        )]);
    }
    Ok((job, ended))
}

/// The job that the options describe.
pub fn job(options: &CompressOptions) -> Result<Job, CliError> {
    let settings = &options.settings;
    let (files, summaries) = (&settings.files, &settings.summaries);
    let sources = running::sources(&options.inputs, options.shard)?;
    let dash = PathBuf::from("-");
    let output: Option<&Path> = if options.writes_stdout() {
        stdout::refuse_closed()?;
        Some(&dash)
    } else {
        options.output.as_deref()
    };
    let mut suffix = files.suffix.clone();
    let mut fingerprint = settings.fingerprint.clone();
    if let Some(shard) = options.shard {
        suffix = format!("{suffix}_{}", shard.label());
        fingerprint.insert(SHARD_SETTING.to_owned(), shard.to_string().into());
    }
    let targets = OutputFiles::of(&sources, &options.inputs, output, &suffix, files.codec)
        .map_err(running::cli_error)?;
    let targets = match &files.report_dir {
        Some(folder) => targets.with_reports_in(folder),
        None => targets,
    };
    Ok(Job {
        sources,
        targets: targets
            .with_named(files.named.clone())
            .with_state_in(&files.state_dir),
        settings: fingerprint,
        dry_run: options.dry_run,
        is_estimate: is_estimate(options),
        limit: options.limit,
        sample: Sample::of(options.sample, options.seed),
        max_record_bytes: settings.max_record_bytes,
        resume: options.resume,
        force: options.force,
        jobs: settings.jobs,
        requests: summaries.requests(),
        prices: summaries.limits.prices,
        metrics: files.metrics,
        columns: Columns::Records,
        csv_safe: files.csv_safe,
        asks: None,
    })
}

/// Prints the table of a run and the tokenizer's note, unless `quiet`.
pub fn print(options: &CompressOptions, report: &RunReport, table: impl FnOnce() -> String) {
    if options.quiet {
        return;
    }
    let files: Vec<String> = report
        .files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    let text = if report.already_finished {
        format!("already finished: {}\n", files.join(", "))
    } else {
        table()
    };
    // If stderr is closed, the text is lost.
    let _ = io::stderr().write_all(text.as_bytes());
    if let Some(note) = &report.tokenizer_note {
        errors::warn(std::slice::from_ref(note));
    }
}

/// Prints the result of a run, unless `quiet`, and returns the exit code.
fn tell(options: &CompressOptions, report: &RunReport, cost: Option<f64>) -> ExitStatus {
    print(options, report, || {
        summary_table(&figures(TableFacts::of(options), report, cost))
    });
    let sums = &report.totals.sums;
    let least = options.settings.min_grounding;
    if is_grounded(sums.anchors_needed, sums.anchors_held, least) {
        return exit_status(&report.totals, options.settings.fit.over_limit == OverLimit::Fail);
    }
    let share = 100.0 * share_held(sums.anchors_needed, sums.anchors_held);
    let failed = format!(
        "{share:.2} % of the identifiers that later turns rely on are held, less than --min-grounding {least}"
    );
    errors::gate(&failed, report.totals.worst_grounded.records());
    ExitStatus::GateFailed
}

/// The exit code of a run with these totals; `fails_over_limit` if a record over the budget makes it fail.
pub fn exit_status(totals: &Totals, fails_over_limit: bool) -> ExitStatus {
    let lost = totals.with_status(Status::Rejected) + totals.with_status(Status::Failed);
    if fails_over_limit && totals.sums.still_over_limit > 0 {
        ExitStatus::GateFailed
    } else if lost + totals.sums.degraded > 0 {
        ExitStatus::Incomplete
    } else {
        ExitStatus::Done
    }
}

/// The facts that the table of a run shows beside its report.
#[derive(Debug, Clone, Copy)]
pub struct TableFacts {
    /// The budget, in tokens.
    pub target_max_tokens: u64,
    /// True if tokens are those of rendered chats.
    pub is_rendered: bool,
    /// True if no data was written.
    pub dry_run: bool,
    /// True if figures of the dry run are estimates.
    pub is_estimate: bool,
}

impl TableFacts {
    /// The facts of a run with these options.
    pub fn of(options: &CompressOptions) -> Self {
        let fit = &options.settings.fit;
        Self {
            target_max_tokens: fit.target_max_tokens as u64,
            is_rendered: fit.count == CountMode::Rendered,
            dry_run: options.dry_run,
            is_estimate: is_estimate(options),
        }
    }
}

/// The figures of a run's table.
pub fn figures(facts: TableFacts, report: &RunReport, cost: Option<f64>) -> RunFigures {
    let (totals, sums) = (&report.totals, &report.totals.sums);
    RunFigures {
        records: RecordFigures {
            under_target: totals.with_status(Status::UnderTarget),
            compressed: totals.with_status(Status::Compressed),
            placements: totals.by_placement.clone().into_iter().collect(),
            kept: totals.with_status(Status::Kept),
            kept_reasons: reasons(totals, Status::Kept),
            rejected: totals.with_status(Status::Rejected),
            rejected_reasons: reasons(totals, Status::Rejected),
            failed: totals.with_status(Status::Failed),
            failed_reasons: reasons(totals, Status::Failed),
        },
        tokens_before: sums.original_tokens,
        tokens_after: sums.compressed_tokens,
        is_rendered: facts.is_rendered,
        uncounted_value_tokens: sums.uncounted_value_tokens,
        target_max_tokens: facts.target_max_tokens,
        over_limit: OverLimitFigures {
            records: sums.still_over_limit,
            reasons: totals
                .over_limit_reasons
                .iter()
                .map(|(reason, count)| (reason.clone(), *count))
                .collect(),
        },
        degraded: sums.degraded,
        degraded_compressed: sums.degraded_compressed,
        summary_starved: sums.summary_starved,
        both_counts: totals.both_counts.is_any().then(|| totals.both_counts.clone()),
        masked_turns: sums.masked_turns,
        records_with_faults: sums.records_with_faults,
        faults: (sums.faults(), sums.mended_faults),
        records_with_mended_shapes: sums.records_with_mended_shapes,
        mended_shapes: sums.mended_shapes,
        converted: sums.converted,
        format_losses: (sums.records_with_format_losses, sums.format_losses),
        anchors_needed: sums.anchors_needed,
        anchors_held: sums.anchors_held,
        requests: RequestFigures {
            sent: sums.summarization_api_calls,
            failed: sums.summarization_errors,
            cached: sums.cached_summaries,
            prompt_tokens: sums.prompt_tokens,
            completion_tokens: sums.completion_tokens,
            cost,
        },
        missing: report.requests.totals.requests,
        elapsed: report.elapsed,
        bytes_in: report.bytes_read,
        files: report.files.clone(),
        dry_run: facts.dry_run.then_some(DryRunFigures {
            summaries: totals.with_status(Status::Compressed),
            tokens_to_read: report.summary_input_tokens,
            is_estimate: facts.is_estimate,
        }),
    }
}

/// Returns true if a run's figures are estimates: a dry run asks only the embedded summarizer.
pub fn is_estimate(options: &CompressOptions) -> bool {
    options.dry_run && options.settings.summaries.kind != SummarizerKind::Extractive
}

pub fn reasons(totals: &Totals, status: Status) -> Reasons {
    let of_status = totals.by_reason.iter().filter(|((of, _), _)| *of == status);
    of_status
        .map(|((_, reason), count)| (reason.clone(), *count))
        .collect()
}
