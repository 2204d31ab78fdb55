//! The answer of `check` for people: a line a gate, the figures, and the worst records by file and line.

use std::fmt::Write;

use super::check_outcome::{CheckOutcome, Gate, GateName};
use super::count_text::{complaints, place};
use super::figures::{percent, printable, thousands};
use super::survey_figures::CountFigures;

/// The text, a newline after each line. It has no colours.
pub fn check_text(outcome: &CheckOutcome) -> String {
    let survey = &outcome.survey;
    let mut text = String::new();
    for gate in &outcome.gates {
        let word = if gate.passed { "PASS" } else { "FAIL" };
        let _ = writeln!(text, "{word}  {}", sentence(outcome, gate));
    }
    let _ = writeln!(text, "Tokens a record: {}", spread(&survey.tokens));
    if let Some(rendered) = &survey.rendered_tokens {
        let _ = writeln!(text, "As rendered: {}", spread(rendered));
        let by = if survey.judged_by == "rendered" {
            "what the chat template renders"
        } else {
            "the sum of the turns"
        };
        let _ = writeln!(text, "Judged by {by}");
    }
    if outcome.offender_records > 0 {
        let _ = writeln!(text, "Over {}:", thousands(outcome.offender_limit));
    }
    let limit = thousands(outcome.offender_limit);
    for record in &outcome.offenders {
        let tokens = thousands(outcome.judged_tokens(record));
        let place = place(record);
        let _ = writeln!(text, "  {}: {tokens} tokens (limit {limit})", printable(&place));
    }
    let more = outcome
        .offender_records
        .saturating_sub(outcome.offenders.len() as u64);
    if more > 0 {
        let _ = writeln!(text, "  and {} more", thousands(more));
    }
    for (what, troubles) in [("Unreadable", &survey.unreadable), ("Refused", &survey.refused)] {
        if troubles.records > 0 {
            let _ = write!(text, "{what}:\n{}", complaints(troubles.records, &troubles.first));
        }
    }
    let failed = outcome.gates.iter().filter(|gate| !gate.passed).count();
    let _ = match failed {
        0 => writeln!(text, "The check passed."),
        _ => writeln!(
            text,
            "The check failed: {failed} of {} gates.",
            outcome.gates.len()
        ),
    };
    text
}

fn sentence(outcome: &CheckOutcome, gate: &Gate) -> String {
    let actual = thousands(gate.actual);
    let limit = match (gate.name, gate.limit) {
        (_, None) => "any number is allowed".to_owned(),
        (GateName::Records, Some(limit)) => format!("at least {}", thousands(limit)),
        (_, Some(limit)) => format!("at most {}", thousands(limit)),
    };
    match gate.name {
        GateName::Records => format!("records: {actual} ({limit})"),
        GateName::Unreadable => format!("records that cannot be read: {actual} ({limit})"),
        GateName::Refused => format!("records that the chat template refuses: {actual} ({limit})"),
        GateName::Over => {
            let max_tokens = thousands(outcome.max_tokens);
            let share = percent(gate.actual, outcome.judged);
            format!("records over {max_tokens} tokens: {actual}, {share} ({limit})")
        }
        GateName::P99 => format!("99th percentile: {actual} tokens ({limit})"),
    }
}

fn spread(counts: &CountFigures) -> String {
    let of = |name| thousands(counts.percentile(name));
    format!(
        "min {}, p50 {}, p90 {}, p99 {}, max {}, total {}",
        of("min"),
        of("p50"),
        of("p90"),
        of("p99"),
        of("max"),
        thousands(counts.total)
    )
}
