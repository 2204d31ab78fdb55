//! `trajfit check`: the gate for CI and commit hooks.

mod grounding;
pub(super) mod unrolled;

use std::path::PathBuf;

use super::unroll::mark;
use crate::cli::flags::inputs::{self, tokens};
use crate::cli::runs::survey::{SurveyArgs, SurveyOutcome};
use crate::cli::terminal::stdout;
use crate::cli::{CliError, ExitStatus};
use crate::report::{Allowance, CheckLimits, CheckOutcome, check_text};
use grounding::GroundingCheck;
use unrolled::UnrolledCheck;

/// Check that trajectories are within the budget: exit code 0 if they are, 1 if not.
///
/// Holds the tokens of every record against --max-tokens, and with --p99 their 99th percentile against a limit of its
/// own; with --chat-template both counts are shown, and --count says which one judges. Fails as well where a record
/// cannot be read (--on-invalid pass allows that) or the template refuses one (--allow-refused), and where there is no
/// record at all: a check that saw nothing says nothing.
///
/// With --against, the records of one run pair by source and line, as the metrics beside COMPRESSED say. Others pair by
/// their ids; records that share an id, or have none, pair by order where both data sets have as many of them. Records that
/// were not judged fail the check (--allow-unjudged): those without a counterpart, those that the run rejected, and those of
/// which no assistant turn is the original's.
///
/// With --unrolled-from, the trained turns of the records that trajfit unroll wrote are put together again: they must be the
/// assistant turns of the trajectories, each once, byte for byte.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct CheckArgs {
    #[command(flatten)]
    survey: SurveyArgs,
    /// Records that may be over --max-tokens: a number, or a part of all records such as 0.5%
    #[arg(long, value_name = "COUNT|PERCENT", default_value = "0", value_parser = allowance)]
    max_over: Allowance,
    /// Tokens that the 99th percentile of all records may be
    #[arg(long, value_name = "N", value_parser = tokens)]
    p99: Option<u64>,
    /// Records that the chat template refuses do not fail the check
    #[arg(long)]
    allow_refused: bool,
    /// Compare with the data before compression, by any program: are the identifiers that kept assistant turns rely on
    /// still named before them? No tokens are counted then. Give it once for each input of a run that merged several
    #[arg(long, alias = "grounding", value_name = "ORIGINAL", value_parser = inputs::path(), conflicts_with_all = ["p99", "allow_refused"])]
    against: Vec<PathBuf>,
    /// Exit with 1 if less than this part (0 to 1) of the identifiers that later turns rely on is held
    #[arg(long, value_name = "NUMBER", requires = "against", value_parser = part)]
    min_grounding: Option<f64>,
    /// With --against: records that need not be judged: a number, or a part of all such as 0.5%
    #[arg(long, value_name = "COUNT|PERCENT", default_value = "0", requires = "against", value_parser = allowance)]
    allow_unjudged: Allowance,
    /// Prove that every assistant turn of these trajectories is trained in exactly one record. Then no tokens are counted
    #[arg(long, value_name = "ORIGINAL", value_parser = inputs::path(), conflicts_with_all = ["against", "p99", "allow_refused", "json"])]
    unrolled_from: Option<PathBuf>,
    /// Field that is true on trained turns and false on others, or FIELD=VALUE for its value on others; none for records with
    /// a list of trained turns [default: train, or the field of the configuration]
    #[arg(long, value_name = "FIELD[=VALUE]", requires = "unrolled_from")]
    mark: Option<String>,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  trajfit check out.jsonl                            no record is over 15,250 tokens
  trajfit check data/ --tokenizer qwen3/ --max-tokens 32000 --max-over 0.5%
  trajfit check runs.jsonl --p99 16000 --json
  trajfit check --against runs.jsonl out.jsonl --min-grounding 0.99
  trajfit check --unrolled-from runs.jsonl unrolled.jsonl

Exit codes: 0 passed, 1 failed, 2 wrong usage or configuration, 4 could not go on, 130 interrupted";

/// Runs the command.
pub fn run(args: CheckArgs) -> Result<ExitStatus, CliError> {
    if !args.against.is_empty() {
        let (compressed, settings) = args.survey.only_input("--against")?;
        return GroundingCheck {
            originals: &args.against,
            compressed: &compressed,
            least: args.min_grounding,
            allow_unjudged: args.allow_unjudged,
            json: args.json,
            settings: &settings,
        }
        .run();
    }
    if let Some(originals) = &args.unrolled_from {
        let (unrolled, settings) = args.survey.only_input("--unrolled-from")?;
        return UnrolledCheck {
            originals,
            unrolled: &unrolled,
            mark: mark::mark(args.mark.as_deref(), settings.fit.mark.as_ref())?,
            settings: &settings,
        }
        .run();
    }
    let Some(surveyed) = args.survey.survey(false)? else {
        return Ok(ExitStatus::Done);
    };
    let SurveyOutcome {
        census,
        figures,
        report,
        max_tokens,
        allow_unreadable,
        ..
    } = surveyed;
    let limits = CheckLimits {
        max_tokens,
        max_over: args.max_over,
        p99: args.p99,
        allow_unreadable,
        allow_refused: args.allow_refused,
    };
    let outcome = CheckOutcome::new(figures, &census, &limits, report.tokenizer_note);
    stdout::print_result(&outcome, args.json, check_text)?;
    Ok(ExitStatus::of_gate(outcome.passed))
}

/// The value of `--max-over` and `--allow-unjudged`.
pub fn allowance(text: &str) -> Result<Allowance, String> {
    let Some(percent) = text.strip_suffix('%') else {
        let count = text.parse().map(Allowance::Records);
        return count.map_err(|_| "neither a number of records nor a percentage such as 0.5%".to_owned());
    };
    match percent.trim().parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => {
            Ok(Allowance::Share((percent * 1e6).round() as u64))
        }
        _ => Err("not a percentage from 0% to 100%".to_owned()),
    }
}

/// The value of `--min-grounding`.
fn part(text: &str) -> Result<f64, String> {
    let part = text.parse::<f64>().ok().filter(|part| (0.0..=1.0).contains(part));
    part.ok_or_else(|| "not a number from 0 to 1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_records_allowed_are_a_number_or_a_share() {
        assert_eq!(allowance("12"), Ok(Allowance::Records(12)));
        assert_eq!(allowance("0.5%"), Ok(Allowance::Share(500_000)));
        assert_eq!(allowance("0.07 %"), Ok(Allowance::Share(70_000)));
        assert_eq!(allowance("100%"), Ok(Allowance::Share(100_000_000)));
        for wrong in ["", "%", "-1", "-1%", "101%", "0.5", "NaN%", "half"] {
            assert!(allowance(wrong).is_err(), "{wrong}");
        }
    }
}
