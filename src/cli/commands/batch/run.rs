//! `trajfit batch run`: export, submit, wait, apply, in as many rounds as the answers lead to new questions.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::collecting::{Collecting, collect};
use super::flags::{self, BatchFlags};
use super::keys::BatchRunKeys;
use super::watch::Watch;
use super::{apply, export};
use crate::batch::{Batch, BatchError, Folder, RUN_AGAIN, ResponseFiles, Rounds, State, Vendor, part_of};
use crate::cli::flags::compress_options::CompressOptions;
use crate::cli::flags::inputs::{self, is_dash};
use crate::cli::runs::{running, summarizer};
use crate::cli::{CliError, ExitStatus};
use crate::metrics::RequestTotals;
use crate::pipeline::{self, Collected};
use crate::settings;
use crate::summarize::batch::queue::QueueLimits;
use crate::summarize::chat::ChatSettings;

/// Have everything asked and answered through a Batch API, and write the output.
///
/// Submits the requests, waits for the answers, asks what they lead to, and writes the output when nothing is left to
/// ask. That may take a day for each round. It may be stopped and killed at any time: the same command goes on, and
/// submits nothing twice. What it knows is in OUT's .batch folder; the answers there are used by later runs as well.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct RunArgs {
    /// File or directory to write [default: {stem}_compressed.jsonl beside the input]
    #[arg(short, long, value_name = "OUT", value_parser = inputs::path())]
    output: Option<PathBuf>,
    /// Exit with 1 if a record is still over the budget: --over-limit fail
    #[arg(long, conflicts_with = "compression.over_limit")]
    fail_over_limit: bool,
    #[command(flatten)]
    flags: BatchFlags<BatchRunKeys>,
}

const EXAMPLES: &str = "\
Examples:
  trajfit batch run runs.jsonl -o out.jsonl --model gpt-5-mini
  trajfit batch run runs.jsonl -o out.jsonl --model claude-haiku-4-5 --api anthropic";

/// Runs the command.
pub fn run(args: RunArgs) -> Result<ExitStatus, CliError> {
    let resend_failed = args.flags.resend_failed;
    let mut options = args.flags.options(args.output, args.fail_over_limit)?;
    if options.inputs.iter().any(|input| is_dash(input)) || options.writes_stdout() {
        return Err(
            CliError::usage("the records are read several times, and the output may come tomorrow")
                .with_help("name files for INPUT and --output"),
        );
    }
    let job = apply::job(&options)?;
    options.resume = job.targets.checkpoint().exists() && !options.force;
    if !options.resume {
        pipeline::refuse_existing(&job).map_err(running::cli_error)?;
    }
    let path = job.targets.batch_folder();
    let opened = Folder::open(&path).map_err(|error| fault("write", &path, &error))?;
    let Some(folder) = opened else {
        return Err(
            CliError::stopped(format!("another run is using {}", path.display()))
                .with_help("wait for it to end, or name another output with -o"),
        );
    };
    let state = folder.load();
    let mut run = BatchRun {
        state: state.map_err(|error| fault("read", &folder.state(), &error))?,
        settings: summarizer::chat_settings(&options.settings.summaries)?,
        watch: Watch::new(options.quiet, options.verbose),
        stop: running::stop_on_signals()?,
        options: &options,
        cache: job.targets.cache(),
        folder,
    };
    run.refuse_other_settings()?;
    let responses = run.answers(resend_failed)?;
    let BatchRun {
        watch,
        folder,
        mut state,
        ..
    } = run;
    drop(watch);
    let status = apply::apply(&options, &responses, false)?;
    state.rounds = 0;
    state.spent = RequestTotals::default();
    // The next run finds out its own limits.
    state.room = QueueLimits::default();
    let saved = folder.save(&state);
    saved.map_err(|error| fault("write", &folder.state(), &error))?;
    Ok(status)
}

struct BatchRun<'r> {
    options: &'r CompressOptions,
    settings: ChatSettings,
    folder: Folder,
    /// The folder of answers of earlier runs.
    cache: Option<PathBuf>,
    state: State,
    watch: Watch,
    stop: Arc<AtomicBool>,
}

impl BatchRun<'_> {
    /// Refuses settings other than those of open batches.
    fn refuse_other_settings(&mut self) -> Result<(), CliError> {
        let changed = settings::differences(&self.state.settings, &self.options.settings.fingerprint);
        if !self.state.is_open() || changed.is_empty() {
            return Ok(());
        }
        if !self.state.has_submitted() {
            self.state.drop_unsubmitted();
            return Ok(());
        }
        let changed = changed.join("\n  ");
        Err(
            CliError::usage(format!("other settings have batches under way\n  {changed}")).with_help(
                format!(
                    "run it as it was started, or delete {} to give those batches up",
                    self.folder.state().display()
                ),
            ),
        )
    }

    /// Gets all answers that it can, in rounds, and returns them.
    fn answers(&mut self, mut resend_failed: bool) -> Result<Arc<ResponseFiles>, CliError> {
        let mut answered_before = None;
        loop {
            let waited = self.state.is_open();
            if waited {
                self.finish_batches()?;
            }
            let responses = flags::responses(&[self.folder.answers()], self.options.quiet)?;
            if waited {
                refuse_no_answers(&responses, answered_before)?;
            }
            answered_before = Some(responses.found.answered);
            let round = self.state.rounds + 1;
            if round > self.options.settings.batches.max_rounds {
                self.watch.line("no more rounds: --max-rounds is reached");
                return Ok(responses);
            }
            let collecting = Collecting {
                responses: Arc::<_>::clone(&responses) as _,
                resend_failed,
                cache: self.cache.clone(),
                path: self.folder.requests(round),
                force: true,
            };
            let collected = collect(self.options, collecting, &self.stop)?;
            // Requests that failed are sent again only once.
            resend_failed = false;
            if collected.files.is_empty() {
                return refuse_only_failures(&responses).map(|()| responses);
            }
            self.watch.line(&format!("Round {round}"));
            self.watch
                .line(export::table(self.options, &collected).trim_end());
            self.begin(round, &collected)?;
        }
    }

    /// Records the batches of a round, if the limits allow it.
    fn begin(&mut self, round: u64, collected: &Collected) -> Result<(), CliError> {
        let mut spent = self.state.spent;
        spent += collected.requests;
        let limits = self.options.settings.summaries.limits;
        let cost = limits.prices.map(|prices| prices.cost(spent.tokens));
        let over = |message: String, flag: &str| {
            Err(CliError::stopped(message).with_help(format!("raise {flag}; then {RUN_AGAIN}")))
        };
        if let Some(most) = limits.max_requests.filter(|most| spent.requests > *most) {
            let message = format!(
                "round {round} would make it {} requests, over the limit of {most}",
                spent.requests
            );
            return over(message, "--max-requests");
        }
        if let (Some(most), Some(cost)) = (
            limits.max_cost,
            cost.filter(|cost| limits.max_cost.is_some_and(|most| *cost > most)),
        ) {
            let message = format!("round {round} would make it about ${cost:.2}, over the limit of ${most}");
            return over(message, "--max-cost");
        }
        let sizes = collected.files.iter().map(|file| {
            let size = file.metadata().map(|metadata| metadata.len());
            size.map_err(|error| fault("read", file, &error))
        });
        let sizes: Vec<u64> = sizes.collect::<Result<_, _>>()?;
        let all: u64 = sizes.iter().sum();
        for (file, size) in collected.files.iter().zip(sizes) {
            let batch = Batch::of(file).map_err(|error| fault("read", file, &error))?;
            self.state.batches.push(Batch {
                prompt_tokens: part_of(collected.requests.tokens.prompt, size, all),
                ..batch
            });
        }
        self.state.rounds = round;
        self.state.spent = spent;
        self.state.settings = self.options.settings.fingerprint.clone();
        let saved = self.folder.save(&self.state);
        saved.map_err(|error| fault("write", &self.folder.state(), &error))
    }

    /// Submits new batches, and waits for all.
    fn finish_batches(&mut self) -> Result<(), CliError> {
        let wrong = |why: String| CliError::usage(format!("cannot use the network: {why}"));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| wrong(error.to_string()))?;
        let watch = &mut self.watch;
        let mut tell = |event: crate::batch::BatchEvent<'_>| watch.tell(&event);
        let mut rounds = Rounds {
            folder: &self.folder,
            state: &mut self.state,
            vendor: Vendor::new(&self.settings, &self.stop).map_err(wrong)?,
            limit: QueueLimits {
                tokens: self.options.settings.batches.max_enqueued_tokens,
                requests: None,
            },
            interval: self.options.settings.batches.poll_interval,
            tell: &mut tell,
        };
        let finished = runtime.block_on(rounds.finish());
        // A name lookup that is under way is not waited for.
        runtime.shutdown_background();
        self.watch.rest();
        finished.map_err(cli_error)
    }
}

/// Refuses to repeat a round that brought no answers.
fn refuse_no_answers(responses: &ResponseFiles, before: Option<u64>) -> Result<(), CliError> {
    let found = &responses.found;
    let expired = found.failed.contains_key("summary_expired") && before == Some(found.answered);
    // Requests that were refused for their form get another form the next time.
    if (found.answered > 0 || found.taught > 0 || found.too_long > 0) && !expired {
        return Ok(());
    }
    Err(no_answers(responses))
}

/// Refuses to go on without summaries if no request at all was answered.
fn refuse_only_failures(responses: &ResponseFiles) -> Result<(), CliError> {
    let found = &responses.found;
    if found.answered > 0 || found.failed.is_empty() {
        return Ok(());
    }
    Err(no_answers(responses))
}

fn no_answers(responses: &ResponseFiles) -> CliError {
    let failed = responses.found.failed.iter();
    let mut names: Vec<(u64, &str)> = failed.map(|(name, count)| (*count, *name)).collect();
    names.sort_by(|one, other| other.cmp(one));
    let names: Vec<String> = names
        .iter()
        .map(|(count, name)| format!("{name} {count}"))
        .collect();
    let why = if names.is_empty() {
        "nothing came back".to_owned()
    } else {
        names.join(", ")
    };
    CliError::stopped(format!("no request was answered: {why}"))
        .with_help(format!("check --model and the settings; {RUN_AGAIN}"))
}

fn fault(doing: &str, path: &std::path::Path, error: &std::io::Error) -> CliError {
    cli_error(BatchError::file(doing, path, error))
}

fn cli_error(error: BatchError) -> CliError {
    match error {
        BatchError::Interrupted => CliError {
            status: ExitStatus::Interrupted,
            ..CliError::stopped("interrupted").with_help(RUN_AGAIN)
        },
        BatchError::Stopped { message, help, .. } => CliError::stopped(message).with_help(help),
    }
}
