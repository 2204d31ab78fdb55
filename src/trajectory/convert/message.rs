//! A form-independent turn: role, text, calls and answers. Unchanged literals are borrowed.

use std::borrow::Cow;

use super::losses::{Loss, Losses};
use crate::trajectory::json::members::Member;
use crate::trajectory::{Role, json};

/// A text: a JSON string as written, or one that was put together.
#[derive(Debug, Clone)]
pub(super) enum Text<'a> {
    /// A JSON string, with its quotes and escapes.
    Literal(&'a str),
    /// A decoded text.
    Made(String),
}

/// One call.
#[derive(Debug, Clone)]
pub(super) struct ConvertedCall<'a> {
    /// The element of a `tool_calls` list that holds it, if any.
    pub element: Option<&'a str>,
    /// The id as JSON.
    pub id: Option<Cow<'a, str>>,
    /// The name as a JSON string.
    pub name: Cow<'a, str>,
    /// The arguments as JSON: a string, or any other value.
    pub arguments: Cow<'a, str>,
}

/// One answer.
#[derive(Debug, Clone)]
pub(super) struct ToolAnswer<'a> {
    /// The id as JSON.
    pub id: Option<Cow<'a, str>>,
    /// The name as a JSON string.
    pub name: Option<Cow<'a, str>>,
    /// The content.
    pub content: Text<'a>,
    /// The content consists of envelopes already.
    pub in_envelopes: bool,
}

/// One turn.
#[derive(Debug, Clone)]
pub(super) struct Message<'a> {
    /// The turn as it was written.
    pub turn: &'a str,
    /// The turn is in the target form already.
    pub stays: bool,
    /// The role of the speaker.
    pub role: Role,
    /// The name of the role, as a JSON string.
    pub role_name: &'a str,
    /// The text beside calls and answers.
    pub content: Text<'a>,
    /// The key and the JSON of the thoughts.
    pub reasoning: Option<(Cow<'a, str>, Cow<'a, str>)>,
    /// The calls, in order.
    pub calls: Vec<ConvertedCall<'a>>,
    /// The answers; a tool's turn has no other content.
    pub answers: Vec<ToolAnswer<'a>>,
    /// Fields without a meaning here.
    pub extras: Vec<Member<'a>>,
}

impl Text<'_> {
    /// The empty text.
    pub const EMPTY: Self = Self::Literal("\"\"");

    /// Joins texts, one per line; a single text stays as it is.
    pub fn joined(texts: Vec<Self>, losses: &mut Losses) -> Self {
        match <[Self; 1]>::try_from(texts) {
            Ok([text]) => text,
            Err(texts) => {
                let lines: Vec<Cow<'_, str>> = texts.iter().map(|text| text.decoded(losses)).collect();
                Self::Made(lines.join("\n"))
            }
        }
    }

    /// Returns the text as a JSON string.
    pub fn literal(&self) -> Cow<'_, str> {
        match self {
            Self::Literal(literal) => Cow::Borrowed(literal),
            Self::Made(text) => Cow::Owned(json::quoted(text)),
        }
    }

    /// Returns the decoded text.
    pub fn decoded(&self, losses: &mut Losses) -> Cow<'_, str> {
        match self {
            Self::Literal(literal) => {
                let (text, exact) = json::decode(literal);
                if !exact {
                    losses.note(Loss::Surrogate);
                }
                text
            }
            Self::Made(text) => Cow::Borrowed(text),
        }
    }

    /// Returns true if the text is empty.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Literal(literal) => *literal == "\"\"",
            Self::Made(text) => text.is_empty(),
        }
    }
}

impl ConvertedCall<'_> {
    /// Returns the tool's name, decoded.
    pub fn tool(&self) -> Cow<'_, str> {
        json::decode(&self.name).0
    }
}
