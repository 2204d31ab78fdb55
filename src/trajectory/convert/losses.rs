//! The losses of a conversion: what the target form cannot hold, counted by kind.

use std::fmt;

use crate::trajectory::faults::write_kinds;

/// A kind of thing that a form cannot hold, or not as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// An image: `[image]` stands in its place.
    Image,
    /// A part that is neither text, thought, call nor result: its JSON text stands in its place; an encrypted one is gone.
    Part,
    /// A field of a part or of a call that has no place (`cache_control`, `signature`, `is_error`).
    PartField,
    /// A field of a turn that became a part of another one.
    TurnField,
    /// The id of a call that nobody answered, or a second id of an answer.
    CallId,
    /// A call that could not be read: it stays in the text.
    UnreadCall,
    /// Text after or between calls: it stands before them.
    TextOrder,
    /// Arguments that are no JSON object, where an object is asked for: they stay a string.
    Arguments,
    /// Text that reads as the markup of calls and answers where it was none.
    Markup,
    /// A character that is half of a pair.
    Surrogate,
    /// A second trajectory in the record, under the key of the target form.
    OtherTrajectory,
}

/// The names of the kinds, in the order in which they are told.
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

/// Losses by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Losses {
    counts: [usize; KINDS.len()],
}

impl Losses {
    /// Notes one.
    pub(super) fn note(&mut self, loss: Loss) {
        self.add(loss, 1);
    }

    /// Notes so many.
    pub(super) fn add(&mut self, loss: Loss, count: usize) {
        let place = KINDS.iter().position(|(kind, _)| *kind == loss);
        if let Some(counted) = place.and_then(|place| self.counts.get_mut(place)) {
            *counted += count;
        }
    }

    /// How many of one kind.
    pub fn of(&self, loss: Loss) -> usize {
        let kinds = KINDS.iter().zip(self.counts);
        kinds
            .filter(|((kind, _), _)| *kind == loss)
            .map(|(_, count)| count)
            .sum()
    }

    /// All of them.
    pub fn total(&self) -> usize {
        self.counts.iter().sum()
    }
}

/// `image:2 part_field:1`; empty where there are none.
impl fmt::Display for Losses {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = KINDS.iter().map(|(_, name)| *name);
        write_kinds(names.zip(self.counts), formatter)
    }
}
