//! An earlier summary carried over: its lines go back to the sections that they came from.

use rustc_hash::{FxHashMap, FxHashSet};

use super::candidate::{Candidate, LineLimits, Section, order};
use super::quoted::{call_of, fence_of};
use crate::events::event::Event;
use crate::events::line::{cleaned, is_fence, shortened, without_bullet};
use crate::summarize::grounding::KEY_REFERENCES;
use crate::summarize::marker::IN_PROGRESS;

/// Lines carried over at most.
const MAX_LINES: usize = 200;

/// The subject of a line on a call: all of it before the number of runs and the outcome.
fn about(line: &str) -> &str {
    let line = line.split_once(" -> ").map_or(line, |(head, _)| head);
    match line.strip_suffix(')').and_then(|line| line.rsplit_once(" (x")) {
        Some((head, times)) if times.starts_with(|c: char| c.is_ascii_digit()) => head,
        _ => line,
    }
}

/// The lines of an earlier summary under the headings that they stand under, without headings, bullets and fenced code.
fn lines_of(body: &str) -> Vec<(Section, String)> {
    let mut section = Section::Earlier;
    let mut fence = None;
    let mut lines = Vec::new();
    for raw in body
        .lines()
        .filter(|line| !line.trim().is_empty())
        .take(MAX_LINES)
    {
        if let Some(open) = fence {
            if is_fence(raw) && fence_of(raw) >= open {
                fence = None;
            }
            continue;
        }
        if is_fence(raw) {
            fence = Some(fence_of(raw));
            continue;
        }
        let line = cleaned(raw);
        if let Some(labelled) = Section::from_label(&line) {
            section = labelled;
        } else if line.starts_with(KEY_REFERENCES) || line.starts_with(IN_PROGRESS) {
            // Those are written anew, from what later turns still use and from what is still in progress.
        } else if section == Section::Recent {
            // What was written last is quoted anew; of the calls it stays how they ended.
            if let Some(call) = call_of(without_bullet(&line).trim_end_matches(':')) {
                lines.push((Section::Done, call.to_owned()));
            }
        } else {
            lines.push((section, without_bullet(&line).to_owned()));
        }
    }
    lines
}

/// The lines of `body` as candidates: first in time, worth a little less than what is new. Lines under no heading of ours
/// are told as `Earlier`, the first ones being worth most; of what was done, found and told of values the last ones are,
/// and what was done again since goes.
pub(super) fn carried_over(
    body: &str,
    limits: LineLimits,
    actions: &[Event],
    candidates: &mut Vec<Candidate>,
) {
    let lines = lines_of(body);
    let answered = actions.iter().filter(|action| action.is_answered);
    let mut done: FxHashSet<&str> = answered.map(|action| action.target.line.as_str()).collect();
    let mut after: FxHashMap<Section, usize> = FxHashMap::default();
    for (number, (section, text)) in lines.iter().enumerate().rev() {
        let is_past = match section {
            Section::Done | Section::Errors => !done.insert(about(text)),
            _ => false,
        };
        if is_past {
            continue;
        }
        let most = if *section == Section::Asked {
            limits.asked
        } else {
            2 * limits.line
        };
        let Some(text) = shortened(text, most).filter(|text| !text.is_empty()) else {
            continue;
        };
        let after = after.entry(*section).or_default();
        let (base, rank) = match section {
            Section::Asked => (6.0, number),
            Section::Constraints => (4.0, number),
            Section::Files => (3.0, number),
            Section::Done | Section::Findings => (1.6, *after),
            Section::Errors => (1.2, number),
            Section::Recent => (0.0, number),
            Section::Earlier => (5.0, number),
        };
        *after += 1;
        candidates.push(Candidate {
            section: *section,
            order: order(0, 0).min(number),
            text: text.into_owned(),
            value: base / (1.0 + 0.08 * rank as f64),
        });
    }
}
