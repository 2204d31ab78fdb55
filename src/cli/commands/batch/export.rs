//! `trajfit batch export`: the requests for a batch, as files.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use super::collecting::{Collecting, collect};
use super::flags::{self, BatchFlags};
use super::keys::ExportKeys;
use crate::cli::flags::compress_options::CompressOptions;
use crate::cli::flags::inputs::is_dash;
use crate::cli::runs::running;
use crate::cli::{CliError, ExitStatus, errors};
use crate::metrics::Status;
use crate::pipeline::Collected;
use crate::report::{CollectionFigures, collection_table};
use crate::stores;

/// Write the requests for a batch.
///
/// Writes the requests that compress --summarizer chat would send, each once, in the form of OpenAI's Batch API, or
/// with --api anthropic in that of Anthropic's Message Batches; into requests.jsonl, requests-2.jsonl and so on, each
/// as large as the vendor takes.
///
/// With --responses it writes what is to be asked next: what was not answered, or not usably, and the questions that
/// the answers lead to.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::doc_markdown, reason = "the text is help for a terminal")]
pub struct ExportArgs {
    /// File of requests to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Answers: files, or folders of .jsonl files
    #[arg(long, value_name = "FILES", num_args = 1..)]
    responses: Vec<PathBuf>,
    #[command(flatten)]
    flags: BatchFlags<ExportKeys>,
}

const EXAMPLES: &str = "\
Examples:
  trajfit batch export runs.jsonl -o requests.jsonl --model gpt-5-mini
  trajfit batch export runs.jsonl -o requests.jsonl --model claude-haiku-4-5 --api anthropic
  trajfit batch export runs.jsonl -o more.jsonl --model gpt-5-mini --responses responses.jsonl";

/// Runs the command.
pub fn run(args: ExportArgs) -> Result<ExitStatus, CliError> {
    if is_dash(&args.output) {
        return Err(
            CliError::usage("requests may need several files, and standard output is none")
                .with_help("name a file with -o"),
        );
    }
    if stores::is_url(&args.output) {
        let message = format!(
            "cannot write {}: files of requests are written on this machine",
            args.output.display()
        );
        return Err(CliError::usage(message).with_help("name a file with -o"));
    }
    let resend_failed = args.flags.resend_failed;
    let options = args.flags.options(Some(args.output.clone()), false)?;
    let responses = flags::responses(&args.responses, options.quiet)?;
    let stop = running::stop_on_signals()?;
    let collecting = Collecting {
        responses: Arc::<_>::clone(&responses) as _,
        resend_failed,
        // The output does not exist yet, so there is nothing beside it.
        cache: None,
        path: args.output,
        force: options.force,
    };
    let collected = collect(&options, collecting, &stop)?;
    if !options.quiet {
        // If stderr is closed, the text is lost.
        let _ = io::stderr().write_all(table(&options, &collected).as_bytes());
        errors::warn(collected.tokenizer_note.as_slice());
        flags::tell_strangers(&responses);
    }
    let unreadable =
        collected.totals.with_status(Status::Rejected) + collected.totals.with_status(Status::Failed);
    Ok(if unreadable > 0 {
        ExitStatus::Incomplete
    } else {
        ExitStatus::Done
    })
}

/// The figures of a collection as a table, for people.
pub fn table(options: &CompressOptions, collected: &Collected) -> String {
    let (totals, requests) = (&collected.totals, collected.requests);
    let prices = options.settings.summaries.limits.prices;
    collection_table(&CollectionFigures {
        records: totals.sums.records,
        waiting: collected.waiting.values().sum(),
        unreadable: totals.with_status(Status::Rejected),
        failed: failed_for_good(collected),
        requests: requests.requests,
        prompt_tokens: requests.tokens.prompt,
        completion_tokens: requests.tokens.completion,
        cost: prices.map(|prices| prices.cost(requests.tokens)),
        elapsed: collected.elapsed,
        bytes_in: collected.bytes_read,
        files: collected.files.clone(),
    })
}

/// Number of records whose summary failed for good, by reason code: their requests are not sent again.
fn failed_for_good(collected: &Collected) -> Vec<(String, u64)> {
    let reasons = collected.totals.reasons().into_iter();
    let of_summaries = reasons.filter(|(reason, _)| reason.starts_with("summary_"));
    of_summaries
        .map(|(reason, count)| {
            let waiting = collected.waiting.get(reason).copied().unwrap_or_default();
            (reason.to_owned(), count.saturating_sub(waiting))
        })
        .filter(|(_, count)| *count > 0)
        .collect()
}
