//! Lines that nothing in later turns repeats, taken out where later turns are known.

use std::cmp::Reverse;

use rustc_hash::FxHashSet;

use super::candidate::{Candidate, Section};
use super::work::order_of_call;
use crate::compress::anchors::Matcher;
use crate::compress::reuse::{Reuse, pieces};
use crate::events::event::Event;
use crate::events::files::end_states::EndStates;

/// Bytes that later turns repeat of what is of use to them.
pub(super) const USED_BYTES: f32 = 12.0;

/// Takes out lookups, code run for once, and files newly made of which later turns repeat nothing and need no identifier.
pub(super) fn take_out(
    candidates: &mut Vec<Candidate>,
    reuse: &Reuse,
    matcher: &Matcher<'_>,
    actions: &[Event],
    files: &EndStates,
) {
    if reuse.is_empty() {
        return;
    }
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
    // What a newer line tells is no news.
    let mut told: FxHashSet<u64> = FxHashSet::default();
    candidates.sort_by_key(|candidate| Reverse(candidate.order));
    candidates.retain(|candidate| {
        let kinds = [&lookups, &makes, &tries];
        let is_of_kind = || kinds.iter().any(|orders| orders.contains(&candidate.order));
        let may_go = candidate.section == Section::Calls && is_of_kind();
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
