//! The trajectory as the algorithm sees it: a few facts about each turn, no text.

use std::num::NonZeroU32;

use crate::trajectory::Role;

/// The form of a turn's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnContent {
    /// Text, or anything without a form of its own.
    Text,
    /// Text that is an earlier summary or begins with one.
    Summary,
    /// A list of parts, not all of them text.
    Parts,
    /// A list of tool results and nothing else, in a turn with the role name of a person.
    Results {
        /// The last result contains a text.
        end_in_text: bool,
    },
}

/// The facts about one turn. There may be millions of turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnFacts {
    /// The role of the speaker.
    pub role: Role,
    /// The cost of the turn in tokens.
    pub tokens: usize,
    /// The distance in turns back to the assistant turn that this tool turn answers.
    pub asked_before: Option<NonZeroU32>,
    /// The turn was read in full, so that it may be summarized.
    pub readable: bool,
    /// The turn is text only, so that it can be quoted verbatim.
    pub quotable: bool,
    /// The form of its content, as far as it matters for placing summaries.
    pub content: TurnContent,
    /// The turn has no content at all, like the answer of an aborted request.
    pub empty: bool,
}

impl TurnFacts {
    /// Returns the distance in turns from the turn at `index` back to the one that it `answers`.
    pub fn asked_before(index: usize, answers: Option<usize>) -> Option<NonZeroU32> {
        let distance = index.checked_sub(answers?)?;
        NonZeroU32::new(u32::try_from(distance).ok()?)
    }

    /// Returns the index of the assistant turn that this tool turn at `index` answers.
    pub fn answers(&self, index: usize) -> Option<usize> {
        index.checked_sub(self.asked_before?.get() as usize)
    }
}

/// The facts about a trajectory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// The turns, in order.
    pub turns: Vec<TurnFacts>,
    /// The cost in tokens beside the turns: a top-level `system` text.
    pub extra_tokens: usize,
    /// The index of the last turn in which a person speaks; an earlier summary turn, though of their role, is none.
    pub last_human: Option<usize>,
}

impl Outline {
    /// Returns the cost of the whole trajectory in tokens.
    pub fn total(&self) -> usize {
        self.extra_tokens + self.turns.iter().map(|turn| turn.tokens).sum::<usize>()
    }

    /// Returns the index of the last turn of a role.
    pub fn last_of(&self, role: Role) -> Option<usize> {
        self.turns.iter().rposition(|turn| turn.role == role)
    }

    /// Returns the index of the first turn of a role.
    pub fn first_of(&self, role: Role) -> Option<usize> {
        self.turns.iter().position(|turn| turn.role == role)
    }

    /// Returns the indexes of the assistant turns that have content, in order.
    pub fn answers_given(&self) -> impl DoubleEndedIterator<Item = usize> {
        let turns = self.turns.iter().enumerate();
        let given = turns.filter(|(_, turn)| turn.role == Role::Assistant && !turn.empty);
        given.map(|(index, _)| index)
    }

    /// Returns the index after the last turn of the group that an assistant turn opens.
    pub fn group_end(&self, assistant: usize) -> usize {
        let mut turns = self.turns.iter().enumerate();
        let last = turns.rfind(|(index, turn)| turn.answers(*index) == Some(assistant));
        let last = last.map(|(index, _)| index);
        last.map_or(assistant, |last| last.max(assistant)) + 1
    }
}
