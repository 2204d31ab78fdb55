//! Lines that nothing in later turns repeats, taken out where later turns are known.

use std::cmp::Reverse;

use rustc_hash::FxHashSet;

use super::candidate::{Candidate, Section, order};
use super::work::order_of_call;
use crate::compress::anchors::Matcher;
use crate::compress::reuse::{Reuse, pieces};
use crate::events::event::Event;
use crate::events::files::end_states::EndStates;
use crate::events::source::SourceTurn;
use crate::trajectory::Role;

/// Bytes that later turns repeat of what is of use to them.
pub(super) const USED_BYTES: f32 = 12.0;

/// Takes out requests, lookups, code run for once, and files newly made of which later turns repeat nothing and need no identifier; the last
/// request stays unless it is answered.
pub(super) fn take_out(
    candidates: &mut Vec<Candidate>,
    reuse: &Reuse,
    matcher: &Matcher<'_>,
    turns: &[SourceTurn<'_>],
    actions: &[Event],
    files: &EndStates,
) {
    if reuse.is_empty() {
        return;
    }
    let is_answered = ends_in_words(turns);
    let orders = |of: &dyn Fn(&Event) -> bool| -> FxHashSet<usize> {
        let numbered = actions.iter().enumerate();
        let found = numbered.filter(|(_, action)| action.outcome.failed() != Some(true) && of(action));
        found
            .map(|(number, action)| order_of_call(action, number))
            .collect()
    };
    let lookups = orders(&Event::is_lookup);
    let makes = orders(&|action| files.only_makes(&action.touches));
    let mut tries = orders(&|action| action.runs_code() && files.only_tries(&action.touches));
    // The last one may say that the work is done.
    if let Some(last) = tries.iter().max().copied() {
        tries.remove(&last);
    }
    let asked = candidates.iter().filter(|line| line.section == Section::Asked);
    let last = asked.map(turn_of).max();
    // Later messages may change what is demanded.
    let demanded = candidates.iter().filter(|line| line.section == Section::Demanded);
    let demanded = demanded.map(|line| line.order).min().unwrap_or(usize::MAX);
    // What a newer line tells is no news.
    let mut told: FxHashSet<u64> = FxHashSet::default();
    candidates.sort_by_key(|candidate| Reverse(candidate.order));
    candidates.retain(|candidate| {
        let turn = turn_of(candidate);
        let may_go = match candidate.section {
            // An earlier summary has chosen already.
            _ if turn == 0 => false,
            Section::Done => [&lookups, &makes, &tries]
                .iter()
                .any(|orders| orders.contains(&candidate.order)),
            Section::Asked => candidate.order < demanded && (is_answered || Some(turn) != last),
            _ => false,
        };
        let wanted = |piece| {
            let wanted = reuse.wanted(piece);
            if wanted > 0.0 && told.insert(piece) {
                wanted
            } else {
                0.0
            }
        };
        let worth: f32 = pieces(&candidate.text).map(wanted).sum();
        // How files are made comes again with every file: a name must be needed.
        let is_made = makes.contains(&candidate.order);
        let is_used = || worth >= USED_BYTES && !is_made || matcher.held(&candidate.text).contains(&true);
        !may_go || is_used()
    });
}

/// The turn of a line, counted from 1; 0 for lines of an earlier summary.
fn turn_of(candidate: &Candidate) -> usize {
    candidate.order / order(0, 0)
}

/// If the last turn is an answer in words, after which there is nothing to do.
fn ends_in_words(turns: &[SourceTurn<'_>]) -> bool {
    turns
        .last()
        .is_some_and(|last| last.role == Role::Assistant && last.calls.is_empty())
}
