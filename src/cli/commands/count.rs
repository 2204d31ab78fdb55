//! `trajfit count`: the tokens of the records, as a table, as totals in JSON, or as a line of JSON for each record.

use crate::cli::runs::survey::{SurveyArgs, SurveyOutcome};
use crate::cli::terminal::stdout;
use crate::cli::{CliError, ExitStatus, errors};
use crate::report::{CountReport, count_text};

/// Count tokens: totals, percentiles, a histogram, and the largest parts of the largest records.
///
/// Reads the same inputs as compress, and writes its answer to standard output, nothing else. Keys of the configuration and
/// environment variables apply as they do to compress; those about compression have no effect.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct CountArgs {
    #[command(flatten)]
    survey: SurveyArgs,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
    /// Print a line of JSON for each record: its source, line, id, tokens, turns, tokens of each turn
    #[arg(long, conflicts_with = "json")]
    per_record: bool,
}

const EXAMPLES: &str = "\
Examples:
  trajfit count runs.jsonl                           a table, with the built-in tokenizer
  trajfit count data/ --tokenizer qwen3/ --max-tokens 32000
  trajfit count runs.jsonl --per-record | jq 'select(.tokens > 32000) | .id'
  zcat runs.jsonl.gz | trajfit count - --json

Exit codes: 0 done, 2 wrong usage or configuration, 3 done, but some records could not be read,
4 could not go on, 130 interrupted";

/// Runs the command.
pub fn run(args: CountArgs) -> Result<ExitStatus, CliError> {
    let Some(surveyed) = args.survey.survey(args.per_record)? else {
        return Ok(ExitStatus::Done);
    };
    let SurveyOutcome {
        census,
        figures,
        report,
        max_tokens,
        ..
    } = surveyed;
    let unreadable = figures.unreadable.records;
    if !args.per_record {
        let counted = CountReport::new(figures, &census, max_tokens, report.tokenizer_note);
        let text = |counted: &CountReport| count_text(counted, report.elapsed, report.bytes_read);
        stdout::print_result(&counted, args.json, text)?;
    } else if unreadable > 0 && !surveyed.quiet {
        errors::warn(&[format!("records that could not be read: {unreadable}")]);
    }
    Ok(if unreadable > 0 && !surveyed.allow_unreadable {
        ExitStatus::Incomplete
    } else {
        ExitStatus::Done
    })
}
