//! The losses of a conversion, by kind: data that the target form cannot hold.

use std::fmt;

use crate::trajectory::structure::faults::write_kinds;

/// A kind of data that a form cannot hold, or only changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// An image, replaced by `[image]`.
    Image,
    /// A part that is no text, thought, call or result: replaced by its JSON text, or dropped if it is encrypted.
    Part,
    /// A dropped field of a part or of a call (`cache_control`, `signature`, `is_error`).
    PartField,
    /// A dropped field of a turn that became a part of another one.
    TurnField,
    /// The id of an unanswered call, or a second id of an answer.
    CallId,
    /// A call that could not be read and stays in the text.
    UnreadCall,
    /// Text after or between calls, moved before them.
    TextOrder,
    /// Arguments that are no JSON object where one is required: they stay a string.
    Arguments,
    /// Text that was no markup, but now reads as markup of calls and answers.
    Markup,
    /// An unpaired surrogate.
    Surrogate,
    /// A second trajectory in the record, under the key of the target form.
    OtherTrajectory,
}

/// The names of the kinds, in the order of the report.
const KINDS: [(Loss, &str); 11] = [
    (Loss::Image, "image"),
    (Loss::Part, "part"),
    (Loss::PartField, "part_field"),
    (Loss::TurnField, "turn_field"),
    (Loss::CallId, "call_id"),
    (Loss::UnreadCall, "unread_call"),
    (Loss::TextOrder, "text_order"),
    (Loss::Arguments, "arguments"),
    (Loss::Markup, "markup"),
    (Loss::Surrogate, "surrogate"),
    (Loss::OtherTrajectory, "other_trajectory"),
];

/// Number of losses by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Losses {
    counts: [usize; KINDS.len()],
}

impl Losses {
    /// Counts one loss.
    pub(super) fn note(&mut self, loss: Loss) {
        self.add(loss, 1);
    }

    /// Counts several losses of a kind.
    pub(super) fn add(&mut self, loss: Loss, count: usize) {
        let place = KINDS.iter().position(|(kind, _)| *kind == loss);
        if let Some(counted) = place.and_then(|place| self.counts.get_mut(place)) {
            *counted += count;
        }
    }

    /// Returns the number of losses of a kind.
    pub fn of(&self, loss: Loss) -> usize {
        let kinds = KINDS.iter().zip(self.counts);
        kinds
            .filter(|((kind, _), _)| *kind == loss)
            .map(|(_, count)| count)
            .sum()
    }

    /// Returns the number of all losses.
    pub fn total(&self) -> usize {
        self.counts.iter().sum()
    }
}

/// Formats as `image:2 part_field:1`; empty if there are no losses.
impl fmt::Display for Losses {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = KINDS.iter().map(|(_, name)| *name);
        write_kinds(names.zip(self.counts), formatter)
    }
}
