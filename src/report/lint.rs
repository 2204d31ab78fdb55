//! The answer of `lint`: the outcomes of records in a trainer, worst first, for people and for machines.

use std::fmt::Write;

use serde::Serialize;

use super::count_text::complaints;
use super::figures::{percent, printable, thousands};
use super::table::columns;
use crate::metrics::{Complaint, LintCensus, LintChanges, LintExample, NewLoss};
use crate::names::Named;
use crate::trainers::{Finding, Trainer, TrainingOutcome};

/// The schema of this JSON. It changes only with the meaning of a key; keys may be added.
const SCHEMA: &str = "trajfit.lint/1";

/// The result of `lint`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LintReport {
    /// The schema of this object.
    pub schema: &'static str,
    /// The version of the program.
    pub version: &'static str,
    /// The trainer, and the version that its rules were taken from.
    pub trainer: TrainerFigures,
    /// The limit in tokens; `None` if there is none.
    pub max_length: Option<u64>,
    /// True if the limit is the trainer's own.
    pub max_length_is_default: bool,
    /// The records as they are; with `after`, before compression.
    pub records: LintFigures,
    /// The compressed records, if they are compared.
    pub after: Option<LintFigures>,
    /// The comparison, if there is one.
    pub changes: Option<ChangeFigures>,
    /// True if nothing was found that fails the command.
    pub passed: bool,
}

/// A trainer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrainerFigures {
    /// The name that `--trainer` takes.
    pub name: &'static str,
    /// Its package.
    pub package: &'static str,
    /// The version that the rules were taken from.
    pub version: &'static str,
    /// The option that sets the limit.
    pub length_option: &'static str,
    /// The masked part, in words.
    pub masked: &'static str,
}

/// Records by outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LintFigures {
    /// Records judged.
    pub records: u64,
    /// The outcomes, worst first, those without a record included.
    pub outcomes: Vec<OutcomeFigures>,
    /// Tokens to be learnt, in records that are cut at worst.
    pub learnt_tokens: u64,
    /// Tokens of these that the limit cuts off.
    pub vanished_tokens: u64,
    /// Records in which a turn to be learnt loses its end marker.
    pub lost_end_markers: u64,
    /// Records that cannot be read.
    pub unreadable: u64,
    /// The first of them.
    pub first_unreadable: Vec<Complaint>,
}

/// Records with one outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutcomeFigures {
    /// The outcome.
    pub outcome: &'static str,
    /// Records with it.
    pub records: u64,
    /// Findings that lead to it, the most frequent first; a record may have several.
    pub findings: Vec<FindingFigures>,
}

/// A finding and its first record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FindingFigures {
    /// Its kind.
    pub kind: &'static str,
    /// Records with it.
    pub records: u64,
    /// The source of the first.
    pub source: String,
    /// Its line there.
    pub line: u64,
    /// The turn there, from 1.
    pub turn: Option<usize>,
    /// More about it.
    pub detail: String,
}

/// Records before and after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangeFigures {
    /// Records compared.
    pub pairs: u64,
    /// Records of either side that have no counterpart.
    pub unpaired: u64,
    /// Records that fare worse after compression.
    pub new_losses: u64,
    /// The first of them.
    pub first: Vec<LossFigures>,
}

/// A record that fares worse.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LossFigures {
    /// The source of the compressed record.
    pub source: String,
    /// Its line there.
    pub line: u64,
    /// The outcome before.
    pub before: &'static str,
    /// The outcome after.
    pub after: &'static str,
    /// The kind of the worst finding.
    pub kind: &'static str,
    /// The turn, from 1.
    pub turn: Option<usize>,
    /// More about it.
    pub detail: String,
}

impl LintReport {
    /// The report on records alone. It passes unless `fails_on_loss` and a record is lost.
    pub fn new(
        trainer: &'static Trainer,
        limit: Option<u64>,
        census: &LintCensus,
        fails_on_loss: bool,
    ) -> Self {
        let lost: u64 = outcomes()
            .filter(|outcome| outcome.is_loss())
            .map(|loss| census.with(loss))
            .sum();
        Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            trainer: TrainerFigures {
                name: &trainer.name,
                package: &trainer.package,
                version: &trainer.version,
                length_option: &trainer.length.option,
                masked: &trainer.trained.masked,
            },
            max_length: limit.or(trainer.length.default),
            max_length_is_default: limit.is_none(),
            records: LintFigures::new(census),
            after: None,
            changes: None,
            passed: !fails_on_loss || lost + census.unreadable == 0,
        }
    }

    /// The report on records before and after compression. It passes if none fares worse.
    pub fn compared(
        trainer: &'static Trainer,
        limit: Option<u64>,
        changes: &LintChanges,
        fails_on_loss: bool,
    ) -> Self {
        let after = Self::new(trainer, limit, &changes.after, fails_on_loss);
        Self {
            records: LintFigures::new(&changes.before),
            after: Some(LintFigures::new(&changes.after)),
            changes: Some(ChangeFigures {
                pairs: changes.pairs,
                unpaired: changes.unpaired,
                new_losses: changes.new_losses,
                first: changes.first.iter().map(LossFigures::new).collect(),
            }),
            passed: after.passed && changes.new_losses == 0,
            ..after
        }
    }
}

/// All outcomes, worst first.
fn outcomes() -> impl Iterator<Item = TrainingOutcome> {
    TrainingOutcome::NAMES
        .iter()
        .rev()
        .filter_map(|name| TrainingOutcome::from_name(name))
}

impl LintFigures {
    fn new(census: &LintCensus) -> Self {
        let figures = |outcome: TrainingOutcome| OutcomeFigures {
            outcome: outcome.name(),
            records: census.with(outcome),
            findings: census
                .findings(outcome)
                .into_iter()
                .map(FindingFigures::new)
                .collect(),
        };
        Self {
            records: census.records,
            outcomes: outcomes().map(figures).collect(),
            learnt_tokens: census.learnt,
            vanished_tokens: census.vanished,
            lost_end_markers: census.lost_ends,
            unreadable: census.unreadable,
            first_unreadable: census.first_unreadable.clone(),
        }
    }
}

impl FindingFigures {
    fn new(example: &LintExample) -> Self {
        let Finding {
            kind, turn, detail, ..
        } = &example.finding;
        Self {
            kind: kind.name(),
            records: example.records,
            source: example.source.clone(),
            line: example.line,
            turn: *turn,
            detail: detail.clone(),
        }
    }
}

impl LossFigures {
    fn new(loss: &NewLoss) -> Self {
        let Finding {
            kind, turn, detail, ..
        } = &loss.finding;
        Self {
            source: loss.source.clone(),
            line: loss.line,
            before: loss.before.name(),
            after: loss.after.name(),
            kind: kind.name(),
            turn: *turn,
            detail: detail.clone(),
        }
    }
}

/// The text, a newline after each line. It has no colours.
pub fn lint_text(report: &LintReport) -> String {
    let mut text = String::new();
    let trainer = &report.trainer;
    let limit = match (report.max_length, report.max_length_is_default) {
        (Some(limit), true) => format!("{} is {} unless set", trainer.length_option, thousands(limit)),
        (Some(limit), false) => format!("{} {}", trainer.length_option, thousands(limit)),
        (None, _) => format!("no limit on {}", trainer.length_option),
    };
    let _ = writeln!(
        text,
        "{} ({} {}), {limit}",
        trainer.name, trainer.package, trainer.version
    );
    text.push_str(&table(report));
    let shown = report.after.as_ref().unwrap_or(&report.records);
    text.push_str(&findings(shown));
    if let Some(changes) = &report.changes {
        text.push_str(&new_losses(changes));
    }
    text
}

/// Outcomes with their records, before and after where both are known.
fn table(report: &LintReport) -> String {
    let mut rows = Vec::new();
    if report.after.is_some() {
        rows.push(["", "before", "after"].map(str::to_owned).to_vec());
    }
    for (place, before) in report.records.outcomes.iter().enumerate() {
        let mut row = vec![before.outcome.to_owned(), thousands(before.records)];
        match &report.after {
            Some(after) => {
                let after = after.outcomes.get(place).map_or(0, |after| after.records);
                row.push(thousands(after));
            }
            None => row.push(percent(before.records, report.records.records)),
        }
        rows.push(row);
    }
    columns(&rows)
}

fn findings(figures: &LintFigures) -> String {
    let mut text = String::new();
    for outcome in figures
        .outcomes
        .iter()
        .filter(|outcome| !outcome.findings.is_empty())
    {
        let _ = writeln!(text, "{}:", outcome.outcome);
        for finding in &outcome.findings {
            let records = thousands(finding.records);
            let place = place(&finding.source, finding.line, finding.turn, &finding.detail);
            let _ = writeln!(text, "  {} {records}: {place}", finding.kind);
        }
    }
    if figures.vanished_tokens > 0 {
        let _ = writeln!(
            text,
            "Of {} tokens to learn, {} are cut off; records in which a turn loses its end: {}",
            thousands(figures.learnt_tokens),
            thousands(figures.vanished_tokens),
            thousands(figures.lost_end_markers)
        );
    }
    if figures.unreadable > 0 {
        let _ = write!(
            text,
            "Unreadable:\n{}",
            complaints(figures.unreadable, &figures.first_unreadable)
        );
    }
    text
}

fn new_losses(changes: &ChangeFigures) -> String {
    let mut text = format!(
        "New losses: {} of {} records",
        thousands(changes.new_losses),
        thousands(changes.pairs)
    );
    if changes.unpaired > 0 {
        let _ = write!(text, "; without a counterpart: {}", thousands(changes.unpaired));
    }
    text.push('\n');
    for loss in &changes.first {
        let place = place(&loss.source, loss.line, loss.turn, &loss.detail);
        let _ = writeln!(
            text,
            "  {} -> {}: {} at {place}",
            loss.before, loss.after, loss.kind
        );
    }
    let more = changes.new_losses.saturating_sub(changes.first.len() as u64);
    if more > 0 {
        let _ = writeln!(text, "  and {} more", thousands(more));
    }
    text
}

fn place(source: &str, line: u64, turn: Option<usize>, detail: &str) -> String {
    let mut place = format!("{source}:{line}");
    if let Some(turn) = turn {
        let _ = write!(place, ", turn {turn}");
    }
    if !detail.is_empty() {
        let _ = write!(place, ": {detail}");
    }
    printable(&place).to_string()
}
