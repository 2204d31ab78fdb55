//! `trajfit check --against`: the grounding of a compressed data set in its original.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::cli::flags::inputs::{self, is_dash};
use crate::cli::runs::running;
use crate::cli::settings::Settings;
use crate::cli::terminal::stdout;
use crate::cli::{CliError, ExitStatus, errors};
use crate::config::OnInvalid;
use crate::fit::{PairScorer, UnreadablePair};
use crate::metrics::{Complaint, GroundedRecord, is_grounded, share_held};
use crate::pipeline::{self, LeftOut, Paired, Pairs, RawRecord, RunError, TooLong};
use crate::report::{self, Allowance, GroundingOutcome, grounding_text};

/// Maximum number of dangling identifiers named for a record.
const NAMED: usize = 5;

/// The settings of the check.
pub struct GroundingCheck<'a> {
    /// The data before.
    pub originals: &'a [PathBuf],
    /// The data after.
    pub compressed: &'a Path,
    /// The share of identifiers that must be held.
    pub least: Option<f64>,
    /// The records that need not be judged.
    pub allow_unjudged: Allowance,
    /// True if the answer is JSON.
    pub json: bool,
    /// The settings of the configuration.
    pub settings: &'a Settings,
}

impl GroundingCheck<'_> {
    /// Compares all records and prints the answer.
    pub fn run(&self) -> Result<ExitStatus, CliError> {
        let outcome = self.outcome()?;
        stdout::print_result(&outcome, self.json, grounding_text)?;
        Ok(ExitStatus::of_gate(outcome.passed))
    }

    fn outcome(&self) -> Result<GroundingOutcome, CliError> {
        let compressed = [self.compressed.to_owned()];
        if self.originals.iter().chain(&compressed).any(|path| is_dash(path)) {
            return Err(CliError::usage(
                "--against cannot read standard input: both data sets are read twice",
            )
            .with_help("name files or directories"));
        }
        inputs::check(self.originals)?;
        inputs::check(&compressed)?;
        let pairs = Pairs {
            original: pipeline::sources(self.originals).map_err(running::cli_error)?,
            compressed: pipeline::sources(&compressed).map_err(running::cli_error)?,
            compressed_path: self.compressed.to_owned(),
            max_record_bytes: self.settings.max_record_bytes,
        };
        let stop = running::stop_on_signals()?;
        let scorer = PairScorer {
            format: self.settings.fit.format,
        };
        let matching = pairs.matching(scorer, &stop).map_err(running::cli_error)?;
        errors::warn(&matching.warnings);
        let mut outcome = GroundingOutcome {
            schema: report::GROUNDING_SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            min_grounding: self.least,
            matched_by: matching.name(),
            metrics: matching.metrics().map(|path| path.display().to_string()),
            ..GroundingOutcome::default()
        };
        let stops = self.settings.on_invalid == OnInvalid::Fail;
        let compared = pairs.each(&matching, scorer, &stop, |found| {
            match found {
                Paired::Pair(old, new) => add(&mut outcome, scorer, old, new, stops)?,
                // Scored against itself, it reports its error.
                Paired::NoOriginal(new) if scorer.id(&new.bytes).is_none() => {
                    add(&mut outcome, scorer, new, new, stops)?;
                }
                Paired::NoOriginal(_) => outcome.records_without_original += 1,
                Paired::Left(_, LeftOut::Rejected) => outcome.originals_rejected += 1,
                Paired::Left(_, LeftOut::NotTaken) => outcome.originals_not_taken += 1,
                Paired::Left(_, LeftOut::Counts { .. } | LeftOut::Elsewhere) => {
                    outcome.originals_left_out += 1;
                }
            }
            Ok(ControlFlow::Continue(()))
        });
        compared.map_err(running::cli_error)?;
        outcome.anchors_held_share = share_held(outcome.anchors_needed, outcome.anchors_held);
        let unreadable = if self.settings.on_invalid == OnInvalid::Pass {
            0
        } else {
            outcome.unreadable
        };
        outcome.unjudged = unreadable
            + outcome.records_without_original
            + outcome.records_without_kept_turns
            + outcome.originals_left_out
            + outcome.originals_rejected;
        outcome.allowed_unjudged = self.allow_unjudged.of(outcome.records + outcome.unjudged);
        let is_enough = self
            .least
            .is_none_or(|least| is_grounded(outcome.anchors_needed, outcome.anchors_held, least));
        // A check that compared no record fails.
        outcome.passed = is_enough && outcome.unjudged <= outcome.allowed_unjudged && outcome.records > 0;
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
    let too_long = [old, new].into_iter().find_map(|record| {
        let too_long = record.too_long?;
        Some((record, TooLong::CODE, too_long.to_string()))
    });
    let score = match too_long {
        Some(too_long) => Err(too_long),
        None => scorer.score(&old.bytes, &new.bytes).map_err(|unreadable| {
            let (record, error) = match unreadable {
                UnreadablePair::Original(error) => (old, error),
                UnreadablePair::Compressed(error) => (new, error),
            };
            (record, error.code(), error.to_string())
        }),
    };
    let score = match score {
        Ok(score) => score,
        Err((record, code, error)) => {
            if stops {
                return Err(RunError::CannotGoOn {
                    message: format!("stopped at a record: {}:{}: {error}", record.source, record.line),
                    help: "mend the input, or go on after such records with --on-invalid reject".to_owned(),
                });
            }
            outcome.unreadable += 1;
            let told = &mut outcome.unreadable_records;
            Complaint::note(told, &record.source, record.line, code, error);
            return Ok(());
        }
    };
    if score.is_unjudged() {
        outcome.records_without_kept_turns += 1;
        return Ok(());
    }
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
