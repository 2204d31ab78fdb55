//! Where the summary goes: a human turn of its own, or appended to the turn before it.

use super::{Outline, Region};
use crate::names::named;
use crate::trajectory::Role;

named! {
    /// Where the summary goes.
    SummaryPlacement {
        /// A turn of the human role right after the head.
        Human = "human",
        /// The end of the turn before the region.
        Merge = "merge",
        /// `human` where the format's order allows it, else `merge`.
        Auto = "auto",
    }
}

/// Where the summary of one region goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// The turn that it is appended to; `None` for a turn of its own.
    pub merged_into: Option<usize>,
    /// Whether an end marker must separate it from what follows.
    pub end_marker: bool,
    /// Whether the placement asked for was impossible.
    pub refused: bool,
}

/// Decides where the summary goes.
pub fn place(outline: &Outline, region: Region, wanted: SummaryPlacement) -> Placement {
    let role_at = |index: Option<usize>| {
        index
            .and_then(|index| outline.turns.get(index))
            .map(|turn| turn.role)
    };
    let before = region.start().checked_sub(1);
    let follows_human = role_at(before) == Some(Role::Human);
    let precedes_human = role_at(Some(region.end())) == Some(Role::Human);
    // Only text that the model reads, never what it is trained to say, can take the summary in.
    let can_merge = matches!(role_at(before), Some(Role::Human | Role::Tool))
        && before
            .and_then(|index| outline.turns.get(index))
            .is_some_and(|turn| turn.quotable);
    let merge = match wanted {
        SummaryPlacement::Human => false,
        SummaryPlacement::Merge => true,
        SummaryPlacement::Auto => follows_human || precedes_human,
    };
    let merged_into = before.filter(|_| merge && can_merge);
    Placement {
        merged_into,
        end_marker: precedes_human || merged_into.is_some(),
        refused: merge && merged_into.is_none(),
    }
}
