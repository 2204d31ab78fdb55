//! Lines for what was done: calls with their outcomes, errors still open.

use std::fmt::Write as _;

use rustc_hash::FxHashSet;

use super::candidate::{Candidate, Limits, Section, order};
use crate::events::end_states::EndStates;
use crate::events::event::Event;
use crate::events::line::shortened;
use crate::events::outcome::status::Status;
use crate::events::target::Effect;

/// Errors still open that are told at most.
const MAX_OPEN: usize = 8;

/// Calls that went well after a failed one that say that it stopped nothing.
const OVERTAKEN: usize = 2;

/// A line for each action; failing, changing and late ones are worth most.
pub(super) fn done(actions: &[Event], files: &EndStates, limits: Limits, candidates: &mut Vec<Candidate>) {
    let count = actions.len().max(1) as f64;
    for (number, action) in actions.iter().enumerate() {
        if was_overtaken(actions, number) || files.is_overtaken(number, &action.touches) {
            continue;
        }
        let text = line_of_call(action, &action.target.line, limits);
        let lateness = (number + 1) as f64 / count;
        let failed = action.outcome.failed() == Some(true);
        let (base, late) = match action.target.effect {
            // How many lines were read tells nothing of them: such a call is told only for the identifiers in its line.
            _ if says_nothing(action) => (0.0, 0.0),
            Effect::Read => (0.9, 2.0),
            Effect::Modify => (2.2, 2.0),
            // However late, what was looked up changed nothing.
            Effect::Other if action.is_lookup() => (0.9, 1.0),
            Effect::Other => (2.0, 2.0),
        };
        let value = base
            + if failed { 0.8 } else { 0.0 }
            + late * lateness * lateness
            + if action.is_open { 0.5 } else { 0.0 };
        candidates.push(Candidate {
            section: Section::Done,
            order: order_of_call(action, number),
            text,
            value,
        });
    }
}

/// If a call failed and the work went on without it: it was mended, or tried another way.
fn was_overtaken(actions: &[Event], number: usize) -> bool {
    let failed = actions.get(number).is_some_and(|action| {
        action.outcome.failed() == Some(true) && action.outcome.status != Status::Refused
    });
    let later = actions.get(number + 1..).unwrap_or_default();
    let went_well = later
        .iter()
        .filter(|later| later.outcome.failed() != Some(true) && later.is_answered);
    failed && went_well.count() >= OVERTAKEN
}

/// If nothing but a number of lines is known of what came back, and nothing was changed.
fn says_nothing(action: &Event) -> bool {
    let outcome = &action.outcome;
    let is_known = outcome.result.is_some() || outcome.first_hit.is_some() || outcome.failed() == Some(true);
    action.is_answered && outcome.lines > 0 && !is_known && action.target.effect != Effect::Modify
}

/// The time of a call, after the words of its turn.
pub(super) fn order_of_call(call: &Event, number: usize) -> usize {
    order(call.turn, number + 1)
}

/// A call as `label`, and how this run of it ended.
pub(super) fn line_of_run(action: &Event, label: &str, limits: Limits) -> String {
    match ending(action, limits) {
        ending if ending.is_empty() => label.to_owned(),
        ending => [label, " -> ", &ending].concat(),
    }
}

/// A call as `label`, how often, and how it ended.
fn line_of_call(action: &Event, label: &str, limits: Limits) -> String {
    let ending = ending(action, limits);
    let mut text = String::with_capacity(label.len() + ending.len() + 32);
    text.push_str(label);
    if action.times > 1 {
        let _ = match (action.failures, action.times) {
            (0, times) => write!(text, " (x{times})"),
            (failures, times) if failures == times => write!(text, " (x{times}, all failed)"),
            (failures, times) => write!(text, " (x{times}, {failures} failed)"),
        };
    }
    if !ending.is_empty() {
        text.push_str(" -> ");
        text.push_str(&ending);
    }
    text
}

/// The outcome of an action in a few words; empty if its answer stands after the region.
fn ending(action: &Event, limits: Limits) -> String {
    let outcome = &action.outcome;
    if !action.is_answered {
        return String::new();
    }
    let mut text = match (outcome.exit_code, outcome.failed()) {
        (Some(0), Some(true)) => "exit 0 with an error".to_owned(),
        // That went well as far as the program goes, whatever it was to show.
        (Some(0), _) if outcome.is_marked => "exit 0".to_owned(),
        (Some(0), _) => "ok".to_owned(),
        (Some(code), _) => format!("exit {code}"),
        (None, Some(true)) => "failed".to_owned(),
        _ => String::new(),
    };
    let is_modify = action.target.effect == Effect::Modify;
    let both = match (&outcome.result, &outcome.error) {
        (Some(counts), Some(error))
            if (outcome.tests.is_some() || outcome.diagnostics.is_some()) && counts != error =>
        {
            Some(format!("{counts}; {error}"))
        }
        _ => None,
    };
    let detail = match outcome.failed() {
        Some(true) => both
            .as_deref()
            .or(outcome.error.as_deref())
            .or(outcome.result.as_deref()),
        // That a file was written is told by the call itself.
        _ if is_modify && !outcome.is_marked => outcome
            .result
            .as_deref()
            .filter(|_| text.is_empty() && !outcome.says_done),
        _ => outcome.result.as_deref(),
    };
    let is_told = is_modify && outcome.failed() != Some(true) && (outcome.says_done || !text.is_empty());
    if let Some(detail) = detail.and_then(|detail| shortened(detail, limits.line)) {
        if !text.is_empty() {
            text.push_str(": ");
        }
        text.push_str(&detail);
    } else if says_nothing(action) {
        return text;
    } else if outcome.lines > 0 && !is_told {
        if !text.is_empty() {
            text.push_str(", ");
        }
        // A number of three digits would be an identifier that stands nowhere in the region.
        let _ = match outcome.lines {
            1 => write!(text, "1 line"),
            lines @ ..100 => write!(text, "{lines} lines"),
            _ => write!(text, "99+ lines"),
        };
        let hit = outcome.first_hit.as_deref();
        if let Some(hit) = hit.and_then(|hit| shortened(hit, limits.line)) {
            text.push_str(": ");
            text.push_str(&hit);
        }
    }
    match action.target.effect {
        _ if !text.is_empty() => text,
        Effect::Read => "empty".to_owned(),
        _ => "ok".to_owned(),
    }
}

/// A line for each error that nothing later resolved, newest first in worth.
pub(super) fn open_errors(actions: &[Event], limits: Limits, candidates: &mut Vec<Candidate>) {
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    let open = actions
        .iter()
        .enumerate()
        .rev()
        .filter(|(number, action)| action.is_open && !was_overtaken(actions, *number));
    let told = open.filter_map(|(number, action)| {
        action
            .outcome
            .error
            .as_deref()
            .map(|error| (number, action, error))
    });
    for (rank, (number, action, error)) in told
        .filter(|(_, _, error)| seen.insert(error))
        .take(MAX_OPEN)
        .enumerate()
    {
        let target = shortened(&action.target.line, limits.line / 2).unwrap_or_default();
        let Some(error) = shortened(error, limits.line) else {
            continue;
        };
        let text = if target.is_empty() {
            error.into_owned()
        } else {
            format!("{error} ({target})")
        };
        let value = 4.0 / (1.0 + rank as f64);
        candidates.push(Candidate {
            section: Section::Errors,
            order: order(action.turn, number),
            text,
            value,
        });
    }
}
