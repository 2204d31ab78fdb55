//! The faults of a trajectory, counted by kind, and their text form.

use std::fmt;

/// Number of faults in a trajectory, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Faults {
    /// Tool answers without a call.
    pub orphan_responses: usize,
    /// Calls not answered before the conversation went on, including those answered later.
    pub unanswered_calls: usize,
    /// Calls with an id that an earlier call has.
    pub repeated_ids: usize,
    /// Turns with several answers, in a format with one answer per turn.
    pub packed_responses: usize,
    /// Turns of a person, the assistant, or the system right after one of the same role.
    pub same_role_neighbours: usize,
}

impl Faults {
    /// Returns the number of all faults.
    pub fn total(&self) -> usize {
        self.kinds().iter().map(|(_, count)| count).sum()
    }

    /// Returns each kind with its count.
    fn kinds(&self) -> [(&'static str, usize); 5] {
        [
            ("orphan_responses", self.orphan_responses),
            ("unanswered_calls", self.unanswered_calls),
            ("repeated_ids", self.repeated_ids),
            ("packed_responses", self.packed_responses),
            ("same_role_neighbours", self.same_role_neighbours),
        ]
    }

    /// Returns the sum of both.
    pub(in crate::trajectory) fn and(&self, other: &Self) -> Self {
        Self {
            orphan_responses: self.orphan_responses + other.orphan_responses,
            unanswered_calls: self.unanswered_calls + other.unanswered_calls,
            repeated_ids: self.repeated_ids + other.repeated_ids,
            packed_responses: self.packed_responses + other.packed_responses,
            same_role_neighbours: self.same_role_neighbours + other.same_role_neighbours,
        }
    }

    /// Returns the smaller count of each kind.
    pub(in crate::trajectory) fn at_most(&self, most: &Self) -> Self {
        Self {
            orphan_responses: self.orphan_responses.min(most.orphan_responses),
            unanswered_calls: self.unanswered_calls.min(most.unanswered_calls),
            repeated_ids: self.repeated_ids.min(most.repeated_ids),
            packed_responses: self.packed_responses.min(most.packed_responses),
            same_role_neighbours: self.same_role_neighbours.min(most.same_role_neighbours),
        }
    }
}

/// Formats as `orphan_responses:2 repeated_ids:1`; empty if there are none.
impl fmt::Display for Faults {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_kinds(self.kinds(), formatter)
    }
}

/// Writes counts by kind, as `image:2 part:1`, without zeros.
pub(in crate::trajectory) fn write_kinds<'k>(
    kinds: impl IntoIterator<Item = (&'k str, usize)>,
    formatter: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let mut space = "";
    for (name, count) in kinds.into_iter().filter(|(_, count)| *count > 0) {
        write!(formatter, "{space}{name}:{count}")?;
        space = " ";
    }
    Ok(())
}
