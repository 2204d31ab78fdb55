//! The actions of a trainer on parts of a record, and the classes of turns.

use serde::Deserialize;

/// The action of a trainer on a part of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Takes it unchanged.
    Keep,
    /// Takes it as an empty text.
    Empty,
    /// Takes the joined texts of its parts.
    Join,
    /// Leaves it out silently.
    Ignore,
    /// Passes it to the chat template.
    Template,
    /// Passes it to the chat template, which prints nothing for it, or nothing to train on.
    Unprinted,
    /// Drops the record.
    Drop,
    /// Ends with an error.
    EndsRun,
}

/// A class of turns, by the role that the trainer takes them for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Instructions.
    System,
    /// A person.
    User,
    /// The model.
    Assistant,
    /// A call of a tool by the model, as a turn of its own.
    Call,
    /// The result of a tool call.
    Tool,
}
