//! An earlier summary carried over: its lines go back to the sections that they came from.

use super::candidate::{Candidate, Section};
use super::lead::IN_PROGRESS;
use super::line::{cleaned, shortened, without_bullet};
use super::{Limits, order};
use crate::summarize::grounding::KEY_REFERENCES;

/// Lines carried over at most.
const MAX_LINES: usize = 200;

/// The lines of `body` as candidates: first in time, worth a little less than what is new. Lines under no heading of ours
/// are told as `Earlier`, the first ones being worth most.
pub(super) fn carried_over(body: &str, limits: Limits, candidates: &mut Vec<Candidate>) {
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
