//! What the algorithm knows of a trajectory: a few facts a turn, no text.

use std::num::NonZeroU32;

use crate::trajectory::Role;

/// The form of a turn's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Text, or anything without a form of its own.
    Text,
    /// Text that an earlier summary stands in front of, or is all of.
    Summary,
    /// A list of parts that are not all text.
    Parts,
    /// A list of results of tools and nothing else, in a turn with the role name of a person.
    Results {
        /// If the last of them brought back a text.
        end_in_text: bool,
    },
}

/// The facts about one turn. There may be millions of turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnFacts {
    /// Who speaks.
    pub role: Role,
    /// What the turn costs, in tokens.
    pub tokens: usize,
    /// How many turns before this tool turn the assistant turn stands that it answers.
    pub asked_before: Option<NonZeroU32>,
    /// Whether the turn may be summarized: it was read in full.
    pub readable: bool,
    /// Whether the turn is nothing but text, so that it can be quoted verbatim.
    pub quotable: bool,
    /// The form of its content, as far as summaries beside it care.
    pub content: Content,
    /// Whether the turn says nothing at all, as the answer of a request that was aborted does.
    pub empty: bool,
}

impl TurnFacts {
    /// How many turns before the turn at `index` the one stands that it `answers`.
    pub fn asked_before(index: usize, answers: Option<usize>) -> Option<NonZeroU32> {
        let distance = index.checked_sub(answers?)?;
        NonZeroU32::new(u32::try_from(distance).ok()?)
    }

    /// The assistant turn that this tool turn, which stands at `index`, answers.
    pub fn answers(&self, index: usize) -> Option<usize> {
        index.checked_sub(self.asked_before?.get() as usize)
    }
}

/// A trajectory as facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// In order.
    pub turns: Vec<TurnFacts>,
    /// What the trajectory costs beside its turns: a top-level `system` text.
    pub extra_tokens: usize,
    /// The last turn in which a person speaks; an earlier summary turn is none, though it has their role.
    pub last_human: Option<usize>,
}

impl Outline {
    /// What the whole trajectory costs.
    pub fn total(&self) -> usize {
        self.extra_tokens + self.turns.iter().map(|turn| turn.tokens).sum::<usize>()
    }

    /// Index of the last turn of a role.
    pub fn last_of(&self, role: Role) -> Option<usize> {
        self.turns.iter().rposition(|turn| turn.role == role)
    }

    /// Index of the first turn of a role.
    pub fn first_of(&self, role: Role) -> Option<usize> {
        self.turns.iter().position(|turn| turn.role == role)
    }

    /// Indexes of the assistant turns that say something, in order.
    pub fn answers_given(&self) -> impl DoubleEndedIterator<Item = usize> {
        let turns = self.turns.iter().enumerate();
        let given = turns.filter(|(_, turn)| turn.role == Role::Assistant && !turn.empty);
        given.map(|(index, _)| index)
    }

    /// One past the last turn of the group that an assistant turn opens.
    pub fn group_end(&self, assistant: usize) -> usize {
        let mut turns = self.turns.iter().enumerate();
        let last = turns.rfind(|(index, turn)| turn.answers(*index) == Some(assistant));
        let last = last.map(|(index, _)| index);
        last.map_or(assistant, |last| last.max(assistant)) + 1
    }
}
