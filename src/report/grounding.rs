//! The answer of `check --against`: identifiers needed and held, and the worst records.

use std::borrow::Cow;
use std::fmt::Write;

use serde::Serialize;

use super::count_text::complaints;
use super::figures::{printable, thousands};
use crate::metrics::{Complaint, GroundedRecord, WorstGrounded, is_grounded};

/// The schema of this JSON.
pub const GROUNDING_SCHEMA: &str = "trajfit.grounding/1";

/// The grounding of a compressed data set.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct GroundingOutcome {
    /// The schema of this object.
    pub schema: &'static str,
    /// The version of the program.
    pub version: &'static str,
    /// True if all gates passed.
    pub passed: bool,
    /// The rule by which records paired: `metrics`, `ids`, `ids_and_order` or `order`.
    pub matched_by: &'static str,
    /// The metrics by which records paired, if they did.
    pub metrics: Option<String>,
    /// Pairs compared.
    pub records: u64,
    /// Pairs that differ.
    pub changed_records: u64,
    /// Identifiers that kept assistant turns use and that only removed turns contained.
    pub anchors_needed: u64,
    /// Of these, those that a new turn before the use contains.
    pub anchors_held: u64,
    /// The share held, rounded down; 1 if none is needed.
    pub anchors_held_share: f64,
    /// The share that is required.
    pub min_grounding: Option<f64>,
    /// Pairs with identifiers that dangle.
    pub records_with_dangling_anchors: u64,
    /// Assistant turns of compressed records that are not the original's.
    pub changed_assistant_turns: u64,
    /// Compressed records without an original.
    pub records_without_original: u64,
    /// Pairs in which no assistant turn of the compressed record is the original's.
    pub records_without_kept_turns: u64,
    /// Originals without a compressed record.
    pub originals_left_out: u64,
    /// Originals that the run rejected, by its metrics.
    pub originals_rejected: u64,
    /// Originals that the run did not read (`--limit`, `--sample`), by its metrics. They need not be judged.
    pub originals_not_taken: u64,
    /// Pairs of which one cannot be read.
    pub unreadable: u64,
    /// The first of these; those of a source with the same error are one.
    pub unreadable_records: Vec<Complaint>,
    /// Records and pairs that should be judged and could not be.
    pub unjudged: u64,
    /// The number of these that does not fail the check.
    pub allowed_unjudged: u64,
    /// The records that lost most identifiers.
    pub worst: WorstGrounded,
}

/// The text, a newline after each line.
pub fn grounding_text(outcome: &GroundingOutcome) -> String {
    let mut text = String::new();
    let share = 100.0 * outcome.anchors_held_share;
    let _ = writeln!(
        text,
        "{}{} of {} identifiers that kept assistant turns rely on are held ({share:.2} %)",
        match outcome.min_grounding {
            Some(least) if is_grounded(outcome.anchors_needed, outcome.anchors_held, least) => "PASS  ",
            Some(_) => "FAIL  ",
            None => "",
        },
        thousands(outcome.anchors_held),
        thousands(outcome.anchors_needed),
    );
    let matched_by = match outcome.matched_by {
        "ids_and_order" => "ids, and by order where they repeat",
        name => name,
    };
    let _ = writeln!(
        text,
        "Records: {} compared (matched by {}), {} of them changed, {} with identifiers that dangle",
        thousands(outcome.records),
        outcome
            .metrics
            .as_deref()
            .map_or(Cow::Borrowed(matched_by), printable),
        thousands(outcome.changed_records),
        thousands(outcome.records_with_dangling_anchors),
    );
    let notes = [
        (outcome.originals_left_out, "originals have no compressed record"),
        (outcome.originals_rejected, "originals were rejected by the run"),
        (
            outcome.originals_not_taken,
            "originals were not read by the run (--limit, --sample)",
        ),
        (
            outcome.records_without_original,
            "compressed records have no original",
        ),
        (
            outcome.records_without_kept_turns,
            "compressed records have no assistant turn of their original",
        ),
        (
            outcome.changed_assistant_turns,
            "assistant turns are none of the original's: what they rely on was not judged",
        ),
        (outcome.unreadable, "pairs cannot be read"),
    ];
    for (count, what) in notes.iter().filter(|(count, _)| *count > 0) {
        let _ = writeln!(text, "{} {what}", thousands(*count));
    }
    text.push_str(&complaints(outcome.unreadable, &outcome.unreadable_records));
    if outcome.unjudged > 0 {
        let verdict = if outcome.unjudged > outcome.allowed_unjudged {
            "FAIL"
        } else {
            "PASS"
        };
        let _ = writeln!(
            text,
            "{verdict}  {} not judged, {} allowed (--allow-unjudged)",
            thousands(outcome.unjudged),
            thousands(outcome.allowed_unjudged),
        );
    }
    if !outcome.worst.records().is_empty() {
        text.push_str("Worst:\n");
    }
    for record in outcome.worst.records() {
        let _ = writeln!(text, "  {}", line(record));
    }
    let verdict = if outcome.passed { "passed" } else { "failed" };
    let _ = writeln!(text, "The check {verdict}.");
    text
}

fn line(record: &GroundedRecord) -> String {
    let place = format!("{}:{}", record.source, record.line);
    let mut line = format!("{} holds {} of {}", printable(&place), record.held, record.needed);
    if !record.dangling.is_empty() {
        let names: Vec<_> = record.dangling.iter().map(|name| printable(name)).collect();
        let _ = write!(line, "; dangling: {}", names.join(", "));
        let more = (record.needed - record.held).saturating_sub(names.len() as u64);
        if more > 0 {
            let _ = write!(line, " and {more} more");
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_is_not_rounded_before_it_is_judged() {
        let mut outcome = GroundingOutcome {
            anchors_needed: 3,
            anchors_held: 1,
            anchors_held_share: 0.3333,
            min_grounding: Some(0.333_33),
            ..GroundingOutcome::default()
        };
        assert!(grounding_text(&outcome).starts_with("PASS  1 of 3"));
        outcome.min_grounding = Some(0.3334);
        assert!(grounding_text(&outcome).starts_with("FAIL  1 of 3"));
    }
}
