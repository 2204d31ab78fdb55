//! The actions that a trainer takes on what it reads, and the classes of turns.

use serde::Deserialize;

/// What a trainer does with something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Takes it as it stands.
    Keep,
    /// Takes it as an empty text.
    Empty,
    /// Takes the texts of its parts.
    Join,
    /// Leaves it out without a word.
    Ignore,
    /// Hands it to the chat template.
    Template,
    /// Hands it to the chat template, which prints nothing, or no answer to learn, for it.
    Unprinted,
    /// Leaves the record out.
    Drop,
    /// Ends with an error.
    EndsRun,
}

impl Action {
    /// If the text that stands there is still there afterwards, as far as the trainer itself goes.
    pub fn keeps_text(self) -> bool {
        matches!(self, Self::Keep | Self::Join)
    }
}

/// A class of turns, by what the trainer takes them for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Instructions.
    System,
    /// A person.
    User,
    /// The model.
    Assistant,
    /// The model, asking a tool, in a turn of its own.
    Call,
    /// What a tool brought back.
    Tool,
}
