//! `trajfit check --grounding`: how well a compressed data set keeps what its assistant turns rely on.

use std::path::{Path, PathBuf};

use super::errors::{self, CliError};
use super::exit::ExitStatus;
use super::inputs::{self, is_dash};
use super::survey::AnswerFormat;
use super::{running, stdout};
use crate::config::{Config, OnInvalid};
use crate::fit::{PairScorer, UnreadablePair};
use crate::metrics::{GroundedRecord, is_grounded, share_held};
use crate::pipeline::{self, Found, Matching, Pairs, RawRecord, RunError};
use crate::report::{self, GroundingOutcome, grounding_text};

/// Dangling identifiers named for a record, at most.
const NAMED: usize = 5;

/// Unreadable pairs told, at most.
const TOLD: usize = 10;

/// What is asked for.
pub struct GroundingCheck<'a> {
    /// The data before.
    pub original: &'a Path,
    /// The data after.
    pub compressed: &'a Path,
    /// The part of identifiers that must be held.
    pub least: Option<f64>,
    /// What the answer is printed as.
    pub format: AnswerFormat,
    /// The effective configuration.
    pub config: &'a Config,
}

impl GroundingCheck<'_> {
    /// Compares all records and prints the answer.
    pub fn run(&self) -> Result<ExitStatus, CliError> {
        let outcome = self.outcome()?;
        let answer = match self.format {
            AnswerFormat::Text => grounding_text(&outcome),
            AnswerFormat::Json => report::json(&outcome),
        };
        stdout::print(answer.as_bytes())?;
        Ok(if outcome.passed {
            ExitStatus::Done
        } else {
            ExitStatus::GateFailed
        })
    }

    fn outcome(&self) -> Result<GroundingOutcome, CliError> {
        let paths: [PathBuf; 2] = [self.original.to_owned(), self.compressed.to_owned()];
        if paths.iter().any(|path| is_dash(path)) {
            return Err(CliError::usage(
                "--grounding cannot read standard input: both data sets are read twice",
            )
            .with_help("name files or directories"));
        }
        inputs::check(&paths)?;
        let sources =
            |path: &PathBuf| pipeline::sources(std::slice::from_ref(path)).map_err(running::cli_error);
        let [original, compressed] = &paths;
        let pairs = Pairs {
            original: sources(original)?,
            compressed: sources(compressed)?,
        };
        let stop = running::stop_on_signals()?;
        let scorer = PairScorer {
            format: running::format(self.config),
        };
        let matching = pairs.matching(scorer, &stop).map_err(running::cli_error)?;
        let mut outcome = GroundingOutcome {
            schema: report::GROUNDING_SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            min_grounding: self.least,
            matched_by: match matching {
                Matching::Ids => "ids",
                Matching::Order => "order",
            }
            .to_owned(),
            ..GroundingOutcome::default()
        };
        let stops = self.config.input.on_invalid == OnInvalid::Fail;
        let left_out = pairs.each(matching, scorer, &stop, |found| {
            match found {
                Found::Pair(old, new) => add(&mut outcome, scorer, old, new, stops)?,
                // It says itself why it cannot be read.
                Found::NoOriginal(new) if scorer.id(&new.bytes).is_none() => {
                    add(&mut outcome, scorer, new, new, stops)?;
                }
                Found::NoOriginal(_) => outcome.records_without_original += 1,
            }
            Ok(())
        });
        outcome.originals_left_out = left_out.map_err(running::cli_error)?;
        outcome.anchors_held_share = share_held(outcome.anchors_needed, outcome.anchors_held);
        let all_read = outcome.unreadable + outcome.records_without_original == 0
            || self.config.input.on_invalid == OnInvalid::Pass;
        let is_enough = self
            .least
            .is_none_or(|least| is_grounded(outcome.anchors_needed, outcome.anchors_held, least));
        // A check that saw nothing says nothing.
        outcome.passed = is_enough && all_read && outcome.records > 0;
        if outcome.records == 0 {
            errors::warn(&["no record was compared".to_owned()]);
        }
        Ok(outcome)
    }
}

fn add(
    outcome: &mut GroundingOutcome,
    scorer: PairScorer,
    old: &RawRecord,
    new: &RawRecord,
    stops: bool,
) -> Result<(), RunError> {
    let score = match scorer.score(&old.bytes, &new.bytes) {
        Ok(score) => score,
        Err(unreadable) => {
            let (record, error) = match unreadable {
                UnreadablePair::Original(error) => (old, error),
                UnreadablePair::Compressed(error) => (new, error),
            };
            let told = format!("{}:{}: {error}", record.source, record.line);
            if stops {
                return Err(RunError::CannotGoOn {
                    message: format!("stopped at a record: {told}"),
                    help: "mend the input, or go on after such records with --on-invalid reject".to_owned(),
                });
            }
            outcome.unreadable += 1;
            if outcome.unreadable_records.len() < TOLD {
                outcome.unreadable_records.push(told);
            }
            return Ok(());
        }
    };
    let (needed, held) = (score.needed.len() as u64, score.held() as u64);
    outcome.records += 1;
    outcome.changed_records += u64::from(old.bytes != new.bytes);
    outcome.anchors_needed += needed;
    outcome.anchors_held += held;
    outcome.changed_assistant_turns += score.changed_assistant_turns as u64;
    if held < needed {
        outcome.records_with_dangling_anchors += 1;
        let dangling = score.needed.into_iter().filter(|needed| !needed.is_held);
        outcome.worst.add(GroundedRecord {
            source: new.source.clone(),
            line: new.line,
            id: scorer.id(&new.bytes).flatten().unwrap_or_default(),
            needed,
            held,
            dangling: dangling.take(NAMED).map(|needed| needed.text).collect(),
        });
    }
    Ok(())
}
