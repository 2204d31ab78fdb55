//! `trajfit batch apply`: a run that takes its answers from files.

use std::path::PathBuf;
use std::sync::Arc;

use super::collecting::{Collecting, collect};
use super::flags::{self, BatchFlags};
use super::keys::ApplyKeys;
use crate::batch::ResponseFiles;
use crate::cache::CacheAccess;
use crate::cli::flags::compress_options::CompressOptions;
use crate::cli::flags::inputs;
use crate::cli::runs::{execute, running, summarizer};
use crate::cli::{CliError, ExitStatus};
use crate::config::OnFailure;
use crate::pipeline::Job;

/// Finish the job from the answers of a batch.
///
/// Takes the answers in any order, from any number of files: output and error files of OpenAI's form (OpenAI, vLLM),
/// and results of Anthropic's. The records and the settings must be those of the export.
///
/// What is not answered yet is treated as --on-failure says, and written to OUT's .missing.jsonl: have that answered as
/// well, then apply all answers with --force.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::doc_markdown, reason = "the text is help for a terminal")]
pub struct ApplyArgs {
    /// Answers: files, or folders of .jsonl files
    #[arg(long, value_name = "FILES", num_args = 1.., required = true)]
    responses: Vec<PathBuf>,
    /// File or directory to write; - is standard output [default: {stem}_compressed.jsonl beside the input]
    #[arg(short, long, value_name = "OUT", value_parser = inputs::path())]
    output: Option<PathBuf>,
    /// Continue a run that was stopped
    #[arg(long, conflicts_with = "force")]
    resume: bool,
    /// Exit with 1 if a record is still over the budget: --over-limit fail
    #[arg(long, conflicts_with = "compression.over_limit")]
    fail_over_limit: bool,
    #[command(flatten)]
    flags: BatchFlags<ApplyKeys>,
}

const EXAMPLES: &str = "\
Examples:
  trajfit batch apply runs.jsonl --responses responses.jsonl -o out.jsonl --model gpt-5-mini
  trajfit batch apply runs.jsonl --responses answers/ more.jsonl -o out.jsonl --model gpt-5-mini --force";

/// Runs the command.
pub fn run(args: ApplyArgs) -> Result<ExitStatus, CliError> {
    let resend_failed = args.flags.resend_failed;
    let mut options = args.flags.options(args.output, args.fail_over_limit)?;
    options.resume = args.resume;
    let options = options.checked()?;
    let responses = flags::responses(&args.responses, options.quiet)?;
    apply(&options, &responses, resend_failed)
}

/// The job that the options describe, with the file for requests that are still to be sent.
pub fn job(options: &CompressOptions) -> Result<Job, CliError> {
    let mut job = execute::job(options)?;
    job.asks = Some(flags::request_target(&options.settings, job.targets.requests()));
    Ok(job)
}

/// Writes the output with the available answers.
pub fn apply(
    options: &CompressOptions,
    responses: &Arc<ResponseFiles>,
    resend_failed: bool,
) -> Result<ExitStatus, CliError> {
    let settings = &options.settings;
    let mut job = job(options)?;
    if settings.fit.on_failure == OnFailure::Fail {
        let stop = running::stop_on_signals()?;
        let collecting = Collecting {
            responses: Arc::<_>::clone(responses) as _,
            resend_failed,
            cache: job.targets.cache(),
            path: job.targets.requests(),
            force: options.force,
        };
        let collected = collect(options, collecting, &stop)?;
        if let Some(file) = collected.files.first() {
            return Err(CliError::stopped(format!(
                "{} records wait for an answer, and --on-failure fail lets none of them go without",
                collected.waiting.values().sum::<u64>()
            ))
            .with_help(format!(
                "have the requests in {} answered, then apply all answers with --force",
                file.display()
            )));
        }
    }
    let found = &responses.found;
    let failed: u64 = found.failed.values().sum();
    job.settings.insert(
        "--responses".to_owned(),
        serde_json::json!({"answers": found.answered, "failures": failed, "bytes": found.bytes}),
    );
    let postbox = flags::postbox(settings, Arc::<_>::clone(responses) as _, resend_failed);
    let chosen = summarizer::in_files(options, job.targets.cache(), CacheAccess::Keep, postbox)?;
    let status = execute::run(options, job, chosen)?;
    if !options.quiet && !options.resume {
        flags::tell_strangers(responses);
    }
    Ok(status)
}
