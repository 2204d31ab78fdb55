//! An earlier summary carried over: its lines go back to the sections that they came from.

use super::action::Action;
use super::candidate::{Candidate, Section};
use super::lead::IN_PROGRESS;
use super::line::{cleaned, shortened, without_bullet};
use super::{Limits, order};
use crate::summarize::grounding::KEY_REFERENCES;

/// Lines carried over at most.
const MAX_LINES: usize = 200;

/// Whether what an error line names in brackets at its end was run again since: how that ended is told anew.
fn was_run_again(line: &str, actions: &[Action]) -> bool {
    let Some((_, named)) = line.strip_suffix(')').and_then(|line| line.rsplit_once(" (")) else {
        return false;
    };
    let (named, is_shortened) = match named.strip_suffix(" …") {
        Some(start) => (start, true),
        None => (named, false),
    };
    let is_it = |action: &Action| {
        let line = action.target.line.as_str();
        line == named || (is_shortened && line.starts_with(named))
    };
    !named.is_empty() && actions.iter().any(|action| action.is_answered && is_it(action))
}

/// The lines of `body` as candidates: first in time, worth a little less than what is new. Lines under no heading of ours
/// are told as `Earlier`, the first ones being worth most.
pub(super) fn carried_over(body: &str, limits: Limits, actions: &[Action], candidates: &mut Vec<Candidate>) {
    let mut section = Section::Earlier;
    for (number, raw) in body
        .lines()
        .filter(|line| !line.trim().is_empty())
        .take(MAX_LINES)
        .enumerate()
    {
        let line = cleaned(raw);
        if let Some(labelled) = Section::from_label(&line) {
            section = labelled;
            continue;
        }
        // Written anew, from what later turns still use and from what is still in progress.
        if line.starts_with(KEY_REFERENCES) || line.starts_with(IN_PROGRESS) {
            continue;
        }
        let text = without_bullet(&line);
        if section == Section::Errors && was_run_again(text, actions) {
            continue;
        }
        let most = if section == Section::Asked {
            limits.asked
        } else {
            2 * limits.line
        };
        let Some(text) = shortened(text, most).filter(|text| !text.is_empty()) else {
            continue;
        };
        let base = match section {
            Section::Asked => 6.0,
            Section::Constraints => 4.0,
            Section::Files => 3.0,
            Section::Done | Section::Findings | Section::Values => 1.6,
            Section::Errors => 1.2,
            Section::Earlier => 5.0,
        };
        let value = base / (1.0 + 0.08 * number as f64);
        candidates.push(Candidate {
            section,
            order: order(0, 0).min(number),
            text: text.into_owned(),
            value,
        });
    }
}
