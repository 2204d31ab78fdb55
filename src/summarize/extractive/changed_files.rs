//! The files that were changed and that no other line of the summary names, in one line.

use super::candidate::{Candidate, Section};
use super::rank::{self, Chosen};
use crate::events::files::end_states::EndStates;
use crate::tokens::TokenCounter;

/// The line under [`Section::Files`].
const CHANGED: &str = "changed: ";

/// The part of the budget that the line takes at most.
const SHARE: f64 = 0.1;

/// The changed files that no line names, the latest first, as far as they fit into the line's share of `budget` tokens.
pub(super) fn unnamed(
    files: &EndStates,
    lines: &[Chosen],
    budget: usize,
    counter: &dyn TokenCounter,
) -> Option<Chosen> {
    let is_named = |name: &str| lines.iter().any(|line| line.candidate.text.contains(name));
    let mut names: Vec<&str> = files.changed();
    names.retain(|name| !is_named(name));
    let most = (budget as f64 * SHARE) as usize;
    let heading = counter.count(Section::Files.label()) + 1;
    while !names.is_empty() {
        let text = [CHANGED, &names.join(", ")].concat();
        let cost = rank::cost(&text, &mut String::new(), counter);
        if heading + cost <= most {
            return Some(Chosen {
                candidate: Candidate {
                    section: Section::Files,
                    order: 0,
                    text,
                    value: 0.0,
                },
                cost,
                density: u64::MAX,
                held: Vec::new(),
            });
        }
        // Halved, so that long lists are counted a few times only.
        names.truncate(names.len() / 2);
    }
    None
}

/// The files of a line of an earlier summary.
pub(super) fn listed(line: &str) -> impl Iterator<Item = &str> {
    let names = line.strip_prefix(CHANGED).into_iter();
    let names = names.flat_map(|names| names.split(", ")).map(str::trim);
    names.filter(|name| !name.is_empty() && !name.ends_with('…'))
}
